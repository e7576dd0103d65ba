//! `cargo xtask bench`: the benchmarks, rivals included, in release mode.

use std::ffi::OsString;

use crate::error::TaskError;
use crate::step::Step;

/// Run the benchmarks beside their rivals
///
/// The first run builds the rivals, which takes a while; the suites `weights` and `nn` also fetch llama.cpp's prebuilt
/// library with npm, and the suite `gbdt` installs LightGBM, XGBoost, CatBoost and scikit-learn with pip into an environment of
/// its own; all go on without what they cannot get. Measure on an idle machine, and quote ratios. What the benchmark
/// program takes: `cargo xtask bench codec -- --help`.
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
    // candle takes minutes to build: only where it is measured.
    let with_candle = args.suite.as_deref().is_none_or(|suite| matches!(suite, "weights" | "nn"));
    Step::cargo()
        .args(["run", "--release", "--locked", "-p", "bitgrain-bench"])
        .args(with_candle.then_some("--features=candle"))
        .args(["--"])
        .args(&args.suite)
        .args(&args.extra)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candle_is_built_only_where_it_is_measured() {
        let typed = |suite: Option<&str>| step(&Args { suite: suite.map(str::to_owned), extra: vec![] }).to_string();
        assert!(typed(Some("weights")).contains("--features=candle"));
        assert!(typed(Some("nn")).contains("--features=candle"));
        assert!(typed(None).contains("--features=candle"));
        assert!(!typed(Some("codec")).contains("candle"));
    }

    #[test]
    fn suite_and_extra_arguments_reach_the_benchmark_program_in_order() {
        let args = Args { suite: Some("blocks".into()), extra: vec!["--json".into()] };
        let typed = step(&args).to_string();
        assert!(typed.ends_with("run --release --locked -p bitgrain-bench -- blocks --json"), "{typed}");
    }
}
