//! The site: which documents become pages, the tool that renders them, and the check of its links.

pub(crate) mod book;
pub(crate) mod files;
pub(crate) mod links;
mod markdown;
pub(crate) mod mdbook;
