//! Bar chart of the tiers of a store.

use std::io::{self, Write};

use bitgrain::store::{StoreStats, Tier};

use crate::number::{Size, digits};

/// Width of the longest bar in characters.
const WIDTH: usize = 32;

/// Writes a line per tier: tensors, bytes as a bar, ratio to f32, largest error.
pub(crate) fn write(stats: &StoreStats, out: &mut dyn Write) -> io::Result<()> {
    let most = stats.tiers.iter().map(|tier| tier.bytes).max().unwrap_or(0);
    writeln!(out, "{:<16} {:>9}  {:<WIDTH$} {:>9} {:>7}  error bound", "tier", "tensors", "bytes", "", "ratio")?;
    for tier in &stats.tiers {
        // Old frames of a temporal tensor may be at another tier than the one it counts for.
        if tier.tensors == 0 && tier.bytes == 0 {
            continue;
        }
        // Ratio and error are undefined for tiers without data.
        let (smaller, error) = match tier.tier {
            Tier::Absent => ("–".to_owned(), "no data".to_owned()),
            _ if tier.bytes == 0 => ("–".to_owned(), "–".to_owned()),
            _ => (format!("{:.2}×", ratio(tier.f32_bytes, tier.bytes)), digits(f64::from(tier.worst_bound))),
        };
        writeln!(
            out,
            "{:<16} {:>9}  {:<WIDTH$} {:>9} {smaller:>7}  {error}",
            tier.tier.name(),
            tier.tensors,
            bar(tier.bytes, most),
            Size(tier.bytes).to_string(),
        )?;
    }
    Ok(())
}

/// Draws a bar in eighths of a character, so that small tiers stay visible.
fn bar(bytes: u64, most: u64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 8 times the width")]
    let eighths = (ratio(bytes, most) * (WIDTH * 8) as f64).ceil() as usize;
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    "█".repeat(eighths / 8) + rest
}

#[expect(clippy::cast_precision_loss, reason = "only displayed")]
fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}
