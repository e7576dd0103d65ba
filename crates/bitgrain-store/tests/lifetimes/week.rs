//! A week of skewed reads under each policy, compared with the table in `docs/guide/keep-tensors.md`.

use std::sync::Arc;

use bitgrain_store::policy::{PolicyConfig, Preset};
use bitgrain_store::storage::simulated::{Dice, SimulatedDisk};
use bitgrain_store::{StoreConfig, TensorStore};

use super::{DAY, MINUTE, MONDAY, distance, values, with_clock};

const GUIDE: &str = include_str!("../../../../docs/guide/keep-tensors.md");
const TENSORS: usize = 500;
const COUNT: usize = 384;
const TICK: u64 = 10 * MINUTE;
const READS_PER_TICK: usize = 20;
/// A bit more than half of the size at 8 bits.
const BUDGET: u64 = 130_000;

/// Costs and errors of a week.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Week {
    /// Size of the tensors in bytes at the end.
    bytes: u64,
    /// Mean over all reads of the largest error, relative to the tensor's largest value.
    error_per_read: f64,
    worst_read: f64,
    /// Largest error of a tensor at the end, read or not.
    worst_tensor: f64,
    moves: usize,
}

fn week(policy: PolicyConfig) -> Week {
    let (clock, config) = with_clock();
    let store = TensorStore::open_on(Arc::new(SimulatedDisk::default()), StoreConfig { policy, ..config });
    let store = store.expect("opens");
    let originals: Vec<Vec<f32>> = (0..TENSORS as u64).map(|seed| values(seed, COUNT)).collect();
    for (id, original) in (0_u128..).zip(&originals) {
        store.put(id, &[COUNT], original).expect("put");
    }
    let largest = |id: usize| originals[id].iter().fold(0.0_f32, |max, value| max.max(value.abs()));
    let mut dice = Dice::new(7);
    let (mut sum, mut reads, mut worst_read, mut moves) = (0.0, 0.0, 0.0_f64, 0);
    for tick in 1..=7 * DAY / TICK {
        clock.set(MONDAY + tick * TICK);
        for _ in 0..READS_PER_TICK {
            // Zipf's law, approximately: the first tensor is read half as often again as the second.
            let share = dice.below(1 << 20) as f64 / f64::from(1 << 20);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to the number of tensors")]
            let id = ((TENSORS as f64 + 1.0).powf(share) as usize).clamp(1, TENSORS) - 1;
            let read = store.get(id as u128).expect("there");
            let error = distance(&originals[id], &read.values);
            assert!(error <= read.provenance.bound, "{id}: {error} with {:?}", read.provenance);
            let relative = f64::from(error / largest(id));
            (sum, reads, worst_read) = (sum + relative, reads + 1.0, worst_read.max(relative));
        }
        moves += store.tick(MONDAY + tick * TICK).expect("ticks").moves.len();
    }
    let bytes = store.scan(None).map(|meta| meta.expect("readable").stored_bytes).sum();
    let snapshot = store.snapshot();
    let off =
        |id: usize| f64::from(distance(&originals[id], &snapshot.get(id as u128).expect("there").values) / largest(id));
    let worst_tensor = (0..TENSORS).map(off).fold(0.0, f64::max);
    Week { bytes, error_per_read: sum / reads, worst_read, worst_tensor, moves }
}

#[test]
fn the_policies_cost_in_a_week_what_the_guide_says() {
    let adr019 = week(PolicyConfig::adr019());
    let others = [Preset::Careful, Preset::Budget(BUDGET), Preset::Budget(adr019.bytes)];
    let [careful, budget, equal] = others.map(|preset| week(preset.config()));
    let [_, second, third] = others;
    let weeks = [(Preset::Adr019, adr019), (Preset::Careful, careful), (second, budget), (third, equal)];
    // What each policy is for.
    assert!(careful.worst_tensor < 0.03, "{careful:?}");
    assert!(adr019.bytes < careful.bytes && adr019.error_per_read > careful.error_per_read, "{weeks:?}");
    assert!(budget.bytes <= BUDGET + BUDGET / 100, "{budget:?}");
    assert!(budget.error_per_read < adr019.error_per_read, "{weeks:?}");
    // At the size that ADR-019 reaches, the error of reads must be less.
    assert!(equal.bytes <= adr019.bytes && equal.error_per_read < adr019.error_per_read, "{weeks:?}");
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let row = |(preset, week): &(Preset, Week)| {
        let [error, worst, end] = [week.error_per_read, week.worst_read, week.worst_tensor].map(percent);
        [format!("`{preset}`"), week.bytes.to_string(), error, worst, end, week.moves.to_string()]
    };
    let found: Vec<_> = weeks.iter().map(row).collect();
    let header =
        "| policy | bytes | error per read | largest error of a read | largest error of a tensor at the end | moves |";
    let rows = GUIDE.lines().skip_while(|line| *line != header).skip(2).take_while(|line| line.starts_with('|'));
    let written: Vec<Vec<String>> =
        rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect();
    let table: String = found.iter().map(|row| format!("| {} |\n", row.join(" | "))).collect();
    assert!(written == found, "the guide should say:\n{header}\n|---|---|---|---|---|---|\n{table}");
}
