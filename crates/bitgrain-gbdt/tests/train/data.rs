//! Synthetic tables.

use bitgrain_gbdt::feature::Features;

/// Reproducible random numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number in 0..1.
    pub(crate) fn share(&mut self) -> f32 {
        (self.next() >> 40) as f32 / 16_777_216.0
    }

    /// Returns an integer below `count`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small count")]
    pub(crate) fn below(&mut self, count: f32) -> usize {
        (self.share() * count) as usize
    }
}

/// Rows of six features, and a target that depends on all but the last: a number, another number, one with informative
/// missing values, a code of eight categories, a column of three values, a column of two.
pub(crate) struct Made {
    pub(crate) values: Vec<f32>,
    pub(crate) targets: Vec<f32>,
}

pub(crate) const FEATURES: usize = 6;
pub(crate) const CATEGORY: usize = 2;

impl Made {
    pub(crate) fn new(rows: usize, seed: u64) -> Self {
        let mut random = Random(seed | 1);
        let (mut values, mut targets) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            let a = random.share() * 4.0 - 2.0;
            let missing = random.share() < 0.2;
            let b = if missing { f32::NAN } else { random.share() };
            let category = (random.next() >> 20) % 8;
            let (three, two) = ((random.next() >> 20) % 3, (random.next() >> 20) % 2);
            let effect = [3.0, -2.0, 0.5, 1.0, -3.0, 2.5, -0.5, 0.0][category as usize];
            let target = a * a
                + if missing { 2.0 } else { b }
                + effect
                + three as f32 * a
                + two as f32
                + (random.share() - 0.5) * 0.2;
            values.extend([a, b, category as f32, three as f32, two as f32, random.share()]);
            targets.push(target);
        }
        Self { values, targets }
    }

    /// Returns all features as numeric, including the category.
    pub(crate) fn features(&self) -> Features<'_> {
        Features::row_major(&self.values[..], self.targets.len(), FEATURES).expect("complete rows")
    }

    /// Returns the features with the category as categorical.
    pub(crate) fn categorical(&self) -> Features<'_> {
        self.features().with_categorical(&[CATEGORY]).expect("a feature")
    }

    /// Returns whether each target is above the middle.
    pub(crate) fn classes(&self) -> Vec<f32> {
        self.targets.iter().map(|&target| f32::from(target > 2.0)).collect()
    }

    /// Returns three classes derived from the target.
    pub(crate) fn three_classes(&self) -> Vec<f32> {
        self.targets.iter().map(|&target| f32::from(u8::from(target > 1.0) + u8::from(target > 3.5))).collect()
    }
}
