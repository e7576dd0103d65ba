//! Progress bars on stderr, shown only on a terminal.

use bitgrain::nn::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::printable::printable;

/// Progress in bytes: bytes done, throughput, time left and the current tensor. Removed when finished or dropped.
#[derive(Debug)]
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// Creates a bar for `total_bytes` of work, labeled `verb`, such as "comparing".
    pub(crate) fn new(total_bytes: u64, verb: &str) -> Self {
        // `indicatif` draws to stderr, and only if it is a terminal.
        let bar = ProgressBar::new(total_bytes);
        let template =
            "{prefix} [{bar:16}] {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec}, {eta} left  {wide_msg}";
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        bar.set_prefix(verb.to_owned());
        Self(bar)
    }

    /// Removes the bar.
    pub(crate) fn finish(self) {
        drop(self);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        // Also after an error, so that the message is not printed next to the bar.
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn add(&self, bytes: u64) {
        self.0.inc(bytes);
    }

    fn tensor(&self, name: &str) {
        self.0.set_message(printable(name).into_owned());
    }
}

/// Progress in rounds: rounds done, time left and metrics. Removed when finished or dropped.
#[derive(Debug)]
pub(crate) struct RoundBar(ProgressBar);

impl RoundBar {
    /// Creates a bar whose number of rounds is set by the first call of [`at`](Self::at).
    pub(crate) fn new(verb: &str) -> Self {
        Self::of(verb, "rounds")
    }

    /// Creates a bar that counts `what` instead of rounds.
    pub(crate) fn of(verb: &str, what: &str) -> Self {
        let bar = ProgressBar::new(0);
        let template = format!("{{prefix}} [{{bar:16}}] {{pos}}/{{len}} {what}, {{eta}} left  {{wide_msg}}");
        let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        bar.set_prefix(verb.to_owned());
        Self(bar)
    }

    /// Restarts the bar with another label, unless it already has that label.
    pub(crate) fn named(&self, verb: &str) -> &Self {
        if self.0.prefix() != verb {
            self.0.reset();
            self.0.set_prefix(verb.to_owned());
        }
        self
    }

    /// Sets the number of rounds done.
    pub(crate) fn at(&self, done: usize, total: usize, metrics: &str) {
        self.0.set_length(total as u64);
        self.0.set_message(metrics.to_owned());
        self.0.set_position(done as u64);
    }

    /// Removes the bar.
    pub(crate) fn finish(self) {
        drop(self);
    }
}

impl Drop for RoundBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
