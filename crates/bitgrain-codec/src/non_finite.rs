//! Treatment of NaN and infinities, which no scale can represent.

/// Treatment of values that are not finite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum NonFinite {
    /// Reject the tensor with an error that names the first such value.
    #[default]
    Reject,
    /// Encode NaN and infinities as 0.
    Zero,
    /// Encode an infinity as the largest finite magnitude of its block with its sign, and NaN as 0.
    Clamp,
}

impl NonFinite {
    /// Replaces the non-finite values of a block. `Reject` behaves like `Zero`: rejecting is the caller's task.
    pub fn sanitize(self, block: &mut [f32]) {
        let largest = match self {
            Self::Clamp => block.iter().filter(|v| v.is_finite()).fold(0.0, |max: f32, v| max.max(v.abs())),
            Self::Reject | Self::Zero => 0.0,
        };
        for value in block.iter_mut().filter(|v| !v.is_finite()) {
            *value = if value.is_nan() { 0.0 } else { largest.copysign(*value) };
        }
    }
}
