//! ggml's products with the build for this CPU, run like in llama.cpp: as graphs, with repacked weights if available.
//!
//! Nothing is freed, because the process ends after the benchmark.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;

use bitgrain::codec::weight::{DType, QuantizedTensor, ScaledFormat, WeightFormat};
use bitgrain::kernels::Backend;
use libloading::Library;

use super::fetch::{self, FetchError};
use super::{Ggml, as_i64, type_id};
use crate::rival::Product;

type Pointer = *mut c_void;

/// `ggml_init_params`.
#[repr(C)]
struct Params {
    size: usize,
    buffer: Pointer,
    no_alloc: bool,
}

impl Params {
    /// Memory for a few tensors and a graph without values: 1 MB.
    const SMALL: Self = Self { size: 1 << 20, buffer: std::ptr::null_mut(), no_alloc: true };
}

/// Memory for `ggml_threadpool_params`, which has 528 bytes in this release.
#[repr(C, align(16))]
struct PoolParams([u8; 1024]);

impl PoolParams {
    /// Offset of the field with the time that workers spin before they sleep.
    const POLL: Range<usize> = 520..524;
}

/// The build with AVX2, FMA and F16C, and without AVX-512 and VNNI.
const AVX2_BUILD: &str = "libggml-cpu-haswell.so";

/// `GGML_BACKEND_BUFFER_USAGE_WEIGHTS`.
const WEIGHTS: c_int = 1;

/// Layout of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// As in the file.
    Plain,
    /// Rows interleaved for vector instructions.
    Repacked,
    /// For the matrix instructions of newer CPUs.
    Amx,
}

impl Layout {
    pub(crate) const ALL: [Self; 3] = [Self::Plain, Self::Repacked, Self::Amx];

    /// Returns the name of the contender.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "ggml",
            Self::Repacked => "ggml repacked",
            Self::Amx => "ggml AMX",
        }
    }
}

/// The build of the CPU backend with the highest score on this CPU.
pub(crate) struct Cpu<'a> {
    ggml: &'a Ggml,
    library: Library,
    /// CPU of the build, such as `sapphirerapids`.
    pub(crate) name: String,
}

/// Calls a function of the library or of its base: `call!(cpu, c"ggml_new_graph"(context => Pointer) -> Pointer)`.
macro_rules! call {
    ($cpu:expr, $name:literal ($($argument:expr => $type:ty),*) $(-> $result:ty)?) => {{
        type Function = unsafe extern "C" fn($($type),*) $(-> $result)?;
        // SAFETY: the types are those of the release's `ggml.h`, `ggml-cpu.h` and `ggml-backend.h`.
        let found = unsafe { $cpu.library.get::<Function>($name) };
        // SAFETY: as above, for functions of the base library.
        let found = found.or_else(|_| unsafe { $cpu.ggml.library.get::<Function>($name) });
        let function = found.expect("the release has it");
        // SAFETY: pointers come from the library and are never freed, or point to data that outlives the call.
        unsafe { function($($argument),*) }
    }};
}

#[expect(unsafe_code, reason = "a C library for comparison; not part of published crates")]
impl<'a> Cpu<'a> {
    /// Loads the build with the highest score, or the one for CPUs with AVX2 and no more if ours is limited to AVX2.
    ///
    /// # Errors
    /// Returns a [`FetchError`] if no build can be loaded.
    pub(crate) fn load(ggml: &'a Ggml, backend: Backend) -> Result<Self, FetchError> {
        let mut best: Option<(c_int, Self)> = None;
        for path in fetch::cpu_libraries(&ggml.path)? {
            if backend.name() == "avx2" && !path.ends_with(AVX2_BUILD) {
                continue;
            }
            // SAFETY: a library of the release. Loading a build for another CPU is safe, because only its score is
            // requested.
            let library = unsafe { Library::new(&path) }?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy().replace("libggml-cpu-", "");
            let cpu = Self { ggml, library, name };
            let score = call!(cpu, c"ggml_backend_score"() -> c_int);
            if score > best.as_ref().map_or(0, |(score, _)| *score) {
                best = Some((score, cpu));
            }
        }
        best.map(|(_, cpu)| cpu).ok_or(FetchError::OtherPlatform)
    }

    fn device(&self) -> Pointer {
        let registry = call!(self, c"ggml_backend_cpu_reg"() -> Pointer);
        call!(self, c"ggml_backend_reg_dev_get"(registry => Pointer, 0 => usize) -> Pointer)
    }

    /// Returns the buffer type of a layout, or `None` if this CPU does not support it.
    fn buffer_type(&self, layout: Layout) -> Option<Pointer> {
        let wanted = match layout {
            Layout::Plain => return Some(call!(self, c"ggml_backend_cpu_buffer_type"() -> Pointer)),
            Layout::Repacked => c"CPU_REPACK",
            Layout::Amx => c"AMX",
        };
        type Extra = Option<unsafe extern "C" fn(Pointer) -> *const Pointer>;
        let registry = call!(self, c"ggml_backend_cpu_reg"() -> Pointer);
        let name = c"ggml_backend_dev_get_extra_bufts".as_ptr();
        let extra =
            call!(self, c"ggml_backend_reg_get_proc_address"(registry => Pointer, name => *const c_char) -> Extra)?;
        // SAFETY: the device is valid, and the result is a list that ends with a null pointer.
        let mut at = unsafe { extra(self.device()) };
        loop {
            // SAFETY: the end of the list has not been reached.
            let found = unsafe { *at };
            if found.is_null() {
                return None;
            }
            let name = call!(self, c"ggml_backend_buft_name"(found => Pointer) -> *const c_char);
            // SAFETY: the name of a buffer type is a static string.
            if unsafe { CStr::from_ptr(name) } == wanted {
                return Some(found);
            }
            at = at.wrapping_add(1);
        }
    }

    /// Creates the product of weights in a layout with a batch of activations; `None` if the library does not support
    /// the combination.
    pub(crate) fn product(
        &self,
        weights: &QuantizedTensor,
        layout: Layout,
        x: &[f32],
        threads: usize,
    ) -> Option<Box<dyn Product + '_>> {
        let (rows, cols) = weights.shape();
        let batch = x.len() / cols;
        let (buffers, plain) = (self.buffer_type(layout)?, self.buffer_type(Layout::Plain)?);
        let [stays, changes] =
            [Params::SMALL, Params::SMALL].map(|p| call!(self, c"ggml_init"(p => Params) -> Pointer));
        let tensor = |context: Pointer, kind: c_int, rows: usize| {
            let (cols, rows) = (as_i64(cols), as_i64(rows));
            call!(self, c"ggml_new_tensor_2d"(context => Pointer, kind => c_int, cols => i64, rows => i64) -> Pointer)
        };
        let kind = match weights.format() {
            WeightFormat::Ggml(block) => type_id(block),
            WeightFormat::Scaled(ScaledFormat { dtype: DType::Float32, .. }) => 0,
            WeightFormat::Scaled(ScaledFormat { dtype: DType::Float16, .. }) => 1,
            WeightFormat::Scaled(ScaledFormat { dtype: DType::BFloat16, .. }) => 30,
            _ => return None,
        };
        let w = tensor(stays, kind, rows);
        let input = tensor(changes, 0, batch);
        let out = call!(self, c"ggml_mul_mat"(changes => Pointer, w => Pointer, input => Pointer) -> Pointer);
        let graph = call!(self, c"ggml_new_graph"(changes => Pointer) -> Pointer);
        call!(self, c"ggml_build_forward_expand"(graph => Pointer, out => Pointer));
        let allocate = |context: Pointer, kind: Pointer| call!(self, c"ggml_backend_alloc_ctx_tensors_from_buft"(context => Pointer, kind => Pointer) -> Pointer);
        call!(self, c"ggml_backend_buffer_set_usage"(allocate(stays, buffers) => Pointer, WEIGHTS => c_int));
        allocate(changes, plain);
        if !call!(self, c"ggml_backend_dev_supports_op"(self.device() => Pointer, out => Pointer) -> bool) {
            return None;
        }
        let set = |tensor: Pointer, values: *const c_void, bytes: usize| {
            call!(self, c"ggml_backend_tensor_set"(
                tensor => Pointer, values => *const c_void, 0 => usize, bytes => usize));
        };
        // Our bytes are those that ggml quantizes, which the suite `weights` and the oracles check.
        let bytes = weights.parts().codes;
        set(w, bytes.as_ptr().cast(), bytes.len());
        set(input, x.as_ptr().cast(), size_of_val(x));
        Some(Box::new(Graph { cpu: self, backend: self.backend(threads), graph, out, len: rows * batch }))
    }

    /// Creates a backend whose threads persist between graphs.
    fn backend(&self, threads: usize) -> Pointer {
        let threads = c_int::try_from(threads).expect("a few");
        let backend = call!(self, c"ggml_backend_cpu_init"() -> Pointer);
        call!(self, c"ggml_backend_cpu_set_n_threads"(backend => Pointer, threads => c_int));
        let mut room = PoolParams([0; 1024]);
        let params = &raw mut room;
        call!(self, c"ggml_threadpool_params_init"(params => *mut PoolParams, threads => c_int));
        // Workers sleep between graphs instead of spinning, which would take a core from the next contender.
        room.0[PoolParams::POLL].fill(0);
        let params = &raw mut room;
        let pool = call!(self, c"ggml_threadpool_new"(params => *mut PoolParams) -> Pointer);
        call!(self, c"ggml_backend_cpu_set_threadpool"(backend => Pointer, pool => Pointer));
        backend
    }
}

/// A graph of one product.
struct Graph<'a> {
    cpu: &'a Cpu<'a>,
    backend: Pointer,
    graph: Pointer,
    out: Pointer,
    len: usize,
}

#[expect(unsafe_code, reason = "a C library for comparison; not part of published crates")]
impl Product for Graph<'_> {
    fn run(&mut self) {
        let status =
            call!(self.cpu, c"ggml_backend_graph_compute"(self.backend => Pointer, self.graph => Pointer) -> c_int);
        assert_eq!(status, 0, "ggml failed");
    }

    fn result(&self) -> Vec<f32> {
        let mut out = vec![0.0_f32; self.len];
        let (to, bytes) = (out.as_mut_ptr().cast(), size_of_val(&out[..]));
        call!(self.cpu, c"ggml_backend_tensor_get"(
            self.out => Pointer, to => Pointer, 0 => usize, bytes => usize));
        out
    }
}
