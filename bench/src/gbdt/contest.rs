//! One table on one number of threads: the contenders run alternately, each run in a separate process.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bitgrain::gbdt::metric::{self, MetricInput};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::array;
use super::contender::{CONTENDERS, Contender, SYMMETRIC_RIVAL, Side, Starter, YARDSTICK};
use super::job::{Answer, Job, Objective, Seconds};
use super::ledger::Ledger;
use crate::data::{Random, SEED};

/// Competitors slower than the fastest by this factor run only once.
const FAR_BEHIND: f64 = 1.5;

/// Maximum relative quality deficit for equal quality.
const AS_GOOD: f64 = 0.001;

/// Number of runs per contender.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    pub(super) repetitions: usize,
    /// Time after which no further repetition starts.
    pub(super) budget: Duration,
}

/// Result of a contest.
pub(super) struct Contest {
    /// Title, such as `binary, 1 thread`.
    pub(super) title: String,
    pub(super) objective: Objective,
    pub(super) judged: bool,
    /// Whether prediction is timed on as many rows as its target requires.
    pub(super) predicts_many: bool,
    pub(super) entries: Vec<Entry>,
    /// Failed contenders and their errors.
    pub(super) failures: Vec<(Contender, String)>,
}

/// Medians of a contender's runs.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Entry {
    #[serde(skip)]
    pub(super) contender: Contender,
    pub(super) version: String,
    pub(super) runs: usize,
    pub(super) bin: Option<Seconds>,
    pub(super) train: Seconds,
    pub(super) predict: Seconds,
    pub(super) peak_bytes: Option<u64>,
    /// Quality on the validation rows: area under the ROC curve, or root mean squared error.
    pub(super) quality: f64,
}

impl Entry {
    fn new(contender: Contender, answers: &[Answer], quality: f64) -> Option<Self> {
        let all = |of: &dyn Fn(&Answer) -> Seconds| Seconds {
            wall: median(answers.iter().map(|answer| of(answer).wall).collect()),
            cpu: median(answers.iter().map(|answer| of(answer).cpu).collect()),
        };
        let first = answers.first()?;
        let mut peaks: Vec<u64> = answers.iter().filter_map(|answer| answer.peak_bytes).collect();
        peaks.sort_unstable();
        Some(Self {
            contender,
            version: first.version.clone(),
            runs: answers.len(),
            bin: first.bin.map(|_| all(&|answer| answer.bin.unwrap_or(answer.train))),
            train: all(&|answer| answer.train),
            predict: all(&|answer| answer.predict),
            peak_bytes: peaks.get(peaks.len() / 2).copied(),
            quality,
        })
    }
}

impl Contest {
    /// Returns the entry of a contender, if it finished.
    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.contender.key == key)
    }

    /// Returns the relative quality advantage of an entry over the reference; negative if worse.
    pub(super) fn gain(&self, entry: &Entry) -> Option<f64> {
        let (found, wanted) = (entry.quality, self.entry(YARDSTICK)?.quality);
        let better = if self.objective == Objective::Binary { found - wanted } else { wanted - found };
        Some(better / wanted)
    }

    /// Returns whether an entry has equal quality.
    pub(super) fn has_equal_quality(&self, entry: &Entry) -> bool {
        self.gain(entry).is_some_and(|gain| gain >= -AS_GOOD)
    }

    /// Returns the competitor of equal quality that trains fastest.
    pub(super) fn fastest_rival(&self) -> Option<&Entry> {
        self.fastest(|contender| contender.side == Side::Rival)
    }

    /// Returns the fastest of some contenders of equal quality.
    pub(super) fn fastest(&self, of: impl Fn(Contender) -> bool) -> Option<&Entry> {
        let good = self.entries.iter().filter(|entry| of(entry.contender) && self.has_equal_quality(entry));
        good.min_by(|a, b| a.train.wall.total_cmp(&b.train.wall))
    }
}

/// A run with the quality of its model.
#[derive(Serialize, Deserialize)]
struct Done {
    answer: Answer,
    quality: f64,
    /// Duration of the whole process.
    seconds: f64,
}

/// Runs every contender repeatedly, within the time budget.
pub(super) fn run(
    starter: &Starter,
    ledger: &Ledger,
    job: &Job,
    targets: &[f32],
    effort: Effort,
    contest: &mut Contest,
) {
    let mut spent = Duration::ZERO;
    let (mut answers, mut quality) = (BTreeMap::<&str, Vec<Answer>>::new(), BTreeMap::<&str, Vec<f64>>::new());
    let mut order = CONTENDERS.to_vec();
    let mut random = Random::new(SEED);
    for repetition in 0..effort.repetitions.max(1) {
        if repetition > 0 && spent > effort.budget {
            break;
        }
        // A new random order each time, so that no contender always follows the same predecessor.
        order.sort_by_cached_key(|_| random.next());
        for &contender in &order {
            if contest.failures.iter().any(|(failed, _)| *failed == contender) || is_much_slower(contest, contender) {
                continue;
            }
            eprintln!("measuring {}: {}, run {}", contest.title, contender.key, repetition + 1);
            let mut job = Job { contender: contender.key.to_owned(), ..job.clone() };
            job.settings.seed = repetition as u64 + 1;
            let key = json!({ "table": contest.title, "contender": contender.key, "settings": job.settings });
            let done = ledger.result(&key, || {
                let start = Instant::now();
                let answer = starter.run(contender.side, &job)?;
                Ok(Done { answer, quality: measure(&job, targets)?, seconds: start.elapsed().as_secs_f64() })
            });
            match done {
                Ok(done) => {
                    eprintln!("  trained in {:.2} s, quality {:.4}", done.answer.train.wall, done.quality);
                    spent += Duration::from_secs_f64(done.seconds.clamp(0.0, 1e6));
                    answers.entry(contender.key).or_default().push(done.answer);
                    quality.entry(contender.key).or_default().push(done.quality);
                }
                Err(why) => {
                    eprintln!("continuing without {}: {why}", contender.key);
                    contest.failures.push((contender, why));
                }
            }
        }
        let entry = |contender: &Contender| {
            let answers = answers.get(contender.key)?;
            Entry::new(*contender, answers, median(quality.get(contender.key)?.clone()))
        };
        contest.entries = CONTENDERS.iter().filter_map(entry).collect();
    }
}

/// Returns whether further runs of a competitor cannot change any result.
fn is_much_slower(contest: &Contest, contender: Contender) -> bool {
    let needed = contender.side != Side::Rival || [YARDSTICK, SYMMETRIC_RIVAL].contains(&contender.key);
    let fastest = contest.fastest_rival().map(|entry| entry.train.wall);
    let own = contest.entry(contender.key).map(|entry| entry.train.wall);
    !needed && own.zip(fastest).is_some_and(|(own, fastest)| own > fastest * FAR_BEHIND)
}

/// Measures the quality of the scores of a run, with the same code for all contenders.
fn measure(job: &Job, targets: &[f32]) -> Result<f64, String> {
    let predictions = array::read_wide(&job.scores).map_err(|e| e.to_string())?;
    let _ = std::fs::remove_file(&job.scores);
    let name = if job.objective == Objective::Binary { "auc" } else { "rmse" };
    let targets: Vec<f64> = targets.iter().map(|&target| f64::from(target)).collect();
    let data = MetricInput { targets: &targets, weights: None, predictions: &predictions, groups: None };
    metric::by_name(name).and_then(|metric| metric.evaluate(&data)).map_err(|e| e.to_string())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns an entry with these seconds of binning, training and prediction, megabytes and quality.
    pub(in super::super) fn entry(key: &str, [bin, train, predict, peak, quality]: [f64; 5]) -> Entry {
        let contender = CONTENDERS.into_iter().find(|contender| contender.key == key).expect("a contender");
        let took = |wall| Seconds { wall, cpu: wall };
        Entry {
            contender,
            version: "1.0".into(),
            runs: 3,
            bin: Some(took(bin)),
            train: took(train),
            predict: took(predict),
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small integers")]
            peak_bytes: Some(peak as u64 * 1_000_000),
            quality,
        }
    }

    pub(in super::super) fn contest(objective: Objective, entries: Vec<Entry>) -> Contest {
        let title = "made up, 1 thread".into();
        Contest { title, objective, judged: true, predicts_many: true, entries, failures: vec![] }
    }

    #[test]
    fn a_fast_rival_of_lower_quality_is_not_the_fastest() {
        let entries = vec![
            entry("lightgbm", [1.0, 20.0, 1.0, 100.0, 0.8]),
            entry("lightgbm-quantized", [1.0, 16.0, 1.0, 100.0, 0.7993]),
            entry("catboost", [1.0, 10.0, 1.0, 100.0, 0.7991]),
        ];
        let contest = contest(Objective::Binary, entries);
        assert_eq!(contest.fastest_rival().map(|entry| entry.contender.key), Some("lightgbm-quantized"));
    }

    #[test]
    fn a_lower_error_is_better() {
        let entries = vec![
            entry("lightgbm", [1.0, 20.0, 1.0, 100.0, 2.0]),
            entry("catboost", [1.0, 10.0, 1.0, 100.0, 2.1]),
            entry("pair8", [1.0, 5.0, 1.0, 100.0, 1.9]),
        ];
        let contest = contest(Objective::Squared, entries);
        assert_eq!(contest.fastest_rival().map(|entry| entry.contender.key), Some("lightgbm"));
        let ours = contest.entry("pair8").expect("it is there");
        assert!(contest.has_equal_quality(ours) && (contest.gain(ours).expect("a yardstick") - 0.05).abs() < 1e-12);
    }

    #[test]
    fn slow_rivals_run_once_and_ours_always_run() {
        let entries = vec![
            entry("lightgbm", [1.0, 20.0, 1.0, 100.0, 0.8]),
            entry("scikit-learn", [1.0, 31.0, 1.0, 100.0, 0.8]),
            entry("xgboost-lossguide", [1.0, 29.0, 1.0, 100.0, 0.8]),
            entry("catboost", [1.0, 99.0, 1.0, 100.0, 0.8]),
            entry("f32", [1.0, 99.0, 1.0, 100.0, 0.8]),
        ];
        let contest = contest(Objective::Binary, entries);
        let resting: Vec<_> = CONTENDERS.iter().filter(|c| is_much_slower(&contest, **c)).map(|c| c.key).collect();
        assert_eq!(resting, ["scikit-learn"]);
    }

    #[test]
    fn an_entry_is_the_median_of_its_runs() {
        let answer = |wall: f64, peak| Answer {
            version: "1.0".into(),
            bin: None,
            train: Seconds { wall, cpu: 10.0 - wall },
            predict: Seconds { wall, cpu: wall },
            peak_bytes: peak,
        };
        let answers = [answer(3.0, Some(5)), answer(1.0, Some(7)), answer(2.0, Some(6))];
        let entry = Entry::new(CONTENDERS[0], &answers, 0.5).expect("runs");
        assert_eq!((entry.runs, entry.bin, entry.peak_bytes), (3, None, Some(6)));
        assert_eq!(entry.train, Seconds { wall: 2.0, cpu: 8.0 });
        assert!(Entry::new(CONTENDERS[0], &[], 0.5).is_none());
    }
}
