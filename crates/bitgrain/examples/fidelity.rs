//! What each format costs on tensors of your own: `cargo run --release --example fidelity -- FILE.npy …`
//!
//! Reads little-endian f32 arrays as NumPy saves them and prints a Markdown table for each.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use bitgrain::codec::{BitWidth, BlockFormat, Fidelity};

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = env::args().skip(1).collect();
    if files.is_empty() {
        return Err("usage: cargo run --release --example fidelity -- FILE.npy …".into());
    }
    for file in &files {
        let values = read_npy(Path::new(file)).map_err(|error| format!("{file}: {error}"))?;
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        println!("## {name}\n\n{} values\n", values.len());
        println!("| format | bytes per 64 values | bound | max error | relative RMS error | cosine |");
        println!("|---|---|---|---|---|---|");
        for (name, format) in formats() {
            let bytes = format.encode(&values)?;
            let cost = Fidelity::measure(&values, &format.decode(&bytes, values.len())?)?;
            println!(
                "| {name} | {} | {:.4} | {:.4} | {:.4} | {:.6} |",
                format.block_bytes(),
                format.bound(&bytes, values.len())?,
                cost.max_error,
                cost.relative_rmse,
                cost.cosine,
            );
        }
        println!();
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
    if !String::from_utf8_lossy(header).contains("'<f4'") {
        return Err("only little-endian f32 arrays are read; save it with astype('<f4')".into());
    }
    Ok(data.as_chunks::<4>().0.iter().map(|le| f32::from_le_bytes(*le)).collect())
}
