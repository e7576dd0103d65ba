//! `Windows`: extracts the windows of a volume as rows (im2col), and adds them back.

use rayon::prelude::*;

/// Layout of the windows of a volume.
#[derive(Debug)]
pub(super) struct Windows {
    pub(super) channels: usize,
    pub(super) size: [usize; 3],
    pub(super) kernel: [usize; 3],
    pub(super) stride: [usize; 3],
    pub(super) padding: [usize; 3],
}

impl Windows {
    /// Returns the number of values per window; `None` on overflow.
    pub(super) fn len(&self) -> Option<usize> {
        self.kernel.iter().try_fold(self.channels, |product, size| product.checked_mul(*size))
    }

    /// Returns the number of windows along each dimension.
    pub(super) fn counts(&self) -> [usize; 3] {
        std::array::from_fn(|i| (self.size[i] + 2 * self.padding[i] - self.kernel[i]) / self.stride[i] + 1)
    }

    /// Returns the number of windows per sample.
    pub(super) fn count(&self) -> usize {
        self.counts().iter().product()
    }

    /// Returns the number of values per sample.
    fn sample(&self) -> usize {
        self.channels * self.size.iter().product::<usize>()
    }

    /// Calls `each` for each value of each window of a sample, except padding, with its index in the rows of windows
    /// and its index in the sample.
    fn walk(&self, mut each: impl FnMut(usize, usize)) {
        let [depths, heights, widths] = self.counts();
        let mut at = 0;
        for window in (0..depths).flat_map(|d| (0..heights).flat_map(move |h| (0..widths).map(move |w| [d, h, w]))) {
            let start: [usize; 3] = std::array::from_fn(|i| window[i] * self.stride[i]);
            for channel in 0..self.channels {
                for d in 0..self.kernel[0] {
                    for h in 0..self.kernel[1] {
                        let outer = self.inside(0, start[0] + d).zip(self.inside(1, start[1] + h));
                        let line = outer.map(|(d, h)| ((channel * self.size[0] + d) * self.size[1] + h) * self.size[2]);
                        for w in 0..self.kernel[2] {
                            if let Some((line, w)) = line.zip(self.inside(2, start[2] + w)) {
                                each(at, line + w);
                            }
                            at += 1;
                        }
                    }
                }
            }
        }
    }

    /// Converts a coordinate of the padded volume to one of the volume; `None` for padding.
    fn inside(&self, dim: usize, place: usize) -> Option<usize> {
        place.checked_sub(self.padding[dim]).filter(|place| *place < self.size[dim])
    }

    /// Extracts the windows of samples, one row each.
    pub(super) fn rows(&self, samples: &[f32]) -> Vec<f32> {
        let len = self.count() * self.len().unwrap_or(0);
        let mut rows = vec![0.0; samples.len() / self.sample() * len];
        rows.par_chunks_exact_mut(len).zip(samples.par_chunks_exact(self.sample())).for_each(|(rows, sample)| {
            self.walk(|at, from| rows[at] = sample[from]);
        });
        rows
    }

    /// Adds rows of windows back to the samples: the transpose of [`rows`](Self::rows), for gradients.
    pub(super) fn add_back(&self, rows: &[f32], samples: &mut [f32]) {
        let len = self.count() * self.len().unwrap_or(0);
        let pairs = rows.par_chunks_exact(len).zip(samples.par_chunks_exact_mut(self.sample()));
        pairs.for_each(|(rows, sample)| self.walk(|at, from| sample[from] += rows[at]));
    }
}
