//! Models: what fits together, what a row gets, their file, and files of other libraries.

mod definition;
mod file;
mod import;
mod samples;
