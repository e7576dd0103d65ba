//! `Device`: an open graphics adapter with its compiled kernels.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::kernel::Kernel;
use crate::{AdapterChoice, AdapterSummary, Adapters, GpuError};

/// Settings of a device.
#[derive(Debug, Clone, Default)]
pub struct DeviceOptions {
    /// The adapter to open.
    pub adapter: AdapterChoice,
    /// Upper limit in bytes of the arrays that kernels read, below the limit of the adapter. Larger matrices are split.
    pub max_binding: Option<u64>,
}

/// An open graphics adapter. Clones share the device.
///
/// ```no_run
/// use bitgrain_gpu::{Device, DeviceOptions};
/// let device = Device::open(&DeviceOptions::default())?;
/// println!("{}", device.adapter());
/// # Ok::<(), bitgrain_gpu::GpuError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    device: wgpu::Device,
    queue: wgpu::Queue,
    adapter: AdapterSummary,
    limits: wgpu::Limits,
    max_binding: u64,
    kernels: Mutex<HashMap<String, Arc<Kernel>>>,
    failure: Failure,
    counters: Counters,
}

/// The first error that the driver reported outside of a call.
type Failure = Arc<Mutex<Option<GpuError>>>;

#[derive(Debug, Default)]
struct Counters {
    dispatches: AtomicU64,
    submissions: AtomicU64,
    moved: AtomicU64,
    uploaded: AtomicU64,
    downloaded: AtomicU64,
}

/// Work done by a device since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Number of kernels started.
    pub dispatches: u64,
    /// Number of command buffers sent to the device.
    pub submissions: u64,
    /// Bytes that kernels read and wrote in the memory of the device: activations once per kernel, because caches hold them;
    /// weights once for each row of activations up to four, or for each 32 rows.
    pub moved: u64,
    /// Bytes copied to the device.
    pub uploaded: u64,
    /// Bytes copied from the device.
    pub downloaded: u64,
}

impl Traffic {
    /// Returns the work done since an earlier measurement.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            dispatches: self.dispatches - earlier.dispatches,
            submissions: self.submissions - earlier.submissions,
            moved: self.moved - earlier.moved,
            uploaded: self.uploaded - earlier.uploaded,
            downloaded: self.downloaded - earlier.downloaded,
        }
    }
}

/// Limits of the smallest devices that kernels run on: their number of arrays, and threads and memory of a workgroup.
const STORAGE_BUFFERS: u32 = 6;
const INVOCATIONS: u32 = 64;
const WORKGROUP_MEMORY: u32 = 12 << 10;

impl Device {
    /// Opens an adapter.
    ///
    /// # Errors
    /// Returns [`GpuError::NoAdapter`], [`GpuError::UnknownAdapter`], [`GpuError::Unsupported`] if the limits of the
    /// adapter are below those that every kernel needs, or [`GpuError::Open`].
    pub fn open(options: &DeviceOptions) -> Result<Self, GpuError> {
        let (handle, adapter) = Adapters::list().take(&options.adapter)?;
        let limits = handle.limits();
        for (what, needed, found) in [
            ("number of storage buffers per kernel", STORAGE_BUFFERS, limits.max_storage_buffers_per_shader_stage),
            ("number of threads per workgroup", INVOCATIONS, limits.max_compute_invocations_per_workgroup),
            ("workgroup memory", WORKGROUP_MEMORY, limits.max_compute_workgroup_storage_size),
        ] {
            if found < needed {
                let (adapter, needed, found) = (adapter.name, needed.into(), found.into());
                return Err(GpuError::Unsupported { adapter, what, needed, found });
            }
        }
        let wanted = wgpu::DeviceDescriptor { required_limits: limits.clone(), ..Default::default() };
        let (device, queue) = pollster::block_on(handle.request_device(&wanted))
            .map_err(|error| GpuError::Open { adapter: adapter.name.clone(), reason: error.to_string() })?;
        let failure = Failure::default();
        let (on_error, on_loss) = (Arc::clone(&failure), Arc::clone(&failure));
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| keep(&on_error, error_of(&error))));
        device.set_device_lost_callback(move |_, reason| {
            // A loss explains all other errors.
            *locked(&on_loss) = Some(GpuError::Lost { reason });
        });
        // Kernels index arrays with 32 bits, and read whole words up to one past the last byte.
        let max_binding = adapter.max_binding.min(options.max_binding.unwrap_or(u64::MAX)).min(1 << 31) / 16 * 16;
        let inner = Inner {
            device,
            queue,
            adapter,
            limits,
            max_binding,
            kernels: Mutex::default(),
            failure,
            counters: Counters::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns the properties of the adapter.
    #[must_use]
    pub fn adapter(&self) -> &AdapterSummary {
        &self.inner.adapter
    }

    /// Returns the largest array in bytes that a kernel can read. Larger matrices are split into several arrays.
    #[must_use]
    pub fn max_binding(&self) -> u64 {
        self.inner.max_binding
    }

    /// Returns the work done since the device was opened.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        let counters = &self.inner.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Traffic {
            dispatches: read(&counters.dispatches),
            submissions: read(&counters.submissions),
            moved: read(&counters.moved),
            uploaded: read(&counters.uploaded),
            downloaded: read(&counters.downloaded),
        }
    }

    /// Releases the device and all its memory. Later calls, also on clones, return [`GpuError::Lost`].
    pub fn close(&self) {
        self.inner.device.destroy();
        *locked(&self.inner.failure) = Some(GpuError::Lost { reason: "it was closed".to_owned() });
    }

    /// Returns the first error that the driver reported since the last check. A lost device stays lost.
    pub(crate) fn check(&self) -> Result<(), GpuError> {
        let mut failure = locked(&self.inner.failure);
        match &*failure {
            None => Ok(()),
            Some(error @ GpuError::Lost { .. }) => Err(error.clone()),
            Some(_) => failure.take().map_or(Ok(()), Err),
        }
    }

    pub(crate) fn raw(&self) -> &wgpu::Device {
        &self.inner.device
    }

    pub(crate) fn queue(&self) -> &wgpu::Queue {
        &self.inner.queue
    }

    /// Returns the largest number of workgroups along one dimension.
    pub(crate) fn max_groups(&self) -> u32 {
        self.inner.limits.max_compute_workgroups_per_dimension
    }

    /// Returns the kernel of this name, compiling it on first use.
    pub(crate) fn kernel(&self, name: &str, build: impl FnOnce() -> Kernel) -> Arc<Kernel> {
        let mut kernels = locked(&self.inner.kernels);
        if let Some(kernel) = kernels.get(name) {
            return Arc::clone(kernel);
        }
        let kernel = Arc::new(build());
        kernels.insert(name.to_owned(), Arc::clone(&kernel));
        kernel
    }

    /// Copies bytes into a new array, padded with zeros to whole words and one more.
    pub(crate) fn upload(&self, what: &'static str, bytes: &[u8]) -> Result<wgpu::Buffer, GpuError> {
        let size = padded(bytes.len());
        self.check_size(what, size)?;
        self.check()?;
        let buffer = self.raw().create_buffer(&wgpu::BufferDescriptor {
            label: Some(what),
            size,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        });
        self.check()?;
        let mapped = buffer.get_mapped_range_mut(..);
        mapped
            .map_err(|error| GpuError::Driver { reason: error.to_string() })?
            .slice(..bytes.len())
            .copy_from_slice(bytes);
        buffer.unmap();
        self.check()?;
        self.inner.counters.uploaded.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(buffer)
    }

    /// Creates an array for results of kernels.
    pub(crate) fn results(&self, what: &'static str, bytes: u64) -> Result<wgpu::Buffer, GpuError> {
        self.check_size(what, bytes)?;
        self.check()?;
        let buffer = self.raw().create_buffer(&wgpu::BufferDescriptor {
            label: Some(what),
            size: bytes.max(4),
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.check()?;
        Ok(buffer)
    }

    pub(crate) fn check_size(&self, what: &'static str, bytes: u64) -> Result<(), GpuError> {
        let limit = self.max_binding();
        if bytes <= limit { Ok(()) } else { Err(GpuError::TooLarge { what, bytes, limit }) }
    }

    pub(crate) fn count_dispatch(&self, moved: u64) {
        self.inner.counters.dispatches.fetch_add(1, Ordering::Relaxed);
        self.inner.counters.moved.fetch_add(moved, Ordering::Relaxed);
    }

    pub(crate) fn count_submission(&self, downloaded: u64) {
        self.inner.counters.submissions.fetch_add(1, Ordering::Relaxed);
        self.inner.counters.downloaded.fetch_add(downloaded, Ordering::Relaxed);
    }
}

/// Size of an array of bytes on the device: whole words, and one more, so that a kernel may read a word at any byte.
pub(crate) fn padded(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4) * 4 + 4
}

fn keep(failure: &Failure, error: GpuError) {
    let mut first = locked(failure);
    if first.is_none() {
        *first = Some(error);
    }
}

fn error_of(error: &wgpu::Error) -> GpuError {
    let reason = error.to_string();
    if matches!(error, wgpu::Error::OutOfMemory { .. }) {
        GpuError::OutOfMemory { reason }
    } else {
        GpuError::Driver { reason }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The state is valid after each statement, so a panic elsewhere does not invalidate it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
