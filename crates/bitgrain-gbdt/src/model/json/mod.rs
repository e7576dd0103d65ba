//! Models as JSON, for people and scripts: complete, and read back to the same model. Spec: `spec/model.md#json`.

mod read;
mod write;

pub(super) use read::detect;
