//! Shared state of the frames of a run: the decoded key frame and the shared scales.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bitgrain_codec::{BitWidth, BlockLen, CodecErr, ScaleType, decode_codes, max_abs};

/// Values processed at once, unless a block is longer: they stay in the L1 cache between two passes.
const GROUP: usize = 2048;

/// An open run. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) key: Arc<Key>,
    /// Scales of the latest difference that has its own.
    pub(super) difference: Option<Arc<Scales>>,
}

/// The decoded first frame of a run.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) block: BlockLen,
    pub(super) scales: Scales,
    pub(super) values: Vec<f32>,
    maxima: OnceLock<Vec<f32>>,
}

/// Scales that frames share.
#[derive(Debug)]
pub(super) struct Scales {
    /// Index of the frame that contains them.
    pub(super) index: u64,
    pub(super) width: BitWidth,
    pub(super) scale_type: ScaleType,
    /// One per block.
    pub(super) values: Vec<f32>,
}

impl Key {
    pub(super) const fn new(block: BlockLen, scales: Scales, values: Vec<f32>) -> Self {
        Self { block, scales, values, maxima: OnceLock::new() }
    }

    /// Returns the largest magnitude of every block of the decoded values. Computed on first use, because only writers
    /// need it.
    pub(super) fn maxima(&self) -> &[f32] {
        self.maxima.get_or_init(|| self.values.chunks(self.block.get()).map(max_abs).collect())
    }
}

/// Iterates over ranges of whole blocks that cover `count` values, with the ranges of their blocks.
pub(super) fn groups(block: BlockLen, count: usize) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let block = block.get();
    let len = block * (GROUP / block).max(1);
    (0..count).step_by(len).map(move |start| {
        let end = count.min(start.saturating_add(len));
        (start..end, start / block..end.div_ceil(block))
    })
}

/// Returns the byte range of the codes of the values in `range`, which starts at a block boundary.
pub(super) fn code_bytes(width: BitWidth, range: &Range<usize>) -> Range<usize> {
    width.packed_len(range.start)..width.packed_len(range.end)
}

/// Decodes codes and adds the key frame if there is one. The only function that decodes frames, so that writers measure
/// exactly what readers get.
///
/// # Errors
/// Returns the errors of [`decode_codes`], and [`CodecErr::NonFinite`] if a sum exceeds the range of f32, which a
/// writer never produces.
pub(super) fn decode_group(
    width: BitWidth,
    block: BlockLen,
    scales: &[f32],
    codes: &[u8],
    key: Option<&[f32]>,
    out: &mut [f32],
) -> Result<(), CodecErr> {
    decode_codes(width, block, scales, codes, out)?;
    let Some(key) = key else { return Ok(()) };
    let mut finite = true;
    for (value, key) in out.iter_mut().zip(key) {
        *value += key;
        finite &= value.is_finite();
    }
    if finite {
        return Ok(());
    }
    Err(CodecErr::NonFinite { index: out.iter().position(|value| !value.is_finite()).unwrap_or(0) })
}
