//! Models: consistency, reference predictions, model files and imports.

mod definition;
mod file;
mod import;
mod samples;
