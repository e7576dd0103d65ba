//! Files generated from the table of hyperparameters: `docs/parameters.md`, and signatures and docstrings in Python.
//!
//! The generated lines are between two fixed lines.

mod page;
mod python;

use std::fs;
use std::iter::repeat_n;

use crate::error::TaskError;
use crate::step::root;

const PAGE: &str = "docs/parameters.md";
const PARAMS: &str = "bindings/python/python/bitgrain/boosting/params.py";
const SETTINGS: &str = "bindings/python/python/bitgrain/sklearn/settings.py";
const ESTIMATOR: &str = "bindings/python/python/bitgrain/sklearn/estimator.py";
const CLASSIFIER: &str = "bindings/python/python/bitgrain/sklearn/classifier.py";

/// All files with generated regions, from the workspace root.
pub(crate) const FILES: [&str; 5] = [PAGE, PARAMS, SETTINGS, ESTIMATOR, CLASSIFIER];

/// Generated lines between `start` and `end`.
struct Region {
    start: &'static str,
    end: &'static str,
    lines: Vec<String>,
}

/// Returns the contents of a file with its regions generated again.
///
/// # Errors
/// Returns [`TaskError::Record`] if the first or last line of a region is missing.
pub(crate) fn render(file: &'static str, text: &str) -> Result<String, TaskError> {
    let signature = |indent| Region {
        start: "# Signature: written by `cargo xtask parameters`.",
        end: "# End of the signature.",
        lines: indented(indent, python::signature()),
    };
    let regions = match file {
        PAGE => page::regions(),
        PARAMS => vec![
            Region {
                start: "    Parameters\n    ----------",
                end: "\n    Examples\n",
                lines: indented(4, python::docstring()),
            },
            Region {
                start: "# Fields: written by `cargo xtask parameters`.",
                end: "# End of the fields.",
                lines: indented(4, python::fields()),
            },
        ],
        ESTIMATOR => vec![Region {
            start: "    Parameters\n    ----------",
            end: "    categorical_features : ",
            lines: indented(4, python::estimator_docstring()),
        }],
        SETTINGS => vec![
            signature(8),
            Region {
                start: "# Attributes: written by `cargo xtask parameters`.",
                end: "# End of the attributes.",
                lines: indented(8, python::attributes()),
            },
        ],
        _ => vec![signature(8)],
    };
    regions.iter().try_fold(text.to_owned(), |text, region| replaced(file, &text, region))
}

fn replaced(file: &'static str, text: &str, region: &Region) -> Result<String, TaskError> {
    let missing = |line: &str| TaskError::Record { path: file.into(), cause: format!("the line `{line}` is missing") };
    let (before, rest) = text.split_once(region.start).ok_or_else(|| missing(region.start))?;
    let at = rest.find(region.end).ok_or_else(|| missing(region.end))?;
    // The last line keeps its indentation.
    let after = &rest[rest[..at].rfind('\n').map_or(at, |newline| newline + 1)..];
    let lines: String = region.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    Ok(format!("{before}{}\n{lines}{after}", region.start))
}

fn indented(width: usize, lines: Vec<String>) -> Vec<String> {
    let indent: String = repeat_n(' ', width).collect();
    lines.into_iter().map(|line| format!("{indent}{line}")).collect()
}

pub(crate) fn read(file: &str) -> Result<String, TaskError> {
    let path = root().join(file);
    fs::read_to_string(&path).map_err(|source| TaskError::Unreadable { path, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generated_file_matches_the_table() {
        for file in FILES {
            let text = read(file).expect("the file exists");
            let rendered = render(file, &text).expect("its regions are marked");
            assert!(text == rendered, "{file} is out of date; run `cargo xtask parameters` and commit it");
        }
    }

    #[test]
    fn a_region_without_its_end_is_an_error() {
        assert!(render(SETTINGS, "# Signature: written by `cargo xtask parameters`.\n").is_err());
        assert!(render(PAGE, "").is_err());
    }
}
