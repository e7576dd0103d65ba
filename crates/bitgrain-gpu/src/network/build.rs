//! Upload of layers and their parameters.

use bitgrain_nn::network::layer::{self, Layer, Pooling};
use bitgrain_nn::network::weights::Active;
use bitgrain_nn::network::{Network, Parameter};

use super::kernels::{Elementwise, Heads};
use super::step::{Attention, Linear, Rotation, Step, SwiGlu};
use crate::pass::Values;
use crate::weights::ANY;
use crate::{Device, DeviceMatrix, GpuError};

/// Uploads all layers. Returns the size of their weights in bytes as well.
pub(super) fn steps(device: &Device, network: &Network) -> Result<(Vec<Step>, usize), GpuError> {
    let mut builder = Builder { device, network, bytes: 0, any: false };
    let steps = builder.chain("", network.layers())?;
    Ok((steps, builder.bytes))
}

struct Builder<'a> {
    device: &'a Device,
    network: &'a Network,
    bytes: usize,
    /// Whether a layer precedes the current one.
    any: bool,
}

impl Builder<'_> {
    fn chain(&mut self, path: &str, layers: &[Layer]) -> Result<Vec<Step>, GpuError> {
        let mut steps = Vec::with_capacity(layers.len());
        for (index, layer) in layers.iter().enumerate() {
            let path = if path.is_empty() { index.to_string() } else { format!("{path}.{index}") };
            steps.push(self.step(path, layer)?);
            self.any = true;
        }
        Ok(steps)
    }

    fn step(&mut self, path: String, layer: &Layer) -> Result<Step, GpuError> {
        let kind = layer.kind();
        let unsupported = |layer: String, reason| Err(GpuError::UnsupportedLayer { layer, kind, reason });
        Ok(match layer {
            Layer::Dense(dense) => Step::Dense(self.linear(&path, "", dense.bias)?),
            // Tokens are checked on the host before they become row indices.
            Layer::Embedding(_) if self.any => return unsupported(path, "its tokens are results of other layers"),
            Layer::Embedding(_) => Step::Embedding { table: self.matrix(&format!("{path}.weight"))?.0, path },
            Layer::Positions(positions) => {
                let table = self.matrix(&format!("{path}.weight"))?.0;
                let types = format!("{path}.types.weight");
                let types = if positions.types > 0 { Some(self.matrix(&types)?.0) } else { None };
                Step::Positions { positions: table, types, path }
            }
            Layer::Attention(attention) => return self.attention(path, attention),
            Layer::LayerNorm(norm) => Step::Norm {
                weight: self.vector(&path, "weight")?,
                bias: Some(self.vector(&path, "bias")?),
                epsilon: norm.epsilon,
            },
            Layer::RmsNorm(norm) => {
                Step::Norm { weight: self.vector(&path, "weight")?, bias: None, epsilon: norm.epsilon }
            }
            Layer::Swiglu(_) => Step::SwiGlu(Box::new(SwiGlu {
                gate: self.linear(&path, "gate.", false)?,
                up: self.linear(&path, "up.", false)?,
                down: self.linear(&path, "down.", false)?,
            })),
            Layer::Activation(activation) => Step::Activation(Elementwise::Activation(activation.function)),
            Layer::Softmax {} => Step::Softmax,
            Layer::Flatten {} => Step::Flatten,
            Layer::Pool(pool) => Step::Pool { first: pool.pooling == Pooling::First },
            Layer::Residual { layers } => Step::Residual(self.chain(&path, layers)?),
            Layer::Sequential { layers } => Step::Sequential(self.chain(&path, layers)?),
            _ => return unsupported(path, "it has no kernel"),
        })
    }

    fn attention(&mut self, path: String, attention: &layer::Attention) -> Result<Step, GpuError> {
        let [query, key, value, output] = ["query.", "key.", "value.", "output."];
        let query = self.linear(&path, query, attention.bias)?;
        let head = query.weight.shape().0 / attention.heads;
        if head > Heads::MOST {
            let (kind, reason) = ("attention", "its heads have more than 256 elements");
            return Err(GpuError::UnsupportedLayer { layer: path, kind, reason });
        }
        Ok(Step::Attention(Box::new(Attention {
            query,
            key: self.linear(&path, key, attention.bias)?,
            value: self.linear(&path, value, attention.bias)?,
            output: self.linear(&path, output, attention.bias)?,
            heads: Heads { heads: attention.heads, head, causal: attention.causal },
            rope: attention.rope.map(|rope| Rotation { rope, angles: std::sync::Mutex::default() }),
        })))
    }

    fn linear(&mut self, path: &str, part: &str, bias: bool) -> Result<Linear, GpuError> {
        let (weight, range) = self.matrix(&format!("{path}.{part}weight"))?;
        let bias = if bias { Some(self.vector(path, &format!("{part}bias"))?) } else { None };
        Ok(Linear { weight, bias, range })
    }

    /// Uploads a matrix in its active format. Returns the range of its inputs as well.
    fn matrix(&mut self, name: &str) -> Result<(DeviceMatrix, (f32, f32)), GpuError> {
        let parameter = self.network.parameter(name)?;
        let (matrix, range) = upload(self.device, parameter)?;
        self.bytes += matrix.bytes();
        Ok((matrix, range))
    }

    /// Uploads a vector at f32.
    fn vector(&mut self, path: &str, part: &str) -> Result<Values, GpuError> {
        let values = self.network.parameter(&format!("{path}.{part}"))?.values()?;
        self.bytes += size_of_val(values.as_slice());
        let buffer = self.device.upload("a vector", bytemuck::cast_slice(&values))?;
        Ok(Values { buffer, len: values.len() })
    }
}

fn upload(device: &Device, parameter: &Parameter) -> Result<(DeviceMatrix, (f32, f32)), GpuError> {
    Ok(match parameter.active()? {
        Active::Master(weights) => (DeviceMatrix::from_values(device, weights, parameter.store().shape().1)?, ANY),
        // The CPU clamps activations of quantized weights only.
        Active::Version(version) => {
            (DeviceMatrix::upload(device, &version.tensor())?, parameter.input_range().unwrap_or(ANY))
        }
    })
}
