//! `cargo xtask test`: every test, or one suite of them.

use std::io::Write;

use clap::ValueEnum;

use crate::error::TaskError;
use crate::oracles::Oracles;
use crate::package;
use crate::python::Python;
use crate::step::Step;

/// Run the tests: all suites, or the ones named
///
/// `rust` needs no Python. `oracles` and `python` need Python 3.11 or later with venv and pip; they share a virtual
/// environment in the target folder, which is made again when oracles/requirements.txt changes. The last line is "all
/// tests passed" if they did; the exit code is not 0 if one failed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Suites to run [default: all]
    #[arg(value_enum)]
    suites: Vec<Suite>,
    /// Test the Python package as users install it: build its wheel in release mode, which takes minutes
    #[arg(long)]
    release_wheel: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Suite {
    /// Unit, integration and doc tests of all crates
    Rust,
    /// The golden vectors and the command against other people's libraries
    Oracles,
    /// The Python package: its tests, types and style
    Python,
}

impl Args {
    fn wants(&self, suite: Suite) -> bool {
        self.suites.is_empty() || self.suites.contains(&suite)
    }
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), TaskError> {
    // Before anything is compiled, so that a missing Python is reported in a second and not after minutes.
    let python = if args.wants(Suite::Oracles) || args.wants(Suite::Python) {
        let python = Python::find()?;
        Some((python, Oracles::set_up(python)?))
    } else {
        None
    };
    if args.wants(Suite::Rust) {
        // The Python package is tested in Python.
        Step::cargo().args(["test", "--workspace", "--exclude", "bitgrain-python", "--locked"]).run()?;
    }
    if let Some((python, oracles)) = python {
        if args.wants(Suite::Oracles) {
            // `cargo test` has built the command; a second build without the features of its tests would take minutes.
            if !args.wants(Suite::Rust) {
                Step::cargo().args(["build", "--profile", "test", "--locked", "-p", "bitgrain-cli"]).run()?;
            }
            python.script("spec/check_vectors.py").run()?;
            oracles.step().run()?;
        }
        if args.wants(Suite::Python) {
            package::test(&oracles, if args.release_wheel { "release" } else { "dev" })?;
        }
    }
    let all = [Suite::Rust, Suite::Oracles, Suite::Python].into_iter().all(|suite| args.wants(suite));
    writeln!(out, "all tests{} passed", if all { "" } else { " of these suites" })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_suite_is_every_suite_and_a_named_one_is_alone() {
        let args = |suites: &[Suite]| Args { suites: suites.to_vec(), release_wheel: false };
        assert!([Suite::Rust, Suite::Oracles, Suite::Python].into_iter().all(|suite| args(&[]).wants(suite)));
        assert!(args(&[Suite::Rust]).wants(Suite::Rust));
        assert!(!args(&[Suite::Rust]).wants(Suite::Oracles));
    }
}
