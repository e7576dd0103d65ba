//! The source of the book: documents of the repository, arranged for mdBook.
//!
//! `docs/guide/x.md` becomes `guide/x.md`, a `README.md` becomes the `index.md` of its folder, and `spec/` and a few
//! pages of the root are included. Links between pages are rewritten; links to other files of the repository point to
//! GitHub.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::files::{below, read};
use super::markdown::with_links;
use crate::error::TaskError;
use crate::step::root;

/// Base of links to files that are not pages.
const REPOSITORY: &str = "https://github.com/bitgrain/bitgrain/blob/main";

/// Pages in the root of the repository.
const FROM_ROOT: [&str; 5] = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASE.md", "SECURITY.md"];

/// Line of the summary that is replaced with the generated pages of both APIs.
const API_PAGES: &str = "<!-- API pages -->";

/// Line of the summary that is replaced with one page per decision.
const DECISION_PAGES: &str = "<!-- decision pages -->";

/// Page that links to the Rust API, which rustdoc generates.
const RUST_PAGE: &str = "# Rust API

The crate [`bitgrain`](rust/bitgrain/index.html) re-exports the crates below; add it with `cargo add bitgrain`.

| crate | contents |
|---|---|
| [`bitgrain-gbdt`](rust/bitgrain_gbdt/index.html) | gradient-boosted trees |
| [`bitgrain-nn`](rust/bitgrain_nn/index.html) | model weights and networks |
| [`bitgrain-store`](rust/bitgrain_store/index.html) | the tensor store |
| [`bitgrain-gpu`](rust/bitgrain_gpu/index.html) | networks and histograms on GPUs |
| [`bitgrain-files`](rust/bitgrain_files/index.html) | mapped files and atomic writes |
| [`bitgrain-formats`](rust/bitgrain_formats/index.html) | file formats |
| [`bitgrain-codec`](rust/bitgrain_codec/index.html) | blocks, weight dtypes, error bounds |
| [`bitgrain-kernels`](rust/bitgrain_kernels/index.html) | slice primitives on every instruction set |
";

/// Fills `source`, which already has the pages of the Python API, and writes `book.toml` next to it.
///
/// # Errors
/// Returns [`TaskError::Unreadable`] for a document, or [`TaskError::Unlisted`] if a page is not in the summary.
pub(crate) fn assemble(source: &Path) -> Result<(), TaskError> {
    let files = documents()?;
    for (document, place) in &files {
        let path = source.join(place);
        fs::create_dir_all(path.parent().unwrap_or(source))?;
        if !document.ends_with(".md") {
            fs::copy(root().join(document), path)?;
            continue;
        }
        let text = read(&root().join(document))?;
        let text = with_links(&text, |target| relocated(target, document, place, &files));
        fs::write(path, text)?;
    }
    let summary = read(&source.join("SUMMARY.md"))?.replace(DECISION_PAGES, &decisions(&files)?);
    let unlisted: Vec<String> = unlisted(&summary, &files);
    if !unlisted.is_empty() {
        return Err(TaskError::Unlisted { pages: unlisted });
    }
    fs::write(source.join("rust.md"), RUST_PAGE)?;
    let python = source.join("python/SUMMARY.md");
    let api = format!("- [Rust API](rust.md)\n{}", read(&python)?.trim_end());
    fs::remove_file(python)?;
    fs::write(source.join("SUMMARY.md"), summary.replace(API_PAGES, &api))?;
    let book = source.parent().unwrap_or(source);
    for name in ["book.toml", "bitgrain.css"] {
        fs::copy(root().join("docs/site").join(name), book.join(name))?;
    }
    Ok(())
}

/// Returns the files of the book: path from the repository's root, and path in the book.
fn documents() -> Result<BTreeMap<String, String>, TaskError> {
    let mut files = BTreeMap::new();
    for folder in ["docs", "spec"] {
        for path in below(&root().join(folder))? {
            let Ok(name) = path.strip_prefix(root()) else { continue };
            // Links and the book use slashes on every system.
            let name = name.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
            if !name.starts_with("docs/site/") && (name.ends_with(".md") || name.ends_with(".svg")) {
                files.insert(name.clone(), place(&name));
            }
        }
    }
    files.extend(FROM_ROOT.map(|name| (name.to_owned(), name.to_owned())));
    Ok(files)
}

/// Returns lines for the summary, one per decision, with its number and title.
fn decisions(files: &BTreeMap<String, String>) -> Result<String, TaskError> {
    let pages = files.iter().filter(|(document, _)| {
        document.strip_prefix("docs/decisions/").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_digit()))
    });
    let line = |(document, place): (&String, &String)| {
        let text = read(&root().join(document))?;
        let title = text.lines().next().unwrap_or_default().trim_start_matches("# ").replacen(':', "", 1);
        Ok(format!("  - [{title}]({place})"))
    };
    Ok(pages.map(line).collect::<Result<Vec<_>, TaskError>>()?.join("\n"))
}

fn place(document: &str) -> String {
    let inside = document.strip_prefix("docs/").unwrap_or(document);
    match inside.strip_suffix("README.md") {
        Some(folder) => format!("{folder}index.md"),
        None => inside.to_owned(),
    }
}

/// Converts the link `target` of a document to a link in the book.
fn relocated(target: &str, document: &str, place: &str, files: &BTreeMap<String, String>) -> String {
    if target.contains("://") || target.starts_with(['#', '<']) || target.starts_with("mailto:") {
        return target.to_owned();
    }
    let (path, anchor) = target.split_once('#').map_or((target, String::new()), |(path, id)| (path, format!("#{id}")));
    let linked = joined(document, path);
    let linked = if root().join(&linked).is_dir() && files.contains_key(&format!("{linked}/README.md")) {
        format!("{linked}/README.md")
    } else {
        linked
    };
    match files.get(&linked) {
        Some(other) => relative(place, other) + &anchor,
        None => format!("{REPOSITORY}/{linked}{anchor}"),
    }
}

/// Resolves a path relative to a document to a path from the root.
fn joined(document: &str, path: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the relative path from one page to another.
fn relative(from: &str, to: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (from.split('/').collect(), to.split('/').collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count().min(from.len() - 1).min(to.len() - 1);
    let up = from.len() - 1 - common;
    std::iter::repeat_n("..", up).chain(to[common..].iter().copied()).collect::<Vec<_>>().join("/")
}

/// Returns the documents that are not in the summary.
fn unlisted(summary: &str, files: &BTreeMap<String, String>) -> Vec<String> {
    let mut listed = BTreeSet::new();
    with_links(summary, |target| {
        listed.insert(target.to_owned());
        String::new()
    });
    let page = |(document, place): &(&String, &String)| {
        document.ends_with(".md") && *place != "SUMMARY.md" && !listed.contains(*place)
    };
    files.iter().filter(page).map(|(document, _)| document.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_is_a_page_of_the_book() {
        let files = documents().expect("readable");
        let summary = read(&root().join("docs/SUMMARY.md")).expect("readable");
        let summary = with_links(&summary, |target| relocated(target, "docs/SUMMARY.md", "SUMMARY.md", &files));
        assert!(summary.contains(API_PAGES) && summary.contains(DECISION_PAGES));
        let summary = summary.replace(DECISION_PAGES, &decisions(&files).expect("readable"));
        assert_eq!(unlisted(&summary, &files), Vec::<String>::new());
    }

    #[test]
    fn links_follow_their_pages_and_other_files_are_on_github() {
        let files = documents().expect("readable");
        let from = |target: &str| relocated(target, "docs/guide/keep-tensors.md", "guide/keep-tensors.md", &files);
        assert_eq!(from("../../spec/segment.md#records"), "../spec/segment.md#records");
        assert_eq!(from("../decisions/README.md"), "../decisions/index.md");
        assert_eq!(from("#from-rust"), "#from-rust");
        assert_eq!(from("../../fuzz/README.md"), format!("{REPOSITORY}/fuzz/README.md"));
        assert_eq!(from("https://example.org"), "https://example.org");
        let from_root = relocated("docs/testing.md", "CONTRIBUTING.md", "CONTRIBUTING.md", &files);
        assert_eq!(from_root, "testing.md");
    }
}
