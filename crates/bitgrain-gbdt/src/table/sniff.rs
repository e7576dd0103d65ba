//! Detection of file formats.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::{FileFormat, TableError};

/// Magic number of gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Number of bytes inspected.
const HEAD: u64 = 64 << 10;

pub(super) fn format_of(path: &Path) -> Result<FileFormat, TableError> {
    if let Some(format) = FileFormat::of_name(path) {
        return Ok(format);
    }
    let mut head = Vec::new();
    opened(path)?.take(HEAD).read_to_end(&mut head).map_err(TableError::io(path))?;
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

/// Decompresses bytes if they are gzipped.
pub(super) fn unzipped(bytes: &[u8]) -> std::io::Result<Cow<'_, [u8]>> {
    if !bytes.starts_with(&GZIP) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut all = Vec::new();
    MultiGzDecoder::new(bytes).read_to_end(&mut all)?;
    Ok(Cow::Owned(all))
}

/// Reads a file, decompressed if it is gzipped.
pub(super) fn bytes_of(path: &Path) -> Result<Vec<u8>, TableError> {
    let mut bytes = Vec::new();
    opened(path)?.read_to_end(&mut bytes).map_err(TableError::io(path))?;
    Ok(bytes)
}

/// Opens a file, decompressing on the fly if it is gzipped.
fn opened(path: &Path) -> Result<Box<dyn Read>, TableError> {
    let mut file = File::open(path).map_err(TableError::io(path))?;
    let mut head = Vec::new();
    file.by_ref().take(GZIP.len() as u64).read_to_end(&mut head).map_err(TableError::io(path))?;
    let zipped = head == GZIP;
    let whole = std::io::Cursor::new(head).chain(file);
    Ok(if zipped { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) })
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
