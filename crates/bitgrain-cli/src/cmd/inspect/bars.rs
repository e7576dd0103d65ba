//! Histogram made of block characters, at most 80 columns wide.

use crate::number::ends;

/// Height of the bars in lines.
const HEIGHT: usize = 9;

/// Block characters by height, in eighths of a line.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws a histogram of `counts` between `min` and `max`. Bar heights are logarithmic, because outliers matter to a
/// quantizer's scale but are few compared with the values near the center.
pub(super) fn draw(counts: &[u64], min: f32, max: f32) -> String {
    let most = counts.iter().copied().max().unwrap_or(0);
    let heights: Vec<usize> = counts.iter().map(|count| eighths(*count, most)).collect();
    let widest = most.to_string().len().max(1);
    let mut out = format!("  {:>widest$}  values per bar, on a logarithmic scale\n", "");
    for line in (0..HEIGHT).rev() {
        let label = match line {
            line if line + 1 == HEIGHT => most.to_string(),
            0 => "1".to_owned(),
            _ => String::new(),
        };
        let bars: String = heights.iter().map(|height| EIGHTHS[height.saturating_sub(8 * line).min(8)]).collect();
        out.push_str(format!("  {label:>widest$} │{bars}").trim_end());
        out.push('\n');
    }
    let (low, high) = ends(min, max);
    let gap = counts.len().saturating_sub(low.len() + high.len()).max(1);
    out + &format!("  {:>widest$} └{}\n  {:>widest$}  {low}{:gap$}{high}", "", "─".repeat(counts.len()), "", "")
}

/// Returns the height of a bar in eighths of a line: 0 for an empty bin, 1 for one value, all lines for `most`.
#[expect(clippy::cast_precision_loss, reason = "a logarithm to draw")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 8 times the lines")]
fn eighths(count: u64, most: u64) -> usize {
    if count == 0 {
        return 0;
    }
    let full = 8 * HEIGHT;
    if most < 2 {
        return full;
    }
    let share = (count as f64).ln() / (most as f64).ln();
    (1.0 + share * (full - 1) as f64).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_value_is_visible_next_to_a_million() {
        assert_eq!((eighths(0, 1_000_000), eighths(1, 1_000_000)), (0, 1));
        assert_eq!(eighths(1_000_000, 1_000_000), 72);
        assert_eq!(eighths(1000, 1_000_000), 37); // half the digits, half the height
        assert_eq!(eighths(1, 1), 72);
    }

    #[test]
    fn the_drawing_fits_80_columns() {
        let drawing = draw(&[u64::MAX / 2; 48], -f32::MAX, f32::MAX);
        assert!(drawing.lines().all(|line| line.chars().count() <= 80), "{drawing}");
        assert_eq!(drawing.lines().count(), HEIGHT + 3);
    }
}
