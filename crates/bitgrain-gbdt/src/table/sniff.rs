//! Detection of file formats.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::{FileFormat, TableError};

/// Magic number of gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Maximum size in bytes up to which every gzipped table is read.
const LEAST_LIMIT: u64 = 1 << 28;

/// Number of bytes inspected.
const HEAD: u64 = 64 << 10;

pub(super) fn format_of(path: &Path) -> Result<FileFormat, TableError> {
    if let Some(format) = FileFormat::of_name(path) {
        return Ok(format);
    }
    let mut head = Vec::new();
    opened(path)?.0.take(HEAD).read_to_end(&mut head).map_err(TableError::io(path))?;
    Ok(format_in(&head))
}

/// Returns the format of the first bytes of a file.
pub(super) fn format_in(head: &[u8]) -> FileFormat {
    match head {
        [b'P', b'A', b'R', b'1', ..] => FileFormat::Parquet,
        text if looks_like_libsvm(text) => FileFormat::Libsvm,
        _ => FileFormat::Csv,
    }
}

/// Returns whether bytes are gzipped.
pub(super) fn is_gzipped(bytes: &[u8]) -> bool {
    bytes.starts_with(&GZIP)
}

/// Decompresses bytes if they are gzipped.
pub(super) fn unzipped(bytes: &[u8]) -> std::io::Result<Cow<'_, [u8]>> {
    if !is_gzipped(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    let limit = limit_of(bytes.len() as u64);
    Ok(Cow::Owned(within(MultiGzDecoder::new(bytes), limit)?))
}

/// Reads a file, decompressed if it is gzipped.
pub(super) fn bytes_of(path: &Path) -> Result<Vec<u8>, TableError> {
    let (source, zipped) = opened(path)?;
    let limit = || Ok(limit_of(std::fs::metadata(path)?.len()));
    let limit = if zipped { limit() } else { Ok(u64::MAX - 1) };
    limit.and_then(|limit| within(source, limit)).map_err(TableError::io(path))
}

/// Returns the maximum size of a gzipped table: text that compresses better than this is most likely not a table.
fn limit_of(compressed: u64) -> u64 {
    (compressed.saturating_mul(200)).max(LEAST_LIMIT)
}

/// Reads all bytes, or fails if there are more than `limit`.
fn within(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    source.take(limit + 1).read_to_end(&mut all)?;
    if all.len() as u64 > limit {
        let problem = format!("the gzipped file expands to more than {limit} bytes; decompress it before reading");
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    Ok(all)
}

/// Opens a file, decompressing on the fly if it is gzipped; returns whether it is.
fn opened(path: &Path) -> Result<(Box<dyn Read>, bool), TableError> {
    let mut file = File::open(path).map_err(TableError::io(path))?;
    let mut head = Vec::new();
    file.by_ref().take(GZIP.len() as u64).read_to_end(&mut head).map_err(TableError::io(path))?;
    let zipped = head == GZIP;
    let whole = std::io::Cursor::new(head).chain(file);
    Ok((if zipped { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) }, zipped))
}

/// Returns whether the first nonempty line is a number followed by `index:value` pairs.
fn looks_like_libsvm(text: &[u8]) -> bool {
    let line = text.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty() && line[0] != b'#');
    let Some(line) = line.and_then(|line| std::str::from_utf8(line).ok()) else { return false };
    let mut tokens = line.split_ascii_whitespace();
    let label = tokens.next().is_some_and(|token| token.split(':').all(|part| part.parse::<f64>().is_ok()));
    let pair = |token: &str| token.split_once(':').is_some_and(|(key, _)| key == "qid" || key.parse::<u32>().is_ok());
    label && tokens.next().is_some_and(pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzipped_bytes_expand_up_to_a_limit() {
        use flate2::{Compression, write::GzEncoder};
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        io::copy(&mut io::repeat(b'1').take(1 << 20), &mut encoder).expect("memory");
        let zipped = encoder.finish().expect("memory");
        assert_eq!(unzipped(&zipped).expect("within the limit").len(), 1 << 20);
        let read = |limit| within(MultiGzDecoder::new(&zipped[..]), limit);
        assert_eq!(read(1 << 20).expect("exactly the limit").len(), 1 << 20);
        let error = read((1 << 20) - 1).expect_err("one byte more").to_string();
        assert!(error.starts_with("the gzipped file expands to more than 1048575 bytes"), "{error}");
        assert_eq!((limit_of(10), limit_of(1 << 30)), (LEAST_LIMIT, 200 << 30));
    }
}
