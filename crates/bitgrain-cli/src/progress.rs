//! A progress bar on the terminal: which tensor, how much is done, how fast and how long still.

use bitgrain::nn::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar over the bytes of a model. Drawn only where someone is watching: indicatif hides it from pipes and files.
#[derive(Debug)]
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar for `total` bytes.
    pub(crate) fn new(total: u64, verb: &str) -> Self {
        const TEMPLATE: &str = "{prefix} {bar:24} {bytes}/{total_bytes} {bytes_per_sec} {eta} {wide_msg}";
        let bar = ProgressBar::new(total).with_prefix(verb.to_owned());
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Takes the bar away; what was found is printed in its place.
    pub(crate) fn finish(self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn add(&self, bytes: u64) {
        self.0.inc(bytes);
    }

    fn tensor(&self, name: &str) {
        self.0.set_message(name.to_owned());
    }
}
