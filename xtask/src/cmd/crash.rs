//! `cargo xtask crash`: crash tests of the store, of any length.

use crate::error::TaskError;
use crate::step::Step;

/// Crash the store many times and compare the recovered data with the acknowledged writes
///
/// Simulates a power failure after every operation of random scripts, injects failing operations, and kills real
/// processes during their writes. Prints a table of the crashes by kind. If acknowledged data is lost, the exit code is
/// 1 and the output names the seed: `--points 1 --kills 0 --seed S` repeats that script.
///
/// With `--soak`, readers, writers, ticks, compactions and backups run at once instead, on a folder, on a simulated disk with
/// power failures and on simulated object storage with lost answers. Prints the latencies of reads and writes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Minimum number of simulated crashes
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    points: u64,
    /// Number of processes to kill
    #[arg(long, default_value_t = 50, value_name = "N")]
    kills: u64,
    /// First seed; each script uses the next one
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
    /// Run everything at once for this many minutes instead
    #[arg(long, value_name = "MINUTES", conflicts_with_all = ["points", "kills"])]
    soak: Option<u64>,
}

pub(crate) fn run(args: &Args) -> Result<(), TaskError> {
    step(args).run()
}

fn step(args: &Args) -> Step {
    let test = match args.soak {
        Some(_) => "endurance::minutes_of_everything_at_once_lose_no_acknowledged_write",
        None => "soak::a_long_run_loses_no_acknowledged_write",
    };
    Step::cargo()
        .env("BITGRAIN_SOAK_SECONDS", &args.soak.unwrap_or(0).saturating_mul(60).to_string())
        .env("BITGRAIN_CRASH_POINTS", &args.points.to_string())
        .env("BITGRAIN_CRASH_KILLS", &args.kills.to_string())
        .env("BITGRAIN_CRASH_SEED", &args.seed.to_string())
        .args(["test", "--locked", "-p", "bitgrain-store", "--test", "crash", "--"])
        .args(["--exact", test, "--ignored", "--nocapture"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_kills_and_seed_reach_the_test() {
        let typed = step(&Args { points: 7, kills: 8, seed: 9, soak: None }).to_string();
        for want in ["BITGRAIN_CRASH_POINTS=7", "BITGRAIN_CRASH_KILLS=8", "BITGRAIN_CRASH_SEED=9", "--test crash"] {
            assert!(typed.contains(want), "{typed}");
        }
        let typed = step(&Args { points: 7, kills: 8, seed: 9, soak: Some(3) }).to_string();
        for want in ["BITGRAIN_SOAK_SECONDS=180", "BITGRAIN_CRASH_SEED=9", "endurance::minutes_of"] {
            assert!(typed.contains(want), "{typed}");
        }
    }
}
