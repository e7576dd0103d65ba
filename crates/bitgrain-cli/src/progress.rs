//! How far a long command is, on stderr and only if that is a terminal.

use bitgrain::nn::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::printable::printable;

/// Bytes done, speed, time left, and the tensor at hand. Vanishes when it is finished or dropped.
#[derive(Debug)]
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar for `total_bytes` of work, called `verb` ("comparing").
    pub(crate) fn new(total_bytes: u64, verb: &str) -> Self {
        // Draws to stderr, and nothing at all if that is no terminal.
        let bar = ProgressBar::new(total_bytes);
        let template =
            "{prefix} [{bar:16}] {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec}, {eta} left  {wide_msg}";
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        bar.set_prefix(verb.to_owned());
        Self(bar)
    }

    /// Takes the bar off the screen.
    pub(crate) fn finish(self) {
        drop(self);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        // After an error too: the message must not stand beside a bar.
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

/// Rounds of a training: how many are done, time left, and the metrics. Vanishes when it is finished or dropped.
#[derive(Debug)]
pub(crate) struct RoundBar(ProgressBar);

impl RoundBar {
    /// A bar of as many rounds as the first call of [`at`](Self::at) says.
    pub(crate) fn new(verb: &str) -> Self {
        Self::of(verb, "rounds")
    }

    /// The same for something else than rounds.
    pub(crate) fn of(verb: &str, what: &str) -> Self {
        let bar = ProgressBar::new(0);
        let template = format!("{{prefix}} [{{bar:16}}] {{pos}}/{{len}} {what}, {{eta}} left  {{wide_msg}}");
        let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        bar.set_prefix(verb.to_owned());
        Self(bar)
    }

    /// The same under another name.
    pub(crate) fn named(&self, verb: &str) -> &Self {
        if self.0.prefix() != verb {
            self.0.reset();
            self.0.set_prefix(verb.to_owned());
        }
        self
    }

    /// So many rounds are done.
    pub(crate) fn at(&self, done: usize, total: usize, metrics: &str) {
        self.0.set_length(total as u64);
        self.0.set_message(metrics.to_owned());
        self.0.set_position(done as u64);
    }

    /// Takes the bar off the screen.
    pub(crate) fn finish(self) {
        drop(self);
    }
}

impl Drop for RoundBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
