//! Link check of a built site: every link must lead to a file, and every anchor to an element in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::files::{below, read};
use crate::error::TaskError;

/// Numbers of checked pages and links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) pages: usize,
    pub(crate) links: usize,
}

/// Checks all links of the book's pages. rustdoc checks the links inside the Rust API; `without_rust` also skips links
/// into it.
///
/// # Errors
/// Returns [`TaskError::BrokenLinks`] with all of them, or [`TaskError::Unreadable`].
pub(crate) fn check(site: &Path, without_rust: bool) -> Result<Count, TaskError> {
    let rust = site.join("rust");
    let mut count = Count { pages: 0, links: 0 };
    let (mut broken, mut anchors) = (Vec::new(), BTreeMap::new());
    for page in below(site)? {
        // The links of the 404 page start at the root of the server.
        let is_page = page.extension().is_some_and(|extension| extension == "html") && !page.ends_with("404.html");
        if !is_page || page.starts_with(&rust) {
            continue;
        }
        count.pages += 1;
        let text = read(&page)?;
        for target in ["href", "src"].into_iter().flat_map(|attribute| values(&text, attribute)) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = path.split('?').next().unwrap_or_default();
            if path.contains(':') {
                continue;
            }
            let linked = if path.is_empty() { page.clone() } else { normal(&page, path) };
            if without_rust && linked.starts_with(&rust) {
                continue;
            }
            count.links += 1;
            let is_there = linked.is_file() && (anchor.is_empty() || has_anchor(&linked, anchor, &mut anchors)?);
            if !is_there {
                let name = page.strip_prefix(site).unwrap_or(&page);
                broken.push(format!("  {}: {target}", name.display()));
            }
        }
    }
    broken.dedup();
    if broken.is_empty() { Ok(count) } else { Err(TaskError::BrokenLinks { links: broken }) }
}

/// Returns all values of an attribute in the page.
fn values<'a>(text: &'a str, attribute: &str) -> impl Iterator<Item = &'a str> {
    let opening = format!(" {attribute}=\"");
    let starts: Vec<usize> = text.match_indices(&opening).map(|(at, _)| at + opening.len()).collect();
    starts.into_iter().filter_map(|start| text[start..].split('"').next())
}

/// Resolves a path relative to a page.
fn normal(page: &Path, path: &str) -> PathBuf {
    let mut output = page.parent().unwrap_or(Path::new("")).to_owned();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(output.pop()),
            part => output.push(part),
        }
    }
    if path.ends_with('/') { output.join("index.html") } else { output }
}

fn has_anchor(page: &Path, anchor: &str, known: &mut BTreeMap<PathBuf, BTreeSet<String>>) -> Result<bool, TaskError> {
    if !known.contains_key(page) {
        let text = read(page)?;
        known.insert(page.to_owned(), values(&text, "id").map(str::to_owned).collect());
    }
    Ok(known.get(page).is_some_and(|ids| ids.contains(anchor)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::step::target;

    #[test]
    fn missing_pages_and_anchors_are_detected() {
        let site = target().expect("a folder").join("tmp").join(format!("links-{}", std::process::id()));
        fs::create_dir_all(site.join("guide")).expect("writable");
        let other = "<h2 id=\"there\">x</h2><a href=\"../index.html\">up</a>";
        fs::write(site.join("guide/a.html"), other).expect("writable");
        let good = "<a class=\"x\" href=\"guide/a.html#there\">a</a><a href=\"https://example.org/#x\">b</a>";
        fs::write(site.join("index.html"), good).expect("writable");
        assert_eq!(check(&site, false).expect("whole"), Count { pages: 2, links: 2 });
        let bad = good.replace("#there", "#gone") + "<img src=\"no.svg\">";
        fs::write(site.join("index.html"), bad).expect("writable");
        let message = check(&site, false).expect_err("broken").to_string();
        assert!(message.contains("index.html: guide/a.html#gone") && message.contains("no.svg"), "{message}");
        fs::remove_dir_all(site).expect("removed");
    }
}
