//! The `bitgrain` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(bitgrain_cli::run(std::env::args_os()))
}
