//! Validation of Thrift's compact protocol before the Parquet reader sees it.
//!
//! The reader skips unknown fields, and skipping a list of booleans consumes no bytes; at the end of a file, the reader
//! of page headers skips values of fixed size without an error. Either way a few bytes of a file could cause 2³¹ steps.
//! Footers and page headers do not contain lists of booleans, so such lists are rejected here, as is a header that does
//! not end within its column chunk. Fields that the reader knows must have their specified type: see [`super::fields`].

use std::ops::Range;

use ::parquet::basic::Compression;
use ::parquet::errors::{ParquetError, Result};

use super::fields::{FILE_METADATA, Fields, PAGE_HEADER, Wire};
use super::source::Input;

/// Maximum nesting of structs and lists, the same as in the Parquet reader.
const MAX_DEPTH: usize = 64;

/// Bytes of a page header that are read at first; nearly all headers are shorter.
const HEADER: u64 = 256;

/// Checks the footer of a file of `len` bytes. A file without a footer is left to the Parquet reader's error.
pub(super) fn check_footer(file: &Input, len: u64) -> Result<()> {
    const END: u64 = 8;
    let Some(end) = len.checked_sub(END) else { return Ok(()) };
    let tail = file.read(end, END)?;
    let Some((&size, b"PAR1")) = tail.split_first_chunk() else { return Ok(()) };
    let size = u64::from(u32::from_le_bytes(size));
    let Some(start) = end.checked_sub(size) else { return Ok(()) };
    let footer = file.read(start, size)?;
    Walk(&footer).fields(FILE_METADATA, MAX_DEPTH).map(drop).map_err(|fault| fault.at("footer", start))
}

/// Checks the page headers in a range of a file, given the compression of the pages.
pub(super) fn check_pages(file: &Input, range: Range<u64>, compression: Compression) -> Result<()> {
    let mut at = range.start;
    while at < range.end {
        let left = range.end - at;
        let (header, sizes) = match page(&file.read(at, left.min(HEADER))?) {
            Err(Fault::Short) if left > HEADER => page(&file.read(at, left)?),
            page => page,
        }
        .map_err(|fault| fault.at("page header", at))?;
        if sizes.uncompressed > largest(sizes.compressed, compression) {
            return Err(Fault::Expansion.at("page header", at));
        }
        at = at.saturating_add(header).saturating_add(sizes.compressed);
    }
    Ok(())
}

/// Maximum uncompressed size of a page: the Parquet reader allocates the declared size before it decompresses.
fn largest(compressed: u64, compression: Compression) -> u64 {
    /// Size that is always allowed: larger than the pages of real writers, and cheap to allocate even for a bad page.
    const ANY: u64 = 64 << 20;
    let factor = match compression {
        // The reader does not copy uncompressed pages.
        Compression::UNCOMPRESSED => return u64::MAX,
        // Maximum expansion: copies of 64 bytes in 3, lengths that grow by 255 per byte, copies of 258 bytes in 2 bits.
        Compression::SNAPPY => 22,
        Compression::LZ4 | Compression::LZ4_RAW => 256,
        Compression::GZIP(_) => 1032,
        _ => 1 << 16,
    };
    compressed.saturating_mul(factor).max(ANY)
}

/// Sizes of a page without its header, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sizes {
    uncompressed: u64,
    compressed: u64,
}

/// Returns the size of the header that `bytes` starts with, and the sizes of its page.
fn page(bytes: &[u8]) -> std::result::Result<(u64, Sizes), Fault> {
    let mut walk = Walk(bytes);
    let [uncompressed, compressed] = walk.fields(PAGE_HEADER, MAX_DEPTH)?;
    // The reader would truncate larger sizes to 32 bits.
    let size = |size: Option<i64>| {
        let size = size.and_then(|size| i32::try_from(size).ok());
        size.and_then(|size| u64::try_from(size).ok()).ok_or(Fault::Size)
    };
    let sizes = Sizes { uncompressed: size(uncompressed)?, compressed: size(compressed)? };
    Ok(((bytes.len() - walk.0.len()) as u64, sizes))
}

/// Reason why a struct is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Short,
    Booleans,
    Kind,
    Depth,
    Size,
    Expansion,
}

impl Fault {
    fn at(self, what: &str, offset: u64) -> ParquetError {
        let reason = match self {
            Self::Short => "unexpected end",
            Self::Booleans => "unexpected list of booleans",
            Self::Kind => "field of an unknown or unexpected type",
            Self::Depth => "nested too deeply",
            Self::Size => "missing or invalid page size",
            Self::Expansion => "the uncompressed size is impossible",
        };
        ParquetError::General(format!("corrupt {what} at offset {offset}: {reason}"))
    }
}

/// Cursor over the bytes that are not validated yet.
struct Walk<'a>(&'a [u8]);

impl Walk<'_> {
    /// Validates the fields of a struct, of which some are known. Returns fields 2 and 3 if they are integers: the
    /// sizes in a page header.
    #[expect(clippy::cast_possible_truncation, reason = "the Parquet reader truncates ids, too")]
    fn fields(&mut self, known: Fields, depth: usize) -> std::result::Result<[Option<i64>; 2], Fault> {
        let (mut id, mut sizes) = (0_i16, [None; 2]);
        loop {
            let byte = self.byte()?;
            let kind = byte & 15;
            if kind == 0 {
                return Ok(sizes);
            }
            id = match byte >> 4 {
                0 => zigzag(self.varint()?) as i16,
                delta => id.checked_add(delta.into()).ok_or(Fault::Kind)?,
            };
            let wire = known.iter().find(|field| field.0 == id).map(|field| field.1);
            if wire.is_some_and(|wire| !wire.is(kind)) {
                return Err(Fault::Kind);
            }
            match (id, kind) {
                (2, 4..=6) => sizes[0] = Some(zigzag(self.varint()?)),
                (3, 4..=6) => sizes[1] = Some(zigzag(self.varint()?)),
                _ => self.value(kind, wire, depth)?,
            }
        }
    }

    /// Validates a value of the type that the file declares, which must match `wire` if the field is known.
    fn value(&mut self, kind: u8, wire: Option<Wire>, depth: usize) -> std::result::Result<(), Fault> {
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
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                let element = if let Some(Wire::List(element)) = wire { Some(*element) } else { None };
                if count > 0 && element.is_some_and(|element| !element.is(head & 15)) {
                    return Err(Fault::Kind);
                }
                self.elements(count, &[head & 15], element, depth)
            }
            11 => match self.varint()? {
                0 => Ok(()),
                count => {
                    let kinds = self.byte()?;
                    self.elements(count, &[kinds >> 4, kinds & 15], None, depth)
                }
            },
            12 => {
                let known = if let Some(Wire::Struct(known)) = wire { known } else { &[] };
                self.fields(known, depth).map(drop)
            }
            13 => self.skip(16),
            _ => Err(Fault::Kind),
        }
    }

    /// Validates the elements of a list, or the pairs of a map. Each takes at least one byte, so the count needs no
    /// limit.
    fn elements(
        &mut self,
        count: u64,
        kinds: &[u8],
        wire: Option<Wire>,
        depth: usize,
    ) -> std::result::Result<(), Fault> {
        if count > 0 && kinds.iter().any(|kind| matches!(kind, 1 | 2)) {
            return Err(Fault::Booleans);
        }
        (0..count).try_for_each(|_| kinds.iter().try_for_each(|kind| self.value(*kind, wire, depth)))
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
    use ::parquet::basic::GzipLevel;

    use super::*;

    fn walked(bytes: &[u8]) -> std::result::Result<[Option<i64>; 2], Fault> {
        Walk(bytes).fields(&[], MAX_DEPTH)
    }

    #[test]
    fn every_type_is_walked_to_its_end() {
        let fields = [&[0x15, 2][..], &[0x11, 0x12], &[0x13, 9], &[0x17], &[0; 8], &[0x18, 2, b'a', b'b']].concat();
        let more =
            [&[0x19, 0x25, 1, 2][..], &[0x1b, 1, 0x58, 3, 1, b'k'], &[0x1c, 0], &[0x1d], &[7; 16], &[0]].concat();
        let whole = [&fields[..], &more].concat();
        let mut walk = Walk(&whole);
        assert_eq!((walk.fields(&[], MAX_DEPTH), walk.0), (Ok([None; 2]), &[][..]));
        for len in 0..whole.len() {
            assert_eq!(walked(&whole[..len]), Err(Fault::Short), "{len}");
        }
    }

    #[test]
    fn lists_of_booleans_and_endless_nesting_are_rejected() {
        assert_eq!(walked(&[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0]), Err(Fault::Booleans));
        assert_eq!(walked(&[0x1b, 0xff, 0xff, 0xff, 0xff, 7, 0x12, 0]), Err(Fault::Booleans));
        assert_eq!(walked(&[0x1c; 100]), Err(Fault::Depth));
        assert_eq!(walked(&[0x1e]), Err(Fault::Kind));
    }

    /// The reader would parse the list of doubles as a struct: its first byte as a field, the rest as further fields.
    #[test]
    fn known_fields_of_another_type_are_rejected() {
        let header = |fifth: &[u8]| [&[0x15, 0, 0x15, 40, 0x15, 20][..], fifth, &[0]].concat();
        let sizes = Sizes { uncompressed: 20, compressed: 10 };
        assert_eq!(page(&header(&[0x2c, 0x15, 8, 0x15, 0, 0x15, 6, 0x15, 6, 0])), Ok((17, sizes)));
        assert_eq!(page(&header(&[0x29, 0x17, 0, 0, 0, 0, 0, 0, 0, 0])), Err(Fault::Kind));
        assert_eq!(page(&header(&[0x2c, 0x18, 1, b'a', 0])), Err(Fault::Kind), "a string instead of a count of values");
        // The id 65,539 is 3 in 16 bits.
        assert_eq!(page(&[0x15, 0, 0x15, 40, 0x08, 0x86, 0x80, 0x08, 1, b'a', 0]), Err(Fault::Kind));
        let footer = |bytes: &[u8]| Walk(bytes).fields(FILE_METADATA, MAX_DEPTH);
        assert_eq!(footer(&[0x29, 0x1c, 0x48, 1, b'a', 0, 0]), Ok([None; 2]), "a schema with one column");
        assert_eq!(footer(&[0x29, 0x15, 0, 0]), Err(Fault::Kind), "a schema of integers");
        assert_eq!(footer(&[0x29, 0x1c, 0x45, 1, 0, 0]), Err(Fault::Kind), "an integer instead of a name");
        assert_eq!(footer(&[0x29, 0, 0]), Ok([None; 2]), "an empty list without a type");
    }

    #[test]
    fn a_page_is_as_long_as_its_third_field_says() {
        let sizes = Sizes { uncompressed: 20, compressed: 10 };
        assert_eq!(page(&[0x15, 0, 0x15, 40, 0x15, 20, 0, 1, 2]), Ok((7, sizes)));
        assert_eq!(page(&[0x15, 0, 0]), Err(Fault::Size));
        assert_eq!(page(&[0x35, 1, 0]), Err(Fault::Size));
        let beyond = [0x15, 0, 0x15, 40, 0x15, 0x94, 0x80, 0x80, 0x80, 0x20, 0];
        assert_eq!(page(&beyond), Err(Fault::Size), "10 in its lower 32 bits");
    }

    #[test]
    fn pages_expand_as_far_as_their_compression_can() {
        let gzip = Compression::GZIP(GzipLevel::default());
        assert_eq!(largest(100, gzip), 64 << 20);
        assert_eq!(largest(1 << 20, gzip), 1032 << 20);
        assert_eq!(largest(1 << 20, Compression::SNAPPY), 64 << 20);
        assert_eq!(largest(1, Compression::UNCOMPRESSED), u64::MAX);
    }
}
