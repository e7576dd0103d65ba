//! `Catalog`: the files of a store in object storage, and the objects they consist of. Spec: `spec/objects.md`.

use super::SegmentError;
use super::cursor::Cursor;
use super::signed::SignedFile;

const WHAT: &str = "catalog";
/// Size in bytes of the part before the lists.
const FIXED: usize = 64;
const FILE: SignedFile = SignedFile {
    magic: *b"BGCATLG\0",
    what: WHAT,
    whole: "the catalog",
    start: "catalog version or flags",
    fixed: FIXED,
    last_state: 0,
};

/// Files of a store in object storage. Catalogs are numbered consecutively; the one with the highest number is current.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Catalog {
    /// Number of the catalog.
    pub number: u64,
    /// Number of times the store was opened for writing.
    pub epoch: u64,
    /// Random id of the writer.
    pub writer: [u8; 16],
    /// Time of writing, in milliseconds since 1970.
    pub time: u64,
    /// Files, sorted by name.
    pub files: Vec<CatalogFile>,
    /// Objects that no longer belong to a file, until they are deleted.
    pub dead: Vec<DeadObject>,
    /// Older catalogs that must not be deleted yet.
    pub fences: Vec<Fence>,
}

/// A file: the bytes of its parts, followed by the bytes in the catalog.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct CatalogFile {
    /// Name, from 1 to 255 bytes.
    pub name: String,
    /// Whether the file no longer changes.
    pub sealed: bool,
    /// Objects, in order.
    pub parts: Vec<ObjectPart>,
    /// Bytes after those of the parts.
    pub tail: Vec<u8>,
}

/// An object with consecutive bytes of a file. The key of the object consists of the name of the file, the writer and
/// the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ObjectPart {
    /// Writer that created the object.
    pub writer: [u8; 16],
    /// Number of the object among those of its writer.
    pub count: u64,
    /// Number of bytes that belong to the file; the object may be longer.
    pub len: u64,
}

/// An object that no longer belongs to a file. Readers of older catalogs may still need it for a while.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DeadObject {
    /// Name of the file it belonged to.
    pub name: String,
    /// Writer that created the object.
    pub writer: [u8; 16],
    /// Number of the object among those of its writer.
    pub count: u64,
    /// Time since which it is not needed, in milliseconds since 1970.
    pub since: u64,
}

/// A catalog that started an epoch. It occupies the number with which the writer before it would continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fence {
    /// Number of the catalog.
    pub number: u64,
    /// Time of writing, in milliseconds since 1970.
    pub time: u64,
}

impl Catalog {
    /// Encodes the catalog.
    ///
    /// # Errors
    /// Returns [`SegmentError::TooLong`] for a list with 2^32 entries or a longer name than 255 bytes, or
    /// [`SegmentError::Unwritable`] for names that are empty, repeated or out of order.
    pub fn encode(&self) -> Result<Vec<u8>, SegmentError> {
        if self.files.windows(2).any(|pair| pair[0].name >= pair[1].name) {
            return Err(SegmentError::Unwritable { what: "the files of a catalog", must: "sorted by name" });
        }
        let mut out = FILE.begin(0, FIXED + self.files.iter().map(|file| file.tail.len() + 64).sum::<usize>());
        for len in [self.files.len(), self.dead.len(), self.fences.len()] {
            out.extend_from_slice(&count(len)?.to_le_bytes());
        }
        out.extend_from_slice(&self.writer);
        for number in [self.number, self.epoch, self.time] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for file in &self.files {
            write_name(&mut out, &file.name)?;
            out.push(u8::from(file.sealed));
            out.extend_from_slice(&count(file.parts.len())?.to_le_bytes());
            out.extend_from_slice(&count(file.tail.len())?.to_le_bytes());
            for part in &file.parts {
                out.extend_from_slice(&part.writer);
                out.extend_from_slice(&part.count.to_le_bytes());
                out.extend_from_slice(&part.len.to_le_bytes());
            }
            out.extend_from_slice(&file.tail);
        }
        for dead in &self.dead {
            write_name(&mut out, &dead.name)?;
            out.extend_from_slice(&dead.writer);
            out.extend_from_slice(&dead.count.to_le_bytes());
            out.extend_from_slice(&dead.since.to_le_bytes());
        }
        for fence in &self.fences {
            out.extend_from_slice(&fence.number.to_le_bytes());
            out.extend_from_slice(&fence.time.to_le_bytes());
        }
        Ok(SignedFile::finish(out))
    }

    /// Reads a catalog that fills `bytes`.
    ///
    /// # Errors
    /// Returns [`SegmentError::Truncated`], [`SegmentError::Foreign`], [`SegmentError::Checksum`],
    /// [`SegmentError::FutureVersion`] or [`SegmentError::Value`].
    pub fn parse(bytes: &[u8]) -> Result<Self, SegmentError> {
        let (_, mut cursor) = FILE.open(bytes)?;
        let (files, dead, fences) = (cursor.u32(WHAT)?, cursor.u32(WHAT)?, cursor.u32(WHAT)?);
        let writer = cursor.array(WHAT)?;
        let (number, epoch, time) = (cursor.u64(WHAT)?, cursor.u64(WHAT)?, cursor.u64(WHAT)?);
        let mut catalog = Self { number, epoch, writer, time, ..Self::default() };
        // Nothing is reserved: the counts are not trusted, and each entry takes bytes that must be present.
        for _ in 0..files {
            let (offset, file) = (cursor.offset(), CatalogFile::read(&mut cursor)?);
            if catalog.files.last().is_some_and(|last| last.name >= file.name) {
                return Err(SegmentError::Value { what: "name of a file", offset });
            }
            catalog.files.push(file);
        }
        for _ in 0..dead {
            let name = read_name(&mut cursor)?;
            let (writer, count, since) = (cursor.array(WHAT)?, cursor.u64(WHAT)?, cursor.u64(WHAT)?);
            catalog.dead.push(DeadObject { name, writer, count, since });
        }
        for _ in 0..fences {
            catalog.fences.push(Fence { number: cursor.u64(WHAT)?, time: cursor.u64(WHAT)? });
        }
        cursor.end("end of the catalog")?;
        Ok(catalog)
    }
}

impl CatalogFile {
    /// Returns the length of the file in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.parts.iter().map(|part| part.len).fold(self.tail.len() as u64, u64::saturating_add)
    }

    /// Returns whether the file has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn read(cursor: &mut Cursor<'_>) -> Result<Self, SegmentError> {
        let name = read_name(cursor)?;
        let offset = cursor.offset();
        let sealed = match cursor.u8(WHAT)? {
            0 => false,
            1 => true,
            _ => return Err(SegmentError::Value { what: "state of a file", offset }),
        };
        let (count, tail) = (cursor.u32(WHAT)?, cursor.u32(WHAT)?);
        let (mut parts, mut len) = (Vec::new(), u64::from(tail));
        for _ in 0..count {
            let offset = cursor.offset();
            let part = ObjectPart { writer: cursor.array(WHAT)?, count: cursor.u64(WHAT)?, len: cursor.u64(WHAT)? };
            len = len.checked_add(part.len).ok_or(SegmentError::Value { what: "length of a part", offset })?;
            parts.push(part);
        }
        let tail = cursor.take("bytes of a file", u64::from(tail))?.to_vec();
        Ok(Self { name, sealed, parts, tail })
    }
}

fn count(len: usize) -> Result<u32, SegmentError> {
    u32::try_from(len).map_err(|_| SegmentError::TooLong { what: "a list of a catalog", len, limit: u32::MAX as usize })
}

fn write_name(out: &mut Vec<u8>, name: &str) -> Result<(), SegmentError> {
    let len = name.len();
    if !is_name(name) {
        return Err(SegmentError::Unwritable { what: "the name of a file", must: "printable ASCII without slashes" });
    }
    let short = u8::try_from(len).map_err(|_| SegmentError::TooLong { what: "the name of a file", len, limit: 255 })?;
    out.push(short);
    out.extend_from_slice(name.as_bytes());
    Ok(())
}

fn read_name(cursor: &mut Cursor<'_>) -> Result<String, SegmentError> {
    let offset = cursor.offset();
    let len = cursor.u8(WHAT)?;
    let name = cursor.utf8("name of a file", u64::from(len))?;
    if is_name(name) { Ok(name.to_owned()) } else { Err(SegmentError::Value { what: "name of a file", offset }) }
}

/// Returns whether a name can be part of an object key.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
}
