//! The tier policy: thresholds, days of simulated use, the cap of warm bytes, and what holds for any tensor.

mod cap;
mod config;
mod days;
mod guide;
mod properties;
mod thresholds;
mod usage;
mod world;
