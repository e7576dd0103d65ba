//! Number formatting for the report and for tables in a terminal.

use std::fmt;

/// A size in bytes, displayed in decimal units with three significant digits.
///
/// ```
/// use bitgrain_nn::model::report::number::Size;
/// assert_eq!(Size(999).to_string(), "999 B");
/// assert_eq!(Size(90_868_376).to_string(), "90.9 MB");
/// assert_eq!(Size(999_960).to_string(), "1.00 MB"); // not 1000 kB
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
        if self.0 < 1000 {
            return f.pad(&format!("{} B", self.0));
        }
        let mut value = self.0 as f64 / 1e3;
        let mut unit = 0;
        // A value that would round to 1000 belongs to the next unit.
        while value >= 999.5 {
            value /= 1e3;
            unit += 1;
        }
        let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
        f.pad(&format!("{value:.digits$} {}", UNITS[unit]))
    }
}

/// Formats a number with four significant digits; in scientific notation below 0.001 and from a million.
///
/// ```
/// use bitgrain_nn::model::report::number::digits;
/// assert_eq!(digits(0.012_345_6), "0.01235");
/// assert_eq!(digits(-1234.5), "-1234");
/// assert_eq!(digits(0.000_012_34), "1.234e-5");
/// assert_eq!(digits(0.0), "0");
/// assert_eq!(digits(f64::INFINITY), "inf");
/// ```
#[must_use]
pub fn digits(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !size.is_finite() || !(1e-3..1e6).contains(&size) {
        return if size.is_finite() { format!("{value:.3e}") } else { value.to_string() };
    }
    let decimals = [(1e3, 0), (1e2, 1), (1e1, 2), (1.0, 3), (0.1, 4), (0.01, 5), (0.0, 6)];
    let decimals = decimals.iter().find(|(least, _)| size >= *least).map_or(6, |(_, decimals)| *decimals);
    format!("{value:.decimals$}")
}

/// Like [`digits`], but with enough digits to show two digits of `spread`.
///
/// ```
/// use bitgrain_nn::model::report::number::digits_within;
/// assert_eq!(digits_within(9999.96, 0.08), "9999.960");
/// assert_eq!(digits_within(0.25, 3.0), "0.2500");
/// ```
#[must_use]
pub fn digits_within(value: f64, spread: f64) -> String {
    /// Significant digits of an f64.
    const MOST: i32 = 17;
    let size = value.abs();
    let ratio = size / spread;
    if !size.is_finite() || !ratio.is_finite() || ratio <= 100.0 {
        return digits(value);
    }
    #[expect(clippy::cast_possible_truncation, reason = "logarithms of floats are small")]
    let [before, last] = [size, spread].map(|x| x.log10().floor() as i32);
    let behind = (before - last + 1).min(MOST - 1);
    let decimals = |count: i32| usize::try_from(count).unwrap_or(0);
    if (1e-3..1e6).contains(&size) {
        format!("{value:.*}", decimals(behind - before))
    } else {
        format!("{value:.*e}", decimals(behind))
    }
}

/// Formats the ends of a range with enough digits to tell them apart.
#[must_use]
pub fn ends(min: f32, max: f32) -> (String, String) {
    let spread = f64::from(max) - f64::from(min);
    (digits_within(min.into(), spread), digits_within(max.into(), spread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_range_differ_unless_they_are_the_same() {
        let steps =
            [f32::MIN_POSITIVE, 1e-20, 0.001, 0.999, 1.0, 16.5, 10_000.0, 999_999.9, 1_677_721.6, 1e30, f32::MAX];
        for from in steps.into_iter().flat_map(|x| [x, -x]) {
            for to in [from.next_up(), from + from.abs() * 1e-4, from + from.abs() * 0.01, from + from.abs()] {
                let (low, high) = ends(from, to);
                assert!(low != high || !to.is_finite(), "{from:e} {to:e}: {low}");
                assert!(low.len() < 24 && high.len() < 24, "{low} {high}");
            }
        }
        assert_eq!(ends(0.5, 0.5), ("0.5000".into(), "0.5000".into()));
        assert_eq!(ends(-1.0, 2.0), ("-1.000".into(), "2.000".into()));
    }
}
