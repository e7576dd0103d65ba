//! `Attention`: multi-head self-attention (Vaswani et al. 2017).

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::linear::Linear;
use super::rope::Rope;
use super::softmax::{softmax, softmax_backward};
use crate::network::matmul;
use crate::network::site::Site;
use crate::network::step::{Back, Run, Step};
use crate::network::{InputBatch, NetworkError};

/// Multi-head attention over sequences of vectors. Positions that the batch masks out are not attended to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attention {
    /// Number of heads; must divide the length of the vectors.
    pub heads: usize,
    /// Whether each position attends only to itself and to earlier positions.
    pub causal: bool,
    /// Whether the four matrices have biases.
    pub bias: bool,
    /// Rotary position embedding; without it, attention does not depend on the order of the sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rope: Option<Rope>,
}

impl Attention {
    pub(super) fn build(&self, site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
        let len = site.sequence()?;
        let heads = site.positive("heads", self.heads)?;
        if !len.is_multiple_of(heads) {
            return Err(site.setting("heads", format!("{heads}: it must divide the vector length {len}")));
        }
        if let Some(rope) = self.rope {
            if !(rope.base > 0.0 && rope.base.is_finite()) {
                return Err(site.setting("rope base", rope.base));
            }
            if !(len / heads).is_multiple_of(2) {
                return Err(site.setting("rope", format!("used with heads of odd length {}", len / heads)));
            }
        }
        let mut linear = |part: &str| Linear::new(site, part, len, len, self.bias);
        let [query, key, value, output] = [linear("query.")?, linear("key.")?, linear("value.")?, linear("output.")?];
        let geometry = Geometry { heads, len, causal: self.causal };
        Ok(Box::new(Built { query, key, value, output, geometry, rope: self.rope }))
    }
}

#[derive(Debug)]
struct Built {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    geometry: Geometry,
    rope: Option<Rope>,
}

/// Layout of the heads.
#[derive(Debug, Clone, Copy)]
struct Geometry {
    heads: usize,
    len: usize,
    causal: bool,
}

impl Geometry {
    fn head(self) -> usize {
        self.len / self.heads
    }

    /// Scale of the scores: keeps their variance at 1 for random vectors of any head length.
    #[expect(clippy::cast_precision_loss, reason = "a head length")]
    fn factor(self) -> f32 {
        1.0 / (self.head() as f32).sqrt()
    }

    /// Copies one head of one sample into contiguous rows.
    fn part(self, values: &[f32], length: usize, at: usize) -> Vec<f32> {
        let (sample, head) = (at / self.heads, at % self.heads);
        let rows = values[sample * length * self.len..][..length * self.len].chunks_exact(self.len);
        rows.flat_map(|row| &row[head * self.head()..][..self.head()]).copied().collect()
    }

    /// Interleaves the heads of all samples again: the inverse of [`part`](Self::part).
    fn join(self, parts: &[Vec<f32>], length: usize) -> Vec<f32> {
        let mut all = vec![0.0; parts.len() / self.heads * length * self.len];
        for (at, part) in parts.iter().enumerate() {
            let (sample, head) = (at / self.heads, at % self.heads);
            for (row, values) in part.chunks_exact(self.head()).enumerate() {
                let place = (sample * length + row) * self.len + head * self.head();
                all[place..][..self.head()].copy_from_slice(values);
            }
        }
        all
    }

    /// Returns the attention weights of all pairs of positions.
    fn attention_weights(self, query: &[f32], key: &[f32], mask: Option<&[bool]>) -> Vec<f32> {
        let length = key.len() / self.head();
        let mut scores = vec![0.0; length * length];
        matmul::rows_by_rows(query, key, self.head(), &mut scores);
        for (position, row) in scores.chunks_exact_mut(length).enumerate() {
            for (other, score) in row.iter_mut().enumerate() {
                let seen = mask.is_none_or(|mask| mask[other]) && !(self.causal && other > position);
                *score = if seen { *score * self.factor() } else { f32::NEG_INFINITY };
            }
            softmax(row);
        }
        scores
    }
}

fn mask_of(batch: &InputBatch, sample: usize) -> Option<&[bool]> {
    batch.mask().map(|mask| &mask[sample * batch.dims()[0]..][..batch.dims()[0]])
}

impl Step for Built {
    fn forward(&self, x: InputBatch, run: &mut Run<'_>) -> Result<InputBatch, NetworkError> {
        let (geometry, length) = (self.geometry, x.dims()[0]);
        let mut query = self.query.forward(x.values(), run)?;
        let mut key = self.key.forward(x.values(), run)?;
        let value = self.value.forward(x.values(), run)?;
        if let Some(rope) = self.rope {
            rope.rotate(&mut query, geometry.len, geometry.head(), length, 1.0);
            rope.rotate(&mut key, geometry.len, geometry.head(), length, 1.0);
        }
        let one = |at: usize| {
            let [query, key, value] = [&query, &key, &value].map(|all| geometry.part(all, length, at));
            let seen = geometry.attention_weights(&query, &key, mask_of(&x, at / geometry.heads));
            let mut out = vec![0.0; length * geometry.head()];
            matmul::rows_by_columns(&seen, &value, geometry.head(), &mut out);
            (out, seen)
        };
        let (parts, seen): (Vec<_>, Vec<_>) = (0..x.count() * geometry.heads).into_par_iter().map(one).unzip();
        let joined = geometry.join(&parts, length);
        let y = x.with_values(self.output.forward(&joined, run)?);
        if run.is_training() {
            let saved = [query, key, value, joined].map(|values| x.with_values(values));
            let seen = x.with(seen.concat(), vec![geometry.heads, length, length]);
            run.save(x);
            saved.into_iter().for_each(|batch| run.save(batch));
            run.save(seen);
        }
        Ok(y)
    }

    fn backward(&self, dy: InputBatch, back: &mut Back<'_>) -> InputBatch {
        let (geometry, length, count) = (self.geometry, dy.dims()[0], dy.count() * self.geometry.heads);
        // Popped in the reverse order of saving.
        let [seen, joined, value, key, query, x] = std::array::from_fn(|_| back.saved());
        let slopes = self.output.backward(joined.values(), dy.values(), back);
        let one = |at: usize| {
            let [query, key, value] = [&query, &key, &value].map(|all| geometry.part(all.values(), length, at));
            let slopes = geometry.part(&slopes, length, at);
            let seen = &seen.values()[at * length * length..][..length * length];
            let [mut to_query, mut to_key, mut to_value] = [(); 3].map(|()| vec![0.0; length * geometry.head()]);
            // With weights P = softmax(S) and output O = PV: dV = PᵀdO, dP = dO Vᵀ, dQ = dS K, dK = dSᵀQ.
            matmul::columns_by_columns(seen, &slopes, length, geometry.head(), &mut to_value);
            let mut scores = vec![0.0; length * length];
            matmul::rows_by_rows(&slopes, &value, geometry.head(), &mut scores);
            for (scores, seen) in scores.chunks_exact_mut(length).zip(seen.chunks_exact(length)) {
                softmax_backward(seen, scores);
                scores.iter_mut().for_each(|score| *score *= geometry.factor());
            }
            matmul::rows_by_columns(&scores, &key, geometry.head(), &mut to_query);
            matmul::columns_by_columns(&scores, &query, length, geometry.head(), &mut to_key);
            (to_query, (to_key, to_value))
        };
        let (to_query, rest): (Vec<_>, Vec<_>) = (0..count).into_par_iter().map(one).unzip();
        let (to_key, to_value): (Vec<_>, Vec<_>) = rest.into_iter().unzip();
        let [mut to_query, mut to_key, to_value] =
            [to_query, to_key, to_value].map(|parts| geometry.join(&parts, length));
        // Rotations are orthogonal: the gradient passes through one by rotating back.
        if let Some(rope) = self.rope {
            rope.rotate(&mut to_query, geometry.len, geometry.head(), length, -1.0);
            rope.rotate(&mut to_key, geometry.len, geometry.head(), length, -1.0);
        }
        let mut dx = vec![0.0; x.values().len()];
        for (linear, slopes) in [(self.query, to_query), (self.key, to_key), (self.value, to_value)] {
            let more = linear.backward(x.values(), &slopes, back);
            dx.iter_mut().zip(more).for_each(|(dx, more)| *dx += more);
        }
        dy.with_values(dx)
    }
}
