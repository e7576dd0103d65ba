//! `Writer`: streams arrays into an uncompressed archive.

use std::io::Write;

use crate::WriteError;
use crate::crc::crc32;
use crate::npy::f32_header;

/// Record signatures of ZIP.
const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// Minimum ZIP version for stored members.
const VERSION: u16 = 20;
/// Flag of UTF-8 names.
const UTF8: u16 = 1 << 11;
/// First day of ZIP's calendar, so that archives of the same arrays are byte-identical.
const DATE: u16 = (1 << 5) | 1;

/// Writes f32 arrays, like `np.savez`.
///
/// ```
/// use bitgrain_formats::npz::{Archive, Writer};
/// let mut writer = Writer::new(Vec::new());
/// writer.add("a", &[2], &[1.0, 2.0])?;
/// let file = writer.finish()?;
/// assert_eq!(Archive::parse(&file)?.members[0].name, "a.npy");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    written: u64,
    directory: Vec<u8>,
    members: u16,
}

impl<W: Write> Writer<W> {
    /// Creates an archive without members.
    pub fn new(out: W) -> Self {
        Self { out, written: 0, directory: Vec::new(), members: 0 }
    }

    /// Appends an array.
    ///
    /// # Errors
    /// Returns [`WriteError::NpzLimit`] or [`WriteError::Io`].
    pub fn add(&mut self, name: &str, shape: &[u64], values: &[f32]) -> Result<(), WriteError> {
        let limit = || WriteError::NpzLimit { name: name.to_owned() };
        let file_name = format!("{name}.npy");
        let mut content = f32_header(shape);
        content.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let len = u32::try_from(content.len()).map_err(|_| limit())?;
        let offset = u32::try_from(self.written).map_err(|_| limit())?;
        let name_len = u16::try_from(file_name.len()).map_err(|_| limit())?;
        self.members = self.members.checked_add(1).ok_or_else(limit)?;
        // Fields shared by the local header and the directory entry.
        let mut both = Vec::with_capacity(26);
        for field in [VERSION, UTF8, 0, 0, DATE] {
            both.extend(field.to_le_bytes());
        }
        both.extend(crc32(&content).to_le_bytes());
        both.extend(len.to_le_bytes());
        both.extend(len.to_le_bytes());
        both.extend(name_len.to_le_bytes());
        both.extend([0; 2]);
        self.put(&LOCAL.to_le_bytes())?;
        self.put(&both)?;
        self.put(file_name.as_bytes())?;
        self.put(&content)?;
        self.directory.extend(CENTRAL.to_le_bytes());
        self.directory.extend(VERSION.to_le_bytes());
        self.directory.extend(&both);
        // No comment, disk 0, no attributes.
        self.directory.extend([0; 10]);
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(file_name.as_bytes());
        Ok(())
    }

    /// Writes the directory and returns the output.
    ///
    /// # Errors
    /// Returns [`WriteError::NpzLimit`] or [`WriteError::Io`].
    pub fn finish(mut self) -> Result<W, WriteError> {
        let limit = |_| WriteError::NpzLimit { name: "the archive".to_owned() };
        let start = u32::try_from(self.written).map_err(limit)?;
        let len = u32::try_from(self.directory.len()).map_err(limit)?;
        let directory = std::mem::take(&mut self.directory);
        self.put(&directory)?;
        let mut end = END.to_le_bytes().to_vec();
        end.extend([0; 4]);
        end.extend(self.members.to_le_bytes());
        end.extend(self.members.to_le_bytes());
        end.extend(len.to_le_bytes());
        end.extend(start.to_le_bytes());
        end.extend([0; 2]);
        self.put(&end)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.out.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}
