//! `Pass`: a sequence of kernels, recorded and then run at once.

use std::collections::HashMap;
use std::sync::mpsc;

use wgpu::util::DeviceExt as _;

use crate::kernel::Kernel;
use crate::{Device, GpuError};

/// An array of f32 on a device.
#[derive(Debug, Clone)]
pub(crate) struct Values {
    pub(crate) buffer: wgpu::Buffer,
    pub(crate) len: usize,
}

impl Values {
    pub(crate) fn bytes(&self) -> u64 {
        4 * self.len as u64
    }
}

/// Records kernels. They run in this order when the pass is submitted.
#[derive(Debug)]
pub(crate) struct Pass<'d> {
    device: &'d Device,
    encoder: wgpu::CommandEncoder,
    /// Arrays whose last reader is recorded, by length. Kernels run in order, so later ones may overwrite them.
    free: HashMap<usize, Vec<wgpu::Buffer>>,
}

impl<'d> Pass<'d> {
    pub(crate) fn new(device: &'d Device) -> Result<Self, GpuError> {
        device.check()?;
        let encoder = device.raw().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        Ok(Self { device, encoder, free: HashMap::new() })
    }

    pub(crate) fn device(&self) -> &'d Device {
        self.device
    }

    /// Copies values to the device.
    pub(crate) fn upload(&self, what: &'static str, values: &[f32]) -> Result<Values, GpuError> {
        Ok(Values { buffer: self.device.upload(what, bytemuck::cast_slice(values))?, len: values.len() })
    }

    /// Copies integers to the device.
    pub(crate) fn upload_words(&self, what: &'static str, words: &[u32]) -> Result<Values, GpuError> {
        Ok(Values { buffer: self.device.upload(what, bytemuck::cast_slice(words))?, len: words.len() })
    }

    /// Returns an array with unspecified contents.
    pub(crate) fn allocate(&mut self, what: &'static str, len: usize) -> Result<Values, GpuError> {
        let old = self.free.get_mut(&len).and_then(Vec::pop);
        let buffer = match old {
            Some(buffer) => buffer,
            None => self.device.results(what, 4 * len as u64)?,
        };
        Ok(Values { buffer, len })
    }

    /// Lets later kernels overwrite an array from [`allocate`](Self::allocate).
    pub(crate) fn recycle(&mut self, values: Values) {
        self.free.entry(values.len).or_default().push(values.buffer);
    }

    /// Records a kernel. `moved` is the number of bytes that it reads and writes.
    pub(crate) fn dispatch(
        &mut self,
        kernel: &Kernel,
        parameters: &[u32],
        reads: &[&wgpu::Buffer],
        write: &wgpu::Buffer,
        groups: [u32; 3],
        moved: u64,
    ) {
        debug_assert_eq!(kernel.reads, reads.len());
        // Uniform blocks are multiples of 16 bytes.
        let mut block = parameters.to_vec();
        block.resize(parameters.len().next_multiple_of(4), 0);
        let raw = self.device.raw();
        let uniform = raw.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: bytemuck::cast_slice(&block),
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let all = std::iter::once(&uniform).chain(reads.iter().copied()).chain([write]);
        let entries: Vec<_> = (0..)
            .zip(all)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let group = raw.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &kernel.layout,
            entries: &entries,
        });
        let mut pass = self.encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&kernel.pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(groups[0], groups[1], groups[2]);
        self.device.count_dispatch(moved);
    }

    /// Sets all words of an array to 0.
    pub(crate) fn clear(&mut self, buffer: &wgpu::Buffer) {
        self.encoder.clear_buffer(buffer, 0, None);
    }

    /// Runs the recorded kernels and returns the words of an array.
    ///
    /// # Errors
    /// Returns the errors that the driver reported while recording and running.
    pub(crate) fn read_words(mut self, buffer: &wgpu::Buffer, len: usize) -> Result<Vec<u32>, GpuError> {
        self.device.check()?;
        let size = 4 * len as u64;
        if len == 0 {
            return Ok(Vec::new());
        }
        let raw = self.device.raw();
        let copy = raw.create_buffer(&wgpu::BufferDescriptor {
            label: Some("results"),
            size,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, size);
        self.device.queue().submit([self.encoder.finish()]);
        self.device.count_submission(size);
        self.device.check()?;
        let (sender, receiver) = mpsc::channel();
        copy.slice(..).map_async(wgpu::MapMode::Read, move |result| {
            // The receiver only disappears if waiting for the device failed.
            sender.send(result).ok();
        });
        let waited = raw.poll(wgpu::PollType::wait_indefinitely());
        self.device.check()?;
        waited.map_err(|error| GpuError::Driver { reason: error.to_string() })?;
        let mapped =
            receiver.recv().map_err(|_| GpuError::Driver { reason: "the results were not mapped".to_owned() })?;
        mapped.map_err(|error| GpuError::Driver { reason: error.to_string() })?;
        let view = copy.get_mapped_range(..).map_err(|error| GpuError::Driver { reason: error.to_string() })?;
        Ok(view.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }

    /// Runs the recorded kernels and returns the values of an array.
    ///
    /// # Errors
    /// Same as [`read_words`](Self::read_words).
    pub(crate) fn read(self, values: &Values) -> Result<Vec<f32>, GpuError> {
        let words = self.read_words(&values.buffer, values.len)?;
        Ok(words.into_iter().map(f32::from_bits).collect())
    }
}
