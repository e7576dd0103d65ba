//! Tensors written one after another: what was announced is what gets written, with padding in between.

use std::io::{self, BufWriter, Write};

use crate::WriteError;

/// What small writes are gathered into; tensors pass by it.
const BUFFER: usize = 64 << 10;

/// A buffered output that knows how far it is.
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

    /// Zeros up to the next multiple of `alignment`, a power of two.
    fn pad(&mut self, alignment: u64) -> io::Result<()> {
        const ZEROS: [u8; 4096] = [0; 4096];
        let mut left = self.written.wrapping_neg() & (alignment - 1);
        while left > 0 {
            let step = ZEROS.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.put(&ZEROS[..step])?;
            left -= step as u64;
        }
        Ok(())
    }
}

/// A tensor that was announced.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// Where it begins, counted from the end of the padded header.
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// The part of a file behind its header.
#[derive(Debug)]
pub(crate) struct Tensors<W: Write> {
    sink: Sink<W>,
    alignment: u64,
    parts: Vec<Part>,
    /// The part whose turn it is.
    at: usize,
    /// Bytes it still takes.
    left: u64,
}

impl<W: Write> Tensors<W> {
    /// Pads the header that `sink` holds, if any tensor follows, and waits for the bytes of the first.
    pub(crate) fn new(mut sink: Sink<W>, alignment: u64, parts: Vec<Part>) -> Result<Self, WriteError> {
        if !parts.is_empty() {
            sink.pad(alignment)?;
        }
        let left = parts.first().map_or(0, |part| part.bytes);
        let mut tensors = Self { sink, alignment, parts, at: 0, left };
        tensors.skip_complete()?;
        Ok(tensors)
    }

    /// The name of the tensor whose turn it is.
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

    /// Ends the current part and the empty ones that follow, each with its padding.
    fn skip_complete(&mut self) -> Result<(), WriteError> {
        while self.left == 0 && self.at < self.parts.len() {
            self.sink.pad(self.alignment)?;
            self.at += 1;
            self.left = self.parts.get(self.at).map_or(0, |part| part.bytes);
        }
        Ok(())
    }
}
