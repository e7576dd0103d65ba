//! `Size`: a number of bytes as people read it.

use std::fmt;

/// A number of bytes, shown in decimal units with three digits.
///
/// ```
/// use bitgrain_nn::Size;
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
        // What would round to 1000 belongs to the next unit.
        while value >= 999.5 {
            value /= 1e3;
            unit += 1;
        }
        let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
        f.pad(&format!("{value:.digits$} {}", UNITS[unit]))
    }
}
