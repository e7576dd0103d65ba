//! Categories of a feature that have their own bin.

use crate::narrow::narrow;
use bitgrain_kernels::bins::BinCode;

/// Upper bound of category codes (exclusive): every integer up to 2^24 is exact in f32.
const CODES: u32 = 1 << 24;

/// Returns the category code of a value, or `None` if the value is not an integer in `0..CODES`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "values changed by the cast fail the comparison"
)]
#[expect(clippy::cast_precision_loss, reason = "codes below 2^24 are exact")]
pub(super) fn code(value: f32) -> Option<u32> {
    let code = value as u32;
    (code < CODES && code as f32 == value).then_some(code)
}

/// Category codes with a bin each, followed by one bin for all other values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Categories {
    /// Ascending category codes.
    codes: Box<[u32]>,
    /// Bin of every code up to the largest; empty if the codes are too sparse for a lookup table.
    bins: Box<[u32]>,
}

impl Categories {
    /// Creates bins for distinct, ascending codes.
    pub(super) fn new(codes: Vec<u32>) -> Self {
        let end = codes.last().map_or(0, |&code| code as usize + 1);
        let other = narrow(codes.len());
        let is_short = end <= 4096.max(codes.len() * 16);
        let mut bins = vec![other; if is_short { end } else { 0 }];
        if is_short {
            (0..).zip(&codes).for_each(|(bin, &code)| bins[code as usize] = bin);
        }
        Self { codes: codes.into(), bins: bins.into() }
    }

    /// Creates the bins of categories that a worker codes in its own way: `bins[code]` is the bin of its `code`.
    pub(super) fn recoded(&self, bins: Vec<u32>) -> Self {
        // An empty table would be taken for one that is too large.
        let bins = if bins.is_empty() { vec![narrow(self.codes.len())] } else { bins };
        Self { codes: self.codes.clone(), bins: bins.into() }
    }

    pub(super) fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// Returns the bin of a value: the bin after the last category for unknown codes and for values that are not codes.
    pub(super) fn bin(&self, value: f32) -> usize {
        let other = self.codes.len();
        let Some(code) = code(value) else { return other };
        if self.bins.is_empty() {
            return self.codes.binary_search(&code).unwrap_or(other);
        }
        self.bins.get(code as usize).map_or(other, |&bin| bin as usize)
    }

    pub(super) fn bin_all<C: BinCode>(&self, values: &[f32], out: &mut [C]) {
        out.iter_mut().zip(values).for_each(|(out, &value)| *out = C::of_bin(self.bin(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_below_2_to_24_are_codes() {
        assert_eq!([0.0, -0.0, 7.0, 16_777_215.0].map(code), [Some(0), Some(0), Some(7), Some(16_777_215)]);
        let odd = [-1.0, 0.5, 16_777_216.0, 1e30, -1e-45, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        assert_eq!(odd.map(code), [None; 8]);
    }

    #[test]
    fn a_table_and_a_search_find_the_same_bins() {
        for codes in [vec![], vec![0], vec![3, 4, 90], vec![3, 90, 4095], vec![3, 90, 4096], vec![2, 16_777_215]] {
            let categories = Categories::new(codes.clone());
            assert_eq!(categories.bins.is_empty(), codes.last().is_none_or(|&code| code >= 4096), "{codes:?}");
            for value in [0.0, 2.0, 3.0, 4.0, 5.0, 90.0, 4095.0, 4096.0, 16_777_215.0, 16_777_216.0, f32::NAN] {
                let want = codes.iter().position(|&code| code as f32 == value).unwrap_or(codes.len());
                assert_eq!(categories.bin(value), want, "{value} of {codes:?}");
            }
        }
    }
}
