//! Reproducible series of frames of several kinds.

use bitgrain_store::temporal::{EncodedFrame, FrameConfig, FrameEncoder, FrameRole, RunDecoder};

/// Kind of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Temper {
    /// Each value moves in small independent steps.
    Walk,
    /// A random walk with sudden level changes.
    Jumps,
    /// All values grow by a few percent per frame.
    Growth,
    /// Signs flip from frame to frame.
    Flips,
    /// Values far from zero and close to each other.
    Kelvin,
    /// Blocks that become zero and nonzero again.
    Zeros,
    /// Multiples of the smallest positive number.
    Subnormals,
    /// Values up to the largest number, with differences that overflow.
    Huge,
    /// Blocks of very different magnitudes that change by a millionth.
    Mixed,
    /// Values are permuted within a block and shrink slightly, so that the scales stay valid.
    Shuffled,
    /// Any finite bit pattern.
    Anything,
}

impl Temper {
    pub(crate) const ALL: [Self; 11] = [
        Self::Walk,
        Self::Jumps,
        Self::Growth,
        Self::Flips,
        Self::Kelvin,
        Self::Zeros,
        Self::Subnormals,
        Self::Huge,
        Self::Mixed,
        Self::Shuffled,
        Self::Anything,
    ];

    /// Returns `frames` frames of `count` values.
    pub(crate) fn series(self, seed: u64, count: usize, frames: usize) -> Vec<Vec<f32>> {
        let mut random = Random(seed);
        let mut level: Vec<f32> = (0..count).map(|_| random.signed()).collect();
        let mut series = Vec::new();
        for t in 0..frames {
            if self == Self::Shuffled {
                level.chunks_mut(8).for_each(|values| values.rotate_left(1));
            } else {
                level.iter_mut().for_each(|value| *value += 0.05 * random.signed());
            }
            if self == Self::Jumps && random.below(4) == 0 {
                let jump = 10.0 * random.signed();
                level.iter_mut().for_each(|value| *value += jump);
            }
            let frame = level.iter().enumerate().map(|(i, &level)| self.value(level, i, t, &mut random));
            series.push(frame.collect());
        }
        series
    }

    fn value(self, level: f32, i: usize, t: usize, random: &mut Random) -> f32 {
        match self {
            Self::Walk | Self::Jumps => level,
            Self::Growth => level * 1.04_f32.powf(t as f32),
            Self::Flips => level * if t.is_multiple_of(2) { 1.0 } else { -1.0 },
            Self::Kelvin => 290.0 + level,
            Self::Zeros => level * if (i / 8 + t / 3).is_multiple_of(3) { 0.0 } else { 1.0 },
            Self::Subnormals => f32::from_bits((level.abs() * 300.0) as u32).copysign(level),
            Self::Huge => 3.4e38 * (level * if t % 4 == 3 { -0.9 } else { 0.9 }).clamp(-1.0, 1.0),
            Self::Mixed => 10.0_f32.powi((i / 8 % 12) as i32 * 3 - 18) * (1.0 + 1e-6 * level),
            Self::Shuffled => level * if t == 0 { 1.0 } else { 1.0 - 0.03 * (t % 3) as f32 },
            Self::Anything => f32::from_bits(random.bits() & 0xFF7F_FFFF),
        }
    }
}

/// A simple random generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.bits() % limit
    }

    /// Returns a value from -1 to 1.
    pub(crate) fn signed(&mut self) -> f32 {
        (self.bits() >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Encodes all frames in order.
pub(crate) fn encoded(settings: FrameConfig, series: &[Vec<f32>]) -> Vec<EncodedFrame> {
    let mut encoder = FrameEncoder::new(settings, series.first().map_or(0, Vec::len));
    series.iter().map(|frame| encoder.encode(frame).expect("finite and of one length")).collect()
}

/// Decodes frame `index` on its own, reading only the frames that it depends on.
pub(crate) fn decoded(frames: &[EncodedFrame], index: usize, count: usize) -> Vec<f32> {
    let EncodedFrame { head, body } = &frames[index];
    let at = |index: u64| &frames[usize::try_from(index).expect("small")];
    let (index, key) = (index as u64, head.key_index(index as u64));
    let mut decoder = RunDecoder::new(key, &at(key).head, &at(key).body, count).expect("a key frame");
    if head.role == FrameRole::DifferenceShared {
        let scales = head.scales_index(index);
        decoder.load_scales(scales, &at(scales).head, &at(scales).body).expect("a difference key");
    }
    let mut out = vec![f32::NAN; count];
    decoder.decode_into(index, head, body, &mut out).expect("a frame of the run");
    out
}
