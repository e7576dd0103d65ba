//! Error of each block format on tensors of your own: `cargo run --release --example fidelity -- FILE.npy …`
//!
//! Reads NumPy arrays and prints a Markdown table for each.

use std::env;
use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use bitgrain::codec::{BitWidth, BlockFormat, Fidelity};
use bitgrain::nn::ModelFile;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // Exit quietly if the reader closes the pipe, as `head` does.
        Err(error) if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe) => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = env::args().skip(1).collect();
    if files.is_empty() {
        return Err("usage: cargo run --release --example fidelity -- FILE.npy …".into());
    }
    let mut out = io::stdout().lock();
    for file in &files {
        let model = ModelFile::open(file)?;
        let values = model.tensors().first().ok_or_else(|| format!("{file}: no array found"))?.values()?;
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        writeln!(out, "## {name}\n\n{} values\n", values.len())?;
        writeln!(out, "| format | bytes per 64 values | bound | max error | relative RMS error | cosine |")?;
        writeln!(out, "|---|---|---|---|---|---|")?;
        for (name, format) in formats() {
            let bytes = format.encode(&values)?;
            let cost = Fidelity::measure(&values, &format.decode(&bytes, values.len())?)?;
            writeln!(
                out,
                "| {name} | {} | {:.4} | {:.4} | {:.4} | {:.6} |",
                format.block_bytes(),
                format.bound(&bytes, values.len())?,
                cost.max_error,
                cost.relative_rmse,
                cost.cosine,
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn formats() -> Vec<(String, BlockFormat)> {
    let widths =
        BitWidth::ALL.into_iter().rev().map(|width| (format!("{} bits", width.bits()), BlockFormat::new(width)));
    widths.chain([("3 bits, two-level".to_owned(), BlockFormat::two_level())]).collect()
}
