//! Every combination of the options of `bitgrain quantize` is applied or rejected.

mod goals;
mod model;
mod shapes;

use std::path::Path;
use std::process::{Command, Output};

fn bitgrain(folder: &Path, arguments: &[String]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bitgrain"));
    command.current_dir(folder).arg("quantize").args(arguments).output().expect("the binary runs")
}

/// Returns the error message of a command, or `None` if it succeeded.
fn refusal(output: &Output, arguments: &[String]) -> Option<String> {
    let said = String::from_utf8(output.stderr.clone()).expect("UTF-8");
    match output.status.code() {
        Some(0) => None,
        Some(2) => Some(said),
        other => panic!("{arguments:?}: {other:?} {said}"),
    }
}

/// Calls `each` with a sample of `most` combinations, or with all of them if `BITGRAIN_COMBINATIONS=all` is set.
fn sampled(total: usize, most: usize, each: impl Fn(usize) + Sync) {
    let all = std::env::var("BITGRAIN_COMBINATIONS").is_ok_and(|text| text == "all");
    // A stride coprime to the total visits every value of every option.
    let prime = 7919;
    assert!(!total.is_multiple_of(prime));
    let count = if all { total } else { most.min(total) };
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let each = &each;
            scope.spawn(move || (worker..count).step_by(4).for_each(|i| each(i * prime % total)));
        }
    });
}
