//! Binning: the number of cuts below each value.

use crate::backend::on;
use crate::{Backend, KernelError};

/// Unsigned integer type of bin codes: `u8`, `u16` or `u32`.
pub trait BinCode: Copy + Sealed {
    /// Maximum number of cuts; there is one bin more than cuts.
    const MAX_CUTS: usize;

    /// Returns the code of a bin. Bins above [`BinCode::MAX_CUTS`] wrap.
    #[must_use]
    fn of_bin(bin: usize) -> Self;
}

/// Restricts [`BinCode`] to the types that have kernels.
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

/// Computes the bins of `values`: the number of cuts below each value, `cuts.partition_point(|cut| *cut < value)`.
/// Returns the number of values.
///
/// A value equal to a cut belongs to the bin below the cut, -0 equals +0, and infinities compare like any other value.
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
/// Returns [`KernelError::OutputTooSmall`], [`KernelError::TooManyCuts`] if the code type has too few bins, or
/// [`KernelError::UnsortedCuts`] unless the cuts are strictly ascending.
pub fn bin_f32<C: BinCode>(
    backend: Backend,
    cuts: &[f32],
    values: &[f32],
    nan: C,
    out: &mut [C],
) -> Result<usize, KernelError> {
    Cuts::new(cuts)?.bin(backend, values, nan, out)
}

/// Strictly ascending cuts, checked once for many calls with few values each.
#[derive(Debug, Clone)]
pub struct Cuts<S>(S);

impl<S: AsRef<[f32]>> Cuts<S> {
    /// Checks the order of the cuts.
    ///
    /// # Errors
    /// Returns [`KernelError::UnsortedCuts`] unless the cuts are strictly ascending.
    pub fn new(cuts: S) -> Result<Self, KernelError> {
        check_order(cuts.as_ref())?;
        Ok(Self(cuts))
    }

    /// Computes the bins of `values`; see [`bin_f32`].
    ///
    /// # Errors
    /// Returns [`KernelError::OutputTooSmall`], or [`KernelError::TooManyCuts`] if the code type has too few bins.
    pub fn bin<C: BinCode>(
        &self,
        backend: Backend,
        values: &[f32],
        nan: C,
        out: &mut [C],
    ) -> Result<usize, KernelError> {
        let (cuts, required) = (self.0.as_ref(), values.len());
        let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
        if cuts.len() > C::MAX_CUTS {
            return Err(KernelError::TooManyCuts { cuts: cuts.len(), max: C::MAX_CUTS });
        }
        on!(backend, bin_f32::<C>(cuts, values, nan, out));
        Ok(required)
    }
}

/// Rejects cuts that are not strictly ascending or NaN: backends would disagree on their bins.
fn check_order(cuts: &[f32]) -> Result<(), KernelError> {
    // Comparisons with NaN are false, so that a NaN also fails this check.
    let before = core::iter::once(None).chain(cuts.iter().map(Some));
    let above = |(before, cut): (Option<&f32>, &f32)| before.map_or(!cut.is_nan(), |before| before < cut);
    match before.zip(cuts).position(|pair| !above(pair)) {
        Some(index) => Err(KernelError::UnsortedCuts { index }),
        None => Ok(()),
    }
}
