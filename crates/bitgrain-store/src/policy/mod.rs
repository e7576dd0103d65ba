//! Which tier a tensor should have: pure functions of its use, the time and a [`PolicyConfig`].
//!
//! Nothing here reads a clock or a file. Times are milliseconds since 1970; one that lies before the last access counts as
//! that access's time. Why the score is what it is: `docs/decisions/013-score-of-use.md`.
//!
//! | file | what it has |
//! |---|---|
//! | `config.rs` | thresholds and weights with their defaults, checked |
//! | `usage.rs` | what is remembered of a tensor's accesses, and how it fades |
//! | `shared_usage.rs` | the same in atomics, for readers that share a tensor |
//! | `score.rs` | one number from 0 to 1024 |
//! | `decision.rs` | what becomes of one tensor |
//! | `plan.rs` | what becomes of all, with the bytes that warm tensors may have |

mod config;
mod decision;
mod plan;
mod score;
mod shared_usage;
mod usage;

pub use config::{AbsentRule, PolicyConfig, PolicyError};
pub use decision::{Candidate, Decision, TierBounds, decide};
pub use plan::{CapState, PlannedMove, PlannedWish, Reason, TierPlan, estimated_bytes, plan};
pub use score::{MAX_SCORE, score};
pub use shared_usage::SharedUsage;
pub use usage::Usage;
