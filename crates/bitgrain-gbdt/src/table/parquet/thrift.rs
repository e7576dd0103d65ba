//! Thrift's compact protocol, walked before Parquet's reader sees it.
//!
//! That reader steps over fields it does not know, and a list of booleans takes it no bytes: a few bytes of a file could
//! ask for 2³¹ steps. Neither footers nor page headers have such lists, so they are refused here. The reader takes a
//! known field as what it should be and not as what the file says it is, so a file made for that can still be slow.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use ::parquet::errors::{ParquetError, Result};

/// Structs and lists within each other at most; Parquet's reader has the same limit.
const MAX_DEPTH: usize = 64;

/// Bytes of a page header that are read at first: nearly all are shorter.
const HEADER: u64 = 256;

/// Checks the footer of a file of `len` bytes. A file without one is left to Parquet's reader, which says what is wrong.
pub(super) fn check_footer(file: &File, len: u64) -> Result<()> {
    const END: u64 = 8;
    let Some(end) = len.checked_sub(END) else { return Ok(()) };
    let tail = read(file, end, END)?;
    let Some((&size, b"PAR1")) = tail.split_first_chunk() else { return Ok(()) };
    let size = u64::from(u32::from_le_bytes(size));
    let Some(start) = end.checked_sub(size) else { return Ok(()) };
    Walk(&read(file, start, size)?).fields(MAX_DEPTH).map(drop).map_err(|fault| fault.at("footer", start))
}

/// Checks the headers of the pages in a range of a file.
pub(super) fn check_pages(file: &File, range: Range<u64>) -> Result<()> {
    let mut at = range.start;
    while at < range.end {
        let left = range.end - at;
        let (header, size) = match page(&read(file, at, left.min(HEADER))?) {
            Err(Fault::Short) if left > HEADER => page(&read(file, at, left)?),
            page => page,
        }
        .map_err(|fault| fault.at("page header", at))?;
        at = at.saturating_add(header).saturating_add(size);
    }
    Ok(())
}

fn read(mut file: &File, start: u64, len: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(len).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Bytes of the header that `bytes` begins with, and of the page after it.
fn page(bytes: &[u8]) -> std::result::Result<(u64, u64), Fault> {
    let mut walk = Walk(bytes);
    let size = walk.fields(MAX_DEPTH)?.and_then(|size| u64::try_from(size).ok()).ok_or(Fault::Size)?;
    Ok(((bytes.len() - walk.0.len()) as u64, size))
}

/// Why a struct was not walked to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Short,
    Booleans,
    Kind,
    Depth,
    Size,
}

impl Fault {
    fn at(self, what: &str, offset: u64) -> ParquetError {
        let reason = match self {
            Self::Short => "it ends too early",
            Self::Booleans => "a list of booleans",
            Self::Kind => "an unknown type",
            Self::Depth => "too many levels",
            Self::Size => "no size of the page",
        };
        ParquetError::General(format!("damaged {what} at offset {offset}: {reason}"))
    }
}

/// Bytes that have not been walked yet.
struct Walk<'a>(&'a [u8]);

impl Walk<'_> {
    /// Walks the fields of a struct. Returns the third if it is an integer: the compressed size in a page header.
    fn fields(&mut self, depth: usize) -> std::result::Result<Option<i64>, Fault> {
        let (mut id, mut third) = (0_i64, None);
        loop {
            let byte = self.byte()?;
            let kind = byte & 15;
            if kind == 0 {
                return Ok(third);
            }
            id = match byte >> 4 {
                0 => zigzag(self.varint()?),
                delta => id.wrapping_add(delta.into()),
            };
            if id == 3 && matches!(kind, 4..=6) {
                third = Some(zigzag(self.varint()?));
            } else {
                self.value(kind, depth)?;
            }
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> std::result::Result<(), Fault> {
        let depth = depth.checked_sub(1).ok_or(Fault::Depth)?;
        match kind {
            1 | 2 => Ok(()),
            3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let len = self.varint()?;
                self.skip(len)
            }
            9 | 10 => match self.byte()? {
                0 => Ok(()),
                head if head >> 4 == 15 => {
                    let count = self.varint()?;
                    self.elements(count, &[head & 15], depth)
                }
                head => self.elements(u64::from(head >> 4), &[head & 15], depth),
            },
            11 => match self.varint()? {
                0 => Ok(()),
                count => {
                    let kinds = self.byte()?;
                    self.elements(count, &[kinds >> 4, kinds & 15], depth)
                }
            },
            12 => self.fields(depth).map(drop),
            13 => self.skip(16),
            _ => Err(Fault::Kind),
        }
    }

    /// Elements of a list, or pairs of a map. Each takes a byte at least, so their count needs no limit.
    fn elements(&mut self, count: u64, kinds: &[u8], depth: usize) -> std::result::Result<(), Fault> {
        if count > 0 && kinds.iter().any(|kind| matches!(kind, 1 | 2)) {
            return Err(Fault::Booleans);
        }
        (0..count).try_for_each(|_| kinds.iter().try_for_each(|kind| self.value(*kind, depth)))
    }

    fn byte(&mut self) -> std::result::Result<u8, Fault> {
        let (byte, rest) = self.0.split_first().ok_or(Fault::Short)?;
        self.0 = rest;
        Ok(*byte)
    }

    fn skip(&mut self, len: u64) -> std::result::Result<(), Fault> {
        let rest = usize::try_from(len).ok().and_then(|len| self.0.get(len..));
        self.0 = rest.ok_or(Fault::Short)?;
        Ok(())
    }

    fn varint(&mut self) -> std::result::Result<u64, Fault> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).wrapping_shl(shift);
            shift += 7;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
    }
}

fn zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(bytes: &[u8]) -> std::result::Result<Option<i64>, Fault> {
        Walk(bytes).fields(MAX_DEPTH)
    }

    #[test]
    fn every_type_is_walked_to_its_end() {
        let fields = [&[0x15, 2][..], &[0x11, 0x12], &[0x13, 9], &[0x17], &[0; 8], &[0x18, 2, b'a', b'b']].concat();
        let more =
            [&[0x19, 0x25, 1, 2][..], &[0x1b, 1, 0x58, 3, 1, b'k'], &[0x1c, 0], &[0x1d], &[7; 16], &[0]].concat();
        let whole = [&fields[..], &more].concat();
        let mut walk = Walk(&whole);
        assert_eq!((walk.fields(MAX_DEPTH), walk.0), (Ok(None), &[][..]));
        for len in 0..whole.len() {
            assert_eq!(walked(&whole[..len]), Err(Fault::Short), "{len}");
        }
    }

    #[test]
    fn lists_of_booleans_and_endless_nesting_are_refused() {
        assert_eq!(walked(&[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0]), Err(Fault::Booleans));
        assert_eq!(walked(&[0x1b, 0xff, 0xff, 0xff, 0xff, 7, 0x12, 0]), Err(Fault::Booleans));
        assert_eq!(walked(&[0x1c; 100]), Err(Fault::Depth));
        assert_eq!(walked(&[0x1e]), Err(Fault::Kind));
    }

    #[test]
    fn a_page_is_as_long_as_its_third_field_says() {
        assert_eq!(page(&[0x15, 0, 0x15, 40, 0x15, 20, 0, 1, 2]), Ok((7, 10)));
        assert_eq!(page(&[0x15, 0, 0]), Err(Fault::Size));
        assert_eq!(page(&[0x35, 1, 0]), Err(Fault::Size));
    }
}
