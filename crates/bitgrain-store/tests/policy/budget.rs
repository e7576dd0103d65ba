//! The budget: a total size, and the least error within it.

use bitgrain_store::Tier::{self, B4, B6, Cold, F16, Hot, Lossless, Warm};
use bitgrain_store::policy::{
    Candidate, CapState, PolicyConfig, Preset, Reason, TierBounds, Usage, estimated_bytes, plan,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::world::{DAY, START, tensor};

fn read(tier: Tier, bytes: u64, accesses: u64) -> Candidate {
    let usage = Usage { accesses, last: START, window: 1, ema: 0.1 };
    Candidate { usage, bytes, changed_at: START - DAY, ..tensor(tier) }
}

fn targets(budget: u64, tensors: &[Candidate], now: u64) -> (Vec<Tier>, u64) {
    let made = plan(&PolicyConfig::budget(budget), now, tensors.iter().copied(), &CapState::default());
    let mut tiers: Vec<Tier> = tensors.iter().map(|c| c.stored).collect();
    for m in &made.moves {
        assert_eq!(m.reason, Reason::Budget);
        assert!(m.tier > tiers[m.index], "a move never adds bits");
        tiers[m.index] = m.tier;
    }
    assert!(made.wanted_tiers.is_empty());
    (tiers, made.over_budget)
}

fn total(tensors: &[Candidate], tiers: &[Tier]) -> u64 {
    tensors.iter().zip(tiers).map(|(c, tier)| estimated_bytes(c.bytes, c.stored, *tier)).sum()
}

#[test]
fn nothing_moves_while_everything_fits_however_old_it_is() {
    let tensors = [read(Hot, 680, 1), read(F16, 1280, 0), read(Cold, 280, 0)];
    assert_eq!(targets(2240, &tensors, START + 300 * DAY), (vec![Hot, F16, Cold], 0));
}

#[test]
fn what_is_read_less_gives_up_its_bits_first() {
    let tensors = [read(Hot, 680, 1000), read(Hot, 680, 10), read(Hot, 680, 0)];
    let (tiers, over) = targets(1800, &tensors, START);
    assert_eq!((tiers[0], over), (Hot, 0));
    assert!(tiers[2] > tiers[1], "{tiers:?}");
    // Reads fade: after a year, the tensor that was read last week matters more.
    let mut old = tensors;
    (old[0].usage.last, old[1].usage.last) = (START - 365 * DAY, START);
    let (tiers, _) = targets(1800, &old, START);
    assert!(tiers[0] > tiers[1], "{tiers:?}");
}

#[test]
fn new_data_is_left_alone_until_its_reads_are_known() {
    let mut tensors = [read(Hot, 680, 100), read(Hot, 680, 1)];
    tensors[1].changed_at = START - DAY + 1;
    assert_eq!(targets(1300, &tensors, START), (vec![Warm, Hot], 0));
    assert_eq!(targets(1300, &tensors, START + 1), (vec![Hot, Warm], 0));
    // Data that a tick re-encoded before is not new.
    tensors[1] = Candidate { changed_at: START, ..read(B6, 520, 1) };
    assert_eq!(targets(1050, &tensors, START), (vec![Hot, B4], 0));
}

#[test]
fn heads_do_not_shrink_with_the_bits() {
    let head = |overhead| Candidate { bytes: 640 + overhead, overhead, ..read(Hot, 0, 1) };
    assert_eq!(targets(560 + 100, &[head(100)], START), (vec![Warm], 0));
    assert_eq!(targets(560 + 99, &[head(100)], START), (vec![B6], 0));
    assert_eq!(targets(0, &[head(100)], START), (vec![Cold], 240 + 100));
}

#[test]
fn limits_hold_and_the_rest_is_reported() {
    let mut tensors = [read(Hot, 680, 0), read(Hot, 680, 0), read(Lossless, 2560, 0), read(F16, 1280, 0)];
    tensors[0].pinned = Some(Warm);
    tensors[1].max_error = Some(0.1);
    tensors[1].bounds = TierBounds::new([0.0, 0.01, 0.02, 0.03, 0.1, 0.2, 0.3, 0.4, 0.0]);
    let (tiers, over) = targets(0, &tensors, START);
    assert_eq!(tiers, [Warm, B6, Lossless, Cold]);
    assert_eq!(over, total(&tensors, &tiers));
    let least = PolicyConfig { least_tier: B4, ..PolicyConfig::budget(0) };
    let made = plan(&least, START, tensors, &CapState::default());
    assert_eq!(made.moves.iter().find(|m| m.index == 3).map(|m| m.tier), Some(B4));
}

#[test]
fn presets_have_names_and_the_default_is_careful() {
    assert_eq!(Preset::default().config(), PolicyConfig::default());
    assert_eq!((PolicyConfig::careful().least_tier, PolicyConfig::adr019().least_tier), (B6, Cold));
    for preset in [Preset::Careful, Preset::Adr019, Preset::Budget(0), Preset::Budget(u64::MAX)] {
        assert_eq!(preset.to_string().parse(), Ok(preset));
        assert!(preset.config().check().is_ok());
    }
    for wrong in ["", "Careful", "budget", "budget:", "budget:-1", "budget:1x"] {
        assert!(wrong.parse::<Preset>().is_err(), "{wrong}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_plan_fits_and_no_exchange_of_bits_lowers_the_error_of_reads(
        tensors in vec((0..1000_u64, 1..100_u64, 0..5_usize), 1..12), share in 25..100_u64,
    ) {
        // Blocks of 64 values, so that estimates are exact; some were re-encoded before.
        let tensors: Vec<Candidate> = tensors
            .iter()
            .map(|&(accesses, blocks, at)| read(LADDER[at], blocks * block_bytes(LADDER[at]), accesses))
            .collect();
        let all: u64 = tensors.iter().map(|c| c.bytes).sum();
        let budget = all * share / 100;
        let (tiers, over) = targets(budget, &tensors, START);
        let size = total(&tensors, &tiers);
        let floor = total(&tensors, &vec![Cold; tensors.len()]);
        prop_assert_eq!(over, size.saturating_sub(budget));
        prop_assert!(over == 0 || size == floor);
        let cost = |tiers: &[Tier]| -> f64 { tensors.iter().zip(tiers).map(|(c, tier)| weighted_error(c, *tier)).sum() };
        let now = cost(&tiers);
        let step = |i: usize, by: isize| {
            let at = LADDER.iter().position(|t| *t == tiers[i]).expect("codes");
            let tier = *LADDER.get(at.checked_add_signed(by)?)?;
            (tier >= tensors[i].stored).then_some((i, tier))
        };
        for up in (0..tensors.len()).filter_map(|i| step(i, -1)) {
            let downs = (0..tensors.len()).filter(|i| *i != up.0).filter_map(|i| step(i, 1)).map(Some);
            for down in downs.chain([None]) {
                let mut other = tiers.clone();
                other[up.0] = up.1;
                if let Some((i, tier)) = down {
                    other[i] = tier;
                }
                let better = total(&tensors, &other) <= budget && cost(&other) < now * (1.0 - 1e-8);
                prop_assert!(!better, "{other:?} is better than {tiers:?} for {tensors:?} in {budget}");
            }
        }
    }
}

const LADDER: [Tier; 6] = [Hot, Warm, B6, Tier::WarmAggressive, B4, Cold];

fn block_bytes(tier: Tier) -> u64 {
    4 + 8 * u64::from(tier.bits())
}

/// Returns the error of reads of a tensor at `tier`: errors of successive encodings add up.
fn weighted_error(c: &Candidate, tier: Tier) -> f64 {
    let error = |tier: Tier| 0.5 / f64::from((1 << (tier.bits() - 1)) - 1);
    let encoded = if tier == c.stored { 0.0 } else { error(tier) };
    (c.usage.accesses.saturating_sub(1) as f64 + 0.125) * (error(c.stored) + encoded)
}
