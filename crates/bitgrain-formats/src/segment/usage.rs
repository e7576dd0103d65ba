//! Lists of tensor usage: the bodies of usage records.

use super::cursor::Cursor;
use super::prefix::PreviousId;
use super::wishes::{START, WishList};
use super::{IdRef, SegmentError, Wish, Wishes, put};

/// Fixed-point representation of an average of 1.
const ONE: f32 = 32768.0;

/// Usage of a tensor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UsageEntry<'a> {
    /// Id of the tensor.
    pub id: IdRef<'a>,
    /// Number of reads and writes.
    pub accesses: u64,
    /// Time of the last access.
    pub last: u64,
    /// One bit per period with an access.
    pub window: u64,
    /// Moving average of periods with (1) and without (0) an access. Stored with a resolution of 1/32,768.
    pub ema: f32,
}

/// Builds the body of a usage record.
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
    /// Adds a tensor. Sorted ids take the fewest bytes.
    ///
    /// # Errors
    /// Returns [`SegmentError::Unwritable`] for an empty id or an average outside 0..=1, or
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

    /// Adds the tier that the next write of a tensor should have. Sorted ids take the fewest bytes.
    ///
    /// # Errors
    /// Returns [`SegmentError::Unwritable`] for an empty id or a tier above 8, or [`SegmentError::TooLong`].
    pub fn wish(&mut self, wish: &Wish<'_>) -> Result<(), SegmentError> {
        self.wishes.push(wish)
    }

    /// Sets the time of the last downgrade for the cap on warm tensors.
    pub const fn set_last_downgrade(&mut self, time: Option<u64>) {
        self.wishes.set_last_downgrade(time);
    }

    /// Returns whether the list is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.wishes.is_empty()
    }

    /// Returns the encoded body.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        let mut bytes = self.bytes;
        self.wishes.write(&mut bytes);
        bytes
    }
}

/// Reader of the entries of a usage record.
///
/// Not an iterator: an entry borrows its id from the reader, which decodes it from the previous one.
#[derive(Debug, Clone)]
pub struct UsageEntries<'a> {
    cursor: Cursor<'a>,
    previous: PreviousId,
    last: u64,
}

impl<'a> UsageEntries<'a> {
    /// Reads the entries of `body`.
    #[must_use]
    pub fn new(body: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(body, 0), previous: PreviousId::default(), last: 0 }
    }

    /// Returns the next entry, or `None` after the last one.
    ///
    /// # Errors
    /// Returns [`SegmentError::Value`] or [`SegmentError::Truncated`]. Do not call it again after an error.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Result<Option<UsageEntry<'_>>, SegmentError> {
        if matches!(self.cursor.peek(), None | Some(START)) {
            return Ok(None);
        }
        self.previous.read(&mut self.cursor)?;
        let accesses = self.cursor.varint("accesses")?;
        self.last = self.cursor.delta("last access", self.last)?;
        let window = self.cursor.varint("access window")?;
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
    /// Returns [`SegmentError::Value`] or [`SegmentError::Truncated`].
    pub fn into_wishes(self) -> Result<Wishes<'a>, SegmentError> {
        Wishes::read(self.cursor)
    }
}
