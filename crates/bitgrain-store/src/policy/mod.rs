//! Tier policy: pure functions of a tensor's use, the time and a [`PolicyConfig`].
//!
//! Nothing here reads a clock or a file. Times are in milliseconds since 1970; a time before the last access is treated
//! as the time of that access. `docs/decisions/013-choice-of-tiers.md` explains the score.
//!
//! | file | content |
//! |---|---|
//! | `config.rs` | thresholds and weights with defaults and range checks |
//! | `usage.rs` | access history of a tensor and its decay |
//! | `shared_usage.rs` | the same with atomics, for concurrent readers |
//! | `score.rs` | score from 0 to 1024 |
//! | `decision.rs` | decision for one tensor |
//! | `plan.rs` | plan for all tensors, including the cap on warm bytes |
//! | `budget.rs` | plan for a limit on the total size |
//! | `preset.rs` | named policies: `careful`, `adr019`, `budget` |

mod budget;
mod config;
mod decision;
mod plan;
mod preset;
mod score;
mod shared_usage;
mod usage;

pub use config::{AbsentRule, PolicyConfig, PolicyError};
pub use decision::{Candidate, Decision, TierBounds, decide};
pub use plan::{CapState, PlannedMove, Reason, TierPlan, WantedTier, estimated_bytes, plan};
pub use preset::Preset;
pub use score::{MAX_SCORE, score};
pub use shared_usage::SharedUsage;
pub use usage::Usage;
