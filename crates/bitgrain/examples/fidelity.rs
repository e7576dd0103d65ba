//! What each format costs on tensors of your own: `cargo run --release --example fidelity -- FILE.npy …`
//!
//! Reads little-endian f32 arrays as NumPy saves them and prints a Markdown table for each.

use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use bitgrain::codec::{BitWidth, BlockFormat, Fidelity};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that has seen enough is no error.
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
        let values = read_npy(Path::new(file)).map_err(|error| format!("{file}: {error}"))?;
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

/// The values of a `.npy` file: magic, version, header length, a Python literal, then the data.
fn read_npy(path: &Path) -> Result<Vec<f32>, Box<dyn Error>> {
    let bytes = fs::read(path)?;
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("not a .npy file")?;
    let (header, data) = match rest {
        [1, _, a, b, rest @ ..] => rest.split_at_checked(usize::from(u16::from_le_bytes([*a, *b]))),
        [2 | 3, _, a, b, c, d, rest @ ..] => {
            rest.split_at_checked(usize::try_from(u32::from_le_bytes([*a, *b, *c, *d]))?)
        }
        _ => None,
    }
    .ok_or("the header is cut off")?;
    let header = String::from_utf8_lossy(header);
    if !header.contains("'<f4'") {
        return Err("only little-endian f32 arrays are read; save it with astype('<f4')".into());
    }
    let shape = header.split("'shape': (").nth(1).and_then(|rest| rest.split(')').next()).ok_or("no shape")?;
    let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty()).map(str::parse::<usize>);
    let count = sizes.product::<Result<usize, _>>()?;
    if data.len() / 4 != count {
        return Err(format!("the header promises {count} values, the file holds {}", data.len() / 4).into());
    }
    Ok(data.as_chunks::<4>().0.iter().map(|le| f32::from_le_bytes(*le)).collect())
}
