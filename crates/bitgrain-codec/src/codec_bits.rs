//! Bit packing of signed codes: one packer for every width. Spec: `spec/blocks.md#packed-codes`.

use bitgrain_kernels::codes::{pack_i8, unpack_i8};
use bitgrain_kernels::{Backend, BitWidth};

use crate::CodecErr;

/// Packs signed codes of `bits` bits, each biased by `2^(bits-1) - 1`, least significant bit first. Returns the number
/// of bytes written. Never allocates.
///
/// ```
/// use bitgrain_codec::pack_bits;
/// let mut out = [0; 3];
/// assert_eq!(pack_bits(&[0; 8], 3, &mut out)?, 3); // eight 3-bit codes fill three bytes
/// assert_eq!(out, [0b11_011_011, 0b1_011_011_0, 0b011_011_01]); // the bias of 3, eight times
/// # Ok::<(), bitgrain_codec::CodecErr>(())
/// ```
///
/// # Errors
/// Returns [`CodecErr::InvalidBitWidth`] unless `bits` is 2 to 8, [`CodecErr::OutputTooSmall`], or
/// [`CodecErr::CodeOutOfRange`] for a code beyond `±(2^(bits-1) - 1)`.
pub fn pack_bits(values: &[i8], bits: u8, out: &mut [u8]) -> Result<usize, CodecErr> {
    Ok(pack_i8(Backend::best(), BitWidth::new(bits)?, values, out)?)
}

/// Unpacks `out.len()` signed codes of `bits` bits. Returns the number of bytes read. Never allocates.
///
/// # Errors
/// Returns [`CodecErr::InvalidBitWidth`] unless `bits` is 2 to 8, [`CodecErr::InputTooSmall`], or
/// [`CodecErr::CodeOutOfRange`] for the pattern with every bit set, which [`pack_bits`] never writes.
pub fn unpack_bits(inp: &[u8], bits: u8, out: &mut [i8]) -> Result<usize, CodecErr> {
    Ok(unpack_i8(Backend::best(), BitWidth::new(bits)?, inp, out)?)
}

/// A bit-level packing of signed codes.
pub trait BitCodec {
    /// Packs codes into bytes. Returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`pack_bits`].
    fn pack(&self, codes: &[i8], bits: u8, out: &mut [u8]) -> Result<usize, CodecErr>;

    /// Unpacks `out.len()` codes. Returns the number of bytes read.
    ///
    /// # Errors
    /// Returns the errors of [`unpack_bits`].
    fn unpack(&self, data: &[u8], bits: u8, out: &mut [i8]) -> Result<usize, CodecErr>;
}

/// The packing of [`pack_bits`] and [`unpack_bits`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StandardBitCodec;

impl BitCodec for StandardBitCodec {
    fn pack(&self, codes: &[i8], bits: u8, out: &mut [u8]) -> Result<usize, CodecErr> {
        pack_bits(codes, bits, out)
    }

    fn unpack(&self, data: &[u8], bits: u8, out: &mut [i8]) -> Result<usize, CodecErr> {
        unpack_bits(data, bits, out)
    }
}
