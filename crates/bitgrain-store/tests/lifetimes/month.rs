//! Thirty days of ordinary use with a tick every ten minutes, compared with the table in `docs/guide/keep-tensors.md`.

use std::collections::BTreeMap;
use std::sync::Arc;

use bitgrain_store::storage::simulated::SimulatedDisk;
use bitgrain_store::{TensorStore, Tier};

use super::{DAY, HOUR, MINUTE, MONDAY, distance, values, with_clock};

const GUIDE: &str = include_str!("../../../../docs/guide/keep-tensors.md");
const COUNT: usize = 1024;
const STEP: u64 = 10 * MINUTE;

/// Operations on a tensor in one step of ten minutes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Use {
    None,
    Read,
    Put,
    Append,
}

/// Name in the guide, and the operations for a weekday (0 is Monday) and a time of day.
type Pattern = (&'static str, fn(u64, u64, u64) -> Use);

const PATTERNS: [Pattern; 9] = [
    ("read in office hours, Monday to Friday", |_, weekday, time| {
        read(weekday < 5 && (9 * HOUR..17 * HOUR).contains(&time))
    }),
    ("read by a nightly job, Monday to Friday", |_, weekday, time| read(weekday < 5 && time == 2 * HOUR)),
    ("read at 9:00 and 9:40 every day", |_, _, time| read(time == 9 * HOUR || time == 9 * HOUR + 40 * MINUTE)),
    ("read by a weekly report", |_, weekday, time| read(weekday == 0 && time == 8 * HOUR)),
    ("read for two hours every fifth day", |day, _, time| read(day % 5 == 4 && (14 * HOUR..16 * HOUR).contains(&time))),
    ("read all day, every day", |_, _, _| Use::Read),
    ("put every morning, read hourly", |_, _, time| match time {
        t if t == 6 * HOUR => Use::Put,
        t => read(t.is_multiple_of(HOUR)),
    }),
    (
        "one frame appended every hour, never read",
        |_, _, time| if time.is_multiple_of(HOUR) { Use::Append } else { Use::None },
    ),
    ("put once, never read", |_, _, _| Use::None),
];

fn read(condition: bool) -> Use {
    if condition { Use::Read } else { Use::None }
}

/// Result of one pattern.
struct Lived {
    original: Vec<Vec<f32>>,
    /// Largest error of any read so far, relative to the largest value.
    worst: f32,
}

impl Lived {
    /// Compares a read with the values that were put or appended last.
    fn check(&mut self, read: &[f32], bound: f32, what: &str) {
        let original = self.original.last().expect("put before");
        let error = distance(read, original);
        let largest = original.iter().fold(0.0_f32, |max, value| max.max(value.abs()));
        assert!(read.iter().any(|value| *value != 0.0), "{what}: zeros");
        assert!(error <= bound, "{what}: {error} is above the recorded {bound}");
        self.worst = self.worst.max(error / largest);
    }
}

#[test]
fn a_month_of_ordinary_use_ends_with_the_bits_in_the_guide() {
    let (clock, config) = with_clock();
    let disk = SimulatedDisk::default();
    let mut store = TensorStore::open_on(Arc::new(disk.clone()), config.clone()).expect("opens");
    let mut lived: BTreeMap<&str, Lived> = BTreeMap::new();
    for (at, (name, _)) in (0..).zip(&PATTERNS) {
        let first = values(at, COUNT);
        if name.contains("frame") {
            store.append(*name, &[COUNT], &first, MONDAY).expect("appended");
        } else {
            store.put(*name, &[COUNT], &first).expect("put");
        }
        lived.insert(name, Lived { original: vec![first], worst: 0.0 });
    }
    for step in 1..30 * DAY / STEP {
        let now = MONDAY + step * STEP;
        let (day, time) = ((now - MONDAY) / DAY, now % DAY);
        clock.set(now);
        for (name, pattern) in &PATTERNS {
            let lived = lived.get_mut(name).expect("all were put");
            let next = || values(step * 100, COUNT);
            match pattern(day, day % 7, time) {
                Use::None => {}
                Use::Read => {
                    let tensor = store.get(*name).expect("readable");
                    lived.check(&tensor.values, tensor.provenance.bound, name);
                }
                Use::Put => {
                    lived.original = vec![next()];
                    let cost = store.put(*name, &[COUNT], &lived.original[0]).expect("put");
                    assert_eq!(cost.tier, Tier::Hot, "{name}");
                }
                Use::Append => {
                    lived.original.push(next());
                    let frame = store.append(*name, &[COUNT], &next(), now).expect("appended");
                    assert_eq!(frame.provenance.tier, Tier::Hot, "{name}");
                }
            }
        }
        store.tick(now).expect("ticks");
        if time == 0 {
            // Snapshot reads do not count as accesses. No tensor may ever be missing, whether it is used or not.
            let snapshot = store.snapshot();
            for (name, lived) in &mut lived {
                let tensor = snapshot.get(*name).expect("readable");
                lived.check(&tensor.values, tensor.provenance.bound, name);
            }
            if day % 7 == 6 {
                store.close().expect("closes");
                store = TensorStore::open_on(Arc::new(disk.clone()), config.clone()).expect("opens");
            }
        }
    }
    let frames = store.frames("one frame appended every hour, never read", 0..720).expect("all of them");
    let appended = &lived["one frame appended every hour, never read"].original;
    assert_eq!(frames.len(), appended.len());
    for (frame, original) in frames.iter().zip(appended) {
        assert!(distance(&frame.values, original) <= frame.provenance.bound, "frame {}", frame.index);
    }
    let row = |(name, _): &Pattern| {
        let meta = store.meta(*name).expect("there");
        let bytes = meta.stored_bytes / meta.frames.unwrap_or(1);
        let percent = lived[name].worst * 100.0;
        [(*name).to_owned(), meta.provenance.bits.to_string(), bytes.to_string(), format!("{percent:.1} %")]
    };
    let found: Vec<_> = PATTERNS.iter().map(row).collect();
    let header = "| use of a tensor of 1,024 values | bits after a month | bytes of 4,096 | largest error |";
    let rows = GUIDE.lines().skip_while(|line| *line != header).skip(2).take_while(|line| line.starts_with('|'));
    let written: Vec<Vec<String>> =
        rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect();
    let table: String = found.iter().map(|row| format!("| {} |\n", row.join(" | "))).collect();
    assert!(written == found, "the guide should say:\n{header}\n|---|---|---|---|\n{table}");
}
