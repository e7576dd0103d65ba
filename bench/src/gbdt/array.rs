//! `.npy` files, the input format of all contenders.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use bitgrain::formats::npy::{ByteOrder, Element, Header};

/// Writes f32 values as rows of `columns`, or as a vector if `columns` is `None`.
pub(super) fn write(path: &Path, values: &[f32], columns: Option<usize>) -> io::Result<()> {
    let mut file = start(path, "<f4", values.len(), columns)?;
    values.iter().try_for_each(|value| file.write_all(&value.to_le_bytes()))?;
    file.flush()
}

/// Writes a vector of f64.
pub(super) fn write_wide(path: &Path, values: &[f64]) -> io::Result<()> {
    let mut file = start(path, "<f8", values.len(), None)?;
    values.iter().try_for_each(|value| file.write_all(&value.to_le_bytes()))?;
    file.flush()
}

/// Reads f32 values and the length of their rows, which is 1 for a vector.
pub(super) fn read(path: &Path) -> io::Result<(Vec<f32>, usize)> {
    let (bytes, header) = open(path, Element::F32)?;
    let columns = header.shape.get(1).map_or(Ok(1), |&columns| usize::try_from(columns)).map_err(io::Error::other)?;
    let (chunks, _) = bytes[header.range()].as_chunks::<4>();
    Ok((chunks.iter().map(|&value| f32::from_le_bytes(value)).collect(), columns))
}

/// Reads f64 values.
pub(super) fn read_wide(path: &Path) -> io::Result<Vec<f64>> {
    let (bytes, header) = open(path, Element::F64)?;
    let (chunks, _) = bytes[header.range()].as_chunks::<8>();
    Ok(chunks.iter().map(|&value| f64::from_le_bytes(value)).collect())
}

fn start(path: &Path, dtype: &str, len: usize, columns: Option<usize>) -> io::Result<BufWriter<File>> {
    let shape = columns.map_or_else(|| format!("{len},"), |columns| format!("{}, {columns}", len / columns));
    let mut text = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({shape}), }}");
    // The format requires data to start at a multiple of 64 bytes.
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    file.write_all(b"\x93NUMPY\x01\x00")?;
    file.write_all(&u16::try_from(text.len()).map_err(io::Error::other)?.to_le_bytes())?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

fn open(path: &Path, element: Element) -> io::Result<(Vec<u8>, Header)> {
    let failed = |why: String| io::Error::other(format!("{}: {why}", path.display()));
    let bytes = std::fs::read(path).map_err(|e| failed(e.to_string()))?;
    let header = Header::parse(&bytes).map_err(|e| failed(e.to_string()))?;
    let fits = header.dtype.element == element && header.dtype.order != ByteOrder::Big && !header.fortran_order;
    if fits { Ok((bytes, header)) } else { Err(failed(format!("not rows of little-endian {element:?}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn arrays_round_trip() {
        let folder = Scratch::new("array").expect("a folder");
        let path = folder.file("it.npy");
        let values = [1.0, -0.0, f32::INFINITY, 3.5, 1e-45, 6.0];
        write(&path, &values, Some(3)).expect("room");
        let (back, columns) = read(&path).expect("an array");
        assert_eq!((back.map_bits(), columns), (values.to_vec().map_bits(), 3));
        assert!(read_wide(&path).is_err(), "they are not f64");
        write_wide(&path, &[0.1, -2.0]).expect("room");
        assert_eq!(read_wide(&path).expect("an array"), [0.1, -2.0]);
    }

    trait Bits {
        fn map_bits(self) -> Vec<u32>;
    }

    impl Bits for Vec<f32> {
        fn map_bits(self) -> Vec<u32> {
            self.into_iter().map(f32::to_bits).collect()
        }
    }
}
