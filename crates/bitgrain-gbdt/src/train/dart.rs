//! `Dart`: dropout of trees during training (DART), with the rules of LightGBM.

use super::Params;
use super::binned::{Step, steps};
use super::grow::Grown;
use crate::model::Child;
use crate::random::{mixed, share};

/// Trees of the training and the part of them that the current round drops. Trees of an initial model are never dropped.
#[derive(Debug, Default)]
pub(super) struct Dart {
    /// Trees in training order, for rows that have moved since.
    trees: Vec<KeptTree>,
    /// Weight of each round, which decides how likely it is dropped.
    weights: Vec<f64>,
    /// Rounds that are dropped now, in ascending order.
    dropped: Vec<usize>,
    /// Weight of the trees of this round.
    rate: f64,
    /// Factor of the weights of the dropped trees after the round.
    factor: f64,
}

/// Splits of a tree by bins.
#[derive(Debug)]
pub(super) struct KeptTree(Vec<KeptSplit>);

#[derive(Debug)]
struct KeptSplit {
    feature: usize,
    left: Vec<bool>,
    missing_left: bool,
    children: [Child; 2],
}

impl KeptTree {
    pub(super) fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        self.0.iter().map(|split| Step {
            feature: split.feature,
            left: &split.left,
            missing_left: split.missing_left,
            children: split.children,
        })
    }
}

impl Dart {
    /// Chooses the rounds to drop. Random numbers belong to a round and a dropped round, so that the choice depends on
    /// neither threads nor workers.
    #[expect(clippy::cast_precision_loss, reason = "numbers of rounds are far below 2^53")]
    pub(super) fn choose(&mut self, round: usize, params: &Params) {
        self.dropped.clear();
        let rounds = self.weights.len();
        let seed = mixed(params.seed ^ mixed(params.drop_seed ^ mixed(round as u64 ^ 0xDA27)));
        let draw = |at: u64| share(mixed(seed ^ mixed(at)));
        if rounds > 0 && draw(u64::MAX) >= params.skip_drop {
            let sum: f64 = self.weights.iter().sum();
            let most = params.max_drop.map_or(f64::INFINITY, |most| most as f64);
            let inverse = rounds as f64 / sum;
            let even = params.drop_rate.min(most / rounds as f64);
            let weighted = params.drop_rate.min(most * inverse / sum) * inverse;
            let chance = |weight: f64| if params.uniform_drop { even } else { weighted * weight };
            let chosen = (0..rounds).filter(|&at| draw(at as u64) < chance(self.weights[at]));
            self.dropped = chosen.take(params.max_drop.unwrap_or(usize::MAX)).collect();
        }
        let (rate, dropped) = (params.learning_rate, self.dropped.len() as f64);
        let own = if params.xgboost_dart_mode { rate } else { 1.0 };
        self.rate = if self.dropped.is_empty() { rate } else { rate / (own + dropped) };
        self.factor = dropped / (own + dropped);
    }

    /// Rounds that are dropped now.
    pub(super) fn dropped(&self) -> Vec<usize> {
        self.dropped.clone()
    }

    /// Number of completed rounds of this training.
    pub(super) fn n_rounds(&self) -> usize {
        self.weights.len()
    }

    /// Factor of the leaf values of this round's trees.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// Factor of the leaf values of the dropped trees.
    pub(super) fn factor(&self) -> f64 {
        self.factor
    }

    /// Returns a tree by its index among those of this training.
    pub(super) fn tree(&self, index: usize) -> &KeptTree {
        &self.trees[index]
    }

    /// Adds a tree of this round.
    pub(super) fn keep<S>(&mut self, grown: &Grown<S>) {
        let split = |step: Step<'_>| KeptSplit {
            feature: step.feature,
            left: step.left.to_vec(),
            missing_left: step.missing_left,
            children: step.children,
        };
        self.trees.push(KeptTree(steps(grown).map(split).collect()));
    }

    /// Ends the round.
    pub(super) fn finish(&mut self) {
        for &at in &self.dropped {
            self.weights[at] *= self.factor;
        }
        self.weights.push(self.rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params() -> Params {
        Params { drop_rate: 0.3, skip_drop: 0.0, ..Params::default() }
    }

    /// Returns the numbers of rounds that each of 200 rounds drops.
    fn drops(params: &Params) -> Vec<usize> {
        let mut dart = Dart::default();
        let round = |round| {
            dart.choose(round, params);
            dart.finish();
            dart.dropped.len()
        };
        (0..200).map(round).collect()
    }

    #[test]
    fn rounds_are_dropped_as_often_as_the_rate_says() {
        for uniform_drop in [false, true] {
            let found: usize = drops(&Params { max_drop: None, uniform_drop, ..params() }).iter().sum();
            // 0.3 of the 19,900 pairs of a round and an earlier one.
            assert!((5600..6400).contains(&found), "{found}");
        }
    }

    #[test]
    fn limits_on_drops_hold() {
        assert!(drops(&Params { max_drop: Some(3), ..params() }).iter().all(|&dropped| dropped <= 3));
        let skipped = drops(&Params { skip_drop: 0.9, max_drop: None, ..params() });
        assert!(skipped[50..].iter().filter(|&&dropped| dropped == 0).count() > 120);
        assert_eq!(drops(&Params { skip_drop: 1.0, ..params() }), [0; 200]);
        assert_eq!(drops(&Params { drop_rate: 0.0, ..params() }), [0; 200]);
        let all = drops(&Params { drop_rate: 1.0, uniform_drop: true, max_drop: None, ..params() });
        assert!(all.iter().enumerate().all(|(round, &dropped)| dropped == round));
    }

    #[test]
    fn a_new_tree_and_the_dropped_ones_share_the_weight_of_the_dropped() {
        for (xgboost_dart_mode, rate, factor) in [(false, 0.1 / 3.0, 2.0 / 3.0), (true, 0.1 / 2.1, 2.0 / 2.1)] {
            let params = Params { drop_rate: 1.0, uniform_drop: true, xgboost_dart_mode, ..params() };
            let mut dart = Dart::default();
            for round in 0..3 {
                dart.choose(round, &params);
                dart.finish();
            }
            assert_eq!((dart.rate, dart.factor, &dart.dropped[..]), (rate, factor, &[0, 1][..]));
            assert_eq!(dart.weights[2], rate);
        }
    }
}
