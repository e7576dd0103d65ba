//! Kernels of layers without matrices.

use std::sync::Arc;

use bitgrain_nn::network::layer::ActivationFunction;

use crate::kernel::Kernel;
use crate::pass::{Pass, Values};
use crate::weights::{count, line};
use crate::{Device, GpuError};

/// Threads of a workgroup in all kernels.
const THREADS: usize = 64;

/// Functions over 64 threads, which come before kernels that need them.
const REDUCE: &str = include_str!("../shaders/layer/reduce.wgsl");

/// A function of one or two arrays, element by element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Elementwise {
    /// `a + b`.
    Add,
    /// `silu(a) · b`.
    Gate,
    /// A function of `a`.
    Activation(ActivationFunction),
}

impl Elementwise {
    const fn number(self) -> u32 {
        match self {
            Self::Add => 0,
            Self::Gate => 1,
            Self::Activation(function) => match function {
                ActivationFunction::Relu => 2,
                ActivationFunction::LeakyRelu => 3,
                ActivationFunction::Gelu => 4,
                ActivationFunction::GeluTanh => 5,
                ActivationFunction::Silu => 6,
                ActivationFunction::Tanh => 7,
                ActivationFunction::Sigmoid => 8,
            },
        }
    }
}

/// Records an element-wise function; functions of one array ignore `b`.
pub(super) fn elementwise(
    pass: &mut Pass<'_>,
    operation: Elementwise,
    a: &Values,
    b: Option<&Values>,
) -> Result<Values, GpuError> {
    let kernel = kernel(pass.device(), "elementwise", "", include_str!("../shaders/layer/elementwise.wgsl"), 2);
    let out = pass.allocate("values", a.len)?;
    let groups = line(pass.device(), a.len.div_ceil(THREADS), 1);
    let moved = a.bytes() * if b.is_some() { 3 } else { 2 };
    let reads = [&a.buffer, &b.unwrap_or(a).buffer];
    pass.dispatch(&kernel, &[count(a.len), operation.number()], &reads, &out.buffer, groups, moved);
    Ok(out)
}

/// Records a norm of each row; with a bias, the mean is subtracted.
pub(super) fn norm(
    pass: &mut Pass<'_>,
    x: &Values,
    weight: &Values,
    bias: Option<&Values>,
    epsilon: f32,
) -> Result<Values, GpuError> {
    let kernel = kernel(pass.device(), "norm", REDUCE, include_str!("../shaders/layer/norm.wgsl"), 3);
    let rows = x.len / weight.len;
    let out = pass.allocate("values", x.len)?;
    let parameters = [count(rows), count(weight.len), u32::from(bias.is_some()), epsilon.to_bits()];
    let reads = [&x.buffer, &weight.buffer, &bias.unwrap_or(weight).buffer];
    let groups = line(pass.device(), rows, 1);
    pass.dispatch(&kernel, &parameters, &reads, &out.buffer, groups, 2 * x.bytes() + 2 * weight.bytes());
    Ok(out)
}

/// Records the softmax of each row of `len` values.
pub(super) fn softmax(pass: &mut Pass<'_>, x: &Values, len: usize) -> Result<Values, GpuError> {
    let kernel = kernel(pass.device(), "softmax", REDUCE, include_str!("../shaders/layer/softmax.wgsl"), 1);
    let out = pass.allocate("values", x.len)?;
    let groups = line(pass.device(), x.len / len, 1);
    pass.dispatch(&kernel, &[count(x.len / len), count(len)], &[&x.buffer], &out.buffer, groups, 2 * x.bytes());
    Ok(out)
}

/// Layout of attention heads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heads {
    pub(super) heads: usize,
    /// Elements per head.
    pub(super) head: usize,
    pub(super) causal: bool,
}

impl Heads {
    /// Largest number of elements per head: 64 threads compute four each.
    pub(super) const MOST: usize = 256;

    /// Records the attention of all queries.
    pub(super) fn attend(
        self,
        pass: &mut Pass<'_>,
        [query, key, value]: [&Values; 3],
        length: usize,
        mask: Option<&Values>,
    ) -> Result<Values, GpuError> {
        let kernel = kernel(pass.device(), "attention", REDUCE, include_str!("../shaders/layer/attention.wgsl"), 4);
        let out = pass.allocate("values", query.len)?;
        let queries = query.len / self.head;
        #[expect(clippy::cast_precision_loss, reason = "a head length")]
        let factor = 1.0 / (self.head as f32).sqrt();
        let parameters = [
            count(length),
            count(self.heads),
            count(self.head),
            u32::from(self.causal),
            count(queries),
            u32::from(mask.is_some()),
            factor.to_bits(),
            0,
        ];
        // Without a mask, any array may stand in its place: the kernel does not read it.
        let reads = [&query.buffer, &key.buffer, &value.buffer, &mask.unwrap_or(query).buffer];
        // Caches hold the keys and values of a sequence.
        let moved = 4 * query.bytes();
        pass.dispatch(&kernel, &parameters, &reads, &out.buffer, line(pass.device(), queries, 1), moved);
        Ok(out)
    }

    /// Records the rotation of all heads by `angles`, which has a cosine and a sine per position and pair.
    pub(super) fn rotate(
        self,
        pass: &mut Pass<'_>,
        x: &Values,
        angles: &Values,
        length: usize,
        halves: bool,
    ) -> Result<Values, GpuError> {
        let kernel = kernel(pass.device(), "rope", "", include_str!("../shaders/layer/rope.wgsl"), 2);
        let out = pass.allocate("values", x.len)?;
        let pairs = x.len / 2;
        let per_row = self.heads * self.head / 2;
        let parameters = [count(pairs), count(length), count(per_row), count(self.head), u32::from(halves)];
        let groups = line(pass.device(), pairs.div_ceil(THREADS), 1);
        pass.dispatch(&kernel, &parameters, &[&x.buffer, &angles.buffer], &out.buffer, groups, 3 * x.bytes());
        Ok(out)
    }
}

/// Records the reduction of each sequence of `length` vectors of `len` to one: the first or the mean.
pub(super) fn pool(
    pass: &mut Pass<'_>,
    x: &Values,
    length: usize,
    len: usize,
    first: bool,
    mask: Option<&Values>,
) -> Result<Values, GpuError> {
    let kernel = kernel(pass.device(), "pool", "", include_str!("../shaders/layer/pool.wgsl"), 2);
    let outputs = x.len / length;
    let out = pass.allocate("values", outputs)?;
    let parameters = [count(outputs), count(length), count(len), u32::from(first), u32::from(mask.is_some())];
    let groups = line(pass.device(), outputs.div_ceil(THREADS), 1);
    let reads = [&x.buffer, &mask.unwrap_or(x).buffer];
    pass.dispatch(&kernel, &parameters, &reads, &out.buffer, groups, x.bytes() + out.bytes());
    Ok(out)
}

fn kernel(device: &Device, name: &str, before: &str, source: &str, reads: usize) -> Arc<Kernel> {
    device.kernel(name, || Kernel::new(device, name, &[before, source].join("\n"), reads))
}
