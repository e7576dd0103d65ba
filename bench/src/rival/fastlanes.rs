//! `fastlanes`: 1024 bytes at a time in a transposed layout, vectorized by the compiler for the build's target.

use ::fastlanes::BitPacking;

use crate::buffer::Buffer;

const UNIT: usize = 1024;

/// Byte codes and their packed form.
pub(crate) struct FastLanes {
    pack: Kernel,
    unpack: Kernel,
    codes: Buffer<u8>,
    packed: Buffer<u8>,
    back: Buffer<u8>,
}

impl FastLanes {
    /// Panics unless a round trip returns the codes.
    pub(crate) fn new(bits: u8, codes: &[u8]) -> Self {
        assert!(codes.len().is_multiple_of(UNIT));
        let (pack, unpack) = kernels(bits);
        let mut lanes = Self {
            pack,
            unpack,
            codes: Buffer::from_values(codes.iter().copied()),
            packed: Buffer::new(codes.len() * usize::from(bits) / 8),
            back: Buffer::new(codes.len()),
        };
        lanes.pack();
        lanes.unpack();
        assert!(*lanes.codes == *lanes.back, "fastlanes at {bits} bits: unpacked codes differ");
        lanes
    }

    pub(crate) fn pack(&mut self) {
        (self.pack)(&self.codes, &mut self.packed);
    }

    pub(crate) fn unpack(&mut self) {
        (self.unpack)(&self.packed, &mut self.back);
    }
}

type Kernel = fn(&[u8], &mut [u8]);

/// Selects the pair of kernels for a width, which is a constant parameter of the kernels.
fn kernels(bits: u8) -> (Kernel, Kernel) {
    macro_rules! of_width {
        ($($width:literal)*) => {
            match bits {
                $($width => {
                    const PACKED: usize = UNIT * $width / 8;
                    (pack_units::<$width, PACKED>, unpack_units::<$width, PACKED>)
                })*
                _ => panic!("fastlanes packs bytes to 1 to 7 bits, not {bits}"),
            }
        };
    }
    of_width!(1 2 3 4 5 6 7)
}

fn pack_units<const W: usize, const B: usize>(codes: &[u8], out: &mut [u8]) {
    for (codes, out) in codes.as_chunks::<UNIT>().0.iter().zip(out.as_chunks_mut::<B>().0) {
        BitPacking::pack::<W, B>(codes, out);
    }
}

fn unpack_units<const W: usize, const B: usize>(packed: &[u8], out: &mut [u8]) {
    for (packed, out) in packed.as_chunks::<B>().0.iter().zip(out.as_chunks_mut::<UNIT>().0) {
        BitPacking::unpack::<W, B>(packed, out);
    }
}
