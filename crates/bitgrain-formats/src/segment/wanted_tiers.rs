//! Wanted tiers: the last part of a usage record.

use super::cursor::Cursor;
use super::form::{LAST_TIER, check_tier};
use super::prefix::PreviousId;
use super::{IdRef, SegmentError};

/// Wanted tier of a tensor: the tier that its next write should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedTierEntry<'a> {
    /// Id of the tensor.
    pub id: IdRef<'a>,
    /// Number of the tier, 0 to 8.
    pub tier: u8,
}

/// Builds the list.
#[derive(Debug, Clone, Default)]
pub(super) struct WantedTierList {
    pub(super) bytes: Vec<u8>,
    previous: PreviousId,
}

impl WantedTierList {
    pub(super) fn push(&mut self, wanted: &WantedTierEntry<'_>) -> Result<(), SegmentError> {
        check_tier(wanted.tier)?;
        self.previous.write(wanted.id, &mut self.bytes)?;
        self.bytes.push(wanted.tier);
        Ok(())
    }
}

/// Reader of the wanted tiers of a usage record; returned by
/// [`UsageEntries::into_wanted_tiers`](super::UsageEntries::into_wanted_tiers).
///
/// Not an iterator: an entry borrows its id from the reader, which decodes it from the previous one.
#[derive(Debug, Clone)]
pub struct WantedTierEntries<'a> {
    /// Time of the last downgrade for the cap on warm tensors.
    pub last_downgrade: Option<u64>,
    cursor: Cursor<'a>,
    previous: PreviousId,
}

impl<'a> WantedTierEntries<'a> {
    pub(super) fn new(last_downgrade: Option<u64>, cursor: Cursor<'a>) -> Self {
        Self { last_downgrade, cursor, previous: PreviousId::default() }
    }

    /// Returns the next entry, or `None` after the last one.
    ///
    /// # Errors
    /// Returns [`SegmentError::Value`] or [`SegmentError::Truncated`]. Do not call it again after an error.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Result<Option<WantedTierEntry<'_>>, SegmentError> {
        if self.cursor.left() == 0 {
            return Ok(None);
        }
        self.previous.read(&mut self.cursor)?;
        let offset = self.cursor.offset();
        let tier = self.cursor.u8("wanted tier")?;
        match self.previous.id().filter(|_| tier <= LAST_TIER) {
            Some(id) => Ok(Some(WantedTierEntry { id, tier })),
            None => Err(SegmentError::Value { what: "wanted tier", offset }),
        }
    }
}
