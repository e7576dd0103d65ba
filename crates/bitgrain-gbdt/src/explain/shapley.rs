//! Shapley values of the game of one leaf.

use super::quadrature::Quadrature;

/// Computes Shapley values and interaction values; holds the buffers.
#[derive(Debug, Default)]
pub(super) struct Shapley {
    before: Vec<f64>,
    after: Vec<f64>,
}

/// The game of a leaf: one and zero fractions of its features.
#[derive(Clone, Copy)]
pub(super) struct Game<'a> {
    /// 1 for features whose conditions the row meets, otherwise 0.
    pub(super) ones: &'a [u8],
    /// Fractions that stand for an unknown value.
    pub(super) zeros: &'a [f64],
    /// Value of the leaf, times the weight of the game.
    pub(super) value: f64,
}

impl Shapley {
    /// Adds the Shapley value of each feature to `out`.
    pub(super) fn add_values(&mut self, game: Game<'_>, rule: &Quadrature, out: &mut [f64]) {
        for &(point, weight) in &rule.points {
            self.multiply(game, point);
            for (at, out) in out.iter_mut().enumerate() {
                let others = self.before[at] * self.after[at + 1];
                *out += game.value * difference(game, at) * weight * others;
            }
        }
    }

    /// Adds the Shapley values of all patterns of `ones` to `table`: those of feature `i` start at `i << zeros.len()`, in
    /// order of the patterns, whose bit `j` is `ones[j]`. The bits are those of [`add_values`](Self::add_values).
    ///
    /// The products before a feature depend on the lower bits of the pattern only, the products after it on the higher
    /// bits, so that each is computed once instead of once per pattern.
    pub(super) fn add_table(&mut self, zeros: &[f64], value: f64, rule: &Quadrature, table: &mut [f64]) {
        let n = zeros.len();
        // The products before feature `i` have `2^i` values and start at `2^i`; those from feature `i` on have
        // `2^(n - i)` values and start there.
        self.before.resize((1 << n).max(2), 1.0);
        self.after.resize((1 << n).max(2), 1.0);
        for &(point, weight) in &rule.points {
            let factors =
                |at: usize| [0, 1].map(|one| factor(Game { ones: &[one], zeros: &zeros[at..=at], value }, 0, point));
            (self.before[1], self.after[1]) = (1.0, 1.0);
            for at in 0..n.saturating_sub(1) {
                let (lower, upper) = self.before.split_at_mut(2 << at);
                for (half, factor) in upper.chunks_exact_mut(1 << at).zip(factors(at)) {
                    half.iter_mut().zip(&lower[1 << at..]).for_each(|(out, before)| *out = before * factor);
                }
            }
            for at in (1..n).rev() {
                let (count, factors) = (1 << (n - at), factors(at));
                let (lower, upper) = self.after.split_at_mut(count);
                for (pair, after) in upper[..count].chunks_exact_mut(2).zip(&lower[count / 2..]) {
                    (pair[0], pair[1]) = (after * factors[0], after * factors[1]);
                }
            }
            for (at, answers) in table.chunks_exact_mut(1 << n).enumerate() {
                let before = &self.before[1 << at..2 << at];
                let after = &self.after[1 << (n - 1 - at)..];
                let gains = [0.0 - zeros[at], 1.0 - zeros[at]].map(|difference| value * difference * weight);
                for (answers, after) in answers.chunks_exact_mut(2 << at).zip(after) {
                    for (half, gain) in answers.chunks_exact_mut(1 << at).zip(gains) {
                        half.iter_mut().zip(before).for_each(|(out, before)| *out += gain * (before * after));
                    }
                }
            }
        }
    }

    /// Adds the interaction value of each pair of features to `out`, a square matrix with both halves of a pair. The
    /// diagonal receives the Shapley value less the interactions of its feature.
    pub(super) fn add_interactions(&mut self, game: Game<'_>, rule: &Quadrature, out: &mut [f64]) {
        let n = game.ones.len();
        for &(point, weight) in &rule.points {
            self.multiply(game, point);
            for first in 0..n {
                let gain = game.value * difference(game, first) * weight;
                out[first * n + first] += gain * self.before[first] * self.after[first + 1];
                let mut between = 1.0;
                for second in first + 1..n {
                    let others = self.before[first] * between * self.after[second + 1];
                    let half = 0.5 * gain * difference(game, second) * others;
                    for (row, column) in [(first, second), (second, first)] {
                        out[row * n + column] += half;
                        out[row * n + row] -= half;
                    }
                    between *= factor(game, second, point);
                }
            }
        }
    }

    /// Computes the products of the factors before each feature and from each feature on. Products from both ends
    /// instead of a division, because a factor may be 0.
    fn multiply(&mut self, game: Game<'_>, point: f64) {
        let n = game.ones.len();
        self.before.resize(n + 1, 1.0);
        self.after.resize(n + 1, 1.0);
        (self.before[0], self.after[n]) = (1.0, 1.0);
        for at in 0..n {
            self.before[at + 1] = self.before[at] * factor(game, at, point);
        }
        for at in (0..n).rev() {
            self.after[at] = self.after[at + 1] * factor(game, at, point);
        }
    }
}

fn factor(game: Game<'_>, at: usize, point: f64) -> f64 {
    point * f64::from(game.ones[at]) + (1.0 - point) * game.zeros[at]
}

fn difference(game: Game<'_>, at: usize) -> f64 {
    f64::from(game.ones[at]) - game.zeros[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shapley value by its definition, over all coalitions.
    fn by_definition(game: Game<'_>, feature: usize) -> f64 {
        let n = game.ones.len();
        let factorial = |k: usize| (1..=k).map(|x| x as f64).product::<f64>();
        let earns = |set: usize| {
            let part = |at: usize| if set >> at & 1 == 1 { f64::from(game.ones[at]) } else { game.zeros[at] };
            game.value * (0..n).map(part).product::<f64>()
        };
        let without = (0..1_usize << n).filter(|set| set >> feature & 1 == 0);
        without
            .map(|set| {
                let size = set.count_ones() as usize;
                let weight = factorial(size) * factorial(n - size - 1) / factorial(n);
                weight * (earns(set | 1 << feature) - earns(set))
            })
            .sum()
    }

    #[test]
    fn values_match_the_definition_over_coalitions() {
        let zeros = [0.5, 0.0, 0.25, 1.0, 0.125, 0.75];
        for n in 1..=6 {
            for pattern in 0..1_u8 << n {
                let ones: Vec<u8> = (0..n).map(|at| pattern >> at & 1).collect();
                let game = Game { ones: &ones, zeros: &zeros[..n], value: 3.0 };
                let mut found = vec![0.0; n];
                Shapley::default().add_values(game, &Quadrature::for_degree(n - 1), &mut found);
                for (feature, found) in found.iter().enumerate() {
                    let expected = by_definition(game, feature);
                    assert!((found - expected).abs() < 1e-14, "feature {feature} of {ones:?}: {found}, {expected}");
                }
            }
        }
    }

    #[test]
    fn tables_have_the_bits_of_single_patterns() {
        let zeros = [0.3, 0.0, 0.21, 1.0, 0.17, 0.77, 0.9, 0.01, 0.5];
        for n in 1..=9 {
            let (rule, zeros) = (Quadrature::for_degree(n - 1), &zeros[..n]);
            let mut table = vec![0.0; n << n];
            // Larger buffers of an earlier game must not matter.
            let mut shapley = Shapley::default();
            shapley.add_table(&[0.4; 10], 2.0, &rule, &mut vec![0.0; 10 << 10]);
            shapley.add_table(zeros, -1.7, &rule, &mut table);
            for pattern in 0..1_usize << n {
                let ones: Vec<u8> = (0..n).map(|at| u8::from(pattern >> at & 1 == 1)).collect();
                let mut expected = vec![0.0; n];
                Shapley::default().add_values(Game { ones: &ones, zeros, value: -1.7 }, &rule, &mut expected);
                for (at, expected) in expected.iter().enumerate() {
                    assert_eq!(table[(at << n) + pattern].to_bits(), expected.to_bits(), "{at} of {ones:?}");
                }
            }
        }
    }

    #[test]
    fn rows_of_interactions_sum_to_the_values() {
        let (ones, zeros) = ([1, 0, 1, 1], [0.5, 0.25, 0.0, 0.75]);
        let game = Game { ones: &ones, zeros: &zeros, value: -2.0 };
        let (mut values, mut pairs) = (vec![0.0; 4], vec![0.0; 16]);
        let rule = Quadrature::for_degree(3);
        Shapley::default().add_values(game, &rule, &mut values);
        Shapley::default().add_interactions(game, &rule, &mut pairs);
        for (value, row) in values.iter().zip(pairs.chunks(4)) {
            assert!((value - row.iter().sum::<f64>()).abs() < 1e-15);
        }
        // Without the other features, a pair is the second difference of the game, halved.
        let alone = Game { ones: &[1, 0], zeros: &[0.5, 0.25], value: 8.0 };
        let mut pair = vec![0.0; 4];
        Shapley::default().add_interactions(alone, &rule, &mut pair);
        assert!((pair[1] - 0.5 * 8.0 * 0.5 * -0.25).abs() < 1e-15);
    }
}
