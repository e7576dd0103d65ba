//! `Bytes`: location of a tensor's bytes.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bitgrain_files::{FileWindow, MappedFile};

use crate::model::ModelFileError;

/// Bytes of a file that is mapped on demand, or bytes that were decompressed into memory.
#[derive(Debug, Clone)]
pub(crate) enum Bytes {
    File { file: Arc<MappedFile>, range: Range<u64> },
    Owned(Arc<[u8]>),
}

impl Bytes {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::File { range, .. } => range.end - range.start,
            Self::Owned(bytes) => bytes.len() as u64,
        }
    }

    /// Returns the path of the file, or `None` for bytes in memory.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::File { file, .. } => Some(file.path()),
            Self::Owned(_) => None,
        }
    }

    pub(crate) fn load(&self) -> Result<Loaded, ModelFileError> {
        match self {
            Self::File { .. } => self.window(0..self.len()),
            Self::Owned(bytes) => Ok(Loaded::Owned(Arc::clone(bytes))),
        }
    }

    /// Maps or copies some of the bytes.
    pub(crate) fn window(&self, part: Range<u64>) -> Result<Loaded, ModelFileError> {
        match self {
            Self::File { file, range } => {
                let part = range.start + part.start..range.start + part.end;
                Ok(Loaded::Window(file.window(part).map_err(ModelFileError::io(file.path()))?))
            }
            Self::Owned(bytes) => {
                let ends = usize::try_from(part.start).ok().zip(usize::try_from(part.end).ok());
                let slice = ends.and_then(|(start, end)| bytes.get(start..end));
                Ok(Loaded::Owned(slice.unwrap_or_default().into()))
            }
        }
    }
}

/// Bytes that are mapped or in memory.
#[derive(Debug)]
pub(crate) enum Loaded {
    Window(FileWindow),
    Owned(Arc<[u8]>),
}

impl std::ops::Deref for Loaded {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Window(window) => window,
            Self::Owned(bytes) => bytes,
        }
    }
}
