//! Conversion of indices to 32 bits.

/// Narrows an index or a count whose bound was checked when the data was built: rows by `TooManyRows`, features and
/// bins by `TooManyBins` (every feature has a bin), splits and leaves by the number of rows, outputs by the number of
/// classes.
///
/// # Panics
/// If the bound was not checked: a saturated index would train or predict on the wrong row.
pub(crate) fn narrow(index: usize) -> u32 {
    match u32::try_from(index) {
        Ok(index) => index,
        Err(_) => unreachable!("index {index} does not fit 32 bits although its bound was checked"),
    }
}
