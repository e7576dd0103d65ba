//! `Pool`: reduces a sequence of vectors to one vector.

use serde::{Deserialize, Serialize};

use crate::network::site::Site;
use crate::network::step::{Back, Run, Step};
use crate::network::{InputBatch, NetworkError, Shape};

/// Method that reduces the vectors of a sequence to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// Mean of the vectors, without those that the batch masks out.
    Mean,
    /// The first vector.
    First,
}

/// Reduces a sequence of vectors to one vector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// The method.
    pub pooling: Pooling,
}

impl Pool {
    pub(super) fn build(&self, site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
        let len = site.sequence()?;
        site.shape = Shape::new(&[len]);
        Ok(Box::new(Built { pooling: self.pooling, len }))
    }
}

#[derive(Debug)]
struct Built {
    pooling: Pooling,
    len: usize,
}

impl Built {
    /// Returns the weight of each position of a sample.
    #[expect(clippy::cast_precision_loss, reason = "the length of a sequence")]
    fn parts(&self, x: &InputBatch, sample: usize) -> Vec<f32> {
        let length = x.dims()[0];
        let counts = |place: usize| match self.pooling {
            Pooling::Mean => x.mask().is_none_or(|mask| mask[sample * length + place]),
            Pooling::First => place == 0,
        };
        let all = (0..length).filter(|place| counts(*place)).count().max(1) as f32;
        (0..length).map(|place| if counts(place) { 1.0 / all } else { 0.0 }).collect()
    }
}

impl Step for Built {
    fn forward(&self, x: InputBatch, run: &mut Run<'_>) -> Result<InputBatch, NetworkError> {
        let mut values = vec![0.0; x.count() * self.len];
        let samples = x.values().chunks_exact(x.sample_len());
        for (sample, (x_rows, out)) in samples.zip(values.chunks_exact_mut(self.len)).enumerate() {
            for (row, part) in x_rows.chunks_exact(self.len).zip(self.parts(&x, sample)) {
                crate::network::matmul::add_scaled(part, row, out);
            }
        }
        let y = x.with(values, vec![self.len]);
        run.save(x);
        Ok(y)
    }

    fn backward(&self, dy: InputBatch, back: &mut Back<'_>) -> InputBatch {
        let x = back.saved();
        let mut dx = Vec::with_capacity(x.values().len());
        for (sample, dy) in dy.values().chunks_exact(self.len).enumerate() {
            for part in self.parts(&x, sample) {
                dx.extend(dy.iter().map(|dy| part * dy));
            }
        }
        x.with_values(dx)
    }
}
