//! The tables of `docs/guide/keep-tensors.md` match the code.

use std::time::Duration;

use bitgrain_store::Tier::{self, Absent, Cold, Hot, Warm};
use bitgrain_store::policy::PolicyConfig;

use crate::world::{DAY, HOUR, MINUTE, START, World, evicting};

const GUIDE: &str = include_str!("../../../../docs/guide/keep-tensors.md");

/// Returns the cells of the table with this header row.
fn table(header: &str) -> Vec<Vec<String>> {
    let rows = GUIDE.lines().skip_while(|line| *line != header).skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

fn time(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    if minutes.is_multiple_of(60) { format!("{} h", minutes / 60) } else { format!("{minutes} min") }
}

#[test]
fn the_settings_are_the_fields_with_their_defaults() {
    // Fields are listed by name, so that a new field does not compile until it is in the table.
    let PolicyConfig {
        period,
        ema_weight,
        recency_half_life,
        weight_ema,
        weight_recency,
        weight_window,
        hot_min,
        warm_min,
        score_hysteresis,
        residency,
        absent_min_score,
        absent_age_threshold,
        absent,
        first_tier,
        least_tier,
        budget,
        warm_byte_cap,
        warm_hysteresis,
        warm_downgrade_interval,
    } = PolicyConfig::default();
    let expected = [
        ("period", time(period)),
        ("ema_weight", ema_weight.to_string()),
        ("recency_half_life", time(recency_half_life)),
        ("weight_ema", weight_ema.to_string()),
        ("weight_recency", weight_recency.to_string()),
        ("weight_window", weight_window.to_string()),
        ("hot_min", hot_min.to_string()),
        ("warm_min", warm_min.to_string()),
        ("score_hysteresis", score_hysteresis.to_string()),
        ("residency", time(residency)),
        ("absent_min_score", absent_min_score.to_string()),
        ("absent_age_threshold", time(absent_age_threshold)),
        ("absent", format!("{absent:?}")),
        ("first_tier", first_tier.name().to_owned()),
        ("least_tier", least_tier.name().to_owned()),
        ("budget", budget.map_or("none".to_owned(), |bytes| bytes.to_string())),
        ("warm_byte_cap", format!("{} MiB", warm_byte_cap >> 20)),
        ("warm_hysteresis", warm_hysteresis.to_string()),
        ("warm_downgrade_interval", time(warm_downgrade_interval)),
    ];
    let written = table("| field | default | meaning |");
    let written: Vec<_> = written.iter().map(|row| (row[0].trim_matches('`'), row[1].clone())).collect();
    assert_eq!(written, expected);
}

#[test]
fn the_tiers_are_all_tiers_with_their_bits() {
    let written = table("| tier | bits | tensors |");
    let expected: Vec<_> = Tier::ALL.iter().map(|tier| [tier.name().to_owned(), tier.bits().to_string()]).collect();
    assert_eq!(written.iter().map(|row| row[..2].to_vec()).collect::<Vec<_>>(), expected);
}

/// Returns the hours from the last access to each tier, with one decimal.
fn hours_to(busy_until: u64) -> Vec<(Tier, String)> {
    let mut world = World::new(evicting());
    world.add(Hot, 1000, START);
    let last = START + busy_until;
    for minute in 0..(busy_until + 3 * DAY) / MINUTE {
        let now = START + minute * MINUTE;
        if now <= last {
            world.read(0, now);
        }
        world.tick(now);
    }
    let hours = |time| format!("{:.1} h", (time - last) as f64 / HOUR as f64);
    world.moved.iter().map(|m| (m.to, hours(m.time))).collect()
}

#[test]
fn an_idle_tensor_steps_down_at_the_times_in_the_guide() {
    let rows = table("| time since the last access | put once | used in every period before |");
    for (column, busy_until) in [(1, 0), (2, 3 * DAY)] {
        let written: Vec<_> =
            [Warm, Cold, Absent].into_iter().zip(rows.iter().map(|row| row[column].clone())).collect();
        assert_eq!(written, hours_to(busy_until));
    }
}
