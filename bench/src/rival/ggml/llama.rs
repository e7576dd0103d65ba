//! llama.cpp from the same package as ggml: models that run, for comparison of speed and of predictions.
//!
//! Nothing is freed, because the process ends after the benchmark.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

use libloading::Library;

use super::fetch::{self, FetchError};

type Pointer = *mut c_void;
type Watch = unsafe extern "C" fn(*const c_void, bool, *mut c_void) -> bool;

/// `llama_model_params`, which has 80 bytes in this release.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct ModelParams([u8; 80]);

/// `llama_context_params`.
#[repr(C)]
#[derive(Clone, Copy)]
struct ContextParams {
    context: u32,
    batch: u32,
    together: u32,
    others: [u32; 4],
    threads: c_int,
    batch_threads: c_int,
    kinds: [c_int; 4],
    flash_attention: c_int,
    floats: [u32; 8],
    watch: Option<Watch>,
    watch_data: Pointer,
    keys: c_int,
    values: c_int,
    rest: [u64; 6],
}

const _: () = assert!(size_of::<ContextParams>() == 160);

/// `llama_batch`.
#[repr(C)]
struct Batch {
    count: i32,
    tokens: *mut i32,
    embeddings: *mut f32,
    positions: *mut i32,
    sequence_counts: *mut i32,
    sequences: *mut *mut i32,
    outputs: *mut i8,
}

/// The loaded library.
pub(crate) struct Llama {
    llama: Library,
    ggml: Library,
}

/// Calls a function: `call!(self.llama, c"llama_decode"(context => Pointer, batch => Batch) -> c_int)`.
macro_rules! call {
    ($library:expr, $name:literal ($($argument:expr => $type:ty),*) $(-> $result:ty)?) => {{
        type Function = unsafe extern "C" fn($($type),*) $(-> $result)?;
        // SAFETY: the types are those of the release's `llama.h` and `ggml-backend.h`.
        let found = unsafe { $library.get::<Function>($name) };
        let function = found.expect("the release has it");
        // SAFETY: pointers come from the library and are never freed, or point to data that outlives the call.
        unsafe { function($($argument),*) }
    }};
}

#[expect(unsafe_code, reason = "a callback of a C library")]
unsafe extern "C" fn silent(_level: c_int, _text: *const c_char, _data: Pointer) {}

#[expect(unsafe_code, reason = "a C library for comparison; not part of published crates")]
impl Llama {
    /// Downloads the library if necessary, and loads it with the backend for this CPU.
    ///
    /// # Errors
    /// Returns a [`FetchError`] if the library cannot be downloaded or loaded.
    pub(crate) fn load() -> Result<Self, FetchError> {
        let [ggml, llama] = fetch::llama()?;
        let folder = ggml.parent().map(Path::as_os_str).unwrap_or_default().to_string_lossy().into_owned();
        // SAFETY: known releases, whose initializers only set up C++ statics.
        let ggml = unsafe { Library::new(&ggml) }?;
        // SAFETY: as above.
        let llama = unsafe { Library::new(&llama) }?;
        let folder = CString::new(folder).unwrap_or_default();
        let silent: unsafe extern "C" fn(c_int, *const c_char, Pointer) = silent;
        call!(llama, c"llama_log_set"(silent => unsafe extern "C" fn(c_int, *const c_char, Pointer), std::ptr::null_mut() => Pointer));
        call!(ggml, c"ggml_backend_load_all_from_path"(folder.as_ptr() => *const c_char));
        call!(llama, c"llama_backend_init"());
        Ok(Self { llama, ggml })
    }

    /// Loads a model for sequences of at most `context` tokens. `floats` disables what rounds keys and values to f16.
    pub(crate) fn model(&self, path: &Path, context: usize, threads: usize, floats: bool) -> Option<Model<'_>> {
        // The library stays loaded, because its backend runs the models.
        let _ = &self.ggml;
        let params = call!(self.llama, c"llama_model_default_params"() -> ModelParams);
        let name = CString::new(path.to_string_lossy().into_owned()).ok()?;
        let model = call!(self.llama, c"llama_model_load_from_file"(name.as_ptr() => *const c_char, params => ModelParams) -> Pointer);
        if model.is_null() {
            return None;
        }
        let vocabulary = call!(self.llama, c"llama_model_get_vocab"(model => Pointer) -> Pointer);
        let tokens = call!(self.llama, c"llama_vocab_n_tokens"(vocabulary => Pointer) -> i32);
        let context = u32::try_from(context).ok()?;
        let threads = c_int::try_from(threads).ok()?;
        let mut params = call!(self.llama, c"llama_context_default_params"() -> ContextParams);
        (params.context, params.batch, params.together) = (context, context, context.min(512));
        (params.threads, params.batch_threads) = (threads, threads);
        let watched: Box<Watched> = Box::default();
        let watched = Box::into_raw(watched);
        if floats {
            (params.keys, params.values, params.flash_attention) = (0, 0, 0);
            params.watch = Some(watch);
            params.watch_data = watched.cast();
        }
        let state = call!(self.llama, c"llama_init_from_model"(model => Pointer, params => ContextParams) -> Pointer);
        let tokens = usize::try_from(tokens).ok()?;
        (!state.is_null()).then_some(Model { library: self, vocabulary, state, tokens, watched })
    }
}

/// Sums of squared inputs of matrices, by name.
pub(crate) type Watched = std::collections::BTreeMap<String, (Vec<f64>, u64)>;

/// A model with its context.
pub(crate) struct Model<'a> {
    library: &'a Llama,
    vocabulary: Pointer,
    state: Pointer,
    tokens: usize,
    watched: *mut Watched,
}

#[expect(unsafe_code, reason = "a C library for comparison; not part of published crates")]
impl Model<'_> {
    /// Returns the tokens of a text.
    pub(crate) fn encode(&self, text: &str) -> Vec<u32> {
        let mut out = vec![0_i32; text.len() + 16];
        let len = |len: usize| i32::try_from(len).unwrap_or(i32::MAX);
        let count = call!(self.library.llama, c"llama_tokenize"(
            self.vocabulary => Pointer, text.as_ptr().cast() => *const c_char, len(text.len()) => i32,
            out.as_mut_ptr() => *mut i32, len(out.len()) => i32, true => bool, false => bool) -> i32);
        out.truncate(usize::try_from(count).unwrap_or(0));
        out.into_iter().map(|token| u32::try_from(token).unwrap_or(0)).collect()
    }

    /// Forgets all tokens.
    pub(crate) fn clear(&mut self) {
        let memory = call!(self.library.llama, c"llama_get_memory"(self.state => Pointer) -> Pointer);
        call!(self.library.llama, c"llama_memory_clear"(memory => Pointer, true => bool));
    }

    /// Reads tokens after the `before` that were read since the last [`clear`](Self::clear). Computes logits from the
    /// `from`-th token (0-based) on.
    pub(crate) fn read(&mut self, tokens: &[u32], before: usize, from: usize) {
        let as_i32 = |value: usize| i32::try_from(value).unwrap_or(i32::MAX);
        let mut ids: Vec<i32> = tokens.iter().map(|token| as_i32(*token as usize)).collect();
        let mut positions: Vec<i32> = (before..before + tokens.len()).map(as_i32).collect();
        let mut counts = vec![1_i32; tokens.len()];
        let mut sequence = [0_i32];
        let mut sequences = vec![sequence.as_mut_ptr(); tokens.len()];
        let mut outputs: Vec<i8> = (0..tokens.len()).map(|at| i8::from(at >= from)).collect();
        let batch = Batch {
            count: as_i32(tokens.len()),
            tokens: ids.as_mut_ptr(),
            embeddings: std::ptr::null_mut(),
            positions: positions.as_mut_ptr(),
            sequence_counts: counts.as_mut_ptr(),
            sequences: sequences.as_mut_ptr(),
            outputs: outputs.as_mut_ptr(),
        };
        let status = call!(self.library.llama, c"llama_decode"(self.state => Pointer, batch => Batch) -> c_int);
        assert_eq!(status, 0, "llama.cpp failed");
    }

    /// Returns the logits after the `at`-th token of the last [`read`](Self::read).
    pub(crate) fn logits(&self, at: usize) -> &[f32] {
        let at = i32::try_from(at).unwrap_or(i32::MAX);
        let found = call!(self.library.llama, c"llama_get_logits_ith"(self.state => Pointer, at => i32) -> *const f32);
        assert!(!found.is_null(), "no logits after this token");
        // SAFETY: a row has as many values as the vocabulary has tokens, and stays valid until the next read.
        unsafe { std::slice::from_raw_parts(found, self.tokens) }
    }

    /// Returns the sums of squared inputs since the model was loaded; only models loaded with `floats` have any.
    pub(crate) fn watched(&self) -> &Watched {
        // SAFETY: created in `Llama::model` and never freed; the callback runs only during `read`.
        unsafe { &*self.watched }
    }
}

/// Offsets of the fields of `ggml_tensor` in this release, and the number of a matrix product.
mod tensor {
    pub(super) const LENGTHS: usize = 16;
    pub(super) const OPERATION: usize = 80;
    pub(super) const SOURCES: usize = 152;
    pub(super) const DATA: usize = 248;
    pub(super) const NAME: usize = 256;
    pub(super) const PRODUCT: i32 = 29;
}

/// Adds the squared inputs of each product with a matrix of a layer.
#[expect(unsafe_code, reason = "a callback of a C library")]
unsafe extern "C" fn watch(tensor: *const c_void, ask: bool, data: *mut c_void) -> bool {
    // SAFETY: `tensor` is a valid `ggml_tensor`, whose fields are at these offsets, and whose sources of a product are valid too.
    let field = |tensor: *const c_void, offset: usize| unsafe { tensor.byte_add(offset) };
    // SAFETY: as above; an `enum` is an i32.
    let operation = unsafe { field(tensor, tensor::OPERATION).cast::<i32>().read() };
    if operation != tensor::PRODUCT {
        return !ask;
    }
    // SAFETY: as above; both sources of a product exist.
    let [matrix, input] = unsafe { field(tensor, tensor::SOURCES).cast::<[*const c_void; 2]>().read() };
    // SAFETY: the name is a string that ends with a zero.
    let name = unsafe { CStr::from_ptr(field(matrix, tensor::NAME).cast()) }.to_string_lossy().into_owned();
    if !name.starts_with("blk.") {
        return !ask;
    }
    if ask {
        return true;
    }
    // SAFETY: the four lengths, the first contiguous.
    let lengths = unsafe { field(input, tensor::LENGTHS).cast::<[i64; 4]>().read() };
    // SAFETY: the input of a product on the CPU is an array of f32 in memory.
    let values = unsafe { field(input, tensor::DATA).cast::<*const f32>().read() };
    let [cols, rows] = [lengths[0], lengths[1] * lengths[2] * lengths[3]].map(|len| usize::try_from(len).unwrap_or(0));
    // SAFETY: as many values as the lengths say.
    let values = unsafe { std::slice::from_raw_parts(values, cols * rows) };
    // SAFETY: the pointer of `Llama::model`; only this function uses it while the model runs.
    let watched = unsafe { &mut *data.cast::<Watched>() };
    let (sums, count) = watched.entry(name).or_insert_with(|| (vec![0.0; cols], 0));
    for row in values.chunks_exact(cols.max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value).powi(2));
        *count += 1;
    }
    true
}
