//! The budget: a total size, and the least error within it.

use bitgrain_store::Tier::{self, B4, B6, Cold, F16, Hot, Lossless, Warm};
use bitgrain_store::policy::{
    Candidate, CapState, PolicyConfig, Preset, Reason, TierBounds, Usage, estimated_bytes, plan,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::world::{DAY, HOUR, START, tensor};

fn read(tier: Tier, bytes: u64, accesses: u64) -> Candidate {
    let usage = Usage { accesses, last: START, window: 1, ema: 0.1 };
    Candidate { usage, bytes, changed_at: START - 2 * HOUR, ..tensor(tier) }
}

fn targets(budget: u64, tensors: &[Candidate], now: u64) -> (Vec<Tier>, u64) {
    let made = plan(&PolicyConfig::budget(budget), now, tensors.iter().copied(), &CapState::default());
    let mut tiers: Vec<Tier> = tensors.iter().map(|c| c.stored).collect();
    for m in &made.moves {
        assert_eq!(m.reason, Reason::Budget);
        assert!(m.tier > tiers[m.index], "a move never adds bits");
        tiers[m.index] = m.tier;
    }
    assert!(made.wishes.is_empty());
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
    tensors[1].changed_at = START - 2 * HOUR + 1;
    assert_eq!(targets(1300, &tensors, START), (vec![Warm, Hot], 0));
    assert_eq!(targets(1300, &tensors, START + 1), (vec![Hot, Warm], 0));
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
    fn a_plan_fits_and_no_exchange_of_a_step_is_better(
        tensors in vec((0..1000_u64, 1..100_u64), 1..12), share in 35..100_u64,
    ) {
        // Blocks of 64 values, so that estimates are exact.
        let tensors: Vec<Candidate> = tensors.iter().map(|&(accesses, blocks)| read(Hot, 68 * blocks, accesses)).collect();
        let all: u64 = tensors.iter().map(|c| c.bytes).sum();
        let budget = all * share / 100;
        let (tiers, over) = targets(budget, &tensors, START);
        let size = total(&tensors, &tiers);
        let floor = total(&tensors, &vec![Cold; tensors.len()]);
        prop_assert_eq!(over, size.saturating_sub(budget));
        prop_assert!(over == 0 || size == floor);
        // A step down costs the more error per byte the lower the tier: no tensor went further than another one would
        // have to go for a lower price.
        let error = |tier: Tier| (0.5 / f64::from((1 << (tier.bits() - 1)) - 1)).powi(2);
        let ladder = [Hot, Warm, B6, Tier::WarmAggressive, B4, Cold];
        let at = |tier: Tier| ladder.iter().position(|t| *t == tier).expect("codes");
        let price = |c: &Candidate, from: usize| {
            let reads = (c.usage.accesses as f64).max(1.0 / 1024.0);
            let saved = estimated_bytes(c.bytes, Hot, ladder[from]) - estimated_bytes(c.bytes, Hot, ladder[from + 1]);
            reads * (error(ladder[from + 1]) - error(ladder[from])) / saved as f64
        };
        for (a, &low) in tensors.iter().zip(&tiers).filter(|(_, tier)| **tier > Hot) {
            let paid = price(a, at(low) - 1);
            for (b, &high) in tensors.iter().zip(&tiers).filter(|(_, tier)| **tier < Cold) {
                prop_assert!(paid <= price(b, at(high)) * (1.0 + 1e-9), "{a:?} at {low:?}, {b:?} at {high:?}");
            }
        }
    }
}
