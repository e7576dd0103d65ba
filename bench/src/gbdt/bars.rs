//! Targets of our contenders relative to the others in the same contest.

use super::contender::{SYMMETRIC_RIVAL, Side, YARDSTICK};
use super::contest::{Contest, Entry};
use crate::report::{Figure, Finding, Verdict};

/// Checks every target against the contests with targets. Targets whose contenders did not run are skipped.
pub(super) fn judge(contests: &[Contest]) -> Vec<Verdict> {
    type Ratio = fn(&Contest) -> Option<f64>;
    let bars: [(&str, Figure, Ratio); 6] = [
        ("Training", bar("the better of pair8 and pair4", "the fastest competitor", 2.0), |c| training(c, Side::Small)),
        ("Training", bar("f32", "the fastest competitor", 1.3), |c| training(c, Side::Full)),
        ("Binning", bar("bitgrain", "LightGBM", 2.0), |c| {
            worst(c, YARDSTICK, is_by_leaf, |entry| entry.bin.map(|bin| bin.wall))
        }),
        ("Memory", bar("LightGBM", "bitgrain", 2.0), |c| {
            worst(c, YARDSTICK, is_by_leaf, |entry| entry.peak_bytes.map(|bytes| bytes as f64))
        }),
        ("Prediction", bar("bitgrain", "LightGBM", 5.0), |c| {
            worst(c, YARDSTICK, is_by_leaf, |entry| Some(entry.predict.wall)).filter(|_| c.predicts_many)
        }),
        ("Prediction, symmetric trees", bar("bitgrain", "CatBoost", 1.0), |c| {
            worst(c, SYMMETRIC_RIVAL, |side| side == Side::Symmetric, |entry| Some(entry.predict.wall))
        }),
    ];
    let judged = |ratio: Ratio| {
        let contests = contests.iter().filter(|contest| contest.judged);
        contests.filter_map(|contest| Some(Finding::new(contest.title.clone(), ratio(contest)?))).collect()
    };
    bars.into_iter().filter_map(|(table, figure, ratio)| Verdict::new(table, figure, judged(ratio))).collect()
}

const fn bar(of: &'static str, to: &'static str, at_least: f64) -> Figure {
    Figure::ratio(of, to).at_least(at_least)
}

/// Returns the speedup of our fastest training over the fastest other library, both of equal quality. 0 if none of ours
/// reaches the quality of the reference: speed does not count then.
fn training(contest: &Contest, side: Side) -> Option<f64> {
    let rival = contest.fastest_rival()?.train.wall;
    contest.entries.iter().find(|entry| entry.contender.side == side)?;
    Some(contest.fastest(|contender| contender.side == side).map_or(0.0, |ours| rival / ours.train.wall))
}

fn is_by_leaf(side: Side) -> bool {
    matches!(side, Side::Full | Side::Small)
}

/// Returns the ratio of another library's cost to the highest cost of our contenders.
fn worst(
    contest: &Contest,
    rival: &str,
    ours: impl Fn(Side) -> bool,
    need: impl Fn(&Entry) -> Option<f64>,
) -> Option<f64> {
    let rival = need(contest.entry(rival)?)?;
    let ours = contest.entries.iter().filter(|entry| ours(entry.contender.side));
    ours.filter_map(need).max_by(f64::total_cmp).map(|most| rival / most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gbdt::contest::tests::{contest, entry};
    use crate::gbdt::job::Objective;

    /// Returns entries with seconds of binning, training and prediction, megabytes and quality.
    fn contenders() -> Vec<Entry> {
        vec![
            entry("f32", [1.0, 10.0, 0.2, 50.0, 0.8]),
            entry("pair8", [0.5, 8.0, 0.1, 40.0, 0.8]),
            entry("pair4", [0.5, 5.0, 0.1, 40.0, 0.79]),
            entry("symmetric", [0.5, 5.0, 0.05, 40.0, 0.79]),
            entry("lightgbm", [2.0, 20.0, 1.0, 100.0, 0.8]),
            entry("lightgbm-quantized", [2.0, 16.0, 1.0, 100.0, 0.8]),
            entry("catboost", [2.0, 7.0, 0.04, 200.0, 0.79]),
        ]
    }

    fn found(contest: Contest) -> Vec<(bool, String)> {
        judge(&[contest]).iter().map(|verdict| (verdict.met, verdict.finding())).collect()
    }

    #[test]
    fn speed_counts_only_at_equal_quality() {
        let verdicts = found(contest(Objective::Binary, contenders()));
        // pair4 is faster but less accurate, so pair8 counts. CatBoost is not the competitor to beat.
        assert_eq!(verdicts[0], (true, "worst 2.00× (made up, 1 thread)".into()));
        assert_eq!(verdicts[1], (true, "worst 1.60× (made up, 1 thread)".into()));
    }

    #[test]
    fn the_worst_of_our_entries_is_compared_with_lightgbm() {
        let verdicts = found(contest(Objective::Binary, contenders()));
        let met: Vec<bool> = verdicts.iter().map(|(met, _)| *met).collect();
        assert_eq!(met, [true, true, true, true, true, false]);
        assert_eq!(verdicts[2].1, "worst 2.00× (made up, 1 thread)");
        assert_eq!(verdicts[5].1, "1 of 1 rows below: 0.80× (made up, 1 thread)");
    }

    #[test]
    fn without_an_entry_of_equal_quality_the_target_is_missed() {
        let mut entries = contenders();
        entries[1].quality = 0.79;
        let verdicts = found(contest(Objective::Binary, entries));
        assert_eq!(verdicts[0], (false, "1 of 1 rows below: 0.00× (made up, 1 thread)".into()));
    }

    #[test]
    fn without_lightgbm_only_symmetric_trees_are_judged() {
        let entries = contenders().into_iter().filter(|entry| entry.contender.key != "lightgbm").collect();
        let tables: Vec<_> = judge(&[contest(Objective::Binary, entries)]).iter().map(|v| v.table).collect();
        assert_eq!(tables, ["Prediction, symmetric trees"]);
    }

    #[test]
    fn tables_too_small_are_not_judged() {
        let mut small = contest(Objective::Binary, contenders());
        small.judged = false;
        assert!(judge(&[small]).is_empty());
    }
}
