//! `cargo xtask bench`: the benchmarks, rivals included, in release mode.

use std::ffi::OsString;

use crate::error::TaskError;
use crate::step::Step;

/// Run the benchmarks beside their rivals
///
/// The first run builds the rivals, which takes a while. Measure on an idle machine, and quote ratios. What the
/// benchmark program takes: `cargo xtask bench -- --help`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Suite to run; all of them if left out
    suite: Option<String>,
    /// Arguments for the benchmark program, after `--`
    #[arg(last = true)]
    extra: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<(), TaskError> {
    step(args).run()
}

fn step(args: &Args) -> Step {
    Step::cargo()
        .args(["run", "--release", "--locked", "-p", "bitgrain-bench", "--"])
        .args(&args.suite)
        .args(&args.extra)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suite_and_extra_arguments_reach_the_benchmark_program_in_order() {
        let args = Args { suite: Some("blocks".into()), extra: vec!["--json".into()] };
        let typed = step(&args).to_string();
        assert!(typed.ends_with("run --release --locked -p bitgrain-bench -- blocks --json"), "{typed}");
    }
}
