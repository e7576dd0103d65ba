//! Largest difference: the definition.

/// Returns the largest `|a - b|`, ignoring NaN. Sixteen running maxima, because a single one is a dependency chain.
pub(crate) fn max_difference(a: &[f32], b: &[f32]) -> f32 {
    // Comparisons with NaN are false, so NaN never replaces a maximum.
    let larger = |max: f32, (a, b): (&f32, &f32)| if (a - b).abs() > max { (a - b).abs() } else { max };
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let mut lanes = [0.0_f32; 16];
    for (a, b) in a.iter().zip(b) {
        lanes.iter_mut().zip(a.iter().zip(b)).for_each(|(max, pair)| *max = larger(*max, pair));
    }
    let rest = a_rest.iter().zip(b_rest).fold(0.0, larger);
    lanes.iter().fold(rest, |max, lane| if *lane > max { *lane } else { max })
}
