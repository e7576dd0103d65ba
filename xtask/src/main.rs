//! Commands of the project: `cargo xtask test`, `lint`, `bench`, `fuzz`, `crash`, `testing`, `parameters`, `charts`,
//! `docs` and `site`, from any directory of the checkout.
//!
//! Exit codes are 0 for success, 1 if a command of the task failed, and 2 if the task could not run.

mod charts;
mod cmd;
mod environment;
mod error;
mod npm;
mod oracles;
mod package;
mod parameters;
mod platforms;
mod python;
mod site;
mod speed;
mod step;
mod testing;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use crate::error::TaskError;

/// Build, test and documentation commands of Bitgrain
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Cli {
    Test(cmd::test::Args),
    Lint(cmd::lint::Args),
    Bench(cmd::bench::Args),
    Fuzz(cmd::fuzz::Args),
    Crash(cmd::crash::Args),
    Testing(cmd::testing::Args),
    Parameters(cmd::parameters::Args),
    Charts(cmd::charts::Args),
    Docs(cmd::docs::Args),
    Site(cmd::site::Args),
}

fn main() -> ExitCode {
    let out = &mut io::stdout();
    let result = match Cli::parse() {
        Cli::Test(args) => cmd::test::run(&args, out),
        Cli::Lint(args) => cmd::lint::run(&args, out),
        Cli::Bench(args) => cmd::bench::run(&args, out),
        Cli::Fuzz(args) => cmd::fuzz::run(&args),
        Cli::Crash(args) => cmd::crash::run(&args),
        Cli::Testing(args) => cmd::testing::run(&args),
        Cli::Parameters(args) => cmd::parameters::run(&args),
        Cli::Charts(args) => cmd::charts::run(&args),
        Cli::Docs(args) => cmd::docs::run(&args, out),
        Cli::Site(args) => cmd::site::run(&args, out),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(TaskError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
