//! The site: selection of pages, rendering with mdBook, and the link check.

pub(crate) mod book;
pub(crate) mod files;
pub(crate) mod links;
mod markdown;
pub(crate) mod mdbook;
