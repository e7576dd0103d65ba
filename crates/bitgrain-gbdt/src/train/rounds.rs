//! Training rounds, generic over the gradient precision.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use super::binned::{BinnedTree, steps};
use super::boosting::Forest;
use super::constrain::{Constraints, Scorer};
use super::dart::Dart;
use super::earlier::{as_compared, class_labels, earlier_trees, merge_known_codes};
use super::evaluate::{Truth, evaluate};
use super::exact::Grid;
use super::grow::{Arrangement, Buffers, Grower, Grown, Numbers, Sum, sum_of_part};
use super::places::Places;
use super::sampling::Before;
use super::scores::{self, Ask, Asked, Chunk, Largest, Pending, Updated, gradients, relative, task_rows};
use super::shared::{before, same_params, shared_largest, shared_residuals};
use super::split::{How, Rules, Search};
use super::state::{State, start_scores};
use super::stop_on::Best;
use super::team::Team;
use super::trainer::{EvalSet, MetricValue, Round, Trainer, Training};
use super::unseen::Unseen;
use super::usage::Phase;
use super::{Boosting, Dataset, TrainError, sampling};
use crate::distributed::{Gathered, Peers, Reader, Writer};
use crate::gradient::{GradientRows, Steps};
use crate::model::{Comparison, Input, Leaf, Link, Missing, Model, Output, Rule, Split, Tree};
use crate::narrow::narrow;
use crate::objective::Objective;
use crate::random::mixed;
use bitgrain_kernels::histograms::PairF32;

/// Positions that a thread sums at a time; a constant, so that sums do not depend on the number of threads.
const CHUNK: usize = 1 << 14;

/// Flags of missing values without a bin: the training data does not need them, because splits were found with its
/// missing values in their actual bins; see `missing_last`.
static NONE_UNSEEN: Unseen = Unseen::NONE;

/// State that persists between rounds.
pub(super) struct Rounds<'t, 'a, 'd, N: Numbers> {
    team: &'t Team<'t>,
    buffers: Buffers<N::Sum>,
    trainer: &'t mut Trainer<'a>,
    constraints: Option<&'t Constraints>,
    data: &'d mut Dataset,
    /// Row index at each position.
    order: Vec<u32>,
    /// Gradients of the row at each position.
    gradients: N::Rows,
    /// Targets, weights and scores of all rows.
    state: State,
    /// Values of the last tree that are not in the scores yet.
    pending: Pending,
    /// Scores of each validation set, grouped by output.
    valid_scores: Vec<Vec<f64>>,
    /// Unrounded targets of each validation set; empty without metrics.
    valid_targets: Vec<Vec<f64>>,
    /// Whether targets, weights and scores move with their rows, and gradients are computed on demand; see
    /// [`Params::moves_rows`](super::Params). Otherwise, the columns stay in row order and gradients are stored in
    /// `exact`.
    moves: bool,
    /// Unquantized gradients of all rows, grouped by output; empty if `moves`.
    exact: Vec<PairF32>,
    /// Leaf of each row in the current tree; empty if `moves`. Atomic, so that several threads write to scattered rows.
    leaf_of: Vec<AtomicU32>,
    base_scores: Vec<f64>,
    /// Dropped trees of DART.
    dart: Option<Dart>,
    /// Sums over the trees of a random forest.
    forest: Option<Forest>,
    /// f64 if a feature needs it, or if the initial model uses it.
    comparison: Comparison,
    categorical: Vec<bool>,
    /// Features whose missing values share the last bin, and therefore go right at every split.
    missing_last: Vec<bool>,
    trees: Vec<Tree>,
    /// Factor of the leaf values of each tree, if those of the initial model are known.
    rates: Option<Vec<f64>>,
    history: Vec<Vec<MetricValue>>,
    peers: &'t Peers<'t>,
    /// Rows and queries of the workers before this one.
    before: Before,
    /// Rows of all workers, on which worker 0 evaluates the training data and each validation set.
    gathered: Vec<Option<Gathered>>,
}

impl<'t, 'a, 'd, N: Numbers> Rounds<'t, 'a, 'd, N> {
    pub(super) fn new(
        team: &'t Team<'t>,
        trainer: &'t mut Trainer<'a>,
        data: &'d mut Dataset,
        constraints: Option<&'t Constraints>,
        peers: &'t Peers<'t>,
    ) -> Result<Self, TrainError> {
        let outputs = trainer.objective.n_outputs();
        let by_row = !trainer.metrics.is_empty() && (trainer.valid.is_empty() || trainer.watch_train);
        let before = before(data, peers)?;
        let gathered = if trainer.metrics.is_empty() || peers.are_alone() {
            Vec::new()
        } else {
            let watched = if by_row { vec![&*data] } else { Vec::new() };
            let sets = watched.into_iter().chain(trainer.valid.iter().copied());
            sets.map(|set| Gathered::of(peers, set)).collect::<Result<_, _>>()?
        };
        let boosting = trainer.params.boosting;
        let moves = trainer.params.moves_rows(&*trainer.objective);
        let (state, mut base_scores) = State::new(data, &*trainer.objective, trainer.init, by_row, boosting, peers)?;
        let forest = (boosting == Boosting::Rf).then(|| {
            let none = vec![0.0; outputs];
            let bias = std::mem::replace(&mut base_scores, none);
            Forest { bias, sums: if by_row { start_scores(data, &base_scores) } else { Vec::new() } }
        });
        let valid_scores = trainer.valid.iter().map(|valid| start_scores(valid, &base_scores)).collect();
        let measured = if trainer.metrics.is_empty() { &[][..] } else { &trainer.valid[..] };
        let valid_targets = measured.iter().map(|valid| valid.targets.exact().into_owned()).collect();
        let earlier = trainer.init.map_or(Comparison::F32, |model| model.comparison);
        let comparison = if data.cuts.any_precise() { Comparison::F64 } else { earlier };
        let n_rows = data.n_rows();
        if let (Some(constraints), Some(_), Some(model)) = (constraints, trainer.checkpoint, trainer.init) {
            // First uses of features have costs, which the earlier rounds have paid.
            for split in model.trees.iter().flat_map(|tree| &tree.splits) {
                constraints.mark_used(split.feature as usize);
            }
        }
        Ok(Self {
            team,
            peers,
            before,
            gathered,
            buffers: Buffers::new(data.cuts.map().total_bins() as usize, team.threads()),
            order: (0..narrow(n_rows)).collect(),
            gradients: N::Rows::zeros(n_rows),
            state,
            pending: Pending::default(),
            valid_scores,
            valid_targets,
            exact: vec![PairF32::default(); if moves { 0 } else { n_rows * outputs }],
            leaf_of: (0..if moves { 0 } else { n_rows }).map(|_| AtomicU32::new(0)).collect(),
            moves,
            categorical: (0..data.n_features()).map(|feature| data.is_categorical(feature)).collect(),
            missing_last: (0..data.n_features()).map(|feature| data.unseen.flags(feature).is_some()).collect(),
            trees: trainer.init.map(|model| earlier_trees(model, comparison)).unwrap_or_default(),
            comparison,
            history: Vec::new(),
            base_scores,
            rates: trainer.init.map_or(Some(Vec::new()), Model::rates),
            dart: (boosting == Boosting::Dart).then(Dart::default),
            forest,
            trainer,
            constraints,
            data,
        })
    }

    pub(super) fn run(mut self) -> Result<Training, TrainError> {
        let best = self.grow();
        // Restore the row order even after an error: the caller keeps the dataset.
        self.restore();
        Ok(self.finish(best?))
    }

    /// Returns every row to its original position, after releasing all memory that is not needed any more.
    fn restore(&mut self) {
        self.buffers = Buffers::new(0, 0);
        self.gradients = N::Rows::zeros(0);
        (self.exact, self.valid_scores, self.leaf_of) = (Vec::new(), Vec::new(), Vec::new());
        let state = std::mem::take(&mut self.state);
        let places = Places::new(self.team, &std::mem::take(&mut self.order));
        self.data.slots.restore(self.team, &places);
        state.give_back(self.data, |column| if self.moves { places.gather(self.team, &column) } else { column });
    }

    /// Runs all rounds. Returns the best round if a validation metric was measured.
    fn grow(&mut self) -> Result<Option<usize>, TrainError> {
        let rounds = self.trainer.params.n_estimators;
        let mut best = Best::default();
        let earlier = self.trainer.checkpoint.map_or(&[][..], |checkpoint| &checkpoint.history);
        for (round, metrics) in earlier.iter().enumerate() {
            best.see(round, metrics, self.trainer);
            self.history.push(metrics.clone());
        }
        let mut on_round = self.trainer.on_round.take();
        let (mut found, mut late) = (best.round(), best.is_late(&self.trainer.params));
        for round in self.history.len()..rounds {
            if late {
                break;
            }
            if let Some(mut schedule) = self.trainer.schedule.take() {
                let changed = schedule.apply(round, &mut self.trainer.params);
                same_params(self.peers, changed, &self.trainer.params)?;
                self.trainer.schedule = Some(schedule);
            }
            self.round(round)?;
            let metrics = self.measure()?;
            best.see(round, &metrics, self.trainer);
            self.history.push(metrics);
            let told = Round {
                index: round,
                total: rounds,
                metrics: &self.history[round],
                history: &self.history,
                params: &self.trainer.params,
                model: &|| self.model(self.trees.clone(), None),
            };
            let stop = on_round.as_mut().is_some_and(|call| call(&told).is_break());
            let stops;
            (stops, late, found) = self.decided(stop, &best)?;
            if stops {
                break;
            }
        }
        Ok(found)
    }

    /// Returns whether any worker wants to stop, and the best round so far and whether early stopping ends the training,
    /// as worker 0 sees it: a metric written in Python may learn there whether higher values are better.
    fn decided(&self, stop: bool, best: &Best) -> Result<(bool, bool, Option<usize>), TrainError> {
        let (late, round) = (best.is_late(&self.trainer.params), best.round());
        if self.peers.are_alone() {
            return Ok((stop, late, round));
        }
        let mut own = Writer::default();
        own.u64(u64::from(stop)).u64(u64::from(late)).u64(round.map_or(u64::MAX, |round| round as u64));
        let mut decided = (false, late, round);
        for (rank, bytes) in self.peers.exchange(Ok(own.0))?.iter().enumerate() {
            let mut reader = Reader(bytes);
            decided.0 |= reader.u64()? == 1;
            if rank == 0 {
                decided.1 = reader.u64()? == 1;
                decided.2 = usize::try_from(reader.u64()?).ok().filter(|round| *round < usize::MAX);
            }
        }
        Ok(decided)
    }

    /// Grows one tree per output.
    fn round(&mut self, round: usize) -> Result<(), TrainError> {
        self.drop_trees(round);
        let rows = self.state.rows();
        let objective = &*self.trainer.objective;
        let mut largest = if !self.moves {
            let groups = self.data.groups.as_deref().filter(|_| objective.ranks());
            let largest = gradients(self.team, objective, rows, groups, round, &mut self.exact);
            let largest = shared_largest(self.peers, largest)?;
            if groups.is_some() {
                self.trainer.objective.end_round(&self.exact);
            }
            largest
        } else if N::EXACT {
            vec![Largest::default()]
        } else {
            let largest = self.largest(round).map(|largest| vec![largest]);
            shared_largest(self.peers, largest)?
        };
        let n_rows = self.data.n_rows();
        let in_bag = self.sample(round, &mut largest);
        if self.trainer.params.goss().is_some() {
            // Each worker scaled up its own gradients.
            largest = shared_largest(self.peers, Ok(largest))?;
        }
        for (output, largest) in largest.into_iter().enumerate() {
            let seed = mixed(self.trainer.params.seed ^ mixed((round * 4096 + output) as u64));
            let codes = N::codes(self.peers.n_rows());
            let steps = Steps::new(codes, largest.grad, largest.hess, self.rounding_seed(seed));
            let steps = steps.after(self.peers.first_row());
            self.gradients.set_steps(&steps);
            let sum = self.carry(&steps, output, round)?.filter(|_| in_bag == n_rows);
            let rules = Rules::new(&self.trainer.params, steps.grad_step(), steps.hess_step());
            let features = self.features(seed);
            let map = self.data.cuts.map();
            let search = Search {
                map,
                categorical: &self.categorical,
                missing_last: &self.missing_last,
                rules: &rules,
                constraints: self.constraints.filter(|constraints| constraints.scores()),
            };
            let constraints = self.constraints;
            let (params, rules_of, sampled) = (&self.trainer.params, &rules, &features[..]);
            let peers = self.peers;
            let grower = Grower { params, search, rules: rules_of, constraints, features: sampled, seed, peers, codes };
            let columns = self.state.row_columns(self.moves);
            let mut rows = Arrangement::new(&mut self.data.slots, &mut self.order, self.gradients.pairs_mut(), columns);
            let grown = grower.grow::<N>(self.team, &mut rows.part(0..in_bag), sum, &self.buffers);
            self.peers.check()?;
            let mut values = self.leaf_values(&grown, output, round, &rules, largest)?;
            if let [value] = &mut values[..]
                && self.is_lost(*value, output)
            {
                *value = 0.0;
            }
            if let Some(forest) = &self.forest {
                values.iter_mut().for_each(|value| *value += forest.bias[output]);
            }
            self.add_scores(&grown, output, &values, in_bag);
            let tree = self.tree(&grown, output, &values, &rules);
            self.trees.push(tree);
            let rate = self.rate();
            self.rates.iter_mut().for_each(|rates| rates.push(rate));
            if let Some(dart) = &mut self.dart {
                dart.keep(&grown);
            }
        }
        self.return_trees();
        Ok(())
    }

    /// Subtracts the trees that DART drops in this round from the scores.
    fn drop_trees(&mut self, round: usize) {
        let Some(mut dart) = self.dart.take() else { return };
        dart.choose(round, &self.trainer.params);
        let outputs = self.base_scores.len();
        let earlier = self.trees.len() - dart.n_rounds() * outputs;
        self.settle();
        for index in dart.dropped().into_iter().flat_map(|round| round * outputs..(round + 1) * outputs) {
            let values: Vec<f64> = self.trees[earlier + index].leaves.iter().map(|leaf| -leaf.value).collect();
            let binned = BinnedTree::new(dart.tree(index).steps(), &self.data.slots, &NONE_UNSEEN);
            self.add_by_row(&binned, &[], index % outputs, &values, 0);
        }
        self.dart = Some(dart);
    }

    /// Adds the trees that DART dropped to the scores again, with smaller weights.
    fn return_trees(&mut self) {
        let Some(mut dart) = self.dart.take() else { return };
        dart.finish();
        let (outputs, factor) = (self.base_scores.len(), dart.factor());
        let earlier = self.trees.len() - dart.n_rounds() * outputs;
        for index in dart.dropped().into_iter().flat_map(|round| round * outputs..(round + 1) * outputs) {
            let tree = &mut self.trees[earlier + index];
            let before: Vec<f64> = tree.leaves.iter().map(|leaf| leaf.value).collect();
            tree.leaves.iter_mut().for_each(|leaf| leaf.value *= factor);
            self.rates.iter_mut().for_each(|rates| rates[earlier + index] *= factor);
            tree.splits.iter_mut().for_each(|split| split.value *= factor);
            let values: Vec<f64> = tree.leaves.iter().map(|leaf| leaf.value).collect();
            let (kept, output) = (dart.tree(index), index % outputs);
            let binned = BinnedTree::new(kept.steps(), &self.data.slots, &NONE_UNSEEN);
            self.add_by_row(&binned, &[], output, &values, 0);
            let changes: Vec<f64> = values.iter().zip(before).map(|(after, before)| after - before).collect();
            for (valid, scores) in self.trainer.valid.iter().zip(&mut self.valid_scores) {
                let n_valid = valid.n_rows();
                let binned = BinnedTree::new(kept.steps(), &valid.slots, &valid.unseen);
                binned.add_to(&valid.slots, &changes, &mut scores[output * n_valid..(output + 1) * n_valid]);
            }
        }
        self.dart = Some(dart);
    }

    /// Returns the inputs of gradients other than scores, and the scores.
    fn asked<'s>(
        trainer: &'s Trainer<'_>,
        state: &'s mut State,
        order: &'s [u32],
        round: usize,
    ) -> (Asked<'s>, &'s mut [f64]) {
        let State { targets, weights, scores, origin } = state;
        let (objective, weights) = (&*trainer.objective, weights.as_deref());
        (Asked { objective, targets, weights, origin: *origin, round, order }, scores)
    }

    /// Updates the scores of all rows and returns the largest gradient and hessian.
    fn largest(&mut self, round: usize) -> Result<Largest, TrainError> {
        let pending = std::mem::take(&mut self.pending);
        let (asked, scores) = Self::asked(self.trainer, &mut self.state, &self.order, round);
        let asks = updates(scores, &pending).map(|scores| ask(scores, ())).collect();
        let largest = asked.in_chunks(self.team, Phase::Gradients, asks, |chunk, ()| chunk.largest)?;
        Ok(largest.into_iter().flatten().fold(Largest::default(), Largest::max))
    }

    /// Computes the quantized gradient of the row at each position. Returns their sum if the rows move.
    fn carry(&mut self, steps: &Steps, output: usize, round: usize) -> Result<Option<N::Sum>, TrainError> {
        let n_rows = self.data.n_rows();
        if self.moves {
            let pending = std::mem::take(&mut self.pending);
            let (asked, scores) = Self::asked(self.trainer, &mut self.state, &self.order, round);
            let outs = self.gradients.pairs_mut().chunks_mut(task_rows(n_rows));
            let asks = updates(scores, &pending).zip(outs).map(|(scores, out)| ask(scores, out)).collect();
            let encode = |chunk: &Chunk<'_>, out: &mut &mut [N::Pair]| {
                let out = &mut out[chunk.within.clone()];
                N::Rows::encode(steps, &asked.order[chunk.positions()], chunk.grads, chunk.hess, out);
                // While they are in cache.
                sum_of_part::<N>(out)
            };
            let sums = self.peers.agree(asked.in_chunks(self.team, Phase::Gradients, asks, encode))?;
            return Ok(Some(sums.into_iter().flatten().fold(N::Sum::default(), N::Sum::plus)));
        }
        let exact = &self.exact[output * n_rows..(output + 1) * n_rows];
        let pairs = self.gradients.pairs_mut().chunks_mut(scores::CHUNK);
        let chunks = pairs.zip(self.order.chunks(scores::CHUNK)).collect();
        self.team.map(Phase::Gradients, chunks, |(out, order): (&mut [N::Pair], &[u32])| {
            let pairs = || order.iter().map(|&row| exact[row as usize]);
            let grads: Vec<f32> = pairs().map(|pair| pair.grad).collect();
            let hess: Vec<f32> = pairs().map(|pair| pair.hess).collect();
            N::Rows::encode(steps, order, &grads, &hess, out);
        });
        Ok(None)
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
            let outputs = largest.len();
            sampling::goss(
                self.team,
                goss,
                params,
                round,
                (self.exact.chunks_mut(n_rows.max(1)).take(outputs).collect(), n_rows),
                largest,
                self.peers,
            )
        } else if let Some(bagging) = params.bagging() {
            // A query is never divided: its gradients depend on all of its rows.
            let groups = self.data.groups.as_deref().filter(|_| self.trainer.objective.ranks());
            sampling::bag(self.team, bagging, params.seed, round, n_rows, self.before, groups)
        } else {
            None
        };
        let Some(chosen) = chosen else { return n_rows };
        self.settle();
        let columns = self.state.row_columns(self.moves);
        Arrangement::new(&mut self.data.slots, &mut self.order, self.gradients.pairs_mut(), columns)
            .move_to_front(self.team, &chosen)
    }

    /// Returns the value that each leaf adds to the scores, from unquantized gradients.
    fn leaf_values(
        &self,
        grown: &Grown<N::Sum>,
        output: usize,
        round: usize,
        rules: &Rules,
        largest: Largest,
    ) -> Result<Vec<f64>, TrainError> {
        let rate = self.rate();
        let scorer = self.scorer(rules);
        let values: Vec<f64> = if self.trainer.objective.renews_leaves() {
            let (state, order) = (&self.state, (!self.moves).then_some(&self.order[..]));
            let scores = &state.scores[output * self.data.n_rows()..];
            let objective = &*self.trainer.objective;
            let leaves = grown.leaves.iter().map(|leaf| leaf.rows.clone()).collect();
            let residuals =
                self.team.map(Phase::Leaves, leaves, |rows| residuals(objective, state, scores, order, rows));
            let residuals = shared_residuals(self.peers, residuals)?;
            let mut values = self
                .team
                .map(Phase::Leaves, residuals, |mut residuals| objective.renew_leaf(&mut residuals).unwrap_or(0.0));
            if let Some(scorer) = scorer {
                scorer.constraints.settle_renewed(grown, &mut values);
            }
            values
        } else if N::EXACT {
            let of_leaf = |leaf: &super::grow::GrownLeaf<N::Sum>| match scorer {
                Some(_) => leaf.totals.limits.value,
                None => {
                    let (grad, hess) = leaf.totals.sum.parts();
                    rules.leaf(grad, hess)
                }
            };
            grown.leaves.iter().map(of_leaf).collect()
        } else {
            // Leaf values use unquantized gradients: only the choice of splits is subject to quantization.
            let sums = self.exact_sums(grown, output, round, largest)?;
            match scorer {
                Some(scorer) => scorer.final_values(grown, &sums),
                None => sums.into_iter().map(|(grad, hess)| rules.leaf(grad, hess)).collect(),
            }
        };
        Ok(values.into_iter().map(|value| self.bounded(value * rate)).collect())
    }

    /// Factor of the leaf values of the current round.
    fn rate(&self) -> f64 {
        match &self.dart {
            Some(dart) => dart.rate(),
            None if self.forest.is_some() => 1.0,
            None => self.trainer.params.learning_rate,
        }
    }

    /// Returns the scorer of constraints that change the values of leaves.
    fn scorer<'r>(&self, rules: &'r Rules) -> Option<Scorer<'r>>
    where
        't: 'r,
    {
        let constraints = self.constraints.filter(|constraints| constraints.scores())?;
        Some(Scorer { rules, constraints })
    }

    /// Returns whether a tree without splits is too small to change any score in f32: its value results from the
    /// rounding of gradients.
    fn is_lost(&self, value: f64, output: usize) -> bool {
        let (n_rows, origin) = (self.data.n_rows(), self.state.origin);
        let scores = &self.state.scores[output * n_rows..(output + 1) * n_rows];
        let step = relative(value, 0.0);
        let kept = scores.iter().map(|&score| relative(score, origin)).all(|score| score + step == score);
        self.peers.count(usize::from(!kept)) == 0
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
    fn exact_sums(
        &self,
        grown: &Grown<N::Sum>,
        output: usize,
        round: usize,
        largest: Largest,
    ) -> Result<Vec<(f64, f64)>, TrainError> {
        let n_rows = self.peers.n_rows();
        let grids = [Grid::new(largest.grad, n_rows), Grid::new(largest.hess, n_rows)];
        let of_leaf = |(leaf, grown): (usize, &super::grow::GrownLeaf<N::Sum>)| {
            let (start, end) = (grown.rows.start, grown.rows.end);
            (start..end).step_by(CHUNK).map(move |first| (leaf, first..end.min(first + CHUNK)))
        };
        let mut parts: Vec<(usize, Range<usize>)> = grown.leaves.iter().enumerate().flat_map(of_leaf).collect();
        // The order of the rows, so that each thread gets those that it owns.
        parts.sort_unstable_by_key(|(_, places)| places.start);
        let sums: Vec<(f64, f64)> = if self.moves {
            let of_part = |(_, places): &(usize, Range<usize>)| {
                let scores = &self.state.scores[places.clone()];
                Ask { first: places.start, len: places.len(), scores, out: () }
            };
            let State { targets, weights, origin, .. } = &self.state;
            let (objective, weights) = (&*self.trainer.objective, weights.as_deref());
            let asked = Asked { objective, targets, weights, origin: *origin, round, order: &self.order };
            let asks = parts.iter().map(of_part).collect();
            let found = self.peers.agree(asked.in_chunks(self.team, Phase::Leaves, asks, |chunk, ()| {
                (grids[0].sum(chunk.grads), grids[1].sum(chunk.hess))
            }))?;
            found
                .into_iter()
                .map(|of_part| of_part.into_iter().fold((0.0, 0.0), |(a, b), (g, h)| (a + g, b + h)))
                .collect()
        } else {
            let exact = &self.exact[output * self.data.n_rows()..];
            let order = &self.order;
            let places = parts.iter().map(|(_, places)| places.clone()).collect();
            self.team.map(Phase::Leaves, places, |places: Range<usize>| {
                order[places].iter().fold((0.0, 0.0), |(grad, hess), &row| {
                    let pair = exact[row as usize];
                    (grad + grids[0].rounded(pair.grad), hess + grids[1].rounded(pair.hess))
                })
            })
        };
        let mut totals = vec![(0.0, 0.0); grown.leaves.len()];
        for ((leaf, _), (grad, hess)) in parts.iter().zip(sums) {
            totals[*leaf] = (totals[*leaf].0 + grad, totals[*leaf].1 + hess);
        }
        if !self.peers.are_alone() {
            let (mut grads, mut hess): (Vec<f64>, Vec<f64>) = totals.into_iter().unzip();
            grids[0].reduce(self.peers, &mut grads);
            grids[1].reduce(self.peers, &mut hess);
            totals = grads.into_iter().zip(hess).collect();
            self.peers.check()?;
        }
        Ok(totals)
    }

    /// Adds the new tree to the scores of all rows.
    fn add_scores(&mut self, grown: &Grown<N::Sum>, output: usize, values: &[f64], in_bag: usize) {
        let n_rows = self.data.n_rows();
        let leaves = || grown.leaves.iter().zip(values).map(|(leaf, &value)| (leaf.rows.clone(), value));
        if self.moves {
            // Added when the next round reads the scores; after the last round, never.
            self.pending = Pending::new(leaves());
        }
        let is_needed = self.forest.as_ref().is_none_or(|forest| !forest.sums.is_empty());
        if is_needed && (!self.moves || in_bag < n_rows) {
            let binned = BinnedTree::new(steps(grown), &self.data.slots, &NONE_UNSEEN);
            let leaves: Vec<Range<usize>> = grown.leaves.iter().map(|leaf| leaf.rows.clone()).collect();
            self.add_by_row(&binned, &leaves, output, values, in_bag);
        }
        for (valid, scores) in self.trainer.valid.iter().zip(&mut self.valid_scores) {
            let n_valid = valid.n_rows();
            // A validation set may have its own plan, because it may have been created from its own matrix.
            let binned = BinnedTree::new(steps(grown), &valid.slots, &valid.unseen);
            binned.add_to(&valid.slots, values, &mut scores[output * n_valid..(output + 1) * n_valid]);
        }
    }

    /// Adds a tree to the scores of rows that are not pending: those outside the sample, and all rows if they do not
    /// move. `leaves` are the positions of the first `in_bag` rows.
    fn add_by_row(
        &mut self,
        binned: &BinnedTree<'_>,
        leaves: &[Range<usize>],
        output: usize,
        values: &[f64],
        in_bag: usize,
    ) {
        let n_rows = self.data.n_rows();
        let (slots, order) = (&self.data.slots, &self.order[..]);
        let scores = self.forest.as_mut().map_or(&mut self.state.scores, |forest| &mut forest.sums);
        let scores = &mut scores[output * n_rows..(output + 1) * n_rows];
        if self.moves {
            let tasks = scores[in_bag..].chunks_mut(CHUNK).zip((in_bag..).step_by(CHUNK)).collect();
            self.team.map(Phase::Scores, tasks, |(scores, first): (&mut [f64], usize)| {
                for (score, place) in scores.iter_mut().zip(first..) {
                    *score += values[binned.leaf(slots, Some(order), place)];
                }
            });
            return;
        }
        let of_leaf = |(leaf, rows): (usize, &Range<usize>)| {
            let end = rows.end;
            rows.clone().step_by(CHUNK).map(move |first| (first..end.min(first + CHUNK), Some(leaf)))
        };
        let inside = leaves.iter().enumerate().flat_map(of_leaf);
        let outside = (in_bag..n_rows).step_by(CHUNK).map(|first| (first..n_rows.min(first + CHUNK), None));
        // First by position, where the leaves are known, and then by row.
        let leaf_of = &self.leaf_of;
        self.team.map(Phase::Scores, inside.chain(outside).collect(), |(places, leaf)| {
            for place in places {
                let leaf = leaf.unwrap_or_else(|| binned.leaf(slots, Some(order), place));
                leaf_of[order[place] as usize].store(narrow(leaf), Ordering::Relaxed);
            }
        });
        let tasks = scores.chunks_mut(CHUNK).zip(leaf_of.chunks(CHUNK)).collect();
        self.team.map(Phase::Scores, tasks, |(scores, leaves): (&mut [f64], &[AtomicU32])| {
            for (score, leaf) in scores.iter_mut().zip(leaves) {
                *score += values[leaf.load(Ordering::Relaxed) as usize];
            }
        });
    }

    /// Adds the last tree to the scores, if the next round has not done so yet.
    fn settle(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        if !pending.is_empty() {
            let tasks = updates(&mut self.state.scores, &pending).collect();
            self.team.map(Phase::Scores, tasks, |Updated { scores, first, pending }| pending.add_to(first, scores));
        }
    }

    fn measure(&mut self) -> Result<Vec<MetricValue>, TrainError> {
        if self.trainer.metrics.is_empty() {
            return Ok(Vec::new());
        }
        self.settle();
        if !self.peers.are_alone() {
            return self.measure_all();
        }
        let Trainer { metrics, objective, valid, watch_train, .. } = &*self.trainer;
        let mut all = Vec::new();
        if valid.is_empty() || *watch_train {
            let (targets, weights) = (&self.data.targets.exact()[..], self.data.weights.as_deref());
            let truth = Truth { data: EvalSet::Train, targets, weights, groups: self.data.groups() };
            all.extend(evaluate(metrics, objective.link(), &truth, self.scores_by_row())?);
        }
        for (number, (valid, scores)) in valid.iter().zip(&self.valid_scores).enumerate() {
            let data = if number == 0 { EvalSet::Valid } else { EvalSet::Further(number) };
            let (targets, weights) = (&self.valid_targets[number][..], valid.weights.as_deref());
            let truth = Truth { data, targets, weights, groups: valid.groups() };
            all.extend(evaluate(metrics, objective.link(), &truth, self.averaged(scores.clone()))?);
        }
        Ok(all)
    }

    /// Evaluates the metrics on the rows of all workers, on worker 0.
    fn measure_all(&self) -> Result<Vec<MetricValue>, TrainError> {
        let Trainer { metrics, objective, valid, watch_train, .. } = &*self.trainer;
        let outputs = objective.n_outputs();
        let watched = valid.is_empty() || *watch_train;
        let mut sets: Vec<(EvalSet, Vec<f64>)> = Vec::new();
        if watched {
            sets.push((EvalSet::Train, self.scores_by_row()));
        }
        for (number, scores) in self.valid_scores.iter().enumerate() {
            let set = if number == 0 { EvalSet::Valid } else { EvalSet::Further(number) };
            sets.push((set, self.averaged(scores.clone())));
        }
        let mut scores = Vec::new();
        for (_, own) in &sets {
            scores.push(self.peers.gather(&Writer::default().f64s(own).0)?);
        }
        let evaluated = self.peers.compute_on_root(|| {
            let mut told = Writer::default();
            for (((data, _), gathered), scores) in sets.iter().zip(&self.gathered).zip(scores) {
                let (Some(gathered), Some(scores)) = (gathered, scores) else { continue };
                let scores = gathered.scores(&scores, outputs)?;
                let (targets, weights) = (gathered.targets.exact(), gathered.weights.as_deref());
                let truth = Truth { data: *data, targets: &targets, weights, groups: gathered.groups.as_ref() };
                for metric in evaluate(metrics, objective.link(), &truth, scores)? {
                    told.text(&metric.name).f64s(&[metric.value]);
                }
            }
            Ok(told.0)
        })?;
        let mut reader = Reader(&evaluated);
        let mut all = Vec::new();
        for (data, _) in sets {
            for _ in metrics {
                let (name, value) = (reader.text()?, reader.f64s()?);
                all.push(MetricValue { data, name, value: value.first().copied().unwrap_or(f64::NAN) });
            }
        }
        Ok(all)
    }

    /// Returns the training scores in the original row order.
    fn scores_by_row(&self) -> Vec<f64> {
        if let Some(forest) = &self.forest {
            return self.averaged(forest.sums.clone());
        }
        let mut scores = self.state.scores.clone();
        if self.moves {
            self.order.iter().zip(&self.state.scores).for_each(|(&row, &score)| scores[row as usize] = score);
        }
        scores
    }

    /// Converts the sums over trees of a random forest to scores.
    fn averaged(&self, sums: Vec<f64>) -> Vec<f64> {
        let rounds = self.trees.len() / self.base_scores.len();
        if self.forest.is_some() { Forest::average(rounds, sums) } else { sums }
    }

    /// Converts a grown tree to a model tree: bins become thresholds and category codes.
    fn tree(&self, grown: &Grown<N::Sum>, output: usize, values: &[f64], rules: &Rules) -> Tree {
        let rate = self.rate();
        let scorer = self.scorer(rules);
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
            let value = match scorer {
                Some(_) => split.totals.limits.value,
                None => {
                    let (grad, hess) = split.totals.sum.parts();
                    rules.leaf(grad * rules.grad_step, hess * rules.hess_step)
                }
            };
            let value = self.bounded(value * rate);
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
                value: self.forest.as_ref().map_or(value, |forest| value + forest.bias[output]),
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

    fn finish(mut self, best_round: Option<usize>) -> Training {
        // Later rounds of DART changed the trees of the best one.
        let best_round = best_round.filter(|_| self.dart.is_none());
        let team = self.team.usage();
        let mut trees = std::mem::take(&mut self.trees);
        if let (Some(best), Some(_)) = (best_round, self.trainer.params.early_stopping_rounds) {
            let before = self.trainer.init.map_or(0, |model| model.trees.len());
            let resumed = self.trainer.checkpoint.map_or(0, |checkpoint| checkpoint.history.len());
            trees.truncate(before + (best + 1) * self.base_scores.len() - resumed * self.base_scores.len());
        }
        let model = self.model(trees, best_round);
        Training { model, history: self.history, best_round, precision: N::PRECISION, team }
    }

    /// Returns the model of some trees.
    fn model(&self, trees: Vec<Tree>, best_round: Option<usize>) -> Model {
        let Self { trainer, data, base_scores, comparison, .. } = self;
        let outputs = base_scores.len();
        let input = |(feature, name): (usize, &String)| {
            let mut kind = data.input_kind(feature);
            if let Some(model) = trainer.init {
                merge_known_codes(&mut kind, &model.inputs[feature].kind);
            }
            Input { name: name.clone(), kind }
        };
        let n_trees = trees.len();
        let mut model = Model {
            inputs: data.schema.names().iter().enumerate().map(input).collect(),
            comparison: *comparison,
            output: Output {
                objective: trainer.objective.name(),
                link: trainer.objective.link(),
                base_scores: base_scores.clone(),
                classes: class_labels(data, trainer.init, outputs),
                average: self.forest.is_some(),
            },
            trees,
            metadata: trainer.metadata(best_round),
        };
        if let Some(rates) = &self.rates {
            model.set_rates(&rates[..n_trees.min(rates.len())]);
        }
        model
    }
}

/// Divides scores into tasks that add pending values.
fn updates<'s>(scores: &'s mut [f64], pending: &'s Pending) -> impl Iterator<Item = Updated<'s>> {
    let task = task_rows(scores.len());
    let parts = scores.chunks_mut(task).zip((0..).step_by(task));
    parts.map(move |(scores, first)| Updated { scores, first, pending })
}

fn ask<O>(scores: Updated<'_>, out: O) -> Ask<Updated<'_>, O> {
    Ask { first: scores.first, len: scores.scores.len(), scores, out }
}

/// Returns the residuals of some rows with their weights. `order` maps positions to rows, if they differ.
fn residuals(
    objective: &dyn Objective,
    State { targets, weights, origin, .. }: &State,
    scores: &[f64],
    order: Option<&[u32]>,
    places: Range<usize>,
) -> Vec<(f32, f32)> {
    let residual = |place: usize| {
        let row = order.map_or(place, |order| order[place] as usize);
        let weight = weights.as_ref().map_or(1.0, |weights| weights[row]);
        (relative(f64::from(targets[row]), scores[row] - origin), objective.leaf_weight(targets[row], weight))
    };
    places.map(residual).collect()
}
