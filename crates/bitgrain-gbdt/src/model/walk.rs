//! Reference implementation of prediction for one row.
//!
//! Deliberately simple and slow: the batch code is tested against it.

use super::{Comparison, Input, InputKind, Missing, Model, Rule, Split, Tree};
use crate::model::Child;

/// A value without a category: in no set, and not missing.
const NO_CATEGORY: f64 = -1.0;

impl Model {
    /// Returns the raw scores of a row, before the link function. Features beyond the end of the row are missing.
    #[must_use]
    pub fn raw_scores_of(&self, row: &[f64]) -> Vec<f64> {
        let seen = self.normalize(row);
        let outputs = self.n_outputs();
        let base = &self.output.base_scores;
        let mut sums = if self.output.average { vec![0.0; outputs] } else { base.clone() };
        for (index, tree) in self.trees.iter().enumerate() {
            sums[index % outputs] += tree.leaves[tree.leaf_of(&seen)].value;
        }
        if self.output.average {
            let rounds = self.n_rounds().max(1) as f64;
            sums.iter_mut().zip(base).for_each(|(sum, base)| *sum = base + *sum / rounds);
        }
        sums
    }

    /// Returns the leaf of a row in each tree.
    #[must_use]
    pub fn leaves_of(&self, row: &[f64]) -> Vec<usize> {
        let seen = self.normalize(row);
        self.trees.iter().map(|tree| tree.leaf_of(&seen)).collect()
    }

    /// Normalizes a row as the trees compare it: numbers are rounded to the comparison precision, categories to
    /// integers, and missing values are NaN.
    #[must_use]
    pub fn normalize(&self, row: &[f64]) -> Vec<f64> {
        let value = |index: usize| row.get(index).copied().unwrap_or(f64::NAN);
        self.inputs.iter().enumerate().map(|(index, input)| input.normalize(value(index), self.comparison)).collect()
    }
}

impl Input {
    /// Normalizes a value of this feature as the trees compare it.
    #[must_use]
    pub fn normalize(&self, value: f64, comparison: Comparison) -> f64 {
        let value = match comparison {
            Comparison::F32 => to_f32(value),
            Comparison::F64 => value,
        };
        let InputKind::Categorical { known, .. } = &self.kind else { return value };
        if value.is_nan() {
            return value;
        }
        // Training reads codes as f32, which is exact for integers up to here.
        let value = if known.is_some() && value.abs() < 16_777_216.0 { to_f32(value) } else { value };
        let code = code_of(value).filter(|_| comparison == Comparison::F64 || value >= 0.0);
        match (code, known) {
            (None, None) => NO_CATEGORY,
            (Some(code), None) => code.into(),
            (Some(code), Some(known)) if f64::from(code) == value && known.binary_search(&code).is_ok() => value,
            (_, Some(_)) => f64::NAN,
        }
    }
}

impl Tree {
    /// Returns the leaf of a row normalized by [`Model::normalize`]. Features beyond the end of the row are missing.
    #[must_use]
    pub fn leaf_of(&self, row: &[f64]) -> usize {
        let mut at = if self.splits.is_empty() { Child::Leaf(0) } else { Child::Split(0) };
        loop {
            match at {
                Child::Leaf(leaf) => return leaf as usize,
                Child::Split(index) => {
                    let split = &self.splits[index as usize];
                    let value = row.get(split.feature as usize).copied().unwrap_or(f64::NAN);
                    at = if split.goes_left(value) { split.left } else { split.right };
                }
            }
        }
    }
}

impl Split {
    /// Returns whether a value normalized by [`Model::normalize`] goes left.
    #[must_use]
    pub fn goes_left(&self, value: f64) -> bool {
        let value = if self.missing == Missing::Nothing && value.is_nan() { 0.0 } else { value };
        let zero = self.missing == Missing::NanOrZero && value.abs() <= Missing::ZERO;
        if value.is_nan() || zero {
            return self.missing_left;
        }
        match &self.rule {
            Rule::AtMost(threshold) => value <= *threshold,
            Rule::In(set) => code_of(value).is_some_and(|code| set.contains(code)),
            Rule::NotIn(set) => !code_of(value).is_some_and(|code| set.contains(code)),
        }
    }
}

/// Returns the integer part of a value if it is a valid category code.
fn code_of(value: f64) -> Option<u32> {
    let whole = value.trunc();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an integer from 0 to 2^31")]
    (0.0..2_147_483_648.0).contains(&whole).then_some(whole as u32)
}

/// Rounds to the nearest f32.
#[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
pub(super) fn to_f32(value: f64) -> f64 {
    f64::from(value as f32)
}
