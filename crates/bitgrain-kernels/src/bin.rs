//! Values to the bins between cuts: the number of cuts below each value.

use crate::backend::on;
use crate::{Backend, KernelError};

/// An unsigned integer that bins are stored in: `u8`, `u16` or `u32`.
pub trait BinCode: Copy + Sealed {
    /// The most cuts whose bins, one more than there are cuts, all have a code.
    const MAX_CUTS: usize;

    /// The code of a bin. Bins above [`BinCode::MAX_CUTS`] wrap.
    #[must_use]
    fn of_bin(bin: usize) -> Self;
}

/// Keeps [`BinCode`] to the types there are kernels for.
pub trait Sealed {}

macro_rules! bin_code {
    ($($code:ty)*) => {$(
        impl Sealed for $code {}

        impl BinCode for $code {
            const MAX_CUTS: usize = <$code>::MAX as usize;

            #[inline]
            #[expect(clippy::cast_possible_truncation, reason = "wraps, as the trait says")]
            fn of_bin(bin: usize) -> Self {
                bin as $code
            }
        }
    )*};
}

bin_code!(u8 u16 u32);

/// Bins of `values`: for each the number of cuts below it, which is `cuts.partition_point(|cut| *cut < value)`.
/// Returns the count.
///
/// A value equal to a cut is in the bin below it, both zeros are equal, and an infinity is compared like any value.
/// NaN gives `nan`.
///
/// ```
/// use bitgrain_kernels::Backend;
/// use bitgrain_kernels::bins::bin_f32;
/// let mut bins = [0_u8; 5];
/// bin_f32(Backend::best(), &[0.0, 1.5], &[-7.0, -0.0, 1.5, f32::INFINITY, f32::NAN], 3, &mut bins)?;
/// assert_eq!(bins, [0, 0, 1, 2, 3]);
/// # Ok::<(), bitgrain_kernels::KernelError>(())
/// ```
///
/// # Errors
/// [`KernelError::OutputTooSmall`], [`KernelError::TooManyCuts`] if the codes cannot count them, or
/// [`KernelError::UnsortedCuts`] unless each cut is above the one before.
pub fn bin_f32<C: BinCode>(
    backend: Backend,
    cuts: &[f32],
    values: &[f32],
    nan: C,
    out: &mut [C],
) -> Result<usize, KernelError> {
    let required = values.len();
    let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    if cuts.len() > C::MAX_CUTS {
        return Err(KernelError::TooManyCuts { cuts: cuts.len(), max: C::MAX_CUTS });
    }
    check_order(cuts)?;
    on!(backend, bin_f32::<C>(cuts, values, nan, out));
    Ok(required)
}

/// Refuses cuts that do not ascend, a NaN among them: backends would disagree about what lies between.
fn check_order(cuts: &[f32]) -> Result<(), KernelError> {
    // No NaN is above anything, and nothing is above a NaN.
    let before = core::iter::once(None).chain(cuts.iter().map(Some));
    let above = |(before, cut): (Option<&f32>, &f32)| before.map_or(!cut.is_nan(), |before| before < cut);
    match before.zip(cuts).position(|pair| !above(pair)) {
        Some(index) => Err(KernelError::UnsortedCuts { index }),
        None => Ok(()),
    }
}
