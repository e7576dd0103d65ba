//! Error sums: the definition.

use crate::ErrorSums;

/// Number of partial sums of each kind.
const LANES: usize = 8;

pub(crate) fn error_sums(original: &[f32], decoded: &[f32]) -> ErrorSums {
    let mut lanes = ErrorLanes::default();
    let (xs, x_rest) = original.as_chunks::<LANES>();
    let (ys, y_rest) = decoded.as_chunks::<LANES>();
    for (x, y) in xs.iter().zip(ys) {
        if all_finite(x, y) {
            lanes.add(x, y);
        } else {
            lanes.add_odd(x, y);
        }
    }
    lanes.finish(x_rest, y_rest)
}

fn all_finite(x: &[f32; LANES], y: &[f32; LANES]) -> bool {
    x.iter().chain(y).fold(true, |finite, value| finite & value.is_finite())
}

/// Partial sums: pair `i` is added to lane `i % 8`.
#[derive(Default)]
pub(crate) struct ErrorLanes {
    squares: [f64; LANES],
    original: [f64; LANES],
    decoded: [f64; LANES],
    product: [f64; LANES],
    max: [f64; LANES],
    skipped: usize,
}

impl ErrorLanes {
    /// Adds pairs that are all finite.
    fn add(&mut self, x: &[f32; LANES], y: &[f32; LANES]) {
        for i in 0..LANES {
            let (x, y) = (f64::from(x[i]), f64::from(y[i]));
            let error = (x - y).abs();
            self.squares[i] += error * error;
            self.original[i] += x * x;
            self.decoded[i] += y * y;
            self.product[i] += x * y;
            self.max[i] = if error > self.max[i] { error } else { self.max[i] };
        }
    }

    /// Adds pairs that may not be finite.
    #[cold]
    #[inline(never)]
    pub(crate) fn add_odd(&mut self, x: &[f32; LANES], y: &[f32; LANES]) {
        for i in 0..LANES {
            if !x[i].is_finite() {
                self.skipped += 1;
                continue;
            }
            let (x, y) = (f64::from(x[i]), f64::from(y[i]));
            // `max` ignores NaN, which would hide the worst possible error.
            let error = if y.is_finite() { (x - y).abs() } else { f64::INFINITY };
            self.squares[i] += error * error;
            self.original[i] += x * x;
            self.decoded[i] += y * y;
            self.product[i] += x * y;
            self.max[i] = self.max[i].max(error);
        }
    }

    /// Adds the pairs that do not fill a chunk, and adds up the lanes.
    pub(crate) fn finish(mut self, x_rest: &[f32], y_rest: &[f32]) -> ErrorSums {
        // Padding with zeros does not change any sum.
        let (mut x, mut y) = ([0.0; LANES], [0.0; LANES]);
        for (i, (from_x, from_y)) in x_rest.iter().zip(y_rest).enumerate() {
            (x[i], y[i]) = (*from_x, *from_y);
        }
        self.add_odd(&x, &y);
        let sum = |lanes: [f64; LANES]| lanes.iter().sum();
        ErrorSums {
            squares: sum(self.squares),
            original: sum(self.original),
            decoded: sum(self.decoded),
            product: sum(self.product),
            max: self.max.into_iter().fold(0.0, f64::max),
            skipped: self.skipped,
        }
    }

    /// Returns squares, originals, decoded, products and maxima, for backends that keep them in registers.
    #[cfg(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    ))]
    pub(crate) const fn sums(&self) -> [&[f64; LANES]; 5] {
        [&self.squares, &self.original, &self.decoded, &self.product, &self.max]
    }

    #[cfg(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    ))]
    pub(crate) const fn sums_mut(&mut self) -> [&mut [f64; LANES]; 5] {
        [&mut self.squares, &mut self.original, &mut self.decoded, &mut self.product, &mut self.max]
    }
}
