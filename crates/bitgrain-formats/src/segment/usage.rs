//! Lists of tensor usage: the bodies of usage records.

use super::cursor::Cursor;
use super::frame_usage::{FrameUsageList, START};
use super::prefix::PreviousId;
use super::wanted_tiers::WantedTierList;
use super::{FrameUsageEntries, FrameUsageEntry, IdRef, SegmentError, WantedTierEntries, WantedTierEntry, put};

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
    frames: FrameUsageList,
    wanted_tiers: WantedTierList,
}

impl UsageList {
    /// Adds a tensor. Sorted ids take the fewest bytes.
    ///
    /// # Errors
    /// Returns [`SegmentError::Unwritable`] for an empty id or an average outside 0..=1, or
    /// [`SegmentError::TooLong`].
    pub fn push(&mut self, entry: &UsageEntry<'_>) -> Result<(), SegmentError> {
        check_average(entry)?;
        self.previous.write(entry.id, &mut self.bytes)?;
        write_usage(entry, &mut self.last, &mut self.bytes);
        Ok(())
    }

    /// Adds the reads of a group of frames. Sorted ids take the fewest bytes.
    ///
    /// # Errors
    /// Returns the errors of [`push`](Self::push).
    pub fn push_frames(&mut self, entry: &FrameUsageEntry<'_>) -> Result<(), SegmentError> {
        self.frames.push(entry)
    }

    /// Adds the tier that the next write of a tensor should have. Sorted ids take the fewest bytes.
    ///
    /// # Errors
    /// Returns [`SegmentError::Unwritable`] for an empty id or a tier above 8, or [`SegmentError::TooLong`].
    pub fn push_wanted_tier(&mut self, wanted: &WantedTierEntry<'_>) -> Result<(), SegmentError> {
        self.wanted_tiers.push(wanted)
    }

    /// Sets the time of the last downgrade for the cap on warm tensors.
    pub const fn set_last_downgrade(&mut self, time: Option<u64>) {
        self.frames.set_last_downgrade(time);
    }

    /// Returns whether the list is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.has_no_state()
    }

    /// Returns the encoded body.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        let stateless = self.has_no_state();
        let mut bytes = self.bytes;
        if !stateless {
            self.frames.write(&mut bytes);
            bytes.extend_from_slice(&self.wanted_tiers.bytes);
        }
        bytes
    }

    const fn has_no_state(&self) -> bool {
        self.frames.is_empty() && self.wanted_tiers.bytes.is_empty()
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
        read_usage(&self.previous, &mut self.last, &mut self.cursor).map(Some)
    }

    /// Returns the reads of frames, which follow the last entry: call it after [`next`](Self::next) returned `None`.
    ///
    /// # Errors
    /// Returns [`SegmentError::Value`] or [`SegmentError::Truncated`].
    pub fn into_frame_usage(self) -> Result<FrameUsageEntries<'a>, SegmentError> {
        FrameUsageEntries::read(self.cursor)
    }

    /// Returns the wanted tiers, which follow the last entry: call it after [`next`](Self::next) returned `None`.
    ///
    /// ```
    /// use bitgrain_formats::segment::{IdRef, UsageEntries, UsageList, WantedTierEntry};
    /// let mut list = UsageList::default();
    /// list.push_wanted_tier(&WantedTierEntry { id: IdRef::Name("a"), tier: 1 })?;
    /// list.set_last_downgrade(Some(5));
    /// let body = list.into_bytes();
    /// let mut entries = UsageEntries::new(&body);
    /// assert_eq!(entries.next()?, None);
    /// let mut wanted_tiers = entries.into_wanted_tiers()?;
    /// assert_eq!(wanted_tiers.last_downgrade, Some(5));
    /// assert_eq!(wanted_tiers.next()?, Some(WantedTierEntry { id: IdRef::Name("a"), tier: 1 }));
    /// # Ok::<(), bitgrain_formats::segment::SegmentError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`SegmentError::Value`] or [`SegmentError::Truncated`].
    pub fn into_wanted_tiers(self) -> Result<WantedTierEntries<'a>, SegmentError> {
        self.into_frame_usage()?.into_wanted_tiers()
    }
}

/// Checks that an entry can be written.
pub(super) fn check_average(entry: &UsageEntry<'_>) -> Result<(), SegmentError> {
    if (0.0..=1.0).contains(&entry.ema) {
        Ok(())
    } else {
        Err(SegmentError::Unwritable { what: "an average use", must: "0 to 1" })
    }
}

/// Writes the fields of an entry after its id. `last` is the time of the last access of the previous entry.
pub(super) fn write_usage(entry: &UsageEntry<'_>, last: &mut u64, out: &mut Vec<u8>) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 32768")]
    let ema = (entry.ema * ONE).round_ties_even() as u16;
    put::varint(out, entry.accesses);
    put::delta(out, entry.last, *last);
    put::varint(out, entry.window);
    out.extend_from_slice(&ema.to_le_bytes());
    *last = entry.last;
}

/// Reads the fields of an entry after its id.
pub(super) fn read_usage<'p>(
    previous: &'p PreviousId,
    last: &mut u64,
    cursor: &mut Cursor<'_>,
) -> Result<UsageEntry<'p>, SegmentError> {
    let accesses = cursor.varint("accesses")?;
    *last = cursor.delta("last access", *last)?;
    let window = cursor.varint("access window")?;
    let offset = cursor.offset();
    let ema = f32::from(cursor.u16("average use")?) / ONE;
    let (Some(id), true) = (previous.id(), ema <= 1.0) else {
        return Err(SegmentError::Value { what: "average use", offset });
    };
    Ok(UsageEntry { id, accesses, last: *last, window, ema })
}
