//! Targets that are shifted, scaled, far away or close together.

use bitgrain_gbdt::train::Params;
use proptest::prelude::*;

use crate::cases;
use crate::table::{OBJECTIVES, Random, Table, any_precision, params};

/// Losses that depend on the residual only.
const OF_RESIDUALS: [&str; 4] = ["squared", "absolute", "quantile:0.25", "huber:0.9"];

fn shift_targets(seed: u64, which: usize, offset: f32) -> Result<(), TestCaseError> {
    let mut random = Random::new(seed);
    let (mut table, params) = (Table::new(&mut random, "squared"), params(&mut random));
    // Fifteen fractional bits: the shifted targets are exact in f32, too, and few of their sums tie.
    table.targets.iter_mut().for_each(|target| *target = (*target * 32_768.0).round() / 32_768.0);
    let mut shifted = table.clone();
    shifted.targets.iter_mut().for_each(|target| *target += offset);
    let objective = OF_RESIDUALS[which];
    let here = table.predictions(&table.trained(&params, objective));
    let there = shifted.predictions(&shifted.trained(&params, objective));
    let far = here.iter().zip(&there).map(|(a, b)| (b - f64::from(offset) - a).abs()).fold(0.0, f64::max);
    // Residuals are f32, and base scores are means that round differently.
    prop_assert!(far < 1e-4, "{objective}, {params:?}: {far}");
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn shifted_targets_shift_predictions_where_no_splits_tie(
        seed: u64,
        which in 0_usize..4,
        offset in prop_oneof![Just(1.0_f32), Just(-16.0), Just(64.0)],
    ) {
        shift_targets(seed, which, offset)?;
    }

    #[test]
    fn targets_times_a_power_of_two_scale_predictions_to_the_bit(seed: u64, which in 0_usize..4, power in -60_i32..60) {
        let mut random = Random::new(seed);
        let factor = 2.0_f32.powi(power);
        let table = Table::new(&mut random, "squared");
        let params = Params { reg_lambda: 0.0, ..params(&mut random) };
        let mut scaled = table.clone();
        scaled.targets.iter_mut().for_each(|target| *target *= factor);
        let name = |delta: f64| if which == 3 { format!("huber@{delta}") } else { OF_RESIDUALS[which].to_owned() };
        let here = table.predictions(&table.trained(&params, &name(0.875)));
        let there = scaled.predictions(&scaled.trained(&params, &name(0.875 * f64::from(factor))));
        let want: Vec<f64> = here.iter().map(|value| value * f64::from(factor)).collect();
        prop_assert!(there == want, "{}, {params:?}, 2^{power}: {there:?} {want:?}", name(0.875));
    }

    #[test]
    fn targets_of_any_size_are_learned_without_overflow(seed: u64, which in 0..OBJECTIVES.len(), power in -100_i32..100) {
        let mut random = Random::new(seed);
        let objective = OBJECTIVES[which];
        let (mut table, params) = (Table::new(&mut random, objective), any_precision(&mut random));
        if !["binary", "multiclass:3", "cross_entropy", "focal:2"].contains(&objective) {
            table.targets.iter_mut().for_each(|target| *target *= 2.0_f32.powi(power));
        }
        if objective == "huber:0.9" || table.targets.iter().any(|&target| target > 0.0) {
            table.trained(&params, objective);
        }
    }
}

/// The base score of the shifted targets was off by 1e-10, which reversed the choice between two nearly equal splits.
#[test]
fn the_base_score_of_the_huber_loss_keeps_its_digits_far_from_zero() {
    shift_targets(13_207_919_246_011_442_929, 3, 64.0).expect("the same trees");
}
