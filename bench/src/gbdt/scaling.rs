//! `--scaling`: training on 1, 2 and 8 threads and two trainings at once, with loops, waiting and serial time as
//! counted by the training itself.

use std::error::Error;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use bitgrain::gbdt::feature::{Features, Quantizer};
use bitgrain::gbdt::gradient::GradientPrecision;
use bitgrain::gbdt::objective;
use bitgrain::gbdt::train::{Dataset, PROJECTED_CORES, Params, Phase, TeamUsage, Trainer};
use serde_json::{Value, json};

use super::job::Seconds;
use super::ours::watched;
use super::sheet::digits;
use super::table::{Source, Table, thousands};
use crate::machine::Machine;
use crate::measure::Pace;
use crate::report::{Figure, Finding, Report, Sheet, Verdict};

/// Rows, columns and rounds of each table, cut from the first generated table.
const TABLES: [(usize, usize, usize); 4] = [(1_000_000, 28, 10), (100_000, 28, 40), (30_000, 8, 100), (5_000, 8, 100)];

/// Numbers of threads. The last is above the number of cores of most machines that run this.
const THREADS: [usize; 3] = [1, 2, 8];

const PRECISIONS: [GradientPrecision; 2] = [GradientPrecision::F32, GradientPrecision::Pair8];

/// Rows from which two threads must be 1.8 times as fast as one.
const LARGE: usize = 100_000;

/// Best of several runs with one number of threads.
struct Run {
    took: Seconds,
    usage: TeamUsage,
}

/// Measurements of a table in one precision.
struct Measured {
    label: String,
    rows: usize,
    trees: usize,
    precision: GradientPrecision,
    /// For each of [`THREADS`].
    runs: Vec<Run>,
    /// Seconds of two trainings at once, on two threads each.
    at_once: f64,
}

/// Measures all tables.
///
/// # Errors
/// Returns an error if a table cannot be generated or trained on.
pub(super) fn run(pace: Pace) -> io::Result<Report> {
    let table = Source::all(None)[0].load(pace)?;
    let mut measured = Vec::new();
    for (rows, columns, rounds) in TABLES {
        let rows = if pace == Pace::Quick { rows / 10 } else { rows };
        for precision in PRECISIONS {
            eprintln!("training on {rows} × {columns}, {precision}");
            let found = measure(&table, (rows, columns, rounds), precision, pace).map_err(io::Error::other)?;
            measured.push(found);
        }
    }
    let mut sheets = vec![threads(&measured), loops(&measured)];
    sheets.extend(measured.iter().filter(|m| m.precision == PRECISIONS[0]).map(phases));
    Ok(Report {
        suite: "gbdt",
        title: "Scaling of boosting",
        intro: intro(pace),
        pace,
        options: vec!["--scaling"],
        machine: Machine::read(),
        facts: vec![("Cores", thread::available_parallelism().map_or(1, usize::from).to_string())],
        tables: Vec::new(),
        sheets,
        judged: judge(&measured),
    })
}

fn intro(pace: Pace) -> String {
    format!(
        "Training of trees with 63 leaves in one process, on rows of the first table of the suite `gbdt`. Times are \
         those of the fastest of {} runs. A *loop* is a piece of work that all threads share; at its end the training \
         thread waits for the others, so the number of loops is the number of synchronizations. *Serial* is the time \
         of the training thread outside loops, on one thread.",
        repetitions(pace),
    )
}

const fn repetitions(pace: Pace) -> usize {
    match pace {
        Pace::Full => 3,
        Pace::Quick => 2,
    }
}

type Failure = Box<dyn Error + Send + Sync>;

fn measure(
    table: &Table,
    (rows, columns, rounds): (usize, usize, usize),
    precision: GradientPrecision,
    pace: Pace,
) -> Result<Measured, Failure> {
    let values: Vec<f32> =
        table.train.features.chunks_exact(table.columns).take(rows).flat_map(|row| &row[..columns]).copied().collect();
    let features = Features::row_major(&values[..], rows, columns)?;
    let mut data = Dataset::new(&features, table.train.targets[..rows].to_vec(), None, &Quantizer::default())?;
    let mut runs: Vec<Option<Run>> = THREADS.map(|_| None).into();
    let mut at_once = f64::INFINITY;
    let mut other = data.clone();
    // Thread counts alternate, so that a machine that slows down affects all of them.
    for _ in 0..repetitions(pace) {
        for (best, threads) in runs.iter_mut().zip(THREADS) {
            let (usage, took) = watched(|| train(&mut data, threads, rounds, precision));
            let usage = usage?;
            if best.as_ref().is_none_or(|best| took.wall < best.took.wall) {
                *best = Some(Run { took, usage });
            }
        }
        let start = Instant::now();
        thread::scope(|scope| {
            let second = scope.spawn(|| train(&mut other, 2, rounds, precision));
            train(&mut data, 2, rounds, precision)?;
            second.join().map_err(|_| "a training panicked")?
        })?;
        at_once = at_once.min(start.elapsed().as_secs_f64());
    }
    let label = format!("{} × {columns}", thousands(rows));
    Ok(Measured { label, rows, trees: rounds, precision, runs: runs.into_iter().flatten().collect(), at_once })
}

fn train(
    data: &mut Dataset,
    threads: usize,
    rounds: usize,
    precision: GradientPrecision,
) -> Result<TeamUsage, Failure> {
    let params = Params { n_estimators: rounds, num_leaves: 63, gradient_precision: precision, ..Params::default() };
    let trainer = Trainer::new(params, objective::by_name("binary")?);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    Ok(pool.install(|| trainer.train(data))?.team)
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

impl Measured {
    fn name(&self) -> Vec<String> {
        vec![self.label.clone(), self.precision.to_string()]
    }

    fn speedup(&self) -> f64 {
        self.runs[0].took.wall / self.runs[1].took.wall
    }

    fn cpu_ratio(&self) -> f64 {
        self.runs[1].took.cpu / self.runs[0].took.cpu
    }

    /// Share of serial time on one thread.
    fn serial(&self) -> f64 {
        seconds(self.runs[0].usage.serial()) / seconds(self.runs[0].usage.total)
    }

    /// Speedup by Amdahl's law.
    fn amdahl(&self, cores: usize) -> f64 {
        1.0 / (self.serial() + (1.0 - self.serial()) / cores as f64)
    }

    /// Speedup if every loop also takes at least as long as its longest task.
    fn projected(&self) -> impl Iterator<Item = f64> {
        let usage = self.runs[0].usage;
        usage.projected.into_iter().map(move |loops| seconds(usage.total) / seconds(usage.serial() + loops))
    }

    fn per_tree(&self, loops: usize) -> f64 {
        loops as f64 / self.trees as f64
    }

    fn value(&self) -> Value {
        let run = |(run, threads): (&Run, usize)| {
            let all = run.usage.all();
            json!({
                "threads": threads, "started": run.usage.threads, "wall": run.took.wall, "cpu": run.took.cpu,
                "loops_per_tree": self.per_tree(all.loops), "waiting": seconds(all.waiting),
                "serial": seconds(run.usage.serial()),
            })
        };
        json!({
            "table": self.label, "precision": self.precision.to_string(), "at_once": self.at_once,
            "runs": self.runs.iter().zip(THREADS).map(run).collect::<Vec<_>>(),
            "amdahl": PROJECTED_CORES.map(|cores| self.amdahl(cores)), "projected": self.projected().collect::<Vec<_>>(),
        })
    }
}

fn threads(measured: &[Measured]) -> Sheet {
    let header = [
        "table",
        "precision",
        "1 thread, s (CPU)",
        "2 threads, s (CPU)",
        "speedup",
        "CPU ratio",
        "8 threads / 2 threads",
        "two at once / one",
    ];
    let mut cells = vec![header.map(str::to_owned).to_vec()];
    for found in measured {
        let [one, two, eight] = [0, 1, 2].map(|at| found.runs[at].took);
        let both = |took: Seconds| format!("{} ({})", digits(took.wall), digits(took.cpu));
        let mut row = found.name();
        row.extend([
            both(one),
            both(two),
            format!("{:.2}×", found.speedup()),
            format!("{:.2}", found.cpu_ratio()),
            format!("{:.2}", eight.wall / two.wall),
            format!("{:.2}", found.at_once / two.wall),
        ]);
        cells.push(row);
    }
    let note = "Eight threads ask for more than a small machine has: a training starts at most as many threads as the \
                process may use cores. *Two at once* are two trainings in one process, each on two threads; on two \
                cores, 2.0 means that they do not disturb each other."
        .to_owned();
    Sheet {
        title: "Threads".to_owned(),
        note,
        cells,
        value: json!(measured.iter().map(Measured::value).collect::<Vec<_>>()),
    }
}

fn loops(measured: &[Measured]) -> Sheet {
    let mut header =
        ["table", "precision", "loops per tree", "µs per loop", "waiting", "serial"].map(str::to_owned).to_vec();
    header.extend(PROJECTED_CORES.map(|cores| format!("Amdahl, {cores} cores")));
    header.extend(PROJECTED_CORES.map(|cores| format!("longest tasks, {cores} cores")));
    let mut cells = vec![header];
    for found in measured {
        let (one, two) = (&found.runs[0].usage, &found.runs[1].usage);
        let mut row = found.name();
        row.extend([
            format!("{:.0}", found.per_tree(one.all().loops)),
            digits(seconds(two.all().in_loops) / two.all().loops.max(1) as f64 * 1e6),
            format!("{:.1} %", 100.0 * seconds(two.all().waiting) / seconds(two.total)),
            format!("{:.2} %", 100.0 * found.serial()),
        ]);
        row.extend(PROJECTED_CORES.map(|cores| format!("{:.1}×", found.amdahl(cores))));
        row.extend(found.projected().map(|speedup| format!("{speedup:.1}×")));
        cells.push(row);
    }
    let note = "Time per loop and waiting are measured on two threads, serial time on one. *Amdahl* is the largest \
                speedup that the serial share allows. *Longest tasks* also counts that a loop takes at least as long \
                as its longest task; both leave out memory bandwidth and the costs of synchronization."
        .to_owned();
    Sheet { title: "Synchronizations".to_owned(), note, cells, value: Value::Null }
}

fn phases(found: &Measured) -> Sheet {
    let header = ["phase", "loops per tree", "1 thread", "2 threads", "waiting, 2 threads", "CPU ratio"];
    let mut cells = vec![header.map(str::to_owned).to_vec()];
    let (one, two) = (&found.runs[0].usage, &found.runs[1].usage);
    let share = |part: Duration, usage: &TeamUsage| format!("{:.1} %", 100.0 * seconds(part) / seconds(usage.total));
    for phase in Phase::ALL {
        let (of_one, of_two) = (one.phase(phase), two.phase(phase));
        if of_one.loops > 0 {
            cells.push(vec![
                phase.name().to_owned(),
                digits(found.per_tree(of_one.loops)),
                share(of_one.in_loops, one),
                share(of_two.in_loops, two),
                share(of_two.waiting, two),
                format!("{:.2}", seconds(of_two.busy) / seconds(of_one.busy)),
            ]);
        }
    }
    let serial = vec!["serial".to_owned(), "–".to_owned(), share(one.serial(), one), share(two.serial(), two)];
    cells.push([serial, vec!["–".to_owned(), "–".to_owned()]].concat());
    let note =
        "Shares of the duration of the training. A loop with both large and small nodes counts as histograms. The \
                CPU ratio compares the time in tasks on two threads with that on one: above 1, the threads slow each \
                other down through caches and memory."
            .to_owned();
    Sheet { title: format!("Phases, {}, {}", found.label, found.precision), note, cells, value: Value::Null }
}

fn judge(measured: &[Measured]) -> Vec<Verdict> {
    let name = |found: &Measured| format!("{}, {}", found.label, found.precision);
    let findings = |wanted: &dyn Fn(&Measured) -> bool, value: &dyn Fn(&Measured) -> f64| {
        measured.iter().filter(|found| wanted(found)).map(|found| Finding::new(name(found), value(found))).collect()
    };
    let large = |found: &Measured| found.rows >= LARGE;
    let verdicts = [
        (
            "Threads, at least 100,000 rows",
            Figure::ratio("2 threads", "1 thread").at_least(1.8),
            findings(&large, &Measured::speedup),
        ),
        (
            "Threads, 30,000 rows",
            Figure::ratio("2 threads", "1 thread").at_least(1.5),
            findings(&|found| found.rows == 30_000, &Measured::speedup),
        ),
        (
            "Threads, any table",
            Figure::ratio("2 threads", "1 thread").at_least(1.0),
            findings(&|_| true, &Measured::speedup),
        ),
        (
            "CPU time, at least 100,000 rows",
            Figure::ratio("1 thread", "2 threads").at_least(1.0 / 1.1),
            findings(&large, &|found| 1.0 / found.cpu_ratio()),
        ),
        (
            "More threads than cores",
            Figure::ratio("8 threads", "2 threads").at_least(1.0 / 1.15),
            findings(&|_| true, &|found| found.runs[1].took.wall / found.runs[2].took.wall),
        ),
    ];
    verdicts.into_iter().filter_map(|(table, figure, findings)| Verdict::new(table, figure, findings)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_table_is_measured_on_all_thread_counts() {
        let mut table = Source::all(None)[0].load(Pace::Quick).expect("a table");
        table.train.targets.truncate(3000);
        let found = measure(&table, (3000, 8, 3), GradientPrecision::F32, Pace::Quick).expect("trained");
        assert_eq!(found.runs.len(), THREADS.len());
        assert!(found.per_tree(found.runs[0].usage.all().loops) > 3.0);
        assert!(found.serial() > 0.0 && found.serial() < 1.0);
        assert!(found.amdahl(64) >= found.amdahl(8) && found.amdahl(8) >= 1.0);
        let cells = phases(&found).cells;
        assert!(cells.iter().all(|row| row.len() == cells[0].len()), "{cells:?}");
        assert!([threads(&[found])].iter().all(|sheet| sheet.cells[1].len() == sheet.cells[0].len()));
    }
}
