//! `DeviceNetwork`: a network whose weights and activations stay on a device.

mod build;
mod kernels;
mod step;

use bitgrain_nn::network::{InputBatch, Network, NetworkError, Shape};

use crate::pass::Pass;
use crate::{Device, GpuError};
use step::{Flow, Step};

/// A network on a device: matrices as codes and scales, each in its active format, vectors at f32. A forward pass copies
/// the inputs to the device and the outputs back; everything between stays there.
///
/// ```no_run
/// use bitgrain_codec::weight::DType;
/// use bitgrain_gpu::{Device, DeviceNetwork, DeviceOptions};
/// use bitgrain_nn::network::layer::Layer;
/// use bitgrain_nn::network::{InputBatch, Network, Shape};
/// let layers = vec![Layer::dense(8), Layer::relu(), Layer::dense(3)];
/// let mut network = Network::new(Shape::new(&[4]), layers, 1)?;
/// network.morph(DType::Int8)?;
/// let device = Device::open(&DeviceOptions::default())?;
/// let on_device = DeviceNetwork::upload(&device, &network)?;
/// let y = on_device.forward(&InputBatch::new(vec![0.5, -1.0, 0.25, 2.0], &[4])?)?;
/// assert_eq!(y.dims(), [3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DeviceNetwork {
    device: Device,
    input: Shape,
    steps: Vec<Step>,
    bytes: usize,
}

impl DeviceNetwork {
    /// Copies the weights of a network to a device, each matrix in its active format.
    ///
    /// # Errors
    /// Returns [`GpuError::UnsupportedLayer`] for convolutions, recurrent layers, attention heads of more than 256
    /// elements and embeddings after other layers, and the errors of [`DeviceMatrix::upload`](crate::DeviceMatrix::upload).
    pub fn upload(device: &Device, network: &Network) -> Result<Self, GpuError> {
        let (steps, bytes) = build::steps(device, network)?;
        Ok(Self { device: device.clone(), input: network.input().clone(), steps, bytes })
    }

    /// Computes the outputs.
    ///
    /// Products add up unpacked weights times f32 activations, within the bound of
    /// [`DeviceMatrix::bound`](crate::DeviceMatrix::bound). The CPU rounds the activations of some formats to 8 bits instead, so
    /// outputs differ from [`Network::forward`] by that rounding; they equal those of the CPU on the decoded weights, up to
    /// the rounding of f32.
    ///
    /// # Errors
    /// Returns [`GpuError::Network`] for samples of another shape, values that are not finite, and tokens out of range,
    /// [`GpuError::Overflow`] for outputs that are not finite, [`GpuError::TooLarge`] for a batch whose activations exceed
    /// the largest array of the device, and errors of the device.
    pub fn forward(&self, x: &InputBatch) -> Result<InputBatch, GpuError> {
        if !self.input.matches(x.dims()) {
            return Err(NetworkError::Input { wanted: self.input.clone(), found: Shape::new(x.dims()) }.into());
        }
        if let Some(at) = x.values().iter().position(|x| !x.is_finite()) {
            let (sample, index) = (at / x.sample_len(), at % x.sample_len());
            return Err(NetworkError::NonFiniteInput { sample, index }.into());
        }
        let mut pass = Pass::new(&self.device)?;
        let start = Flow::start(&pass, x)?;
        let flow = step::run(&self.steps, &mut pass, start, x)?;
        let dims = flow.dims.clone();
        let values = pass.read(&flow.values)?;
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(GpuError::Overflow { index });
        }
        Ok(InputBatch::new(values, &dims)?)
    }

    /// Returns the size in bytes of all weights on the device.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the device.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }
}
