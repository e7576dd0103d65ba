//! Encoding of frames in as few bytes as the bound allows.

use std::sync::Arc;

use bitgrain_codec::{
    BitWidth, Fidelity, ScaleType, block_maxima, block_scale, bound_of_scale, encode_codes, scale_fits,
};

use super::difference::{Difference, Narrow, round_up, subtract};
use super::run::{Key, Run, Scales, code_bytes, decode_group, groups};
use super::{EncodedFrame, EncodedFrameHead, FrameConfig, FrameRole, RunDecoder};
use crate::StoreError;

/// Encoder for the frames of one temporal tensor.
///
/// Holds the decoded key frame of the current run. Clones share it and are cheap: encode with a clone and keep the
/// clone once the frame is stored, so that no frame can refer to one that was never stored.
#[derive(Debug, Clone)]
pub struct FrameEncoder {
    config: FrameConfig,
    count: usize,
    /// Index of the next frame. Only differences of indices matter.
    next: u64,
    run: Option<Run>,
    /// Smallest code size in bytes of a frame of this run after the key frame.
    least: usize,
    /// Total code bytes beyond `least` of all frames of this run.
    excess: usize,
}

/// Representation of a frame.
enum Choice {
    Key,
    Shared,
    DifferenceShared { scales: Arc<Scales>, bound: f32 },
    DifferenceKey(Narrow),
}

impl FrameEncoder {
    /// Creates an encoder for frames of `count` values; the first one will be a key frame.
    #[must_use]
    pub const fn new(config: FrameConfig, count: usize) -> Self {
        Self { config, count, next: 0, run: None, least: usize::MAX, excess: 0 }
    }

    /// Continues a run that was read back. `next` is the index of the next frame.
    #[must_use]
    pub fn resume(config: FrameConfig, run: &RunDecoder, next: u64) -> Self {
        let count = run.run.key.values.len();
        Self { config, count, next, run: Some(run.run.clone()), least: usize::MAX, excess: 0 }
    }

    /// Returns the number of values per frame.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Returns the settings.
    #[must_use]
    pub const fn config(&self) -> FrameConfig {
        self.config
    }

    /// Changes the settings for the following frames. The run continues if the block length is the same.
    pub const fn set_config(&mut self, config: FrameConfig) {
        self.config = config;
    }

    /// Counts a frame stored without this encoder, such as a lossless one, and starts a new run after it.
    pub fn skip(&mut self) {
        self.run = None;
        self.next += 1;
    }

    /// Starts a new run with the next frame.
    pub fn end_run(&mut self) {
        self.run = None;
    }

    /// Returns the memory it holds in bytes, including memory shared with clones and decoders of the same run.
    #[must_use]
    pub fn memory(&self) -> usize {
        let scales = |scales: &Scales| scales.values.len();
        let run = |run: &Run| {
            run.key.values.len() + 2 * scales(&run.key.scales) + run.difference.as_deref().map_or(0, scales)
        };
        size_of::<Self>() + size_of::<f32>() * self.run.as_ref().map_or(0, run)
    }

    /// Encodes the next frame. On error, the encoder is unchanged.
    ///
    /// # Errors
    /// Returns [`StoreError::FrameShape`], or [`CodecErr::NonFinite`](bitgrain_codec::CodecErr::NonFinite) with the
    /// first NaN or infinity.
    pub fn encode(&mut self, values: &[f32]) -> Result<EncodedFrame, StoreError> {
        if values.len() != self.count {
            return Err(StoreError::FrameShape { expected: self.count, got: values.len() });
        }
        let mut maxima = vec![0.0; self.blocks()];
        block_maxima(self.config.block, values, &mut maxima)?;
        let choice = self.choose(values, &maxima);
        let codes = self.packed(match &choice {
            Choice::Key | Choice::Shared => self.config.width,
            Choice::DifferenceShared { scales, .. } => scales.width,
            Choice::DifferenceKey(narrow) => narrow.width,
        });
        let least = self.least.min(codes);
        let excess = self.excess + (codes - least);
        // Ski rental: start a new run once the frames of this one have cost as much extra as a key frame would.
        let key_bytes = self.packed(self.config.width) + self.blocks() * self.config.scale_type.bytes();
        let frame = match (choice, &self.run) {
            (Choice::Key, _) | (_, None) => self.key(values, &maxima)?,
            _ if excess >= key_bytes => self.key(values, &maxima)?,
            (choice, Some(run)) => {
                let run = run.clone();
                let frame = self.later(values, choice, run)?;
                (self.least, self.excess) = (least, excess);
                frame
            }
        };
        debug_assert!(frame.head.measured <= frame.head.bound, "{:?}", frame.head);
        self.next += 1;
        Ok(frame)
    }

    /// Returns the representation with the fewest bytes; if equal, the one that depends on fewer frames.
    fn choose(&self, values: &[f32], maxima: &[f32]) -> Choice {
        let FrameConfig { width, block, scale_type, drift, run_frames } = self.config;
        let Some(run) = self.run.as_ref().filter(|run| run.key.block == block) else { return Choice::Key };
        if self.next - run.key.scales.index >= u64::from(run_frames) {
            return Choice::Key;
        }
        let own = |scale: f32, max: f32| run.key.scales.scale_type.at_least(block_scale(width, max)) == Some(scale);
        let fits = |(&scale, &max): (&f32, &f32)| scale_fits(width, scale, max, drift) || own(scale, max);
        let shared = run.key.scales.width == width && run.key.scales.values.iter().zip(maxima).all(fits);
        let bytes = |width: BitWidth, scale_type: ScaleType| self.packed(width) + self.blocks() * scale_type.bytes();
        let (mut best, mut fewest) =
            if shared { (Choice::Shared, self.packed(width)) } else { (Choice::Key, bytes(width, scale_type)) };
        let difference = Difference::new(&run.key, values, maxima, width);
        if let Some(scales) = run.difference.as_ref().filter(|scales| self.packed(scales.width) < fewest)
            && let Some(bound) = difference.bound_at(scales)
        {
            fewest = self.packed(scales.width);
            best = Choice::DifferenceShared { scales: Arc::clone(scales), bound };
        }
        let fewer = |width, scale_type| bytes(width, scale_type) < fewest;
        difference.narrowest(fewer, scale_type, drift).map_or(best, Choice::DifferenceKey)
    }

    /// Encodes a key frame, which starts a run.
    fn key(&mut self, values: &[f32], maxima: &[f32]) -> Result<EncodedFrame, StoreError> {
        let FrameConfig { width, block, scale_type: wanted, .. } = self.config;
        let plain = maxima.iter().map(|&max| block_scale(width, max));
        let stored: Option<Vec<f32>> = plain.clone().map(|scale| wanted.at_least(scale)).collect();
        let (scale_type, stored) = match stored {
            Some(stored) => (wanted, stored),
            None => (ScaleType::F32, plain.collect()),
        };
        let bound = bound_of_scale(width, stored.iter().copied().fold(0.0, f32::max));
        let (role, key_back, scales_back, measured) = (FrameRole::Key, 0, 0, 0.0);
        let mut head = EncodedFrameHead { role, width, block, scale_type, key_back, scales_back, bound, measured };
        let mut decoded = vec![0.0; self.count];
        let body = body_of(&mut head, &stored, values, None, Some(&mut decoded))?;
        let scales = Scales { index: self.next, width, scale_type, values: stored };
        self.run = Some(Run { key: Arc::new(Key::new(block, scales, decoded)), difference: None });
        (self.least, self.excess) = (usize::MAX, 0);
        Ok(EncodedFrame { head, body })
    }

    /// Encodes a frame that is not a key frame.
    fn later(&mut self, values: &[f32], choice: Choice, mut run: Run) -> Result<EncodedFrame, StoreError> {
        let key = Arc::clone(&run.key);
        let mut own = None;
        let (role, bound, scales, base) = match choice {
            Choice::Key | Choice::Shared => {
                let scales = &key.scales;
                let bound = bound_of_scale(scales.width, scales.values.iter().copied().fold(0.0, f32::max));
                (FrameRole::Shared, bound, scales, None)
            }
            Choice::DifferenceShared { scales, bound } => {
                (FrameRole::DifferenceShared, bound, &**own.insert(scales), Some(&key.values[..]))
            }
            Choice::DifferenceKey(Narrow { width, scale_type, scales: values, bound }) => {
                let scales = own.insert(Arc::new(Scales { index: self.next, width, scale_type, values }));
                (FrameRole::DifferenceKey, bound, &**scales, Some(&key.values[..]))
            }
        };
        let mut head = EncodedFrameHead {
            role,
            width: scales.width,
            block: key.block,
            scale_type: scales.scale_type,
            key_back: self.back_to(key.scales.index)?,
            scales_back: self.back_to(scales.index)?,
            bound,
            measured: 0.0,
        };
        let body = body_of(&mut head, &scales.values, values, base, None)?;
        if role == FrameRole::DifferenceKey {
            run.difference = own;
            self.run = Some(run);
        }
        Ok(EncodedFrame { head, body })
    }

    /// Returns the distance to an earlier frame. A run has fewer than 2^32 frames, so it fits.
    fn back_to(&self, needed: u64) -> Result<u32, StoreError> {
        let index = self.next;
        u32::try_from(index - needed).map_err(|_| StoreError::FrameOutOfRun { index, needed, what: "key frame" })
    }

    const fn blocks(&self) -> usize {
        self.count.div_ceil(self.config.block.get())
    }

    const fn packed(&self, width: BitWidth) -> usize {
        width.packed_len(self.count)
    }
}

/// Encodes scales and codes of a frame and measures its error. `base` is the key frame of a difference. The values that
/// a reader will get are written to `decoded`.
fn body_of(
    head: &mut EncodedFrameHead,
    scales: &[f32],
    values: &[f32],
    base: Option<&[f32]>,
    mut decoded: Option<&mut [f32]>,
) -> Result<Vec<u8>, StoreError> {
    let (width, block) = (head.width, head.block);
    let mut body = vec![0; head.body_len(values.len())];
    let (scale_bytes, codes) = body.split_at_mut(head.scales_len(values.len()));
    if head.role.has_scales() {
        head.scale_type.write(scales, scale_bytes)?;
    }
    let (mut difference, mut scratch) = (Vec::new(), Vec::new());
    let mut largest = 0.0_f64;
    for (range, blocks) in groups(block, values.len()) {
        let (values, scales) = (&values[range.clone()], &scales[blocks]);
        let codes = &mut codes[code_bytes(width, &range)];
        let base = base.map(|base| &base[range.clone()]);
        if let Some(base) = base {
            subtract(values, base, &mut difference);
            encode_codes(width, block, scales, &difference, codes)?;
        } else {
            encode_codes(width, block, scales, values, codes)?;
        }
        let back = match &mut decoded {
            Some(decoded) => &mut decoded[range],
            None => {
                scratch.resize(range.len(), 0.0);
                &mut scratch[..]
            }
        };
        decode_group(width, block, scales, codes, base, back)?;
        largest = largest.max(Fidelity::measure(values, back)?.max_error);
    }
    head.measured = round_up(largest);
    Ok(body)
}
