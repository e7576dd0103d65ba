//! `bitgrain store`: commands of the tensor store.

mod append;
mod arguments;
mod attach;
pub(crate) mod chart;
mod compact;
mod damage;
mod export;
mod get;
pub(crate) mod id;
mod import;
mod init;
mod ls;
mod pin;
mod put;
mod rm;
mod salvage;
mod search;
mod session;
mod sink;
mod source;
mod stat;
mod sync;
mod tick;
mod verify;

use std::io::Write;

use crate::error::CliError;

/// Keep tensors in a crash-safe store whose precision adapts to use, with an error bound for every tensor.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store init vectors.store
  bitgrain store import vectors.store model.safetensors embeddings.npz
  bitgrain store put vectors.store mean mean.npy --max-error 0.01
  bitgrain store get vectors.store mean -o mean.npy
  bitgrain store search vectors.store --query mean.npy --prefix tuned
  bitgrain store stat vectors.store
  bitgrain store tick vectors.store --dry-run
  bitgrain store verify vectors.store
  bitgrain store sync vectors.store copy.store

A store is a folder, or an address such as s3://bucket/prefix in builds with the feature `remote`.")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Init(init::Args),
    Put(put::Args),
    Get(get::Args),
    Search(search::Args),
    Append(append::Args),
    Attach(attach::Args),
    Ls(ls::Args),
    Stat(stat::Args),
    Tick(tick::Args),
    Pin(pin::Args),
    Rm(rm::Args),
    Verify(verify::Args),
    Salvage(salvage::Args),
    Compact(compact::Args),
    Sync(sync::Args),
    Import(import::Args),
    Export(export::Args),
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    match &args.command {
        Command::Init(args) => init::run(args, out),
        Command::Put(args) => put::run(args, out),
        Command::Get(args) => get::run(args, out),
        Command::Search(args) => search::run(args, out),
        Command::Append(args) => append::run(args, out),
        Command::Attach(args) => attach::run(args, out),
        Command::Ls(args) => ls::run(args, out),
        Command::Stat(args) => stat::run(args, out),
        Command::Tick(args) => tick::run(args, out),
        Command::Pin(args) => pin::run(args, out),
        Command::Rm(args) => rm::run(args, out),
        Command::Verify(args) => verify::run(args, out),
        Command::Salvage(args) => salvage::run(args, out),
        Command::Compact(args) => compact::run(args, out),
        Command::Sync(args) => sync::run(args, out),
        Command::Import(args) => import::run(args, out),
        Command::Export(args) => export::run(args, out),
    }
}
