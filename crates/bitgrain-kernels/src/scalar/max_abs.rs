//! Largest magnitude: the definition.

/// Returns the largest `|value|`, ignoring NaN. Sixteen running maxima, because a single one is a dependency chain.
pub(crate) fn max_abs(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<16>();
    let mut lanes = [0.0_f32; 16];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            let magnitude = value.abs();
            // Comparisons with NaN are false, so NaN never replaces a maximum.
            *lane = if magnitude > *lane { magnitude } else { *lane };
        }
    }
    let magnitudes = lanes.into_iter().chain(rest.iter().map(|v| v.abs()));
    magnitudes.fold(0.0, |max, magnitude| if magnitude > max { magnitude } else { max })
}

/// Returns the largest magnitude as bits, which have the order of the magnitudes; above `f32::MAX.to_bits()` if any
/// value is not finite. One pass finds the maximum and detects NaN.
pub(crate) fn max_abs_bits(values: &[f32]) -> u32 {
    let (chunks, rest) = values.as_chunks::<16>();
    let mut lanes = [0_u32; 16];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            // Magnitude bits are below 2^31, so signed and unsigned maxima agree, and more targets have the signed one.
            *lane = (*lane).cast_signed().max(value.abs().to_bits().cast_signed()).cast_unsigned();
        }
    }
    let rest = rest.iter().map(|v| v.abs().to_bits());
    lanes.into_iter().chain(rest).fold(0, u32::max)
}
