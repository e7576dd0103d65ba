//! `cargo xtask site`: the documentation and the playground.

use std::io::Write;

use super::docs;
use crate::error::TaskError;
use crate::npm;
use crate::platforms::Toolchain;
use crate::step::target;

/// Build the documentation and the playground in target/site
///
/// Builds what `cargo xtask docs` builds, then the npm package in target/npm/node_modules/bitgrain and the playground in
/// target/site/playground.html, a single file that needs no server. The package needs a compiler for
/// wasm32-unknown-unknown: the active toolchain with that target, or Debian's rustc-web, cargo-web, rust-web-src and
/// lld-22.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Skip the Rust API, which takes longest to build
    #[arg(long)]
    no_rust: bool,
    /// Build only the package and the playground
    #[arg(long)]
    no_docs: bool,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), TaskError> {
    let toolchain = Toolchain::find(npm::TRIPLE).ok_or(TaskError::NoTarget { triple: npm::TRIPLE })?;
    if !args.no_docs {
        docs::run(&docs::Args { no_rust: args.no_rust }, out)?;
    }
    let package = npm::build(toolchain)?;
    let page = npm::write_page(&package, &target()?.join("site"))?;
    writeln!(out, "npm package: {}\nplayground: {}", package.display(), page.display())?;
    Ok(())
}
