//! Models: consistency, reference predictions, model files and imports.

mod definition;
mod export;
mod file;
mod import;
mod json;
mod samples;
