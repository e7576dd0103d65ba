//! `DeviceChoice`: the value of `--device`, and the graphics adapters of this machine.

use std::str::FromStr;

use bitgrain::nn::network::Network;
use bitgrain::nn::network::embed::SentenceEncoder;
use serde::Serialize;

use crate::error::CliError;

/// Device that runs a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DeviceChoice {
    /// The CPU.
    Cpu,
    /// A graphics adapter: its index or a part of its name; empty for the best one.
    Gpu(String),
}

impl FromStr for DeviceChoice {
    type Err = CliError;

    fn from_str(text: &str) -> Result<Self, CliError> {
        match text.split_once(':') {
            None if text == "cpu" => Ok(Self::Cpu),
            None if text == "gpu" => Ok(Self::Gpu(String::new())),
            Some(("gpu", adapter)) if !adapter.is_empty() => Ok(Self::Gpu(adapter.to_owned())),
            _ => Err(CliError::UnknownDevice { name: text.to_owned() }),
        }
    }
}

/// A graphics adapter, for `bitgrain info`.
#[derive(Debug, Serialize)]
pub(crate) struct AdapterRow {
    index: usize,
    name: String,
    backend: String,
    driver: String,
    kind: &'static str,
    max_array_bytes: u64,
    #[serde(skip)]
    pub(crate) shown: String,
}

/// Returns the graphics adapters; `None` if GPU support is not included.
#[cfg(not(feature = "gpu"))]
pub(crate) fn adapters() -> Option<Vec<AdapterRow>> {
    None
}

/// Returns the graphics adapters; `None` if GPU support is not included.
#[cfg(feature = "gpu")]
pub(crate) fn adapters() -> Option<Vec<AdapterRow>> {
    let row = |adapter: &bitgrain::gpu::AdapterSummary| AdapterRow {
        index: adapter.index,
        name: adapter.name.clone(),
        backend: adapter.backend.clone(),
        driver: adapter.driver.clone(),
        kind: adapter.kind.name(),
        max_array_bytes: adapter.max_binding,
        shown: adapter.to_string(),
    };
    Some(bitgrain::gpu::Adapters::list().all().iter().map(row).collect())
}

/// Runs sentence encoders on the CPU or on an open graphics adapter.
pub(crate) enum Runner {
    Cpu,
    #[cfg(feature = "gpu")]
    Gpu(Box<bitgrain::gpu::DeviceNetwork>),
}

impl DeviceChoice {
    /// Opens the device and copies the weights of a network to it.
    #[cfg(not(feature = "gpu"))]
    pub(crate) fn open(&self, _network: &Network) -> Result<Runner, CliError> {
        match self {
            Self::Cpu => Ok(Runner::Cpu),
            Self::Gpu(_) => Err(CliError::Options {
                problem: "--device gpu: GPU support is not included in this build".to_owned(),
                fix: "build the command with `--features gpu`, or use --device cpu",
            }),
        }
    }

    /// Opens the device and copies the weights of a network to it.
    #[cfg(feature = "gpu")]
    pub(crate) fn open(&self, network: &Network) -> Result<Runner, CliError> {
        use bitgrain::gpu::{AdapterChoice, Device, DeviceNetwork, DeviceOptions};
        match self {
            Self::Cpu => Ok(Runner::Cpu),
            Self::Gpu(adapter) => {
                let options = DeviceOptions { adapter: AdapterChoice::parse(adapter), max_binding: None };
                Ok(Runner::Gpu(Box::new(DeviceNetwork::upload(&Device::open(&options)?, network)?)))
            }
        }
    }
}

impl Runner {
    /// Embeds sentences.
    pub(crate) fn embed(&self, encoder: &SentenceEncoder, sentences: &[String]) -> Result<Vec<Vec<f32>>, CliError> {
        match self {
            Self::Cpu => Ok(encoder.embed(sentences)?),
            #[cfg(feature = "gpu")]
            Self::Gpu(network) => encoder.embed_with(sentences, |batch| Ok(network.forward(batch)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_cpu_gpu_and_named_adapters() {
        let parse = |text: &str| text.parse::<DeviceChoice>().ok();
        assert_eq!(parse("cpu"), Some(DeviceChoice::Cpu));
        assert_eq!(parse("gpu"), Some(DeviceChoice::Gpu(String::new())));
        assert_eq!(parse("gpu:Arc A770"), Some(DeviceChoice::Gpu("Arc A770".to_owned())));
        for wrong in ["", "tpu", "gpu:", "cpu:1", "GPU"] {
            let error = wrong.parse::<DeviceChoice>().expect_err("not a device").to_string();
            assert!(error.contains(&format!("`{wrong}`")) && error.contains("gpu:"), "{error}");
        }
    }
}
