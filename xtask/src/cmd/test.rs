//! `cargo xtask test`: every test there is, in one command.

use std::io::Write;

use crate::error::TaskError;
use crate::oracles::Oracles;
use crate::package;
use crate::python::Python;
use crate::step::Step;

/// Run every test: unit, integration and doc tests, the Python reader of the golden vectors, the foreign oracles, the
/// Python package
///
/// Needs Python 3.11 or later with venv and pip: the oracles get a virtual environment in the target folder, made anew
/// when oracles/requirements.txt changes. The last line is "all tests passed" if they did; the exit code is not 0 if
/// one did not.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// What the tests need beside cargo.
struct Tools {
    python: Python,
    oracles: Oracles,
}

impl Tools {
    /// Before anything is compiled, so that a missing tool is known in a second and not in minutes.
    fn set_up() -> Result<Self, TaskError> {
        let python = Python::find()?;
        Ok(Self { python, oracles: Oracles::set_up(python)? })
    }
}

pub(crate) fn run(_args: &Args, out: &mut impl Write) -> Result<(), TaskError> {
    let tools = Tools::set_up()?;
    // The Python package is tested in Python.
    let workspace = ["--workspace", "--exclude", "bitgrain-python"];
    Step::cargo().args(["test"]).args(workspace).args(["--locked"]).run()?;
    tools.python.script("spec/check_vectors.py").run()?;
    tools.oracles.step().run()?;
    package::test(&tools.oracles)?;
    writeln!(out, "all tests passed")?;
    Ok(())
}
