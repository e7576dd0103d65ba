//! State of the tier policy at the end of a usage record: the time of the last forced downgrade, and wanted tiers.
//!
//! The section starts with a zero byte, which an entry of the list before it cannot start with, because ids are not
//! empty.

use super::cursor::Cursor;
use super::form::{LAST_TIER, check_tier};
use super::prefix::PreviousId;
use super::{IdRef, SegmentError, put};

/// First byte of the section.
pub(super) const START: u8 = 0;
/// Flag: the time of the last downgrade follows.
const DOWNGRADED: u8 = 1;

/// Wanted tier of a tensor: the tier that its next write should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish<'a> {
    /// Id of the tensor.
    pub id: IdRef<'a>,
    /// Number of the tier, 0 to 8.
    pub tier: u8,
}

/// Builds the section.
#[derive(Debug, Clone, Default)]
pub(super) struct WishList {
    bytes: Vec<u8>,
    previous: PreviousId,
    last_downgrade: Option<u64>,
}

impl WishList {
    pub(super) fn push(&mut self, wish: &Wish<'_>) -> Result<(), SegmentError> {
        check_tier(wish.tier)?;
        self.previous.write(wish.id, &mut self.bytes)?;
        self.bytes.push(wish.tier);
        Ok(())
    }

    pub(super) const fn set_last_downgrade(&mut self, time: Option<u64>) {
        self.last_downgrade = time;
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.last_downgrade.is_none()
    }

    /// Appends the section, unless it is empty.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if self.is_empty() {
            return;
        }
        out.push(START);
        match self.last_downgrade {
            Some(time) => {
                out.push(DOWNGRADED);
                put::varint(out, time);
            }
            None => out.push(0),
        }
        out.extend_from_slice(&self.bytes);
    }
}

/// Reader of the wanted tiers of a usage record; returned by
/// [`UsageEntries::into_wishes`](super::UsageEntries::into_wishes).
///
/// Not an iterator: a wish borrows its id from the reader, which decodes it from the previous one.
#[derive(Debug, Clone)]
pub struct Wishes<'a> {
    /// Time of the last downgrade for the cap on warm tensors.
    pub last_downgrade: Option<u64>,
    cursor: Cursor<'a>,
    previous: PreviousId,
}

impl<'a> Wishes<'a> {
    /// Reads the start of the section, if present.
    pub(super) fn read(mut cursor: Cursor<'a>) -> Result<Self, SegmentError> {
        let mut last_downgrade = None;
        if cursor.left() > 0 {
            let offset = cursor.offset();
            let (start, flags) = (cursor.u8("policy state")?, cursor.u8("policy state")?);
            if start != START || flags & !DOWNGRADED != 0 {
                return Err(SegmentError::Value { what: "policy state", offset });
            }
            if flags & DOWNGRADED != 0 {
                last_downgrade = Some(cursor.varint("downgrade time")?);
            }
            // A writer omits an empty section, so that every list has exactly one encoding.
            if last_downgrade.is_none() && cursor.left() == 0 {
                return Err(SegmentError::Value { what: "policy state", offset });
            }
        }
        Ok(Self { last_downgrade, cursor, previous: PreviousId::default() })
    }

    /// Returns the next wish, or `None` after the last one.
    ///
    /// # Errors
    /// Returns [`SegmentError::Value`] or [`SegmentError::Truncated`]. Do not call it again after an error.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Result<Option<Wish<'_>>, SegmentError> {
        if self.cursor.left() == 0 {
            return Ok(None);
        }
        self.previous.read(&mut self.cursor)?;
        let offset = self.cursor.offset();
        let tier = self.cursor.u8("wanted tier")?;
        match self.previous.id().filter(|_| tier <= LAST_TIER) {
            Some(id) => Ok(Some(Wish { id, tier })),
            None => Err(SegmentError::Value { what: "wanted tier", offset }),
        }
    }
}
