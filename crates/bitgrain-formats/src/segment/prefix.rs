//! Prefix compression of ids in lists.

use super::cursor::Cursor;
use super::{IdRef, SegmentError, put};

/// Nibble value of a length that continues as a varint.
const ESCAPE: u8 = 15;

/// The previous id, as its key.
#[derive(Debug, Clone, Default)]
pub(super) struct PreviousId {
    key: Vec<u8>,
    /// Buffer for the next key.
    next: Vec<u8>,
}

impl PreviousId {
    /// Writes the lengths of the shared prefix and the suffix as nibbles of one byte (15: the rest follows as a
    /// varint), then the suffix.
    pub(super) fn write(&mut self, id: IdRef<'_>, out: &mut Vec<u8>) -> Result<(), SegmentError> {
        id.check()?;
        let Self { key: previous, next: key } = self;
        key.clear();
        id.write_key(key);
        let kept = key.iter().zip(&*previous).take_while(|(a, b)| a == b).count();
        let added = key.len() - kept;
        out.push(half(kept) << 4 | half(added));
        for len in [kept, added] {
            if let Some(rest) = len.checked_sub(usize::from(ESCAPE)) {
                put::varint(out, rest as u64);
            }
        }
        out.extend_from_slice(&key[kept..]);
        std::mem::swap(previous, key);
        Ok(())
    }

    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), SegmentError> {
        let offset = cursor.offset();
        let first = cursor.u8("id lengths")?;
        let kept = length(first >> 4, cursor)?;
        let added = length(first & 15, cursor)?;
        let refuse = SegmentError::Value { what: "id", offset };
        let kept = usize::try_from(kept).ok().filter(|&kept| kept <= self.key.len()).ok_or(refuse.clone())?;
        if added > (IdRef::MAX_KEY - kept) as u64 {
            return Err(refuse);
        }
        let added = cursor.take("id", added)?;
        self.key.truncate(kept);
        self.key.extend_from_slice(added);
        self.id().map(drop).ok_or(refuse)
    }

    /// Returns the last id read.
    pub(super) fn id(&self) -> Option<IdRef<'_>> {
        IdRef::from_key(&self.key)
    }
}

fn half(len: usize) -> u8 {
    u8::try_from(len).map_or(ESCAPE, |len| len.min(ESCAPE))
}

fn length(half: u8, cursor: &mut Cursor<'_>) -> Result<u64, SegmentError> {
    if half < ESCAPE {
        return Ok(u64::from(half));
    }
    Ok(cursor.varint("id length")?.saturating_add(u64::from(ESCAPE)))
}
