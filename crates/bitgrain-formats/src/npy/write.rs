//! Arrays as npy files: version 1, little-endian, the last dimension contiguous.

use super::header::MAGIC;

/// Elements begin at a multiple of this, as NumPy has it.
const ALIGNMENT: usize = 64;

/// The bytes of a file with a matrix of f32: rows of `cols`, one behind the other. Values that are not whole rows are
/// left out.
///
/// ```
/// use bitgrain_formats::npy::{Element, Header, matrix_file};
/// let file = matrix_file(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3);
/// let header = Header::parse(&file)?;
/// assert_eq!((header.dtype.element, &header.shape[..]), (Element::F32, &[2, 3][..]));
/// assert_eq!(file[header.range()][..4], 1.0_f32.to_le_bytes());
/// assert_eq!(header.data_start % 64, 0);
/// # Ok::<(), bitgrain_formats::npy::NpyError>(())
/// ```
#[must_use]
pub fn matrix_file(values: &[f32], cols: usize) -> Vec<u8> {
    let rows = values.len().checked_div(cols).unwrap_or(0);
    let mut text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {cols}), }}");
    let before = MAGIC.len() + 4;
    while !(before + text.len() + 1).is_multiple_of(ALIGNMENT) {
        text.push(' ');
    }
    text.push('\n');
    let len = u16::try_from(text.len()).expect("two numbers and a few words");
    let mut file = [&MAGIC[..], &[1, 0], &len.to_le_bytes(), text.as_bytes()].concat();
    file.extend(values[..rows * cols].iter().flat_map(|value| value.to_le_bytes()));
    file
}
