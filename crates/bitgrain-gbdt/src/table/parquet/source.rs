//! `Source`: a Parquet file on disk or in memory.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use ::parquet::errors::Result;
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::{Buf, Bytes};

/// A file to read.
pub(super) enum Source<'a> {
    File(&'a Path),
    Memory(Bytes),
}

impl Source<'_> {
    /// Opens the file. Each thread needs its own [`Input`]: threads that share a handle would share its position.
    pub(super) fn open(&self) -> io::Result<Input> {
        Ok(match self {
            Self::File(path) => Input::File(File::open(path)?),
            Self::Memory(bytes) => Input::Memory(bytes.clone()),
        })
    }
}

/// An open file.
pub(super) enum Input {
    File(File),
    Memory(Bytes),
}

impl Input {
    /// Returns the size in bytes.
    pub(super) fn size(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => Ok(file.metadata()?.len()),
            Self::Memory(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// Reads at most `len` bytes; fewer at the end of the file.
    pub(super) fn read(&self, start: u64, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.from(start)?.take(len).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn from(&self, start: u64) -> io::Result<Box<dyn Read + '_>> {
        Ok(match self {
            Self::File(file) => {
                let mut file: &File = file;
                file.seek(SeekFrom::Start(start))?;
                Box::new(file)
            }
            Self::Memory(bytes) => Box::new(after(bytes, start).reader()),
        })
    }
}

/// Returns the bytes from a position on; none after the end.
fn after(bytes: &Bytes, start: u64) -> Bytes {
    let start = usize::try_from(start).map_or(bytes.len(), |start| start.min(bytes.len()));
    bytes.slice(start..)
}

impl Length for Input {
    fn len(&self) -> u64 {
        match self {
            Self::File(file) => Length::len(file),
            Self::Memory(bytes) => Length::len(bytes),
        }
    }
}

impl ChunkReader for Input {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> Result<Box<dyn Read>> {
        Ok(match self {
            Self::File(file) => {
                let read: BufReader<File> = file.get_read(start)?;
                Box::new(read)
            }
            Self::Memory(bytes) => Box::new(bytes.get_read(start)?),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        match self {
            Self::File(file) => file.get_bytes(start, length),
            Self::Memory(bytes) => bytes.get_bytes(start, length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_in_memory_end_with_the_bytes() {
        let source = Source::Memory(Bytes::from_static(b"PAR1 and more"));
        let input = source.open().expect("memory opens");
        assert_eq!(input.read(0, 4).expect("readable"), b"PAR1");
        assert_eq!(input.read(9, 100).expect("readable"), b"more");
        assert_eq!(input.read(100, 4).expect("readable"), b"");
        assert_eq!(input.read(u64::MAX, 4).expect("readable"), b"");
        assert_eq!(input.size().expect("known"), 13);
        assert!(input.get_bytes(12, 2).is_err());
    }
}
