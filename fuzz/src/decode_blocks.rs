//! Decodes any bytes with every decoder on every backend: all return the same error or the same bits, without a panic.
//!
//! Input: one byte each for the signed width, the unsigned width, the block length and a shift, two for the number of
//! values, then the bytes to decode. The number of values does not depend on the number of bytes, so blocks are
//! truncated, exact or followed by further bytes. Spec: `spec/blocks.md`.

use bitgrain::kernels::blocks::{blocks_len, decode_blocks, dot_blocks};
use bitgrain::kernels::codes::{unpack_i8, unpack_u8, unpack_u16};
use bitgrain::kernels::{Backend, BitWidth, BlockLen, KernelError, UnsignedWidth};

const MAX_COUNT: u16 = 4096;

/// Parameters in the first bytes of an input.
struct Request {
    width: BitWidth,
    unsigned: UnsignedWidth,
    block: BlockLen,
    count: usize,
}

impl Request {
    /// Returns `None` if the input is shorter than its header.
    fn split(input: &[u8]) -> Option<(Self, &[u8])> {
        let (&[width, unsigned, block, shift, count @ ..], bytes) = input.split_first_chunk::<6>()?;
        let request = Self {
            width: BitWidth::ALL[usize::from(width) % BitWidth::ALL.len()],
            unsigned: UnsignedWidth::new(1 + unsigned % 16).ok()?,
            block: BlockLen::new(8 * (1 + usize::from(block))).ok()?,
            // Shifted, so that small counts, which few bytes can hold, are as likely as large ones.
            count: usize::from((u16::from_le_bytes(count) % (MAX_COUNT + 1)) >> (shift % 13)),
        };
        Some((request, bytes))
    }
}

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    if let Some((request, bytes)) = Request::split(input) {
        check_blocks(&request, bytes);
        check_codes(&request, bytes);
    }
}

fn check_blocks(&Request { width, block, count, .. }: &Request, bytes: &[u8]) {
    let bytes = exact(bytes, blocks_len(width, block, count));
    let decoded = same_everywhere(|backend| {
        let mut values = vec![0.0; count];
        let read = decode_blocks(backend, width, block, &bytes, &mut values)?;
        assert!(values.iter().all(|value| value.is_finite()), "{backend} {width:?}: decoded to {values:?}");
        Ok((read, values.into_iter().map(f32::to_bits).collect::<Vec<_>>()))
    });
    let factors = factors(&bytes, count);
    let dot = same_everywhere(|backend| {
        let dot = dot_blocks(backend, width, block, &factors, &bytes)?;
        // Backends may differ only in the payload of a NaN.
        Ok(if dot.is_nan() { f32::NAN.to_bits() } else { dot.to_bits() })
    });
    assert_eq!(dot.map(drop), decoded.map(drop), "a dot product refuses what decoding refuses");
}

fn check_codes(&Request { width, unsigned, count, .. }: &Request, bytes: &[u8]) {
    let signed_bytes = exact(bytes, width.packed_len(count));
    let signed = same_everywhere(|backend| {
        let mut codes = vec![0; count];
        unpack_i8(backend, width, &signed_bytes, &mut codes).map(|read| (read, codes))
    });
    if let Ok((_, codes)) = signed {
        assert!(codes.iter().all(|code| code.unsigned_abs() <= width.qmax()), "{width:?}: {codes:?}");
    }
    let bytes = exact(bytes, unsigned.packed_len(count));
    let words = same_everywhere(|backend| {
        let mut codes = vec![0; count];
        unpack_u16(backend, unsigned, &bytes, &mut codes).map(|read| (read, codes))
    });
    let narrow = same_everywhere(|backend| {
        let mut codes = vec![0; count];
        unpack_u8(backend, unsigned, &bytes, &mut codes).map(|read| (read, codes))
    });
    if unsigned.bits() <= 8 {
        let widened = narrow.map(|(read, codes)| (read, codes.into_iter().map(u16::from).collect()));
        assert_eq!(widened, words, "codes do not depend on the type that holds them");
    } else {
        assert_eq!(narrow, Err(KernelError::InvalidBitWidth { bits: unsigned.bits() }));
    }
}

/// Runs `read` on every backend and returns the common result.
fn same_everywhere<T: PartialEq + std::fmt::Debug>(
    read: impl Fn(Backend) -> Result<T, KernelError>,
) -> Result<T, KernelError> {
    let want = read(Backend::scalar());
    for &backend in Backend::available() {
        assert_eq!(read(backend), want, "{backend} differs from scalar");
    }
    want
}

/// Copies at most `required` bytes to a separate allocation, so that the sanitizer detects reads past the end.
fn exact(bytes: &[u8], required: usize) -> Box<[u8]> {
    bytes[..required.min(bytes.len())].into()
}

/// Returns `count` factors of any kind, including NaN and infinities.
fn factors(bytes: &[u8], count: usize) -> Vec<f32> {
    let words = bytes.as_chunks::<4>().0.iter().map(|&word| f32::from_le_bytes(word));
    words.chain([1.0, -0.5]).cycle().take(count).collect()
}
