//! `digits`: a number with as many digits as a table needs.

/// Four significant digits, with an exponent where the zeros would be many.
///
/// ```
/// use bitgrain_nn::digits;
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
