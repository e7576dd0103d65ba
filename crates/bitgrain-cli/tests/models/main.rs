//! `compare`, `embed` and `inspect`: the built binary on small model files, its output and its exit codes.

mod compare;
mod embed;
mod inspect;
mod language;
mod made;
