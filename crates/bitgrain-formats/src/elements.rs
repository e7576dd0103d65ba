//! Number of elements of a shape, with overflow checks.

/// Returns the product of `dims` (1 if empty), or `None` if the nonzero dimensions multiply to 2⁶³ or more.
///
/// Zeros are excluded from the check so that multiplying the dimensions in any other order cannot overflow either.
pub(crate) fn elements(dims: &[u64]) -> Option<u64> {
    let nonzero = dims.iter().filter(|&&dim| dim != 0);
    let product = nonzero.copied().try_fold(1, u64::checked_mul).filter(|&product| i64::try_from(product).is_ok())?;
    Some(if dims.contains(&0) { 0 } else { product })
}

#[cfg(test)]
mod tests {
    use super::elements;

    #[test]
    fn a_shape_without_dimensions_has_one_element() {
        assert_eq!(elements(&[]), Some(1));
    }

    #[test]
    fn a_zero_does_not_hide_an_overflow() {
        assert_eq!(elements(&[0, 1 << 62]), Some(0));
        assert_eq!(elements(&[0, 1 << 62, 2]), None);
        assert_eq!(elements(&[1 << 62, 2, 0]), None);
    }

    #[test]
    fn the_largest_count_is_that_of_a_signed_word() {
        assert_eq!(elements(&[i64::MAX.unsigned_abs()]), Some(i64::MAX.unsigned_abs()));
        assert_eq!(elements(&[1 << 63]), None);
    }
}
