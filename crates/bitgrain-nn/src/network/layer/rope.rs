//! `Rope`: rotary position embeddings (Su et al. 2021).

use serde::{Deserialize, Serialize};

/// Rotates pairs of elements of queries and keys by angles proportional to the position.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rope {
    /// Base of the frequencies, usually 10,000: pair `i` of a head of length `d` rotates by `base^(-2i/d)` per
    /// position.
    pub base: f32,
    /// Pairing of the elements of a head.
    pub pairs: Pairs,
}

/// Pairing of the elements of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pairs {
    /// Adjacent elements, as in the original Llama weights.
    // Files written before the spelling changed.
    #[serde(alias = "neighbours")]
    Neighbors,
    /// One element from each half, as in Hugging Face's weights.
    Halves,
}

impl Rope {
    /// Rotates the heads in rows of `len`, each row by its position in sequences of `length`; in reverse if `sign` is
    /// -1.
    #[expect(clippy::cast_precision_loss, reason = "positions and head lengths")]
    pub(super) fn rotate(self, rows: &mut [f32], len: usize, head: usize, length: usize, sign: f32) {
        let half = head / 2;
        let speeds: Vec<f32> = (0..half).map(|i| self.base.powf(-2.0 * i as f32 / head as f32)).collect();
        for (row, values) in rows.chunks_exact_mut(len).enumerate() {
            let position = (row % length) as f32;
            for head in values.chunks_exact_mut(head) {
                for (i, speed) in speeds.iter().enumerate() {
                    let (first, second) = match self.pairs {
                        Pairs::Neighbors => (2 * i, 2 * i + 1),
                        Pairs::Halves => (i, i + half),
                    };
                    let (sin, cos) = (position * speed).sin_cos();
                    let (sin, (a, b)) = (sign * sin, (head[first], head[second]));
                    (head[first], head[second]) = (a * cos - b * sin, a * sin + b * cos);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_in_the_former_spelling_and_written_in_the_current_one() {
        for name in ["neighbors", "neighbours"] {
            let rope: Rope =
                serde_json::from_str(&format!(r#"{{"base": 10000.0, "pairs": "{name}"}}"#)).expect("a rope");
            assert_eq!(rope.pairs, Pairs::Neighbors);
        }
        assert_eq!(serde_json::to_string(&Pairs::Neighbors).expect("a string"), r#""neighbors""#);
    }

    #[test]
    fn the_product_of_two_rotated_vectors_depends_only_on_their_distance() {
        for pairs in [Pairs::Neighbors, Pairs::Halves] {
            let rope = Rope { base: 10_000.0, pairs };
            let mut rows: Vec<f32> = [1.0, -0.5, 0.25, 2.0].repeat(6);
            rope.rotate(&mut rows, 4, 4, 6, 1.0);
            let product = |i: usize, j: usize| -> f32 { (0..4).map(|k| rows[i * 4 + k] * rows[j * 4 + k]).sum() };
            assert!((product(0, 2) - product(3, 5)).abs() < 1e-5 && (product(0, 2) - product(0, 3)).abs() > 1e-2);
            rope.rotate(&mut rows, 4, 4, 6, -1.0);
            assert!(rows.iter().zip([1.0, -0.5, 0.25, 2.0].repeat(6)).all(|(a, b)| (a - b).abs() < 1e-5));
        }
    }
}
