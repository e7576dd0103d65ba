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
