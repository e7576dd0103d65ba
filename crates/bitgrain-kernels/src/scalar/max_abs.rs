//! Largest magnitude: the definition.

/// The largest `|value|`, NaN ignored. Sixteen running maxima, because one would wait for itself at every value.
pub(crate) fn max_abs(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<16>();
    let mut lanes = [0.0_f32; 16];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            let magnitude = value.abs();
            // A comparison with NaN is false, so NaN never replaces a maximum.
            *lane = if magnitude > *lane { magnitude } else { *lane };
        }
    }
    let magnitudes = lanes.into_iter().chain(rest.iter().map(|v| v.abs()));
    magnitudes.fold(0.0, |max, magnitude| if magnitude > max { magnitude } else { max })
}

/// The largest magnitude as bits, which order like the magnitudes; above `f32::MAX.to_bits()` if any value is not
/// finite. One pass finds the maximum and refuses NaN.
pub(crate) fn max_abs_bits(values: &[f32]) -> u32 {
    let (chunks, rest) = values.as_chunks::<16>();
    let mut lanes = [0_u32; 16];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            // Magnitudes are below 2^31: the signed maximum is the unsigned one, and more targets have it.
            *lane = (*lane).cast_signed().max(value.abs().to_bits().cast_signed()).cast_unsigned();
        }
    }
    let rest = rest.iter().map(|v| v.abs().to_bits());
    lanes.into_iter().chain(rest).fold(0, u32::max)
}
