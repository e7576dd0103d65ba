//! `cargo xtask bench`: the benchmarks, including other libraries, in release mode.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use crate::charts;
use crate::error::TaskError;
use crate::npm;
use crate::speed;
use crate::step::Step;

/// Run the benchmarks against other libraries
///
/// The first run builds the other libraries, which takes a while; the suites `weights`, `nn` and `llm` also download
/// llama.cpp's prebuilt library with npm, `llm` a model with pip, and the suites `gbdt` (LightGBM, XGBoost, CatBoost,
/// scikit-learn) and `store` (tensorstore, zarr) install theirs with pip into separate environments. Libraries that cannot be installed are
/// skipped. Measure on an idle machine, and quote ratios. For the options of the benchmark program, run `cargo xtask
/// bench codec -- --help`.
///
/// Three more suites have no other libraries: `wasm` times the kernels in Node, with and without `simd128`, `npm` times the npm
/// package in Node and Chromium, and `instructions` counts the instructions of NEON and AVX2 under QEMU.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Suite to run [default: all]
    suite: Option<String>,
    /// Arguments for the benchmark program, after `--`
    #[arg(last = true)]
    extra: Vec<OsString>,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), TaskError> {
    match args.suite.as_deref() {
        Some("wasm") => return speed::wasm(),
        Some("npm") => return npm::bench(),
        Some("instructions") => return speed::instructions(out),
        _ => {}
    }
    step(args).run()?;
    written(args).map_or(Ok(()), |page| charts::draw_of(Path::new(page)))
}

/// Returns the page that the benchmark program writes, if requested.
fn written(args: &Args) -> Option<&OsString> {
    let at = args.extra.iter().position(|argument| argument == "--markdown")?;
    args.extra.get(at + 1)
}

fn step(args: &Args) -> Step {
    // Some libraries take minutes to build, so they are enabled only for the suites that need them.
    let wanted = |suite: &str| args.suite.as_deref().is_none_or(|asked| asked == suite);
    Step::cargo()
        .args(["run", "--release", "--locked", "-p", "bitgrain-bench"])
        .args((wanted("weights") || wanted("nn")).then_some("--features=candle"))
        .args(wanted("store").then_some("--features=stores"))
        .args(["--"])
        .args(&args.suite)
        .args(&args.extra)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rivals_are_built_only_where_they_are_measured() {
        let typed = |suite: Option<&str>| step(&Args { suite: suite.map(str::to_owned), extra: vec![] }).to_string();
        assert!(typed(Some("weights")).contains("--features=candle"));
        assert!(typed(Some("nn")).contains("--features=candle"));
        assert!(typed(None).contains("--features=candle"));
        assert!(typed(Some("store")).contains("--features=stores") && typed(None).contains("--features=stores"));
        assert!(!typed(Some("codec")).contains("--features"));
        assert!(!typed(Some("store")).contains("candle") && !typed(Some("weights")).contains("stores"));
    }

    #[test]
    fn the_page_whose_chart_is_drawn_is_the_one_that_was_written() {
        let args =
            |extra: &[&str]| Args { suite: None, extra: extra.iter().map(|word| OsString::from(*word)).collect() };
        assert_eq!(written(&args(&["--quick", "--markdown", "a.md"])), Some(&OsString::from("a.md")));
        assert_eq!(written(&args(&["--quick"])), None);
    }

    #[test]
    fn suite_and_extra_arguments_reach_the_benchmark_program_in_order() {
        let args = Args { suite: Some("blocks".into()), extra: vec!["--json".into()] };
        let typed = step(&args).to_string();
        assert!(typed.ends_with("run --release --locked -p bitgrain-bench -- blocks --json"), "{typed}");
    }
}
