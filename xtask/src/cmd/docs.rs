//! `cargo xtask docs`: the documentation as a site, with search, API references and checked links.

use std::fs;
use std::io::Write;

use crate::environment::{Environment, Requirements};
use crate::error::TaskError;
use crate::python::Python;
use crate::site::{book, files, links, mdbook};
use crate::step::{Step, target};

/// Requirements of the environment that extracts the Python API.
const REQUIREMENTS: [Requirements; 1] = [Requirements { file: "docs/site/requirements.txt", dependencies: true }];

/// Build the documentation site in target/site
///
/// Includes the pages of docs/ and spec/, the changelog, the Rust API (rustdoc) and the Python API, with full-text
/// search. Installs mdBook in the target folder if version 0.5 is not on the PATH, and creates a virtual environment
/// for the Python API, which is extracted from the sources without importing them. The exit code is 1 if a link or an
/// anchor is broken, or if a page is missing from docs/SUMMARY.md.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Skip the Rust API, which takes longest to build
    #[arg(long)]
    pub(crate) no_rust: bool,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), TaskError> {
    let (book, site) = (target()?.join("book"), target()?.join("site"));
    let mdbook = mdbook::find_or_install()?;
    let environment = Environment::set_up(Python::find()?, "docs", &REQUIREMENTS)?;

    let source = book.join("src");
    files::remove(&source)?;
    fs::create_dir_all(&source)?;
    environment.script("docs/site/python_reference.py").args([source.join("python")]).run()?;
    book::assemble(&source)?;

    files::remove(&site)?;
    Step::new(mdbook).args(["build".as_ref(), book.as_os_str(), "--dest-dir".as_ref(), site.as_os_str()]).run()?;
    if !args.no_rust {
        rustdoc().run()?;
        files::copy(&target()?.join("doc"), &site.join("rust"))?;
    }
    let count = links::check(&site, args.no_rust)?;
    writeln!(out, "{} pages, {} links, none broken: {}", count.pages, count.links, site.join("index.html").display())?;
    Ok(())
}

/// Documents the public items of the published crates.
fn rustdoc() -> Step {
    let unpublished = ["bitgrain-bench", "bitgrain-fuzz", "bitgrain-python", "bitgrain-wasm", "bitgrain-cli", "xtask"];
    Step::cargo()
        .args(["doc", "--workspace", "--no-deps", "--all-features", "--locked"])
        .args(unpublished.into_iter().flat_map(|name| ["--exclude", name]))
}
