//! Central directory of a ZIP archive, in its 32-bit and 64-bit forms.

use super::NpzError;

/// End-of-directory record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Directory {
    pub(super) count: u64,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// Directory entry, with sizes and offset widened to 64 bits.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) name: &'a [u8],
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) compressed: u64,
    pub(super) size: u64,
    pub(super) local_offset: u64,
}

const END: [u8; 4] = *b"PK\x05\x06";
const END_BYTES: usize = 22;
const END_64: [u8; 4] = *b"PK\x06\x06";
const END_64_BYTES: usize = 56;
const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";
const LOCATOR_64_BYTES: usize = 20;
const ENTRY: [u8; 4] = *b"PK\x01\x02";
/// Size of an entry without its name, in bytes.
pub(super) const ENTRY_BYTES: usize = 46;
const LOCAL: [u8; 4] = *b"PK\x03\x04";
const LOCAL_BYTES: usize = 30;
/// Id of the extra field that holds 64-bit values.
const EXTRA_64: u16 = 1;
const MAX_COMMENT: usize = 0xffff;

impl Directory {
    pub(super) fn find(bytes: &[u8]) -> Result<Self, NpzError> {
        let none = NpzError::NoDirectory { len: bytes.len() as u64 };
        let Some(last) = bytes.len().checked_sub(END_BYTES) else { return Err(none) };
        // Only a comment, whose length is part of the record, may follow.
        let mut places = (last.saturating_sub(MAX_COMMENT)..=last).rev();
        let ends = |&at: &usize| {
            bytes[at..].starts_with(&END) && at + END_BYTES + usize::from(u16_at(bytes, at + 20)) == bytes.len()
        };
        let Some(at) = places.find(ends) else { return Err(none) };
        let small = Self {
            count: u16_at(bytes, at + 10).into(),
            bytes: u32_at(bytes, at + 12).into(),
            offset: u32_at(bytes, at + 16).into(),
        };
        let found = Self::find_64(bytes, at)?;
        if found.is_none() && bytes[at + 4..at + 8] != [0; 4] {
            return Err(NpzError::MultiPart);
        }
        Ok(found.unwrap_or(small))
    }

    /// Reads the 64-bit record if a locator precedes the end record at `end`.
    fn find_64(bytes: &[u8], end: usize) -> Result<Option<Self>, NpzError> {
        let Some(locator) = end.checked_sub(LOCATOR_64_BYTES) else { return Ok(None) };
        if !bytes[locator..].starts_with(&LOCATOR_64) {
            return Ok(None);
        }
        let offset = u64_at(bytes, locator + 8);
        let record = slice(&bytes[..locator], "64-bit end of the directory", offset, END_64_BYTES)?;
        if !record.starts_with(&END_64) {
            return Err(NpzError::Misplaced { what: "64-bit end of the directory", offset });
        }
        if record[16..24] != [0; 8] {
            return Err(NpzError::MultiPart);
        }
        let (count, size, start) = (u64_at(record, 32), u64_at(record, 40), u64_at(record, 48));
        Ok(Some(Self { count, bytes: size, offset: start }))
    }

    /// Returns the bytes of the directory, after checking that they can hold its entries.
    pub(super) fn entries<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], NpzError> {
        let Ok(size) = usize::try_from(self.bytes) else {
            let (offset, needed, left) = (self.offset, self.bytes, bytes.len() as u64);
            return Err(NpzError::Truncated { what: "directory", offset, needed, left });
        };
        let entries = slice(bytes, "directory", self.offset, size)?;
        match self.count.checked_mul(ENTRY_BYTES as u64) {
            Some(least) if least <= self.bytes => Ok(entries),
            _ => Err(NpzError::Count { count: self.count, bytes: self.bytes }),
        }
    }
}

impl<'a> Entry<'a> {
    /// Parses the entry at the start of `rest`, at file offset `offset`, and returns it with the remaining bytes.
    pub(super) fn read(rest: &'a [u8], offset: u64) -> Result<(Self, &'a [u8]), NpzError> {
        let truncated = |needed: usize| NpzError::Truncated {
            what: "entry of the directory",
            offset,
            needed: needed as u64,
            left: rest.len() as u64,
        };
        let fixed = rest.get(..ENTRY_BYTES).ok_or_else(|| truncated(ENTRY_BYTES))?;
        if !fixed.starts_with(&ENTRY) {
            return Err(NpzError::Misplaced { what: "entry of the directory", offset });
        }
        let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(u16_at(fixed, at)));
        let len = ENTRY_BYTES + name + extra + comment;
        let (entry, rest) = rest.split_at_checked(len).ok_or_else(|| truncated(len))?;
        let (name, extra) = entry[ENTRY_BYTES..len - comment].split_at(name);
        let mut wide = Wide { left: extra_64(extra) };
        let size = wide.or(u32_at(entry, 24));
        let compressed = wide.or(u32_at(entry, 20));
        let local_offset = wide.or(u32_at(entry, 42));
        let (flags, method, crc) = (u16_at(entry, 8), u16_at(entry, 10), u32_at(entry, 16));
        Ok((Self { name, flags, method, crc, compressed, size, local_offset }, rest))
    }
}

/// Returns the file offset of a member's content, given its local header.
pub(super) fn content_start(bytes: &[u8], local_offset: u64) -> Result<u64, NpzError> {
    let local = slice(bytes, "header of a member", local_offset, LOCAL_BYTES)?;
    if !local.starts_with(&LOCAL) {
        return Err(NpzError::Misplaced { what: "header of a member", offset: local_offset });
    }
    let lengths = u64::from(u16_at(local, 26)) + u64::from(u16_at(local, 28));
    Ok(local_offset + LOCAL_BYTES as u64 + lengths)
}

/// 64-bit fields of an entry, in order: present for each 32-bit field that is at its maximum.
struct Wide<'a> {
    left: &'a [u8],
}

impl Wide<'_> {
    /// Returns the 64-bit value that replaces `narrow`.
    fn or(&mut self, narrow: u32) -> u64 {
        match self.left.split_first_chunk() {
            Some((&wide, left)) if narrow == u32::MAX => {
                self.left = left;
                u64::from_le_bytes(wide)
            }
            _ => narrow.into(),
        }
    }
}

/// Finds the 64-bit field in `extra`; returns an empty slice if it is missing.
fn extra_64(mut extra: &[u8]) -> &[u8] {
    while let Some((&[id_low, id_high, len_low, len_high], rest)) = extra.split_first_chunk() {
        let len = usize::from(u16::from_le_bytes([len_low, len_high]));
        let Some((field, rest)) = rest.split_at_checked(len) else { break };
        if u16::from_le_bytes([id_low, id_high]) == EXTRA_64 {
            return field;
        }
        extra = rest;
    }
    &[]
}

/// Returns `needed` bytes at `offset`.
fn slice<'a>(bytes: &'a [u8], what: &'static str, offset: u64, needed: usize) -> Result<&'a [u8], NpzError> {
    let from = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..));
    from.and_then(|from| from.get(..needed)).ok_or_else(|| {
        let left = (bytes.len() as u64).saturating_sub(offset);
        NpzError::Truncated { what, offset, needed: needed as u64, left }
    })
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, at))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

/// Returns `N` bytes of a record whose length was checked.
fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}
