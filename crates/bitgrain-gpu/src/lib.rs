//! Packed weights, networks and histograms on GPUs, through [wgpu](https://wgpu.rs): Vulkan, Metal and DX12.
//!
//! | item | contents |
//! |---|---|
//! | [`Adapters`] | the graphics adapters of this machine |
//! | [`Device`] | an open adapter |
//! | [`DeviceMatrix`] | packed weights in the memory of a device, and products with them |
//! | [`DeviceNetwork`] | a network whose weights and activations stay on a device |
//! | [`DeviceBins`] | a binned table in the memory of a device, and histograms of gradients |
//!
//! Kernels unpack codes in their inner loop and add up in f32. Results differ from those of the CPU by at most a bound, which
//! [`DeviceMatrix::bound`] states.

mod adapter;
mod device;
mod error;
mod histogram;
mod kernel;
mod network;
mod pass;
mod weights;

pub use adapter::{AdapterChoice, AdapterKind, AdapterSummary, Adapters};
pub use device::{Device, DeviceOptions, Traffic};
pub use error::GpuError;
pub use histogram::DeviceBins;
pub use network::DeviceNetwork;
pub use weights::DeviceMatrix;
