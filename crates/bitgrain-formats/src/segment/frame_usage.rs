//! Policy state at the end of a usage record: the time of the last forced downgrade, and the reads of frames.
//!
//! The state starts with a zero byte, which an entry of the list before it cannot start with, because ids are not empty.
//! Wanted tiers follow the reads of frames.

use super::cursor::Cursor;
use super::prefix::PreviousId;
use super::usage::{check_average, read_usage, write_usage};
use super::{SegmentError, UsageEntry, WantedTierEntries, put};

/// First byte of the state.
pub(super) const START: u8 = 0;
/// Flag: the time of the last downgrade follows.
const DOWNGRADED: u8 = 1;
/// Flag: reads of frames follow.
const FRAMES: u8 = 2;

/// Number of frames whose reads are counted together.
pub const FRAMES_PER_COUNT: u64 = 64;

/// Reads of [`FRAMES_PER_COUNT`] consecutive frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameUsageEntry<'a> {
    /// Number of the group: its first frame divided by [`FRAMES_PER_COUNT`].
    pub group: u64,
    /// Id of the tensor, and reads of these frames.
    pub usage: UsageEntry<'a>,
}

/// Builds the state up to the wanted tiers.
#[derive(Debug, Clone, Default)]
pub(super) struct FrameUsageList {
    bytes: Vec<u8>,
    count: u64,
    previous: PreviousId,
    last: u64,
    last_downgrade: Option<u64>,
}

impl FrameUsageList {
    pub(super) fn push(&mut self, entry: &FrameUsageEntry<'_>) -> Result<(), SegmentError> {
        check_average(&entry.usage)?;
        self.previous.write(entry.usage.id, &mut self.bytes)?;
        put::varint(&mut self.bytes, entry.group);
        write_usage(&entry.usage, &mut self.last, &mut self.bytes);
        self.count += 1;
        Ok(())
    }

    pub(super) const fn set_last_downgrade(&mut self, time: Option<u64>) {
        self.last_downgrade = time;
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0 && self.last_downgrade.is_none()
    }

    /// Appends the start of the state.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(START);
        let downgraded = if self.last_downgrade.is_some() { DOWNGRADED } else { 0 };
        out.push(downgraded | if self.count > 0 { FRAMES } else { 0 });
        if let Some(time) = self.last_downgrade {
            put::varint(out, time);
        }
        if self.count > 0 {
            put::varint(out, self.count);
            out.extend_from_slice(&self.bytes);
        }
    }
}

/// Reader of the reads of frames in a usage record; returned by
/// [`UsageEntries::into_frame_usage`](super::UsageEntries::into_frame_usage).
///
/// Not an iterator: an entry borrows its id from the reader, which decodes it from the previous one.
#[derive(Debug, Clone)]
pub struct FrameUsageEntries<'a> {
    /// Time of the last downgrade for the cap on warm tensors.
    pub last_downgrade: Option<u64>,
    cursor: Cursor<'a>,
    previous: PreviousId,
    last: u64,
    /// Number of entries left.
    left: u64,
    /// Whether an entry could not be read, so that the position of the wanted tiers is unknown.
    failed: bool,
}

impl<'a> FrameUsageEntries<'a> {
    /// Reads the start of the state, if present.
    pub(super) fn read(mut cursor: Cursor<'a>) -> Result<Self, SegmentError> {
        let (mut last_downgrade, mut left) = (None, 0);
        if cursor.left() > 0 {
            let offset = cursor.offset();
            let (start, flags) = (cursor.u8("policy state")?, cursor.u8("policy state")?);
            if start != START || flags & !(DOWNGRADED | FRAMES) != 0 {
                return Err(SegmentError::Value { what: "policy state", offset });
            }
            if flags & DOWNGRADED != 0 {
                last_downgrade = Some(cursor.varint("downgrade time")?);
            }
            if flags & FRAMES != 0 {
                left = cursor.varint("number of frame groups")?;
            }
            // A writer omits an empty state and an empty list, so that every state has exactly one encoding.
            let empty = last_downgrade.is_none() && left == 0 && cursor.left() == 0;
            if empty || (flags & FRAMES != 0) != (left > 0) {
                return Err(SegmentError::Value { what: "policy state", offset });
            }
        }
        Ok(Self { last_downgrade, cursor, previous: PreviousId::default(), last: 0, left, failed: false })
    }

    /// Returns the next entry, or `None` after the last one.
    ///
    /// # Errors
    /// Returns [`SegmentError::Value`] or [`SegmentError::Truncated`]. Do not call it again after an error.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Result<Option<FrameUsageEntry<'_>>, SegmentError> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.failed = true;
        self.previous.read(&mut self.cursor)?;
        let group = self.cursor.varint("frame group")?;
        let usage = read_usage(&self.previous, &mut self.last, &mut self.cursor)?;
        (self.left, self.failed) = (left, false);
        Ok(Some(FrameUsageEntry { group, usage }))
    }

    /// Returns the wanted tiers, after the entries that are left.
    ///
    /// # Errors
    /// Returns [`SegmentError::Value`] or [`SegmentError::Truncated`].
    pub fn into_wanted_tiers(mut self) -> Result<WantedTierEntries<'a>, SegmentError> {
        if self.failed {
            return Err(SegmentError::Value { what: "frame group", offset: self.cursor.offset() });
        }
        while self.next()?.is_some() {}
        Ok(WantedTierEntries::new(self.last_downgrade, self.cursor))
    }
}
