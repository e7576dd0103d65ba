//! `bitgrain completions`: shell completions.

use std::io::Write;

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};

use crate::error::CliError;

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain completions bash > ~/.local/share/bash-completion/completions/bitgrain
  bitgrain completions zsh > ~/.zfunc/_bitgrain
  bitgrain completions fish > ~/.config/fish/completions/bitgrain.fish")]
pub(crate) struct Args {
    /// Shell to print the script for.
    shell: Shell,
}

pub(crate) fn run<Cli: CommandFactory>(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    // The generator panics on a closed pipe, so it writes to a buffer.
    let mut script = Vec::new();
    generate(args.shell, &mut visible(&Cli::command()), "bitgrain", &mut script);
    Ok(out.write_all(&script)?)
}

/// Returns the command without hidden options, because the generators would offer every alias of a training parameter.
fn visible(command: &Command) -> Command {
    let mut shown = Command::new(command.get_name().to_owned())
        .args(command.get_arguments().filter(|arg| !arg.is_hide_set()))
        .subcommands(command.get_subcommands().map(visible));
    if let Some(about) = command.get_about() {
        shown = shown.about(about.clone());
    }
    if let Some(version) = command.get_version() {
        shown = shown.version(version.to_owned());
    }
    shown
}
