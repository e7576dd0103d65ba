//! Containers of tensors: GGUF, safetensors, npy and npz. The only crate that parses bytes the project did not write.
//!
//! Takes bytes, never a path. Every length read from a file is held against the bytes at hand before anything is
//! allocated.
