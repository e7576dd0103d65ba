//! Commands that run a language model: generating text, perplexity, importances.

pub(crate) mod generate;
pub(crate) mod imatrix;
pub(crate) mod perplexity;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::CliError;

/// Reads a text file; - is standard input.
pub(crate) fn read_text(path: &PathBuf) -> Result<String, CliError> {
    let read = if path == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(path)
    };
    read.map_err(|source| CliError::File { path: path.clone(), source })
}
