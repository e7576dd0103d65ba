//! `Adapters`: the graphics adapters of this machine, and the choice of one.

use std::fmt;

use crate::GpuError;

/// The graphics adapters of this machine, in the order of their indices.
///
/// ```
/// let adapters = bitgrain_gpu::Adapters::list();
/// for adapter in adapters.all() {
///     println!("{adapter}");
/// }
/// ```
#[derive(Debug)]
pub struct Adapters {
    handles: Vec<wgpu::Adapter>,
    all: Vec<AdapterSummary>,
}

/// Properties of a graphics adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterSummary {
    /// Position in the list of adapters, from 0.
    pub index: usize,
    /// Name of the device.
    pub name: String,
    /// Interface to the driver: `vulkan`, `metal`, `dx12`.
    pub backend: String,
    /// Name and version of the driver.
    pub driver: String,
    /// Kind of the hardware.
    pub kind: AdapterKind,
    /// Largest array in bytes that a kernel can read; larger matrices are split.
    pub max_binding: u64,
    /// Memory in bytes that the threads of a workgroup share.
    pub workgroup_memory: u32,
}

/// Kind of hardware that an adapter runs on. The order is that of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AdapterKind {
    /// A GPU with its own memory.
    Discrete,
    /// A GPU that shares the memory of the CPU.
    Integrated,
    /// A GPU of the host of a virtual machine.
    Virtual,
    /// Unknown hardware.
    Other,
    /// A driver that computes on the CPU, such as lavapipe.
    Software,
}

/// Choice of an adapter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AdapterChoice {
    /// The first adapter of the preferred [`AdapterKind`].
    #[default]
    Best,
    /// The adapter at this position in the list.
    Index(usize),
    /// The first adapter whose name contains this text, ignoring case.
    Name(String),
}

impl Adapters {
    /// Lists the adapters. The list is empty without a driver.
    #[must_use]
    pub fn list() -> Self {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let handles = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
        let all = handles.iter().enumerate().map(|(index, handle)| AdapterSummary::of(index, handle)).collect();
        Self { handles, all }
    }

    /// Returns the properties of all adapters.
    #[must_use]
    pub fn all(&self) -> &[AdapterSummary] {
        &self.all
    }

    pub(crate) fn take(mut self, choice: &AdapterChoice) -> Result<(wgpu::Adapter, AdapterSummary), GpuError> {
        let index = choice.find(&self.all)?;
        Ok((self.handles.swap_remove(index), self.all.swap_remove(index)))
    }
}

impl AdapterChoice {
    /// Parses the value of a command-line option: an index or a part of a name; `best` for the preferred adapter.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.parse() {
            Ok(index) => Self::Index(index),
            Err(_) if text.is_empty() || text == "best" => Self::Best,
            Err(_) => Self::Name(text.to_owned()),
        }
    }

    /// Returns the index of the chosen adapter.
    ///
    /// # Errors
    /// Returns [`GpuError::NoAdapter`] for an empty list and [`GpuError::UnknownAdapter`] if no adapter matches.
    pub fn find(&self, all: &[AdapterSummary]) -> Result<usize, GpuError> {
        let found = match self {
            Self::Best => all.iter().min_by_key(|adapter| adapter.kind).map(|adapter| adapter.index),
            Self::Index(index) => all.get(*index).map(|adapter| adapter.index),
            Self::Name(part) => {
                let part = part.to_lowercase();
                all.iter().find(|adapter| adapter.name.to_lowercase().contains(&part)).map(|adapter| adapter.index)
            }
        };
        if all.is_empty() {
            return Err(GpuError::NoAdapter);
        }
        found.ok_or_else(|| {
            let names: Vec<String> = all.iter().map(|other| format!("{} `{}`", other.index, other.name)).collect();
            GpuError::UnknownAdapter { wanted: self.to_string(), found: names.join(", ") }
        })
    }
}

impl fmt::Display for AdapterChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Best => f.write_str("best"),
            Self::Index(index) => write!(f, "{index}"),
            Self::Name(part) => f.write_str(part),
        }
    }
}

impl AdapterSummary {
    fn of(index: usize, handle: &wgpu::Adapter) -> Self {
        let (info, limits) = (handle.get_info(), handle.limits());
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => AdapterKind::Discrete,
            wgpu::DeviceType::IntegratedGpu => AdapterKind::Integrated,
            wgpu::DeviceType::VirtualGpu => AdapterKind::Virtual,
            wgpu::DeviceType::Cpu => AdapterKind::Software,
            wgpu::DeviceType::Other => AdapterKind::Other,
        };
        Self {
            index,
            name: info.name,
            backend: info.backend.to_string(),
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
            kind,
            max_binding: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size),
            workgroup_memory: limits.max_compute_workgroup_storage_size,
        }
    }
}

impl AdapterKind {
    /// Returns the name: `discrete`, `integrated`, `virtual`, `other` or `software`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Other => "other",
            Self::Software => "software",
        }
    }
}

impl fmt::Display for AdapterSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, name, backend, driver, kind, max_binding, .. } = self;
        write!(f, "{index}: {name} ({}, {backend}, {driver}, arrays up to {} MiB)", kind.name(), max_binding >> 20)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapters() -> Vec<AdapterSummary> {
        let kinds = [
            ("llvmpipe", AdapterKind::Software),
            ("Arc A770", AdapterKind::Discrete),
            ("UHD", AdapterKind::Integrated),
        ];
        let summary = |(index, (name, kind)): (usize, (&str, AdapterKind))| AdapterSummary {
            index,
            name: name.to_owned(),
            backend: "vulkan".to_owned(),
            driver: "Mesa".to_owned(),
            kind,
            max_binding: 1 << 27,
            workgroup_memory: 32 << 10,
        };
        kinds.into_iter().enumerate().map(summary).collect()
    }

    #[test]
    fn the_best_adapter_is_hardware_with_its_own_memory() {
        assert_eq!(AdapterChoice::Best.find(&adapters()).ok(), Some(1));
        assert_eq!(AdapterChoice::Best.find(&adapters()[..1]).ok(), Some(0));
    }

    #[test]
    fn an_adapter_is_chosen_by_index_or_part_of_its_name() {
        assert_eq!(AdapterChoice::parse("2").find(&adapters()).ok(), Some(2));
        assert_eq!(AdapterChoice::parse("LLVM").find(&adapters()).ok(), Some(0));
        assert_eq!(AdapterChoice::parse("best"), AdapterChoice::Best);
    }

    #[test]
    fn an_unknown_adapter_is_an_error_that_lists_the_known_ones() {
        for wanted in ["3", "radeon"] {
            let error = AdapterChoice::parse(wanted).find(&adapters()).expect_err("not in the list").to_string();
            assert!(error.contains(wanted) && error.contains("0 `llvmpipe`"), "{error}");
        }
    }

    #[test]
    fn without_adapters_the_error_names_the_package_to_install() {
        let error = AdapterChoice::Best.find(&[]).expect_err("an empty list").to_string();
        assert!(error.contains("no graphics adapter") && error.contains("mesa-vulkan-drivers"), "{error}");
    }
}
