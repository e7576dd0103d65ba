//! `Writer` and `Reader`: numbers and strings as bytes, little-endian. Every worker runs the same program, so there is
//! no version; lengths are checked nevertheless.

use super::CommunicationError;

/// Bytes to send.
#[derive(Debug, Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn u64(&mut self, number: u64) -> &mut Self {
        self.0.extend(number.to_le_bytes());
        self
    }

    pub(crate) fn f64s(&mut self, numbers: &[f64]) -> &mut Self {
        self.u64(numbers.len() as u64);
        self.0.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        self
    }

    pub(crate) fn f32s(&mut self, numbers: &[f32]) -> &mut Self {
        self.u64(numbers.len() as u64);
        self.0.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        self
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.u64(text.len() as u64);
        self.0.extend(text.as_bytes());
        self
    }

    pub(crate) fn texts(&mut self, texts: &[String]) -> &mut Self {
        self.u64(texts.len() as u64);
        texts.iter().for_each(|text| {
            self.text(text);
        });
        self
    }
}

/// Received bytes.
#[derive(Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], CommunicationError> {
        let Some((taken, rest)) = self.0.split_at_checked(len) else {
            return Err(CommunicationError::Mismatch { message: "a message is too short".into() });
        };
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, CommunicationError> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    /// Returns a count of items of some bytes each, which the message must hold.
    fn count(&mut self, size: usize) -> Result<usize, CommunicationError> {
        let count = self.u64()?;
        let fits = usize::try_from(count).ok().filter(|count| *count <= self.0.len() / size);
        fits.ok_or_else(|| CommunicationError::Mismatch { message: "a message is too short".into() })
    }

    pub(crate) fn f64s(&mut self) -> Result<Vec<f64>, CommunicationError> {
        let count = self.count(8)?;
        Ok(self.take(count * 8)?.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
    }

    pub(crate) fn f32s(&mut self) -> Result<Vec<f32>, CommunicationError> {
        let count = self.count(4)?;
        Ok(self.take(count * 4)?.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    pub(crate) fn text(&mut self) -> Result<String, CommunicationError> {
        let len = self.count(1)?;
        Ok(String::from_utf8_lossy(self.take(len)?).into_owned())
    }

    pub(crate) fn texts(&mut self) -> Result<Vec<String>, CommunicationError> {
        let count = self.count(8)?;
        (0..count).map(|_| self.text()).collect()
    }
}
