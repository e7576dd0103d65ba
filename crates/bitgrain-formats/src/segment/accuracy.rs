//! `Accuracy`: error bound and measured error of stored values.

use super::SegmentError;
use super::cursor::Cursor;

/// Largest possible error, and the largest measured error as a share of it. Takes five bytes.
///
/// ```
/// use bitgrain_formats::segment::Accuracy;
/// let accuracy = Accuracy::new(0.5, 0.25);
/// assert_eq!(accuracy.bound(), 0.5);
/// assert!(accuracy.measured() >= 0.25 && accuracy.measured() < 0.25 + 0.5 / 255.0); // rounded up
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    bound: f32,
    /// Measured error in 255ths of the bound, rounded up.
    share: u8,
}

impl Accuracy {
    /// No error.
    pub const EXACT: Self = Self { bound: 0.0, share: 0 };

    /// Creates an accuracy. A measured error above the bound is limited to the bound; a negative or non-finite bound is
    /// rejected when it is written.
    #[must_use]
    pub fn new(bound: f32, measured: f32) -> Self {
        let bound = if bound == 0.0 { 0.0 } else { bound }; // normalizes -0.0
        let share = if bound > 0.0 { (f64::from(measured) * 255.0 / f64::from(bound)).ceil() } else { 0.0 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "limited to 0..=255, NaN is 0")]
        let share = share.clamp(0.0, 255.0) as u8;
        // A share that was already rounded up must not be rounded up again.
        let below = Self { bound, share: share.saturating_sub(1) };
        if below.measured() >= measured { below } else { Self { bound, share } }
    }

    /// Returns the error bound: no value is further from the original.
    #[must_use]
    pub const fn bound(self) -> f32 {
        self.bound
    }

    /// Returns the largest measured error, rounded up to a 255th of the bound.
    #[must_use]
    pub fn measured(self) -> f32 {
        let exact = f64::from(self.bound) * f64::from(self.share) / 255.0;
        #[expect(clippy::cast_possible_truncation, reason = "rounded to the nearest f32, then up")]
        let near = exact as f32;
        let up = if f64::from(near) < exact { near.next_up() } else { near };
        up.min(self.bound)
    }

    /// Returns the measured error in 255ths of the bound, as stored.
    #[must_use]
    pub const fn share(self) -> u8 {
        self.share
    }

    pub(super) fn write(self, out: &mut Vec<u8>) -> Result<(), SegmentError> {
        if !is_bound(self.bound) {
            return Err(SegmentError::Unwritable { what: "a bound", must: "finite and not negative" });
        }
        out.extend_from_slice(&self.bound.to_le_bytes());
        out.push(self.share);
        Ok(())
    }

    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, SegmentError> {
        let offset = cursor.offset();
        let bound = cursor.f32("bound")?;
        let share = cursor.u8("measured error")?;
        if !is_bound(bound) || bound == 0.0 && share != 0 {
            return Err(SegmentError::Value { what: "bound", offset });
        }
        Ok(Self { bound, share })
    }
}

/// Returns whether a bound is finite and not negative; accepts -0.0.
pub(super) fn is_bound(bound: f32) -> bool {
    bound.is_finite() && bound.is_sign_positive()
}
