//! Sequential tensor writer: writes the announced tensors in order, with padding in between.

use std::io::{self, BufWriter, Write};
use std::ops::Range;

use crate::WriteError;

/// File layout for callers that write the tensors in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Header bytes at the start of the file.
    pub header: Vec<u8>,
    /// Byte range of each tensor in the file; the gaps between them are zero.
    pub ranges: Vec<Range<u64>>,
    /// Size of the file in bytes.
    pub file_len: u64,
}

/// Buffer size for small writes; tensor data bypasses the buffer.
const BUFFER: usize = 64 << 10;

/// Buffered output that tracks its position.
#[derive(Debug)]
pub(crate) struct Sink<W: Write> {
    out: BufWriter<W>,
    written: u64,
}

impl<W: Write> Sink<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out: BufWriter::with_capacity(BUFFER, out), written: 0 }
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Writes zeros up to the next multiple of `alignment`, a power of two.
    fn pad(&mut self, alignment: u64) -> io::Result<()> {
        const ZEROS: [u8; 4096] = [0; 4096];
        let mut left = self.written.wrapping_neg() & (alignment - 1);
        while left > 0 {
            let step = usize::try_from(left).map_or(ZEROS.len(), |left| left.min(ZEROS.len()));
            self.put(&ZEROS[..step])?;
            left -= step as u64;
        }
        Ok(())
    }
}

/// Announced tensor.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// Start offset from the end of the padded header.
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// Body of the file after its header.
#[derive(Debug)]
pub(crate) struct Tensors<W: Write> {
    sink: Sink<W>,
    alignment: u64,
    parts: Vec<Part>,
    /// Index of the current part.
    at: usize,
    /// Bytes left to write in the current part.
    left: u64,
}

impl<W: Write> Tensors<W> {
    /// Pads the header if a tensor follows, and moves to the first tensor.
    pub(crate) fn new(mut sink: Sink<W>, alignment: u64, parts: Vec<Part>) -> Result<Self, WriteError> {
        if !parts.is_empty() {
            sink.pad(alignment)?;
        }
        let left = parts.first().map_or(0, |part| part.bytes);
        let mut tensors = Self { sink, alignment, parts, at: 0, left };
        tensors.skip_complete()?;
        Ok(tensors)
    }

    /// Returns the name of the current tensor.
    pub(crate) fn current(&self) -> Option<&str> {
        self.parts.get(self.at).map(|part| part.name.as_str())
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let given = bytes.len() as u64;
        if given == 0 {
            return Ok(());
        }
        let Some(part) = self.parts.get(self.at) else { return Err(WriteError::AfterLast { given }) };
        if given > self.left {
            return Err(WriteError::TooManyBytes { tensor: part.name.clone(), given, left: self.left });
        }
        self.sink.put(bytes)?;
        self.left -= given;
        self.skip_complete()
    }

    pub(crate) fn finish(mut self) -> Result<W, WriteError> {
        if let Some(part) = self.parts.get(self.at) {
            let after = self.parts.len() - self.at - 1;
            return Err(WriteError::MissingBytes { tensor: part.name.clone(), missing: self.left, after });
        }
        self.sink.out.flush()?;
        Ok(self.sink.out.into_inner().map_err(io::IntoInnerError::into_error)?)
    }

    /// Returns the layout of all parts; only the header has been written so far.
    pub(crate) fn layout(self) -> Result<Layout, WriteError>
    where
        W: Into<Vec<u8>>,
    {
        let (alignment, start) = (self.alignment, self.sink.written);
        let header = self.sink.out.into_inner().map_err(io::IntoInnerError::into_error)?.into();
        let place = |part: &Part| start + part.offset..start + part.offset + part.bytes;
        let ranges: Vec<_> = self.parts.iter().map(place).collect();
        let file_len = ranges.last().map_or(start, |last| last.end.next_multiple_of(alignment));
        Ok(Layout { header, ranges, file_len })
    }

    /// Finishes the current part and the empty parts after it, each with its padding.
    fn skip_complete(&mut self) -> Result<(), WriteError> {
        while self.left == 0 && self.at < self.parts.len() {
            self.sink.pad(self.alignment)?;
            self.at += 1;
            self.left = self.parts.get(self.at).map_or(0, |part| part.bytes);
        }
        Ok(())
    }
}
