//! `Conv`: convolution of a signal, an image or a volume.
//!
//! All three are computed as a convolution of a volume: a signal has depth and height 1. Windows become rows (im2col),
//! so that the product is the same as that of a dense layer, including products on codes.

use serde::{Deserialize, Serialize};

use super::linear::Linear;
use super::window::Windows;
use crate::network::site::Site;
use crate::network::step::{Back, Run, Step};
use crate::network::{InputBatch, NetworkError, Shape};

/// A convolution over the `N` dimensions after the channels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conv<const N: usize>
where
    [usize; N]: Serialize + for<'a> Deserialize<'a>,
{
    /// Number of output channels.
    pub channels: usize,
    /// Size of the kernel.
    pub kernel: [usize; N],
    /// Distance between windows.
    pub stride: [usize; N],
    /// Number of zeros before and after each dimension.
    pub padding: [usize; N],
    /// Whether each output channel has a bias.
    pub bias: bool,
}

impl<const N: usize> Conv<N>
where
    [usize; N]: Serialize + for<'a> Deserialize<'a>,
{
    /// Creates a convolution with stride 1 and without padding.
    #[must_use]
    pub const fn new(channels: usize, kernel: [usize; N]) -> Self {
        Self { channels, kernel, stride: [1; N], padding: [0; N], bias: true }
    }

    /// Sets the number of zeros before and after each dimension, which must be less than the kernel size there.
    #[must_use]
    pub const fn with_padding(self, padding: [usize; N]) -> Self {
        Self { padding, ..self }
    }

    /// Sets the distance between windows.
    #[must_use]
    pub const fn with_stride(self, stride: [usize; N]) -> Self {
        Self { stride, ..self }
    }

    pub(super) fn build(&self, site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
        let wanted = match N {
            1 => "[channels, length]",
            2 => "[channels, height, width]",
            _ => "[channels, depth, height, width]",
        };
        let dims = site.shape.fixed().filter(|dims| dims.len() == N + 1).ok_or_else(|| site.shape_error(wanted))?;
        let channels = site.positive("channels", self.channels)?;
        for i in 0..N {
            site.positive("kernel", self.kernel[i])?;
            site.positive("stride", self.stride[i])?;
            // Windows that contain only padding are useless, and a file could request more than fit into memory.
            if self.padding[i] >= self.kernel[i] {
                let what = format!("{}: it must be less than the kernel size {}", self.padding[i], self.kernel[i]);
                return Err(site.setting("padding", what));
            }
            let padded = self.padding[i].checked_mul(2).and_then(|twice| twice.checked_add(dims[1 + i]));
            if padded.is_none_or(|padded| padded < self.kernel[i]) {
                let what = format!("{}: it exceeds the input with a padding of {}", self.kernel[i], self.padding[i]);
                return Err(site.setting("kernel", what));
            }
        }
        let windows = Windows {
            channels: dims[0],
            size: volume(&dims[1..], 1),
            kernel: volume(&self.kernel, 1),
            stride: volume(&self.stride, 1),
            padding: volume(&self.padding, 0),
        };
        let inputs = windows.len().ok_or_else(|| site.setting("kernel", "that large"))?;
        let linear = Linear::new(site, "", inputs, channels, self.bias)?;
        let out: Vec<usize> = [channels].into_iter().chain(windows.counts().into_iter().skip(3 - N)).collect();
        site.shape = Shape::new(&out);
        Ok(Box::new(Built { linear, windows, dims, out }))
    }
}

/// Extends `N` dimensions to three, padded on the left with `fill`.
fn volume(dims: &[usize], fill: usize) -> [usize; 3] {
    let mut all = [fill; 3];
    all[3 - dims.len()..].copy_from_slice(dims);
    all
}

#[derive(Debug)]
struct Built {
    linear: Linear,
    windows: Windows,
    dims: Vec<usize>,
    out: Vec<usize>,
}

/// Maximum number of window values in memory at once.
const HELD: usize = 1 << 20;

impl Built {
    /// Returns the number of samples whose windows are in memory at once.
    fn run(&self) -> usize {
        (HELD / (self.windows.count() * self.windows.len().unwrap_or(1)).max(1)).max(1)
    }
}

/// Appends the transpose of a `rows` × `cols` matrix to `out`.
fn transpose(values: &[f32], rows: usize, cols: usize, out: &mut Vec<f32>) {
    out.extend((0..cols).flat_map(|col| (0..rows).map(move |row| values[row * cols + col])));
}

impl Step for Built {
    fn forward(&self, x: InputBatch, run: &mut Run<'_>) -> Result<InputBatch, NetworkError> {
        let (places, channels) = (self.windows.count(), self.out[0]);
        let mut values = Vec::with_capacity(x.count() * places * channels);
        for samples in x.values().chunks(self.run() * x.sample_len()) {
            // Products are positions × channels, while samples are stored channels first.
            let products = self.linear.forward(&self.windows.rows(samples), run)?;
            products.chunks_exact(places * channels).for_each(|one| transpose(one, places, channels, &mut values));
        }
        let y = x.with(values, self.out.clone());
        run.save(x);
        Ok(y)
    }

    fn backward(&self, dy: InputBatch, back: &mut Back<'_>) -> InputBatch {
        let x = back.saved();
        let (places, channels) = (self.windows.count(), self.out[0]);
        let mut dx = vec![0.0; x.values().len()];
        let (piece, out_piece) = (self.run() * x.sample_len(), self.run() * dy.sample_len());
        let pieces = x.values().chunks(piece).zip(dy.values().chunks(out_piece)).zip(dx.chunks_mut(piece));
        for ((x, dy), dx) in pieces {
            let mut slopes = Vec::with_capacity(dy.len());
            dy.chunks_exact(places * channels).for_each(|one| transpose(one, channels, places, &mut slopes));
            let to_windows = self.linear.backward(&self.windows.rows(x), &slopes, back);
            self.windows.add_back(&to_windows, dx);
        }
        x.with(dx, self.dims.clone())
    }
}
