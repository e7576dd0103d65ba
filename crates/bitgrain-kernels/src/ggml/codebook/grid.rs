//! Entries of codebooks as weights, and the pattern of signs that seven bits stand for.

use super::{pairs, triples};

/// Weights of the three codes of IQ2 formats.
const PAIR: [u8; 4] = [8, 25, 43, 0];

/// Weights of the eight codes of IQ3_XXS.
const TRIPLE: [u8; 8] = [4, 12, 20, 28, 36, 44, 52, 62];

/// Returns the weights of an entry with two bits per code.
#[inline(always)]
pub(super) fn octet(entry: u16) -> [f32; 8] {
    core::array::from_fn(|i| f32::from(PAIR[usize::from(entry >> (2 * i) & 3)]))
}

/// Returns the weights of an entry of IQ1, which are -1, 0 and 1.
#[inline(always)]
pub(super) fn trits(entry: u16) -> [f32; 8] {
    core::array::from_fn(|i| f32::from(entry >> (2 * i) & 3) - 1.0)
}

/// Returns the weights of an entry of IQ3_XXS.
#[inline(always)]
pub(super) fn quadruple(entry: u16) -> [f32; 4] {
    core::array::from_fn(|i| f32::from(TRIPLE[usize::from(entry >> (3 * i) & 7)]))
}

/// Returns the odd numbers that the codes of IQ3_S stand for.
#[inline(always)]
pub(super) fn odd_quadruple(entry: u16) -> [f32; 4] {
    core::array::from_fn(|i| f32::from(2 * (entry >> (3 * i) & 7) + 1))
}

/// Returns eight signs of which seven are stored: the number of negative ones is even.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most 7")]
pub(super) const fn signs(seven: u8) -> u8 {
    let seven = seven & 127;
    seven | (seven.count_ones() as u8 & 1) << 7
}

/// Points of a codebook as odd numbers, between which the quantizers search.
pub(super) static IQ2_XS_POINTS: [[u8; 8]; 512] = points::<8, 512>(&pairs::IQ2_XS, 2);
/// Points of IQ3_S.
pub(super) static IQ3_S_POINTS: [[u8; 4]; 512] = points::<4, 512>(&triples::IQ3_S, 3);

#[expect(clippy::cast_possible_truncation, reason = "at most 15")]
const fn points<const D: usize, const N: usize>(entries: &[u16; N], bits: usize) -> [[u8; D]; N] {
    let mut points = [[0; D]; N];
    let mut i = 0;
    while i < N {
        let mut k = 0;
        while k < D {
            points[i][k] = 2 * (entries[i] >> (bits * k) & ((1 << bits) - 1)) as u8 + 1;
            k += 1;
        }
        i += 1;
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ggml::codebook::trits::IQ1;

    #[test]
    fn codebooks_are_sorted_and_start_at_the_smallest_weights() {
        assert!(pairs::IQ2_XXS.is_sorted() && pairs::IQ2_XS.is_sorted() && pairs::IQ2_S.is_sorted());
        assert!(triples::IQ3_XXS.is_sorted() && triples::IQ3_S.is_sorted() && IQ1.is_sorted());
        assert_eq!((pairs::IQ2_XS[0], triples::IQ3_S[0]), (0, 0));
    }

    #[test]
    fn entries_stand_for_weights() {
        assert_eq!(octet(0b10_01), [25.0, 43.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0]);
        assert_eq!(trits(0b10_01)[..3], [0.0, 1.0, -1.0]);
        assert_eq!((quadruple(7)[0], odd_quadruple(7)[0]), (62.0, 15.0));
        assert_eq!(signs(0b101), 0b101);
        assert_eq!(signs(0b111), 0b1000_0111);
    }
}
