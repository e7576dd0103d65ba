//! The tier policy: thresholds, days of simulated use, the cap on warm bytes, and general properties.

mod budget;
mod cap;
mod config;
mod days;
mod guide;
mod properties;
mod thresholds;
mod usage;
mod world;
