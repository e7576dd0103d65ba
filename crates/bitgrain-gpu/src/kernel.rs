//! `Kernel`: a compiled shader with its bindings.

use crate::Device;

/// A compute shader. Binding 0 is a uniform block of parameters, then come the arrays that the shader reads, then the
/// array that it writes.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) pipeline: wgpu::ComputePipeline,
    pub(crate) layout: wgpu::BindGroupLayout,
    pub(crate) reads: usize,
}

impl Kernel {
    /// Compiles the entry point `main` of a shader that reads this many arrays.
    pub(crate) fn new(device: &Device, name: &str, source: &str, reads: usize) -> Self {
        let raw = device.raw();
        let module = raw.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(name),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let entries: Vec<_> = (0_u32..).zip(kinds(reads)).map(|(binding, ty)| entry(binding, ty)).collect();
        let layout =
            raw.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(name), entries: &entries });
        let pipeline_layout = raw.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(name),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = raw.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(name),
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        Self { pipeline, layout, reads }
    }
}

fn kinds(reads: usize) -> impl Iterator<Item = wgpu::BufferBindingType> {
    let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
    std::iter::once(wgpu::BufferBindingType::Uniform)
        .chain((0..reads).map(move |_| storage(true)))
        .chain(std::iter::once(storage(false)))
}

fn entry(binding: u32, ty: wgpu::BufferBindingType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}
