//! Every field has a range; a value outside is rejected with the name of the field.

use std::time::Duration;

use bitgrain_store::Tier;
use bitgrain_store::policy::{PolicyConfig, PolicyError};

/// Returns the field that `check` rejects after `change`, if any.
fn refused(change: impl FnOnce(&mut PolicyConfig)) -> Option<&'static str> {
    let mut config = PolicyConfig::default();
    change(&mut config);
    match config.check() {
        Ok(()) => None,
        Err(
            PolicyError::Number { field, .. } | PolicyError::Time { field, .. } | PolicyError::NoData { field, .. },
        ) => Some(field),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn the_defaults_are_sound_and_those_of_the_decision() {
    let config = PolicyConfig::default();
    assert_eq!(config.check(), Ok(()));
    assert_eq!(config.warm_byte_cap, 64 * 1024 * 1024);
    assert_eq!((config.absent_min_score, config.absent_age_threshold), (1.0, Duration::from_secs(86_400)));
    assert_eq!((config.warm_hysteresis, config.warm_downgrade_interval), (0.2, Duration::from_secs(60)));
    assert_eq!(config.weight_ema + config.weight_recency + config.weight_window, 1024.0);
}

#[test]
fn numbers_outside_their_range_are_rejected_by_name() {
    type Field = fn(&mut PolicyConfig) -> &mut f32;
    let fields: [(&str, Field, f32, f32); 9] = [
        ("ema_weight", |c| &mut c.ema_weight, 0.001, 1.0),
        ("weight_ema", |c| &mut c.weight_ema, 27.0, 512.0),
        ("weight_recency", |c| &mut c.weight_recency, 0.0, 256.0),
        ("weight_window", |c| &mut c.weight_window, 0.0, 256.0),
        ("hot_min", |c| &mut c.hot_min, 64.0, 972.8),
        ("warm_min", |c| &mut c.warm_min, 2.0, 512.0),
        ("score_hysteresis", |c| &mut c.score_hysteresis, 0.0, 0.98),
        ("absent_min_score", |c| &mut c.absent_min_score, 0.0, 51.2),
        ("warm_hysteresis", |c| &mut c.warm_hysteresis, 0.0, 0.99),
    ];
    for (name, field, low, high) in fields {
        assert_eq!(refused(|c| *field(c) = low), None, "{name} {low}");
        assert_eq!(refused(|c| *field(c) = high), None, "{name} {high}");
        for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.001, 1025.0] {
            assert!(refused(|c| *field(c) = wrong).is_some(), "{name} {wrong}");
        }
    }
    // If no other field is involved, the error names the field itself.
    assert_eq!(refused(|c| c.ema_weight = 0.0), Some("ema_weight"));
    assert_eq!(refused(|c| c.score_hysteresis = 1.0), Some("score_hysteresis"));
    assert_eq!(refused(|c| c.warm_hysteresis = 1.0), Some("warm_hysteresis"));
    assert_eq!(refused(|c| c.absent_min_score = 51.3), Some("absent_min_score"));
    assert_eq!(refused(|c| c.warm_min = 512.1), Some("warm_min"));
    assert_eq!(refused(|c| c.hot_min = 973.0), Some("hot_min"));
    assert_eq!(refused(|c| c.weight_window = 256.1), Some("weight_window"));
    assert_eq!(refused(|c| c.weight_recency = 512.1), Some("weight_recency"));
}

#[test]
fn times_outside_their_range_are_rejected_by_name() {
    type Field = fn(&mut PolicyConfig) -> &mut Duration;
    let (century, tick) = (Duration::from_secs(100 * 365 * 86_400), Duration::from_millis(1));
    let fields: [(&str, Field, Duration); 5] = [
        ("period", |c| &mut c.period, tick),
        ("recency_half_life", |c| &mut c.recency_half_life, tick),
        ("residency", |c| &mut c.residency, Duration::ZERO),
        ("absent_age_threshold", |c| &mut c.absent_age_threshold, Duration::ZERO),
        ("warm_downgrade_interval", |c| &mut c.warm_downgrade_interval, Duration::ZERO),
    ];
    for (name, field, low) in fields {
        assert_eq!(refused(|c| *field(c) = low), None, "{name}");
        assert_eq!(refused(|c| *field(c) = century), None, "{name}");
        assert_eq!(refused(|c| *field(c) = century + tick), Some(name));
        if !low.is_zero() {
            assert_eq!(refused(|c| *field(c) = low - Duration::from_nanos(1)), Some(name));
        }
    }
}

#[test]
fn the_first_tier_must_have_data() {
    assert_eq!(refused(|c| c.first_tier = Tier::Absent), Some("first_tier"));
    Tier::ALL[..5].iter().for_each(|tier| assert_eq!(refused(|c| c.first_tier = *tier), None));
}

#[test]
fn an_error_says_what_to_write_instead() {
    let text = |config: PolicyConfig| config.check().expect_err("a wrong field").to_string();
    let warm = PolicyConfig { warm_min: 600.0, ..PolicyConfig::default() };
    assert_eq!(text(warm), "warm_min 600 is out of range: it must be in 0..=512");
    let period = PolicyConfig { period: Duration::ZERO, ..PolicyConfig::default() };
    assert_eq!(text(period), "period 0ns is out of range: it must be in 1ms..=3153600000s");
    let first = PolicyConfig { first_tier: Tier::Absent, ..PolicyConfig::default() };
    assert_eq!(text(first), "invalid first_tier `absent`: choose a tier with data");
}
