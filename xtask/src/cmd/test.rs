//! `cargo xtask test`: runs all tests, or some suites.

use std::io::Write;

use clap::ValueEnum;

use crate::error::TaskError;
use crate::oracles::Oracles;
use crate::package;
use crate::platforms;
use crate::python::Python;
use crate::step::Step;

/// Parquet and object storage are off by default, but their tests are not.
const FULL: [&str; 2] = ["--features", "bitgrain-cli/full"];

/// Run the tests: all suites, or the given ones
///
/// `rust` needs no Python. `oracles` and `python` need Python 3.11 or later with venv and pip; they share a virtual
/// environment in the target folder, which is recreated when oracles/requirements.txt changes. If all tests passed, the
/// last line is "all tests passed"; otherwise the exit code is not 0.
///
/// Property tests draw the same cases in every run. Set PROPTEST_RNG_SEED to draw others.
///
/// With `--platforms`, only the tests on other platforms run: AArch64 and s390x under QEMU, WebAssembly in Node, the npm
/// package in Node, the playground in Chromium, and kernels for GPUs on a software adapter. As root
/// on Debian, missing compilers, emulators and drivers are installed; a platform without them is skipped with a message.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Suites to run [default: all]
    #[arg(value_enum)]
    suites: Vec<Suite>,
    /// Build the wheel optimized, as users install it, which takes minutes
    #[arg(long)]
    release_wheel: bool,
    /// Run the tests on other platforms instead
    #[arg(long, conflicts_with_all = ["suites", "release_wheel"])]
    platforms: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Suite {
    /// Unit, integration and doc tests of all crates
    Rust,
    /// Golden vectors, and comparisons of the command with other libraries
    Oracles,
    /// Tests, type checks and lints of the Python package
    Python,
}

impl Args {
    fn wants(&self, suite: Suite) -> bool {
        self.suites.is_empty() || self.suites.contains(&suite)
    }
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), TaskError> {
    if args.platforms {
        return platforms::test(out);
    }
    // Check Python first, so that a missing interpreter is reported before minutes of compilation.
    let python = if args.wants(Suite::Oracles) || args.wants(Suite::Python) {
        let python = Python::find()?;
        Some((python, Oracles::set_up(python)?))
    } else {
        None
    };
    if args.wants(Suite::Rust) {
        // The Python package is tested in Python. The kernels for GPUs need a driver and minutes to compile: they are a
        // platform.
        let excluded = ["--exclude", "bitgrain-python", "--exclude", "bitgrain-gpu"];
        let tests = Step::cargo().args(["test", "--workspace", "--locked"]).args(excluded);
        tests.args(FULL).with_fixed_cases().run()?;
    }
    if let Some((python, oracles)) = python {
        if args.wants(Suite::Oracles) {
            // `cargo test` has built the command. Another build, without the features of its tests, would take minutes.
            if !args.wants(Suite::Rust) {
                let build = Step::cargo().args(["build", "--profile", "test", "--locked", "-p", "bitgrain-cli"]);
                build.args(FULL).run()?;
            }
            python.script("spec/check_vectors.py").run()?;
            oracles.step().run()?;
        }
        if args.wants(Suite::Python) {
            package::test(&oracles, if args.release_wheel { "dist" } else { "dev" })?;
        }
    }
    let all = [Suite::Rust, Suite::Oracles, Suite::Python].into_iter().all(|suite| args.wants(suite));
    writeln!(out, "{}", platforms::not_tested())?;
    writeln!(out, "all tests{} passed", if all { "" } else { " of these suites" })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_name_every_suite_runs() {
        let args = |suites: &[Suite]| Args { suites: suites.to_vec(), release_wheel: false, platforms: false };
        assert!([Suite::Rust, Suite::Oracles, Suite::Python].into_iter().all(|suite| args(&[]).wants(suite)));
        assert!(args(&[Suite::Rust]).wants(Suite::Rust));
        assert!(!args(&[Suite::Rust]).wants(Suite::Oracles));
    }
}
