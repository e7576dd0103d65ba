//! The rivals, each with its own buffers and its own layout, reached through its public interface.

pub(crate) mod bitpacking;
pub(crate) mod fastlanes;
pub(crate) mod ruvector;
