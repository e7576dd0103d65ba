//! Lists of how tensors were used: the bodies of usage records.

use super::cursor::Cursor;
use super::prefix::PreviousId;
use super::wishes::{START, WishList};
use super::{IdRef, SegmentError, Wish, Wishes, put};

/// Parts that an average of 1 has.
const ONE: f32 = 32768.0;

/// How a tensor was used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UsageEntry<'a> {
    /// The tensor.
    pub id: IdRef<'a>,
    /// Reads and writes so far.
    pub accesses: u64,
    /// When the last one was.
    pub last: u64,
    /// A bit for each period in which there was one.
    pub window: u64,
    /// Average of periods with one (1) and without (0), recent ones counted more. Kept to a 32,768th.
    pub ema: f32,
}

/// Collects the body of a usage record.
///
/// ```
/// use bitgrain_formats::segment::{IdRef, UsageEntries, UsageEntry, UsageList};
/// let entry = UsageEntry { id: IdRef::Name("a"), accesses: 3, last: 10, window: 0b101, ema: 0.5 };
/// let mut list = UsageList::default();
/// list.push(&entry)?;
/// let body = list.into_bytes();
/// assert_eq!(UsageEntries::new(&body).next()?, Some(entry));
/// # Ok::<(), bitgrain_formats::segment::SegmentError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct UsageList {
    bytes: Vec<u8>,
    previous: PreviousId,
    last: u64,
    wishes: WishList,
}

impl UsageList {
    /// Adds a tensor. Ids in order take the fewest bytes.
    ///
    /// # Errors
    /// [`SegmentError::Unwritable`] for an id without characters or an average that is not from 0 to 1,
    /// [`SegmentError::TooLong`].
    pub fn push(&mut self, entry: &UsageEntry<'_>) -> Result<(), SegmentError> {
        if !(0.0..=1.0).contains(&entry.ema) {
            return Err(SegmentError::Unwritable { what: "an average use", must: "0 to 1" });
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 32768")]
        let ema = (entry.ema * ONE).round_ties_even() as u16;
        self.previous.write(entry.id, &mut self.bytes)?;
        put::varint(&mut self.bytes, entry.accesses);
        put::delta(&mut self.bytes, entry.last, self.last);
        put::varint(&mut self.bytes, entry.window);
        self.bytes.extend_from_slice(&ema.to_le_bytes());
        self.last = entry.last;
        Ok(())
    }

    /// Adds the tier that the next write of a tensor should have. Ids in order take the fewest bytes.
    ///
    /// # Errors
    /// [`SegmentError::Unwritable`] for an empty id or a tier above 5, [`SegmentError::TooLong`].
    pub fn wish(&mut self, wish: &Wish<'_>) -> Result<(), SegmentError> {
        self.wishes.push(wish)
    }

    /// Sets the time at which tensors last lost bits because all warm tensors together were too large.
    pub const fn set_last_downgrade(&mut self, time: Option<u64>) {
        self.wishes.set_last_downgrade(time);
    }

    /// True if nothing was added.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.wishes.is_empty()
    }

    /// The body.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        let mut bytes = self.bytes;
        self.wishes.write(&mut bytes);
        bytes
    }
}

/// The entries of a usage record's body one after another.
///
/// Not an iterator: an entry borrows its id, which is put together from the one before.
#[derive(Debug, Clone)]
pub struct UsageEntries<'a> {
    cursor: Cursor<'a>,
    previous: PreviousId,
    last: u64,
}

impl<'a> UsageEntries<'a> {
    /// The entries in `body`.
    #[must_use]
    pub fn new(body: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(body, 0), previous: PreviousId::default(), last: 0 }
    }

    /// Returns the next entry, or `None` after the last one.
    ///
    /// # Errors
    /// [`SegmentError::Value`], [`SegmentError::Truncated`]. Ask no further then.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Result<Option<UsageEntry<'_>>, SegmentError> {
        if matches!(self.cursor.peek(), None | Some(START)) {
            return Ok(None);
        }
        self.previous.read(&mut self.cursor)?;
        let accesses = self.cursor.varint("accesses")?;
        self.last = self.cursor.delta("last access", self.last)?;
        let window = self.cursor.varint("window of accesses")?;
        let offset = self.cursor.offset();
        let ema = f32::from(self.cursor.u16("average use")?) / ONE;
        let (Some(id), true) = (self.previous.id(), ema <= 1.0) else {
            return Err(SegmentError::Value { what: "average use", offset });
        };
        Ok(Some(UsageEntry { id, accesses, last: self.last, window, ema }))
    }

    /// Returns the wishes, which follow the last entry: call it after [`next`](Self::next) returned `None`.
    ///
    /// ```
    /// use bitgrain_formats::segment::{IdRef, UsageEntries, UsageList, Wish};
    /// let mut list = UsageList::default();
    /// list.wish(&Wish { id: IdRef::Name("a"), tier: 1 })?;
    /// list.set_last_downgrade(Some(5));
    /// let body = list.into_bytes();
    /// let mut entries = UsageEntries::new(&body);
    /// assert_eq!(entries.next()?, None);
    /// let mut wishes = entries.into_wishes()?;
    /// assert_eq!(wishes.last_downgrade, Some(5));
    /// assert_eq!(wishes.next()?, Some(Wish { id: IdRef::Name("a"), tier: 1 }));
    /// # Ok::<(), bitgrain_formats::segment::SegmentError>(())
    /// ```
    ///
    /// # Errors
    /// [`SegmentError::Value`], [`SegmentError::Truncated`].
    pub fn into_wishes(self) -> Result<Wishes<'a>, SegmentError> {
        Wishes::read(self.cursor)
    }
}
