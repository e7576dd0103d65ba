//! `cargo xtask crash`: the store's crash tests, for as long as one likes.

use crate::error::TaskError;
use crate::step::Step;

/// Crash the store many times and compare what is left with what was acknowledged
///
/// Cuts the power of a simulated disk after every operation of random scripts, lets operations fail, then kills real
/// processes in the middle of their writes. Prints a table of the crashes by kind. If something acknowledged is lost
/// the exit code is 1, and the output names the seed: `--points 1 --kills 0 --seed S` crashes that script again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Crashes to simulate, at least
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    points: u64,
    /// Processes to kill
    #[arg(long, default_value_t = 50, value_name = "N")]
    kills: u64,
    /// First seed; each script takes the next
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
}

pub(crate) fn run(args: &Args) -> Result<(), TaskError> {
    step(args).run()
}

fn step(args: &Args) -> Step {
    Step::cargo()
        .env("BITGRAIN_CRASH_POINTS", &args.points.to_string())
        .env("BITGRAIN_CRASH_KILLS", &args.kills.to_string())
        .env("BITGRAIN_CRASH_SEED", &args.seed.to_string())
        .args(["test", "--locked", "-p", "bitgrain-store", "--test", "crash", "--"])
        .args(["--exact", "soak::nothing_acknowledged_is_lost_at_any_length", "--ignored", "--nocapture"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_kills_and_seed_reach_the_test() {
        let typed = step(&Args { points: 7, kills: 8, seed: 9 }).to_string();
        for want in ["BITGRAIN_CRASH_POINTS=7", "BITGRAIN_CRASH_KILLS=8", "BITGRAIN_CRASH_SEED=9", "--test crash"] {
            assert!(typed.contains(want), "{typed}");
        }
    }
}
