//! Our process: trains through the facade, as `rival.py` does with other libraries.

use std::error::Error;
use std::fs;
use std::time::Instant;

use bitgrain::gbdt::feature::{Features, Quantizer};
use bitgrain::gbdt::gradient::GradientPrecision;
use bitgrain::gbdt::objective;
use bitgrain::gbdt::predict::Predictor;
use bitgrain::gbdt::train::{Dataset, Growth, Params, Trainer};

use super::array;
use super::job::{Answer, Job, Objective, Seconds};

/// Runs a job given as JSON and returns the line to print.
pub(crate) fn run(job: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
    let job: Job = serde_json::from_str(job)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(job.threads).build()?;
    let answer = pool.install(|| answer(&job))?;
    Ok(serde_json::to_string(&answer)?)
}

fn answer(job: &Job) -> Result<Answer, Box<dyn Error + Send + Sync>> {
    let read = |name: &str| array::read(&job.folder.join(name));
    let ((x, columns), (y, _), (xv, _)) = (read("x.npy")?, read("y.npy")?, read("xv.npy")?);
    let features = |values| {
        let features = Features::row_major(values, <[f32]>::len(values) / columns.max(1), columns)?;
        features.with_categorical(&job.categorical)
    };
    let (train, held) = (features(&x[..])?, features(&xv[..])?);
    // Reset the peak memory, so that reading the input does not count.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let before = bytes_of("VmRSS");

    let quantizer = Quantizer::default().with_max_bin(job.settings.bins)?;
    let (data, bin) = watched(|| Dataset::new(&train, y, None, &quantizer));
    let mut data = data?;
    let name = if job.objective == Objective::Binary { "binary" } else { "squared" };
    let trainer = Trainer::new(params(job)?, objective::by_name(name)?);
    let (trained, took) = watched(|| trainer.train(&mut data));
    let model = trained?.model;
    let peak_bytes = before.zip(bytes_of("VmHWM")).map(|(before, peak)| peak.saturating_sub(before));
    drop(data);

    let predictor = Predictor::new(&model)?;
    array::write_wide(&job.scores, &predictor.raw(&held)?)?;
    let rows = if job.predict_training_rows { &train } else { &held };
    let (mut calls, mut spent) = (0_u32, Seconds { wall: 0.0, cpu: 0.0 });
    while calls == 0 || spent.wall < job.predict_seconds {
        let (scores, call) = watched(|| predictor.raw(rows));
        std::hint::black_box(scores?);
        spent = Seconds { wall: spent.wall + call.wall, cpu: spent.cpu + call.cpu };
        calls += 1;
    }
    let predict = Seconds { wall: spent.wall / f64::from(calls), cpu: spent.cpu / f64::from(calls) };
    Ok(Answer { version: env!("CARGO_PKG_VERSION").to_owned(), bin: Some(bin), train: took, predict, peak_bytes })
}

/// Returns the parameters for the job's contender: a gradient precision, or `symmetric`.
fn params(job: &Job) -> Result<Params, Box<dyn Error + Send + Sync>> {
    let settings = job.settings;
    let symmetric = job.contender == "symmetric";
    Ok(Params {
        n_estimators: settings.rounds,
        learning_rate: settings.learning_rate,
        num_leaves: if symmetric { 1 << settings.depth } else { settings.leaves },
        max_depth: symmetric.then_some(settings.depth),
        growth: if symmetric { Growth::Symmetric } else { Growth::LeafWise },
        min_child_samples: settings.min_child_samples,
        gradient_precision: if symmetric { GradientPrecision::Pair8 } else { job.contender.parse()? },
        seed: settings.seed,
        ..Params::default()
    })
}

/// Returns the result of some work and the seconds it took.
pub(super) fn watched<R>(work: impl FnOnce() -> R) -> (R, Seconds) {
    let (start, before) = (Instant::now(), cpu_seconds());
    let result = work();
    (result, Seconds { wall: start.elapsed().as_secs_f64(), cpu: cpu_seconds() - before })
}

/// Returns the CPU time of all threads of this process.
#[cfg(unix)]
fn cpu_seconds() -> f64 {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

/// Returns the CPU time of all threads of this process, which is unknown on this system.
#[cfg(not(unix))]
fn cpu_seconds() -> f64 {
    0.0
}

/// Returns a field of `/proc/self/status` in bytes, or `None` on systems without it.
fn bytes_of(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gbdt::table::Source;
    use crate::measure::Pace;
    use crate::scratch::Scratch;

    #[test]
    fn every_contender_of_ours_does_its_job() {
        let folder = Scratch::new("ours").expect("a folder");
        let mut table = Source::all(None)[0].load(Pace::Quick).expect("a table");
        for rows in [&mut table.train, &mut table.held] {
            rows.targets.truncate(3000);
            rows.features.truncate(3000 * table.columns);
        }
        table.write(folder.folder()).expect("room");
        for contender in ["f32", "pair8", "pair4", "symmetric"] {
            let mut settings = crate::gbdt::settings(Pace::Quick);
            settings.rounds = 3;
            let job = Job {
                contender: contender.into(),
                folder: folder.folder().to_owned(),
                objective: table.objective,
                categorical: vec![],
                threads: 1,
                settings,
                predict_training_rows: false,
                predict_seconds: 0.0,
                scores: folder.file("scores.npy"),
            };
            let line = run(&serde_json::to_string(&job).expect("json")).expect("an answer");
            let answer = Answer::parse(&line).expect("a line");
            assert!(answer.train.wall > 0.0 && answer.bin.is_some(), "{contender}: {answer:?}");
            let scores = array::read_wide(&job.scores).expect("scores");
            assert_eq!(scores.len(), 3000);
            assert!(scores.iter().any(|score| *score != scores[0]), "{contender} learned nothing");
        }
    }

    #[test]
    fn a_job_without_its_fields_is_an_error() {
        assert!(run("{}").is_err());
    }
}
