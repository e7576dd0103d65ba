//! Commands on models as a user meets them: the built binary on small files, its output and its exit codes.

mod compare;
mod embed;
mod inspect;
mod made;
