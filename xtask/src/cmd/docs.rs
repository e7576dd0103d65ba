//! `cargo xtask docs`: the documentation as a site, with search, API references and checked links.

use std::fs;
use std::io::Write;

use crate::environment::{Environment, Requirements};
use crate::error::TaskError;
use crate::python::Python;
use crate::site::{book, files, links, mdbook};
use crate::step::{Step, target};

/// Contents of the environment that reads the sources of the Python package.
const REQUIREMENTS: [Requirements; 1] = [Requirements { file: "docs/site/requirements.txt", dependencies: true }];

/// Build the documentation as a site in target/site
///
/// The pages of docs/ and spec/, the changelog, the Rust API (rustdoc) and the Python API, with full-text search. Installs
/// mdBook into the target folder if version 0.5 is not on the PATH, and makes a virtual environment for the Python API,
/// which is read from the sources without importing them. The exit code is 1 if a link or an anchor does not exist, or if
/// a page is missing from docs/SUMMARY.md.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Leave out the Rust API, whose build takes longest
    #[arg(long)]
    no_rust: bool,
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

/// The crates that are published, with their public items only.
fn rustdoc() -> Step {
    let unpublished = ["bitgrain-bench", "bitgrain-fuzz", "bitgrain-python", "bitgrain-cli", "xtask"];
    Step::cargo()
        .args(["doc", "--workspace", "--no-deps", "--all-features", "--locked"])
        .args(unpublished.into_iter().flat_map(|name| ["--exclude", name]))
}
