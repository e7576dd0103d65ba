//! Training rounds, generic over the gradient precision.

use std::ops::Range;

use bitgrain_kernels::histograms::PairF32;
use rayon::prelude::*;

use super::binned::BinnedTree;
use super::earlier::{as_compared, class_labels, earlier_trees, know_more};
use super::evaluate::{Truth, evaluate};
use super::grow::{Arrangement, Grower, Grown, Numbers, Sum};
use super::scores::{self, Largest, gradients, in_chunks, largest_of, relative};
use super::split::{How, Rules, Search};
use super::state::{State, start_scores};
use super::trainer::{EvalSet, MetricValue, Round, Trainer, Training};
use super::unseen::Unseen;
use super::{Dataset, TrainError, sampling};
use crate::gradient::{GradientRows, Steps};
use crate::model::{Comparison, Input, Leaf, Link, Missing, Model, Output, Rule, Split, Tree};
use crate::narrow::narrow;
use crate::random::mixed;

/// Positions that a thread sums at a time; a constant, so that sums do not depend on the number of threads.
const CHUNK: usize = 1 << 14;

/// Minimum number of rows for computing leaf values in parallel.
const ROWS: usize = 1 << 16;

/// State that persists between rounds.
pub(super) struct Rounds<'t, 'a, 'd, N: Numbers> {
    trainer: &'t mut Trainer<'a>,
    data: &'d mut Dataset,
    /// Row index at each position.
    order: Vec<u32>,
    /// Gradients of the row at each position.
    gradients: N::Rows,
    /// Targets, weights and scores of all rows.
    state: State,
    /// Scores of each validation set, grouped by output.
    valid_scores: Vec<Vec<f64>>,
    /// Unrounded targets of each validation set; empty without metrics.
    valid_targets: Vec<Vec<f64>>,
    /// Whether targets, weights and scores move with their rows, and gradients are computed on demand. With several
    /// outputs, the scores of each would have to move with the trees of all the others; then the columns stay in row
    /// order and gradients are stored in `exact`. The same holds for GOSS and for objectives that need the rows in
    /// order.
    moves: bool,
    /// Unquantized gradients of all rows, grouped by output; empty if `moves`.
    exact: Vec<PairF32>,
    base_scores: Vec<f64>,
    /// f64 if a feature needs it, or if the initial model uses it.
    comparison: Comparison,
    categorical: Vec<bool>,
    /// Features whose missing values share the last bin, and therefore go right at every split.
    missing_last: Vec<bool>,
    trees: Vec<Tree>,
    history: Vec<Vec<MetricValue>>,
}

impl<'t, 'a, 'd, N: Numbers> Rounds<'t, 'a, 'd, N> {
    pub(super) fn new(trainer: &'t mut Trainer<'a>, data: &'d mut Dataset) -> Result<Self, TrainError> {
        let outputs = trainer.objective.n_outputs();
        let (state, base_scores) = State::new(data, &*trainer.objective, trainer.init);
        let valid_scores = trainer.valid.iter().map(|valid| start_scores(valid, &base_scores)).collect();
        let measured = if trainer.metrics.is_empty() { &[][..] } else { &trainer.valid[..] };
        let valid_targets = measured.iter().map(|valid| valid.targets.exact().into_owned()).collect();
        let earlier = trainer.init.map_or(Comparison::F32, |model| model.comparison);
        let comparison = if data.cuts.any_precise() { Comparison::F64 } else { earlier };
        let n_rows = data.n_rows();
        let moves = outputs == 1 && trainer.params.goss().is_none() && !trainer.objective.whole();
        Ok(Self {
            order: (0..narrow(n_rows)).collect(),
            gradients: N::Rows::zeros(n_rows),
            state,
            valid_scores,
            valid_targets,
            exact: vec![PairF32::default(); if moves { 0 } else { n_rows * outputs }],
            moves,
            categorical: (0..data.n_features()).map(|feature| data.is_categorical(feature)).collect(),
            missing_last: (0..data.n_features()).map(|feature| data.unseen.flags(feature).is_some()).collect(),
            trees: trainer.init.map(|model| earlier_trees(model, comparison)).unwrap_or_default(),
            comparison,
            history: Vec::new(),
            base_scores,
            trainer,
            data,
        })
    }

    pub(super) fn run(mut self) -> Result<Training, TrainError> {
        let best = self.grow();
        // Restore the row order even after an error: the caller keeps the dataset.
        self.data.slots.restore(&mut self.order);
        Ok(self.finish(best?))
    }

    /// Runs all rounds. Returns the best round if a validation metric was measured.
    fn grow(&mut self) -> Result<Option<usize>, TrainError> {
        let rounds = self.trainer.params.n_estimators;
        let mut best: Option<(usize, f64)> = None;
        for round in 0..rounds {
            self.round(round)?;
            let metrics = self.measure()?;
            let stop = self.trainer.tell(&Round { index: round, total: rounds, metrics: &metrics });
            let watched = metrics.iter().find(|metric| metric.data == EvalSet::Valid).map(|metric| metric.value);
            if let Some(value) = watched {
                let higher = self.trainer.metrics[0].higher_is_better();
                // A NaN of the first round is replaced by any later value; a later NaN never compares as better.
                if best.is_none_or(|(_, best)| best.is_nan() || if higher { value > best } else { value < best }) {
                    best = Some((round, value));
                }
            }
            self.history.push(metrics);
            let late = |patience: usize| best.is_some_and(|(best, _)| round - best >= patience);
            if stop || self.trainer.params.early_stopping_rounds.is_some_and(late) {
                break;
            }
        }
        Ok(best.map(|(round, _)| round))
    }

    /// Grows one tree per output.
    fn round(&mut self, round: usize) -> Result<(), TrainError> {
        let rows = self.state.rows();
        let objective = &*self.trainer.objective;
        let mut largest = if !self.moves {
            gradients(objective, rows, round, &mut self.exact)?
        } else if N::EXACT {
            vec![Largest::default()]
        } else {
            vec![largest_of(objective, rows, (round, &self.order))?]
        };
        let n_rows = self.data.n_rows();
        let in_bag = self.sample(round, &mut largest);
        for (output, largest) in largest.into_iter().enumerate() {
            let seed = mixed(self.trainer.params.seed ^ mixed((round * 4096 + output) as u64));
            let steps = Steps::new(N::codes(n_rows), largest.grad, largest.hess, self.rounding_seed(seed));
            self.gradients.set_steps(&steps);
            self.carry(&steps, output, round)?;
            let rules = Rules::new(&self.trainer.params, steps.grad_step(), steps.hess_step());
            let features = self.features(seed);
            let map = self.data.cuts.map();
            let search =
                Search { map, categorical: &self.categorical, missing_last: &self.missing_last, rules: &rules };
            let grower = Grower { params: &self.trainer.params, search, rules: &rules, features: &features, seed };
            let along = self.state.along(self.moves);
            let mut rows = Arrangement::new(&mut self.data.slots, &mut self.order, self.gradients.pairs_mut(), along);
            let grown = grower.grow::<N>(&mut rows.part(0..in_bag));
            // Leaf values use unquantized gradients: only the choice of splits is subject to quantization.
            let mut values = self.leaf_values(&grown, output, round, &rules)?;
            if let [value] = &mut values[..]
                && self.is_lost(*value, output)
            {
                *value = 0.0;
            }
            self.add_scores(&grown, output, &values, in_bag);
            let tree = self.tree(&grown, &values, &rules);
            self.trees.push(tree);
        }
        Ok(())
    }

    /// Computes the quantized gradient of the row at each position.
    fn carry(&mut self, steps: &Steps, output: usize, round: usize) -> Result<(), TrainError> {
        let n_rows = self.data.n_rows();
        if self.moves {
            let rows = self.state.rows();
            let objective = &*self.trainer.objective;
            in_chunks(objective, rows, (round, &self.order), self.gradients.pairs_mut(), |first, grads, hess, out| {
                N::Rows::encode(steps, first, grads, hess, out);
            })?;
            return Ok(());
        }
        let exact = &self.exact[output * n_rows..(output + 1) * n_rows];
        let chunks = self
            .gradients
            .pairs_mut()
            .par_chunks_mut(scores::CHUNK)
            .zip(self.order.par_chunks(scores::CHUNK))
            .enumerate();
        chunks.for_each_init(<(Vec<f32>, Vec<f32>)>::default, |(grads, hess), (chunk, (out, order))| {
            let pairs = || order.iter().map(|&row| exact[row as usize]);
            grads.clear();
            grads.extend(pairs().map(|pair| pair.grad));
            hess.clear();
            hess.extend(pairs().map(|pair| pair.hess));
            N::Rows::encode(steps, chunk * scores::CHUNK, grads, hess, out);
        });
        Ok(())
    }

    fn rounding_seed(&self, seed: u64) -> Option<u32> {
        (self.trainer.params.stochastic_rounding || N::ALWAYS_STOCHASTIC).then_some((seed >> 32) as u32)
    }

    fn features(&self, seed: u64) -> Vec<usize> {
        // Features with one bin cannot be split on and would only take places in the sample.
        let map = self.data.cuts.map();
        let all: Vec<usize> = (0..self.data.n_features()).filter(|&feature| map.n_bins(feature) > 1).collect();
        let share = self.trainer.params.colsample_bytree;
        if share >= 1.0 { all } else { sampling::some_of(&all, share, seed) }
    }

    /// Moves the rows of this round's sample to the front; returns their number. GOSS scales gradients up, so `largest`
    /// is updated.
    fn sample(&mut self, round: usize, largest: &mut [Largest]) -> usize {
        let params = &self.trainer.params;
        let n_rows = self.data.n_rows();
        let chosen = if let Some(goss) = params.goss() {
            sampling::goss(goss, params, round, n_rows, &mut self.exact)
        } else if let Some(bagging) = params.bagging() {
            sampling::bag(bagging, params.seed, round, n_rows)
        } else {
            None
        };
        let Some(chosen) = chosen else { return n_rows };
        for (largest, exact) in largest.iter_mut().zip(self.exact.chunks(n_rows)) {
            for pair in exact {
                largest.grad = largest.grad.max(pair.grad.abs());
                largest.hess = largest.hess.max(pair.hess);
            }
        }
        let along = self.state.along(self.moves);
        Arrangement::new(&mut self.data.slots, &mut self.order, self.gradients.pairs_mut(), along)
            .bring_to_front(&chosen)
    }

    /// Returns the value that each leaf adds to the scores, from unquantized gradients.
    fn leaf_values(
        &self,
        grown: &Grown<N::Sum>,
        output: usize,
        round: usize,
        rules: &Rules,
    ) -> Result<Vec<f64>, TrainError> {
        let rate = self.trainer.params.learning_rate;
        let value = |leaf: &super::grow::GrownLeaf<N::Sum>| {
            let value = if self.trainer.objective.renews_leaves() {
                self.renewed(leaf.rows.clone(), output)
            } else if N::EXACT {
                let (grad, hess) = leaf.totals.sum.parts();
                rules.leaf(grad, hess)
            } else {
                let (grad, hess) = self.exact_sums(leaf.rows.clone(), output, round)?;
                rules.leaf(grad, hess)
            };
            Ok(self.bounded(value * rate))
        };
        // Small tables are finished before another thread wakes up.
        let few = if self.data.n_rows() < ROWS { grown.leaves.len() } else { 1 };
        let values: Vec<Result<f64, TrainError>> = grown.leaves.par_iter().with_min_len(few).map(value).collect();
        values.into_iter().collect()
    }

    /// Returns whether a tree without splits is too small to change any score in f32: its value results from the
    /// rounding of gradients.
    fn is_lost(&self, value: f64, output: usize) -> bool {
        let (n_rows, origin) = (self.data.n_rows(), self.state.origin);
        let scores = &self.state.scores[output * n_rows..(output + 1) * n_rows];
        let step = relative(value, 0.0);
        scores.iter().map(|&score| relative(score, origin)).all(|score| score + step == score)
    }

    /// Clips a leaf value so that scores stay finite for any learning rate and any hessians.
    fn bounded(&self, value: f64) -> f64 {
        let most = match self.trainer.objective.link() {
            // `exp(100)` is beyond any odds or ratio of means in real data.
            Link::Logistic { .. } | Link::Softmax | Link::Exponential => 100.0,
            Link::Identity | Link::Softplus | Link::SignedSquare | Link::Step => f64::from(f32::MAX),
        };
        if value.is_nan() { 0.0 } else { value.clamp(-most, most) }
    }

    /// Sums the unquantized gradients of a range of positions.
    fn exact_sums(&self, places: Range<usize>, output: usize, round: usize) -> Result<(f64, f64), TrainError> {
        let total = |sums: Vec<(f64, f64)>| sums.into_iter().fold((0.0, 0.0), |(a, b), (g, h)| (a + g, b + h));
        if self.moves {
            let rows = self.state.rows().at(places.clone());
            let sum = |values: &[f32]| values.iter().map(|&value| f64::from(value)).sum::<f64>();
            let (objective, order) = (&*self.trainer.objective, &self.order[places]);
            let mut nothing = vec![(); order.len()];
            let sums =
                in_chunks(objective, rows, (round, order), &mut nothing, |_, grads, hess, _| (sum(grads), sum(hess)))?;
            return Ok(total(sums));
        }
        let exact = &self.exact[output * self.data.n_rows()..];
        let of_chunk = |rows: &[u32]| {
            rows.iter().fold((0.0, 0.0), |(grad, hess), &row| {
                let pair = exact[row as usize];
                (grad + f64::from(pair.grad), hess + f64::from(pair.hess))
            })
        };
        Ok(total(self.order[places].par_chunks(CHUNK).map(of_chunk).collect()))
    }

    /// Returns the leaf value computed by the objective from the residuals.
    fn renewed(&self, places: Range<usize>, output: usize) -> f64 {
        let State { targets, weights, scores, origin } = &self.state;
        let scores = &scores[output * self.data.n_rows()..];
        let residual = |place: usize| {
            let row = self.index(place);
            let weight = weights.as_ref().map_or(1.0, |weights| weights[row]);
            (relative(f64::from(targets[row]), scores[row] - origin), weight)
        };
        let mut residuals: Vec<(f32, f32)> = places.map(residual).collect();
        self.trainer.objective.renew_leaf(&mut residuals).unwrap_or(0.0)
    }

    /// Returns the index of a position's row in targets, weights and scores.
    fn index(&self, place: usize) -> usize {
        if self.moves { place } else { self.order[place] as usize }
    }

    /// Adds the new tree to the scores of all rows.
    fn add_scores(&mut self, grown: &Grown<N::Sum>, output: usize, values: &[f64], in_bag: usize) {
        let n_rows = self.data.n_rows();
        let scores = &mut self.state.scores[output * n_rows..(output + 1) * n_rows];
        for (leaf, &value) in grown.leaves.iter().zip(values) {
            if self.moves {
                scores[leaf.rows.clone()].iter_mut().for_each(|score| *score += value);
            } else {
                self.order[leaf.rows.clone()].iter().for_each(|&row| scores[row as usize] += value);
            }
        }
        if in_bag == n_rows && self.trainer.valid.is_empty() {
            return;
        }
        // No flags for training data: splits were found with its missing values in their actual bins; see `missing_last`.
        let unseen = Unseen::default();
        let binned = BinnedTree::new(grown, &self.data.slots, &unseen);
        let leaves = binned.leaves(&self.data.slots, in_bag..n_rows);
        for (place, leaf) in (in_bag..n_rows).zip(leaves) {
            let row = if self.moves { place } else { self.order[place] as usize };
            scores[row] += values[leaf as usize];
        }
        for (valid, scores) in self.trainer.valid.iter().zip(&mut self.valid_scores) {
            let n_valid = valid.n_rows();
            // A validation set may have its own plan, because it may have been created from its own matrix.
            let binned = BinnedTree::new(grown, &valid.slots, &valid.unseen);
            binned.add_to(&valid.slots, values, &mut scores[output * n_valid..(output + 1) * n_valid]);
        }
    }

    fn measure(&self) -> Result<Vec<MetricValue>, TrainError> {
        let Trainer { metrics, objective, valid, watch_train, .. } = &*self.trainer;
        let mut all = Vec::new();
        if metrics.is_empty() {
            return Ok(all);
        }
        if valid.is_empty() || *watch_train {
            let (targets, weights) = (&self.data.targets.exact()[..], self.data.weights.as_deref());
            let truth = Truth { data: EvalSet::Train, targets, weights };
            all.extend(evaluate(metrics, objective.link(), &truth, self.scores_by_row())?);
        }
        for (number, (valid, scores)) in valid.iter().zip(&self.valid_scores).enumerate() {
            let data = if number == 0 { EvalSet::Valid } else { EvalSet::Further(number) };
            let truth = Truth { data, targets: &self.valid_targets[number], weights: valid.weights.as_deref() };
            all.extend(evaluate(metrics, objective.link(), &truth, scores.clone())?);
        }
        Ok(all)
    }

    /// Returns the training scores in the original row order.
    fn scores_by_row(&self) -> Vec<f64> {
        let mut scores = self.state.scores.clone();
        if self.moves {
            self.order.iter().zip(&self.state.scores).for_each(|(&row, &score)| scores[row as usize] = score);
        }
        scores
    }

    /// Converts a grown tree to a model tree: bins become thresholds and category codes.
    fn tree(&self, grown: &Grown<N::Sum>, values: &[f64], rules: &Rules) -> Tree {
        let rate = self.trainer.params.learning_rate;
        let hess_of = |sum: N::Sum| sum.parts().1 * rules.hess_step;
        let leaf = |(leaf, &value): (&super::grow::GrownLeaf<N::Sum>, &f64)| Leaf {
            value,
            weight: hess_of(leaf.totals.sum),
            count: leaf.totals.rows as u64,
        };
        let split = |split: &super::grow::GrownSplit<N::Sum>| {
            let feature = split.found.sides.feature;
            let (rule, missing_left) = match &split.found.how {
                How::Cut { bin, missing_left } => (Rule::AtMost(self.threshold(feature, *bin)), *missing_left),
                How::Choice { bins } => (Rule::In(self.data.codes_of(feature, bins)), false),
            };
            let (grad, hess) = split.totals.sum.parts();
            #[expect(clippy::cast_possible_truncation, reason = "gains are informative only")]
            let gain = split.found.gain.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
            Split {
                feature: narrow(feature),
                rule,
                missing: Missing::Nan,
                missing_left,
                left: split.left,
                right: split.right,
                gain,
                value: self.bounded(rules.leaf(grad * rules.grad_step, hess * rules.hess_step) * rate),
                weight: hess_of(split.totals.sum),
                count: split.totals.rows as u64,
            }
        };
        Tree {
            splits: grown.splits.iter().map(split).collect(),
            leaves: grown.leaves.iter().zip(values).map(leaf).collect(),
        }
    }

    /// Returns the threshold of a cut: exactly the values in bins up to `bin` are at most this large.
    fn threshold(&self, feature: usize, bin: usize) -> f64 {
        if let Some(cuts) = self.data.cuts.precise_cuts(feature) {
            return cuts.get(bin).copied().unwrap_or(f64::INFINITY);
        }
        let cut = self.data.cuts.cuts(feature).get(bin).map_or(f64::INFINITY, |&cut| f64::from(cut));
        as_compared(cut, self.comparison)
    }

    fn finish(self, best_round: Option<usize>) -> Training {
        let Self { trainer, data, mut trees, history, base_scores, comparison, .. } = self;
        let outputs = base_scores.len();
        if let (Some(best), Some(_)) = (best_round, trainer.params.early_stopping_rounds) {
            let before = trainer.init.map_or(0, |model| model.trees.len());
            trees.truncate(before + (best + 1) * outputs);
        }
        let input = |(feature, name): (usize, &String)| {
            let mut kind = data.input_kind(feature);
            if let Some(model) = trainer.init {
                know_more(&mut kind, &model.inputs[feature].kind);
            }
            Input { name: name.clone(), kind }
        };
        let model = Model {
            inputs: data.schema.names().iter().enumerate().map(input).collect(),
            comparison,
            output: Output {
                objective: trainer.objective.name(),
                link: trainer.objective.link(),
                base_scores,
                classes: class_labels(data, trainer.init, outputs),
                average: false,
            },
            trees,
            metadata: trainer.metadata(best_round),
        };
        Training { model, history, best_round, precision: N::PRECISION }
    }
}
