//! Answers of a leaf's game, computed once per pattern of met conditions instead of once per row.

use std::collections::HashMap;

use super::decisions::Decisions;
use super::paths::Path;
use super::quadrature::Quadrature;
use super::shapley::{Game, Shapley};

/// Maximum number of answers in a table of all patterns; a larger table would not stay in the cache.
const MAX_TABLE: usize = 1 << 15;

/// Quantity to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One value per feature.
    Values,
    /// One value per pair of features.
    Interactions,
}

/// A leaf and the games that explain it.
#[derive(Debug, Clone)]
pub(super) struct Explained {
    pub(super) path: Path,
    /// Zero fractions of each distinct background row, and its share of the background. `None` uses the path's cover.
    pub(super) background: Option<Vec<(Vec<f64>, f64)>>,
}

impl Explained {
    /// Number of distinct features of the path.
    pub(super) fn len(&self) -> usize {
        self.path.features.len()
    }

    /// Number of answers per pattern.
    pub(super) fn n_answers(&self, kind: Kind) -> usize {
        match kind {
            Kind::Values => self.len(),
            Kind::Interactions => self.len() * self.len(),
        }
    }

    /// Expected contribution of the leaf to the score.
    pub(super) fn expected(&self) -> f64 {
        let product = |zeros: &[f64]| zeros.iter().product::<f64>();
        let reached = match &self.background {
            None => product(&self.path.cover),
            Some(rows) => rows.iter().map(|(zeros, share)| share * product(zeros)).sum(),
        };
        self.path.value * reached
    }

    /// Adds the answers for a pattern to `out`.
    fn solve(&self, kind: Kind, ones: &[u8], rules: &[Quadrature], shapley: &mut Shapley, out: &mut [f64]) {
        let rule = &rules[self.len().saturating_sub(1)];
        let mut add = |zeros: &[f64], value: f64| {
            let game = Game { ones, zeros, value };
            match kind {
                Kind::Values => shapley.add_values(game, rule, out),
                Kind::Interactions => shapley.add_interactions(game, rule, out),
            }
        };
        let Some(rows) = &self.background else {
            return add(&self.path.cover, self.path.value);
        };
        for (zeros, share) in rows {
            // If neither row meets a condition, no coalition reaches the leaf.
            if ones.iter().zip(zeros).all(|(&one, &zero)| one > 0 || zero > 0.0) {
                add(zeros, self.path.value * share);
            }
        }
    }
}

/// Answers for all patterns of a path: those of answer `a` start at `a << n_features`.
pub(super) struct Table(Vec<f64>);

impl Table {
    /// Computes the table if it is small and at least as many rows as patterns will be looked up.
    pub(super) fn new(leaf: &Explained, kind: Kind, rules: &[Quadrature], n_rows: usize) -> Option<Self> {
        let (n, n_answers) = (leaf.len(), leaf.n_answers(kind));
        if n >= 16 || n_rows < 1 << n || n_answers << n > MAX_TABLE {
            return None;
        }
        let (mut all, mut one) = (vec![0.0; n_answers << n], vec![0.0; n_answers]);
        let (mut shapley, mut ones) = (Shapley::default(), vec![0; n]);
        if kind == Kind::Values && leaf.background.is_none() {
            let rule = &rules[n.saturating_sub(1)];
            shapley.add_table(&leaf.path.cover, leaf.path.value, rule, &mut all);
            return Some(Self(all));
        }
        for pattern in 0..1_usize << n {
            ones.iter_mut().enumerate().for_each(|(at, one)| *one = u8::from(pattern >> at & 1 == 1));
            one.fill(0.0);
            leaf.solve(kind, &ones, rules, &mut shapley, &mut one);
            one.iter().enumerate().for_each(|(answer, &value)| all[(answer << n) + pattern] = value);
        }
        Some(Self(all))
    }
}

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(super) struct Memo {
    /// Whether each row meets the conditions on each feature, as bytes of 0 or 1.
    met: Vec<u8>,
    /// Pattern of each row: bit `i` is feature `i` of the path.
    patterns: Vec<u16>,
    known: HashMap<u64, u32>,
    /// Index of each row's answers.
    places: Vec<u32>,
    answers: Vec<f64>,
    ones: Vec<u8>,
    shapley: Shapley,
}

impl Memo {
    /// Adds the answers of a leaf for a block of rows. `add` receives the index of an answer and its value per row.
    pub(super) fn explain(
        &mut self,
        leaf: &Explained,
        table: Option<&Table>,
        (kind, rules): (Kind, &[Quadrature]),
        (decisions, n_rows): (&Decisions, usize),
        mut add: impl FnMut(usize, &mut dyn FnMut(&mut [f64])),
    ) {
        let (n, n_answers) = (leaf.len(), leaf.n_answers(kind));
        self.find_met(leaf, decisions, n_rows);
        if let Some(Table(all)) = table {
            self.find_patterns(n, n_rows);
            let patterns = &self.patterns;
            for answer in 0..n_answers {
                let values = &all[answer << n..][..1 << n];
                add(answer, &mut |column| {
                    column.iter_mut().zip(patterns).for_each(|(out, &pattern)| *out += values[usize::from(pattern)]);
                });
            }
            return;
        }
        self.solve_distinct(leaf, (kind, rules), n_rows);
        let (answers, places) = (&self.answers, &self.places);
        for answer in 0..n_answers {
            add(answer, &mut |column| {
                let place = |&place: &u32| answers[place as usize * n_answers + answer];
                column.iter_mut().zip(places).for_each(|(out, at)| *out += place(at));
            });
        }
    }

    fn find_met(&mut self, leaf: &Explained, decisions: &Decisions, n_rows: usize) {
        self.met.clear();
        self.met.resize(leaf.len() * n_rows, 1);
        for (condition, met) in leaf.path.features.iter().zip(self.met.chunks_exact_mut(n_rows)) {
            condition.steps.iter().for_each(|&step| decisions.keep_if_taken(step, met));
        }
    }

    fn find_patterns(&mut self, n: usize, n_rows: usize) {
        self.patterns.clear();
        self.patterns.resize(n_rows, 0);
        for (bit, met) in self.met.chunks_exact(n_rows).enumerate().take(n) {
            self.patterns.iter_mut().zip(met).for_each(|(pattern, &met)| *pattern |= u16::from(met) << bit);
        }
    }

    /// Computes the answers of each distinct pattern of the block. More than 64 features are not compared with other
    /// rows: equal patterns are then unlikely.
    fn solve_distinct(&mut self, leaf: &Explained, (kind, rules): (Kind, &[Quadrature]), n_rows: usize) {
        let (n, n_answers) = (leaf.len(), leaf.n_answers(kind));
        self.known.clear();
        self.places.clear();
        self.answers.clear();
        self.ones.resize(n, 0);
        let mut distinct = 0;
        for row in 0..n_rows {
            let column = |at: usize| self.met[at * n_rows + row];
            if n <= 64 {
                let pattern = (0..n).fold(0, |pattern, at| pattern | u64::from(column(at)) << at);
                let place = *self.known.entry(pattern).or_insert(distinct);
                self.places.push(place);
                if place < distinct {
                    continue;
                }
            } else {
                self.places.push(distinct);
            }
            self.ones.iter_mut().enumerate().for_each(|(at, one)| *one = self.met[at * n_rows + row]);
            let start = self.answers.len();
            self.answers.resize(start + n_answers, 0.0);
            leaf.solve(kind, &self.ones, rules, &mut self.shapley, &mut self.answers[start..]);
            distinct += 1;
        }
    }
}

/// Groups the rows of a background table by the conditions that they meet.
pub(super) fn distinct_rows(path: &Path, decisions: &Decisions, n_rows: usize) -> Vec<(Vec<f64>, f64)> {
    let leaf = Explained { path: path.clone(), background: None };
    let mut memo = Memo::default();
    memo.find_met(&leaf, decisions, n_rows);
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    for row in 0..n_rows {
        *counts.entry((0..leaf.len()).map(|at| memo.met[at * n_rows + row]).collect()).or_default() += 1;
    }
    let mut rows: Vec<_> = counts.into_iter().collect();
    // Sums must not depend on the order of the hash table.
    rows.sort_unstable();
    #[expect(clippy::cast_precision_loss, reason = "row counts are far below 2^53")]
    let share = |count: usize| count as f64 / n_rows as f64;
    rows.into_iter().map(|(met, count)| (met.into_iter().map(f64::from).collect(), share(count))).collect()
}
