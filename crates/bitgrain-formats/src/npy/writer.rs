//! Writer of f32 arrays.

/// Header padding in bytes, which aligns the data for any element type.
const ALIGNMENT: usize = 64;

/// Returns the header of an f32 array as NumPy writes it: little-endian, C order.
///
/// ```
/// use bitgrain_formats::npy::{Header, f32_header};
/// let mut file = f32_header(&[2, 3]);
/// file.extend([0; 24]);
/// let header = Header::parse(&file)?;
/// assert_eq!((&header.shape[..], header.data_start), (&[2, 3][..], 128));
/// # Ok::<(), bitgrain_formats::npy::NpyError>(())
/// ```
#[must_use]
pub fn f32_header(shape: &[u64]) -> Vec<u8> {
    let axes: Vec<String> = shape.iter().map(u64::to_string).collect();
    // A one-element tuple needs a trailing comma.
    let comma = if axes.len() == 1 { "," } else { "" };
    let mut text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}{comma}), }}", axes.join(", "));
    let unpadded = 10 + text.len() + 1;
    text.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(ALIGNMENT) - unpadded));
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    // 64 dimensions of 20 digits, more than NumPy supports, fit the two-byte length.
    header.extend(u16::try_from(text.len()).expect("fewer than 3,000 dimensions").to_le_bytes());
    header.extend(text.as_bytes());
    header
}
