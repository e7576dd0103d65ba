//! `Outcome`: the statistics that libFuzzer prints about a run.

/// One run of one target.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Duration in seconds.
    pub(crate) seconds: u64,
    /// Number of inputs executed.
    pub(crate) executions: u64,
    /// Number of control-flow edges reached.
    pub(crate) edges: u64,
    /// Number of libFuzzer features: edges with hit counts, and compared values.
    pub(crate) features: u64,
    /// Number of inputs in the corpus, without the committed seeds.
    pub(crate) corpus_files: usize,
    /// Number of inputs that crashed the target, took too long or allocated too much.
    pub(crate) findings: usize,
}

impl Outcome {
    /// Updates the statistics from a line of libFuzzer's output; later lines override earlier ones.
    pub(crate) fn take(&mut self, line: &str) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        for pair in words.windows(2) {
            let Ok(number) = pair[1].parse() else { continue };
            match pair[0] {
                "cov:" => self.edges = number,
                "ft:" => self.features = number,
                "stat::number_of_executed_units:" => self.executions = number,
                _ => {}
            }
        }
        // "Done 8192 runs in 61 second(s)"
        if let ["Done", _, "runs", "in", seconds, ..] = words[..] {
            self.seconds = seconds.parse().unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_numbers_of_a_run_count() {
        let mut outcome = Outcome::default();
        for line in [
            "INFO: seed corpus: files: 26 min: 1b max: 3904b total: 14402b rss: 44Mb",
            "#27\tINITED cov: 611 ft: 1204 corp: 20/11Kb exec/s: 0 rss: 46Mb",
            "#8192\tDONE   cov: 642 ft: 1311 corp: 31/14Kb lim: 3904 exec/s: 134 rss: 61Mb",
            "Done 8192 runs in 61 second(s)",
            "stat::number_of_executed_units: 8192",
        ] {
            outcome.take(line);
        }
        let expected = Outcome { seconds: 61, executions: 8192, edges: 642, features: 1311, ..Outcome::default() };
        assert_eq!(outcome, expected);
    }
}
