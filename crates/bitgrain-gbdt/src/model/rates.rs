//! Learning rate of each tree of a model, which refitting its leaves needs.
//!
//! Models whose trees do not share the learning rate of the last round list them in their metadata, as runs: `1x1 0.1x99`.

use super::Model;

/// Key of the metadata.
const KEY: &str = "train.rates";

/// Keys of the learning rate that all trees share, unless there is a list.
const SHARED: [&str; 2] = ["train.learning_rate", "lightgbm.learning_rate"];

impl Model {
    /// Returns the factor that training multiplied the values of each tree with, if it is known.
    pub(crate) fn rates(&self) -> Option<Vec<f64>> {
        let n_trees = self.trees.len();
        if self.output.average {
            return Some(vec![1.0; n_trees]);
        }
        if let Some(text) = self.metadata.get(KEY) {
            return read(text, n_trees);
        }
        let shared = SHARED.iter().find_map(|key| self.metadata.get(*key)?.parse().ok());
        shared.filter(|rate: &f64| rate.is_finite()).map(|rate| vec![rate; n_trees])
    }

    /// Stores the rate of each tree, unless all trees have the learning rate in the metadata.
    pub(crate) fn set_rates(&mut self, rates: &[f64]) {
        self.metadata.remove(KEY);
        if !self.output.average && self.rates().is_none_or(|shared| shared != rates) {
            self.metadata.insert(KEY.to_owned(), written(rates));
        }
    }
}

fn written(rates: &[f64]) -> String {
    let run = |run: &[f64]| format!("{}x{}", run[0], run.len());
    rates.chunk_by(|a, b| a == b).map(run).collect::<Vec<_>>().join(" ")
}

/// Parses the rates of a number of trees.
fn read(text: &str, n_trees: usize) -> Option<Vec<f64>> {
    let mut rates = Vec::new();
    for run in text.split(' ').filter(|run| !run.is_empty()) {
        let (rate, count) = run.split_once('x')?;
        let (rate, count): (f64, usize) = (rate.parse().ok()?, count.parse().ok()?);
        if !rate.is_finite() || count > n_trees - rates.len() {
            return None;
        }
        rates.resize(rates.len() + count, rate);
    }
    (rates.len() == n_trees).then_some(rates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_round_trip_and_damaged_lists_are_unknown() {
        for rates in [&[][..], &[0.1], &[1.0, 0.1, 0.1, 1.0 / 3.0, 0.1]] {
            assert_eq!(read(&written(rates), rates.len()).as_deref(), Some(rates));
        }
        assert_eq!(written(&[1.0, 0.1, 0.1]), "1x1 0.1x2");
        for damaged in ["0.1", "0.1x4", "0.1x2", "0.1x99999999999", "infx3", "ax3", "0.1x-3", "0.1x1 0.1x1"] {
            assert_eq!(read(damaged, 3), None, "{damaged}");
        }
    }
}
