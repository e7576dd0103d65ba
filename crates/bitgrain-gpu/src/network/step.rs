//! `Step`: a layer with its weights on the device.

use std::collections::HashMap;
use std::sync::Mutex;

use bitgrain_nn::network::layer::{Pairs, Rope};
use bitgrain_nn::network::{InputBatch, NetworkError};

use super::kernels::{Elementwise, Heads, elementwise, norm, pool, softmax};
use crate::pass::{Pass, Values};
use crate::{DeviceMatrix, GpuError};

/// A layer on the device.
#[derive(Debug)]
pub(super) enum Step {
    Dense(Linear),
    Embedding { table: DeviceMatrix, path: String },
    Positions { positions: DeviceMatrix, types: Option<DeviceMatrix>, path: String },
    Attention(Box<Attention>),
    Norm { weight: Values, bias: Option<Values>, epsilon: f32 },
    SwiGlu(Box<SwiGlu>),
    Activation(Elementwise),
    Softmax,
    Flatten,
    Pool { first: bool },
    Residual(Vec<Step>),
    Sequential(Vec<Step>),
}

/// A matrix with an optional bias.
#[derive(Debug)]
pub(super) struct Linear {
    pub(super) weight: DeviceMatrix,
    pub(super) bias: Option<Values>,
    /// Range that activations are clamped to.
    pub(super) range: (f32, f32),
}

impl Linear {
    fn apply(&self, pass: &mut Pass<'_>, x: &Values) -> Result<Values, GpuError> {
        self.weight.record_product(pass, x, self.bias.as_ref(), self.range)
    }
}

/// Gated feed-forward block.
#[derive(Debug)]
pub(super) struct SwiGlu {
    pub(super) gate: Linear,
    pub(super) up: Linear,
    pub(super) down: Linear,
}

/// Multi-head attention.
#[derive(Debug)]
pub(super) struct Attention {
    pub(super) query: Linear,
    pub(super) key: Linear,
    pub(super) value: Linear,
    pub(super) output: Linear,
    pub(super) heads: Heads,
    pub(super) rope: Option<Rotation>,
}

/// Rotary position embedding, with the angles of the sequence lengths seen so far.
#[derive(Debug)]
pub(super) struct Rotation {
    pub(super) rope: Rope,
    pub(super) angles: Mutex<HashMap<usize, Values>>,
}

/// Activations between two layers.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) values: Values,
    pub(super) dims: Vec<usize>,
    mask: Option<Values>,
    /// Whether no other layer reads the values, so that later kernels may overwrite them.
    owned: bool,
}

impl Flow {
    /// Copies a batch to the device.
    pub(super) fn start(pass: &Pass<'_>, x: &InputBatch) -> Result<Self, GpuError> {
        let values = pass.upload("inputs", x.values())?;
        let words = |mask: &[bool]| mask.iter().map(|seen| u32::from(*seen)).collect::<Vec<_>>();
        let mask = x.mask().map(|mask| pass.upload_words("mask", &words(mask))).transpose()?;
        Ok(Self { values, dims: x.dims().to_vec(), mask, owned: false })
    }

    fn last(&self) -> usize {
        self.dims.last().copied().unwrap_or(1)
    }

    /// Replaces values and dimensions. The mask belongs to the outermost dimension.
    fn with(self, pass: &mut Pass<'_>, values: Values, dims: Vec<usize>) -> Self {
        let mask = self.mask.filter(|_| dims.first() == self.dims.first());
        if self.owned {
            pass.recycle(self.values);
        }
        Self { values, dims, mask, owned: true }
    }

    fn with_values(self, pass: &mut Pass<'_>, values: Values) -> Self {
        let dims = self.dims.clone();
        self.with(pass, values, dims)
    }

    fn with_last(self, pass: &mut Pass<'_>, values: Values, last: usize) -> Self {
        let mut dims = self.dims.clone();
        if let Some(dim) = dims.last_mut() {
            *dim = last;
        }
        // Unlike other changes, this keeps the mask of vectors, whose only dimension is the last.
        let mask = self.mask.clone();
        Self { mask, ..self.with(pass, values, dims) }
    }

    /// Returns a second reader of the values.
    fn share(&self) -> Self {
        Self { values: self.values.clone(), dims: self.dims.clone(), mask: self.mask.clone(), owned: false }
    }
}

/// Records layers in order. `x` is the batch that the network received.
pub(super) fn run(steps: &[Step], pass: &mut Pass<'_>, flow: Flow, x: &InputBatch) -> Result<Flow, GpuError> {
    steps.iter().try_fold(flow, |flow, step| step.record(pass, flow, x))
}

impl Step {
    fn record(&self, pass: &mut Pass<'_>, flow: Flow, x: &InputBatch) -> Result<Flow, GpuError> {
        match self {
            Self::Dense(linear) => {
                let y = linear.apply(pass, &flow.values)?;
                Ok(flow.with_last(pass, y, linear.weight.shape().0))
            }
            Self::Embedding { table, path } => {
                let ids = tokens(x.values(), table.shape().0, path)?;
                let ids = pass.upload_words("tokens", &ids)?;
                let y = table.record_rows(pass, &ids, None)?;
                let dims = flow.dims.iter().copied().chain([table.shape().1]).collect();
                Ok(flow.with(pass, y, dims))
            }
            Self::Positions { positions, types, path } => add_positions(pass, flow, x, positions, types.as_ref(), path),
            Self::Attention(attention) => attention.record(pass, flow),
            Self::Norm { weight, bias, epsilon } => {
                let y = norm(pass, &flow.values, weight, bias.as_ref(), *epsilon)?;
                Ok(flow.with_values(pass, y))
            }
            Self::SwiGlu(block) => {
                let SwiGlu { gate, up, down } = &**block;
                let (left, right) = (gate.apply(pass, &flow.values)?, up.apply(pass, &flow.values)?);
                let between = elementwise(pass, Elementwise::Gate, &left, Some(&right))?;
                pass.recycle(left);
                pass.recycle(right);
                let y = down.apply(pass, &between)?;
                pass.recycle(between);
                Ok(flow.with_values(pass, y))
            }
            Self::Activation(operation) => {
                let y = elementwise(pass, *operation, &flow.values, None)?;
                Ok(flow.with_values(pass, y))
            }
            Self::Softmax => {
                let y = softmax(pass, &flow.values, flow.last())?;
                Ok(flow.with_values(pass, y))
            }
            Self::Flatten => {
                let dims = vec![flow.dims.iter().product()];
                let mask = flow.mask.filter(|_| dims.first() == flow.dims.first());
                Ok(Flow { dims, mask, ..flow })
            }
            Self::Pool { first } => {
                let (length, len) = (flow.dims[0], flow.last());
                let y = pool(pass, &flow.values, length, len, *first, flow.mask.as_ref())?;
                Ok(flow.with(pass, y, vec![len]))
            }
            Self::Residual(steps) => {
                let branch = run(steps, pass, flow.share(), x)?;
                let y = elementwise(pass, Elementwise::Add, &flow.values, Some(&branch.values))?;
                if branch.owned {
                    pass.recycle(branch.values);
                }
                Ok(flow.with_values(pass, y))
            }
            Self::Sequential(steps) => run(steps, pass, flow, x),
        }
    }
}

impl Attention {
    fn record(&self, pass: &mut Pass<'_>, flow: Flow) -> Result<Flow, GpuError> {
        let length = flow.dims[0];
        let mut query = self.query.apply(pass, &flow.values)?;
        let mut key = self.key.apply(pass, &flow.values)?;
        let value = self.value.apply(pass, &flow.values)?;
        if let Some(rotation) = &self.rope {
            let angles = rotation.angles(pass, self.heads.head, length)?;
            let halves = rotation.rope.pairs == Pairs::Halves;
            for values in [&mut query, &mut key] {
                let rotated = self.heads.rotate(pass, values, &angles, length, halves)?;
                pass.recycle(std::mem::replace(values, rotated));
            }
        }
        let seen = self.heads.attend(pass, [&query, &key, &value], length, flow.mask.as_ref())?;
        [query, key, value].into_iter().for_each(|values| pass.recycle(values));
        let y = self.output.apply(pass, &seen)?;
        pass.recycle(seen);
        Ok(flow.with_values(pass, y))
    }
}

impl Rotation {
    /// Returns cosine and sine of each pair of a head at each position, computed as on the CPU.
    #[expect(clippy::cast_precision_loss, reason = "positions and head lengths")]
    fn angles(&self, pass: &Pass<'_>, head: usize, length: usize) -> Result<Values, GpuError> {
        let mut known = self.angles.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(angles) = known.get(&length) {
            return Ok(angles.clone());
        }
        let half = head / 2;
        let speeds: Vec<f32> = (0..half).map(|i| self.rope.base.powf(-2.0 * i as f32 / head as f32)).collect();
        let at = |position: usize| speeds.iter().map(move |speed| position as f32 * speed);
        let all: Vec<f32> = (0..length).flat_map(|position| at(position).flat_map(|a| [a.cos(), a.sin()])).collect();
        let angles = pass.upload("angles", &all)?;
        known.insert(length, angles.clone());
        Ok(angles)
    }
}

fn add_positions(
    pass: &mut Pass<'_>,
    flow: Flow,
    x: &InputBatch,
    positions: &DeviceMatrix,
    types: Option<&DeviceMatrix>,
    path: &str,
) -> Result<Flow, GpuError> {
    let (length, rows) = (flow.dims[0], positions.shape().0);
    if length > rows {
        return Err(NetworkError::TooLong { layer: path.to_owned(), rows, length }.into());
    }
    let places = flow.values.len / positions.shape().1;
    let kinds = x.types().map(<[usize]>::to_vec).filter(|kinds| kinds.len() == places);
    let known = types.map_or(0, |types| types.shape().0);
    if let Some((place, id)) = kinds.iter().flatten().enumerate().find(|(_, id)| **id >= known.max(1)) {
        #[expect(clippy::cast_precision_loss, reason = "for an error message")]
        let id = *id as f32;
        return Err(NetworkError::Token { layer: path.to_owned(), place, id, rows: known }.into());
    }
    let word = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let indices: Vec<u32> = (0..places).map(|place| word(place % length)).collect();
    let indices = pass.upload_words("positions", &indices)?;
    let y = positions.record_rows(pass, &indices, Some(&flow.values))?;
    let flow = flow.with_values(pass, y);
    let Some(types) = types else { return Ok(flow) };
    let kinds: Vec<u32> = kinds.map_or_else(|| vec![0; places], |kinds| kinds.into_iter().map(word).collect());
    let kinds = pass.upload_words("types", &kinds)?;
    let y = types.record_rows(pass, &kinds, Some(&flow.values))?;
    Ok(flow.with_values(pass, y))
}

/// Converts tokens to rows of a table.
fn tokens(values: &[f32], rows: usize, path: &str) -> Result<Vec<u32>, GpuError> {
    let token = |(place, &id): (usize, &f32)| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared with the original below")]
        let token = id as u32;
        #[expect(clippy::cast_precision_loss, reason = "a token is below 2^24")]
        if (token as usize) < rows && token as f32 == id {
            return Ok(token);
        }
        Err(NetworkError::Token { layer: path.to_owned(), place, id, rows }.into())
    };
    values.iter().enumerate().map(token).collect()
}
