//! Training rounds, generic over the gradient precision.

use std::ops::Range;

use super::binned::BinnedTree;
use super::earlier::{as_compared, class_labels, earlier_trees, merge_known_codes};
use super::evaluate::{Truth, evaluate};
use super::grow::{Arrangement, Buffers, Grower, Grown, Numbers, Sum};
use super::scores::{self, Ask, Largest, asks, gradients, in_chunks, largest_of, relative};
use super::split::{How, Rules, Search};
use super::state::{State, start_scores};
use super::team::Team;
use super::trainer::{EvalSet, MetricValue, Round, Trainer, Training};
use super::unseen::Unseen;
use super::{Dataset, TrainError, sampling};
use crate::gradient::{GradientRows, Steps};
use crate::model::{Comparison, Input, Leaf, Link, Missing, Model, Output, Rule, Split, Tree};
use crate::narrow::narrow;
use crate::objective::Objective;
use crate::random::mixed;
use bitgrain_kernels::histograms::PairF32;

/// Positions that a thread sums at a time; a constant, so that sums do not depend on the number of threads.
const CHUNK: usize = 1 << 14;

/// State that persists between rounds.
pub(super) struct Rounds<'t, 'a, 'd, N: Numbers> {
    team: &'t Team<'t>,
    buffers: Buffers<N::Sum>,
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
    pub(super) fn new(team: &'t Team<'t>, trainer: &'t mut Trainer<'a>, data: &'d mut Dataset) -> Self {
        let outputs = trainer.objective.n_outputs();
        let (state, base_scores) = State::new(data, &*trainer.objective, trainer.init);
        let valid_scores = trainer.valid.iter().map(|valid| start_scores(valid, &base_scores)).collect();
        let measured = if trainer.metrics.is_empty() { &[][..] } else { &trainer.valid[..] };
        let valid_targets = measured.iter().map(|valid| valid.targets.exact().into_owned()).collect();
        let earlier = trainer.init.map_or(Comparison::F32, |model| model.comparison);
        let comparison = if data.cuts.any_precise() { Comparison::F64 } else { earlier };
        let n_rows = data.n_rows();
        let moves = outputs == 1 && trainer.params.goss().is_none() && !trainer.objective.needs_all_rows();
        Self {
            team,
            buffers: Buffers::default(),
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
        }
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
            let stop = self.trainer.notify(&Round { index: round, total: rounds, metrics: &metrics });
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
            gradients(self.team, objective, rows, round, &mut self.exact)?
        } else if N::EXACT {
            vec![Largest::default()]
        } else {
            vec![largest_of(self.team, objective, rows, (round, &self.order))?]
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
            let columns = self.state.row_columns(self.moves);
            let mut rows = Arrangement::new(&mut self.data.slots, &mut self.order, self.gradients.pairs_mut(), columns);
            let grown = grower.grow::<N>(self.team, &mut rows.part(0..in_bag), &self.buffers);
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
            let asks = asks(self.gradients.pairs_mut());
            in_chunks(self.team, objective, rows, (round, &self.order), asks, |first, grads, hess, out| {
                N::Rows::encode(steps, first, grads, hess, out);
            })?;
            return Ok(());
        }
        let exact = &self.exact[output * n_rows..(output + 1) * n_rows];
        let pairs = self.gradients.pairs_mut().chunks_mut(scores::CHUNK);
        let chunks = pairs.zip(self.order.chunks(scores::CHUNK)).enumerate().collect();
        self.team.map(chunks, |(chunk, (out, order)): (usize, (&mut [N::Pair], &[u32]))| {
            let pairs = || order.iter().map(|&row| exact[row as usize]);
            let grads: Vec<f32> = pairs().map(|pair| pair.grad).collect();
            let hess: Vec<f32> = pairs().map(|pair| pair.hess).collect();
            N::Rows::encode(steps, chunk * scores::CHUNK, &grads, &hess, out);
        });
        Ok(())
    }

    fn rounding_seed(&self, seed: u64) -> Option<u32> {
        (self.trainer.params.stochastic_rounding || N::ALWAYS_STOCHASTIC).then_some((seed >> 32) as u32)
    }

    fn features(&self, seed: u64) -> Vec<usize> {
        // Features with one bin cannot be split on, and would only displace others in the sample.
        let map = self.data.cuts.map();
        let all: Vec<usize> = (0..self.data.n_features()).filter(|&feature| map.n_bins(feature) > 1).collect();
        let share = self.trainer.params.colsample_bytree;
        if share >= 1.0 { all } else { sampling::sample_items(&all, share, seed) }
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
        let columns = self.state.row_columns(self.moves);
        Arrangement::new(&mut self.data.slots, &mut self.order, self.gradients.pairs_mut(), columns)
            .move_to_front(&chosen)
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
        let values: Vec<f64> = if self.trainer.objective.renews_leaves() {
            let (state, order) = (&self.state, (!self.moves).then_some(&self.order[..]));
            let scores = &state.scores[output * self.data.n_rows()..];
            let objective = &*self.trainer.objective;
            let leaves = grown.leaves.iter().map(|leaf| leaf.rows.clone()).collect();
            self.team.map(leaves, |rows| renewed(objective, state, scores, order, rows))
        } else if N::EXACT {
            let of_leaf = |leaf: &super::grow::GrownLeaf<N::Sum>| leaf.totals.sum.parts();
            grown.leaves.iter().map(of_leaf).map(|(grad, hess)| rules.leaf(grad, hess)).collect()
        } else {
            // Leaf values use unquantized gradients: only the choice of splits is subject to quantization.
            let sums = self.exact_sums(grown, output, round)?;
            sums.into_iter().map(|(grad, hess)| rules.leaf(grad, hess)).collect()
        };
        Ok(values.into_iter().map(|value| self.bounded(value * rate)).collect())
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

    /// Sums the unquantized gradients of each leaf.
    fn exact_sums(&self, grown: &Grown<N::Sum>, output: usize, round: usize) -> Result<Vec<(f64, f64)>, TrainError> {
        // Float sums depend on these parts, so they must not depend on the number of threads.
        let of_leaf = |(leaf, grown): (usize, &super::grow::GrownLeaf<N::Sum>)| {
            let (start, end) = (grown.rows.start, grown.rows.end);
            (start..end).step_by(CHUNK).map(move |first| (leaf, first..end.min(first + CHUNK)))
        };
        let parts: Vec<(usize, Range<usize>)> = grown.leaves.iter().enumerate().flat_map(of_leaf).collect();
        let sums: Vec<(f64, f64)> = if self.moves {
            let sum = |values: &[f32]| values.iter().map(|&value| f64::from(value)).sum::<f64>();
            let mut nothing = vec![(); self.order.len()];
            let mut rest = &mut nothing[..];
            let mut asks = Vec::with_capacity(parts.len());
            let mut sorted: Vec<usize> = (0..parts.len()).collect();
            sorted.sort_unstable_by_key(|&part| parts[part].1.start);
            let mut at = 0;
            for &part in &sorted {
                let places = &parts[part].1;
                let (out, others) = rest[places.start - at..].split_at_mut(places.len());
                asks.push(Ask { first: places.start, out });
                (rest, at) = (others, places.end);
            }
            let (objective, rows) = (&*self.trainer.objective, self.state.rows());
            let found = in_chunks(self.team, objective, rows, (round, &self.order), asks, |_, grads, hess, _| {
                (sum(grads), sum(hess))
            })?;
            let mut sums = vec![(0.0, 0.0); parts.len()];
            for (part, found) in sorted.into_iter().zip(found) {
                sums[part] = found.into_iter().fold((0.0, 0.0), |(a, b), (g, h)| (a + g, b + h));
            }
            sums
        } else {
            let exact = &self.exact[output * self.data.n_rows()..];
            let order = &self.order;
            self.team.map(parts.iter().map(|(_, places)| places.clone()).collect(), |places: Range<usize>| {
                order[places].iter().fold((0.0, 0.0), |(grad, hess), &row| {
                    let pair = exact[row as usize];
                    (grad + f64::from(pair.grad), hess + f64::from(pair.hess))
                })
            })
        };
        let mut totals = vec![(0.0, 0.0); grown.leaves.len()];
        for ((leaf, _), (grad, hess)) in parts.iter().zip(sums) {
            totals[*leaf] = (totals[*leaf].0 + grad, totals[*leaf].1 + hess);
        }
        Ok(totals)
    }

    /// Adds the new tree to the scores of all rows.
    fn add_scores(&mut self, grown: &Grown<N::Sum>, output: usize, values: &[f64], in_bag: usize) {
        let n_rows = self.data.n_rows();
        let scores = &mut self.state.scores[output * n_rows..(output + 1) * n_rows];
        if self.moves {
            let mut leaves: Vec<(Range<usize>, f64)> =
                grown.leaves.iter().zip(values).map(|(leaf, &value)| (leaf.rows.clone(), value)).collect();
            leaves.sort_unstable_by_key(|(rows, _)| (rows.start, rows.end));
            let mut rest = &mut scores[..];
            let mut tasks = Vec::new();
            for (rows, value) in leaves {
                let (of_leaf, others) = rest.split_at_mut(rows.len());
                tasks.extend(of_leaf.chunks_mut(CHUNK).map(|scores| (scores, value)));
                rest = others;
            }
            self.team.map(tasks, |(scores, value)| scores.iter_mut().for_each(|score| *score += value));
        } else {
            for (leaf, &value) in grown.leaves.iter().zip(values) {
                self.order[leaf.rows.clone()].iter().for_each(|&row| scores[row as usize] += value);
            }
        }
        if in_bag == n_rows && self.trainer.valid.is_empty() {
            return;
        }
        // No flags for training data: splits were found with its missing values in their actual bins; see
        // `missing_last`.
        let unseen = Unseen::default();
        let binned = BinnedTree::new(grown, &self.data.slots, &unseen);
        let leaves = binned.leaves(&self.data.slots, &self.order, in_bag..n_rows);
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
        let team = self.team.usage();
        let Self { trainer, data, mut trees, history, base_scores, comparison, .. } = self;
        let outputs = base_scores.len();
        if let (Some(best), Some(_)) = (best_round, trainer.params.early_stopping_rounds) {
            let before = trainer.init.map_or(0, |model| model.trees.len());
            trees.truncate(before + (best + 1) * outputs);
        }
        let input = |(feature, name): (usize, &String)| {
            let mut kind = data.input_kind(feature);
            if let Some(model) = trainer.init {
                merge_known_codes(&mut kind, &model.inputs[feature].kind);
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
        Training { model, history, best_round, precision: N::PRECISION, team }
    }
}

/// Returns the leaf value computed by the objective from the residuals. `order` maps positions to rows, if they differ.
fn renewed(
    objective: &dyn Objective,
    State { targets, weights, origin, .. }: &State,
    scores: &[f64],
    order: Option<&[u32]>,
    places: Range<usize>,
) -> f64 {
    let residual = |place: usize| {
        let row = order.map_or(place, |order| order[place] as usize);
        let weight = weights.as_ref().map_or(1.0, |weights| weights[row]);
        (relative(f64::from(targets[row]), scores[row] - origin), weight)
    };
    let mut residuals: Vec<(f32, f32)> = places.map(residual).collect();
    objective.renew_leaf(&mut residuals).unwrap_or(0.0)
}
