//! Columns that are scaled, mapped, added, duplicated or reordered.

use bitgrain_gbdt::train::{Growth, Params};
use proptest::prelude::*;

use crate::cases;
use crate::table::{OBJECTIVES, Random, Table, any_precision, params};

/// Maps values monotonically, to random distances.
fn stretched(column: &[f32], random: &mut Random) -> Vec<f32> {
    let mut values: Vec<f32> = column.iter().copied().filter(|value| !value.is_nan()).collect();
    values.sort_unstable_by(f32::total_cmp);
    values.dedup();
    let mut at = -1000.0_f32;
    let mapped: Vec<f32> = values
        .iter()
        .map(|_| {
            at += [0.125, 1.0, 50.0][random.below(3)];
            at
        })
        .collect();
    let map = |value: &f32| values.iter().position(|other| other == value).map_or(f32::NAN, |at| mapped[at]);
    column.iter().map(map).collect()
}

fn add_constant_and_repeated_columns(seed: u64, which: usize) -> Result<(), TestCaseError> {
    let mut random = Random::new(seed);
    let objective = OBJECTIVES[which];
    let (table, params) = (Table::new(&mut random, objective), any_precision(&mut random));
    let mut more = table.clone();
    let constant = [0.0, 1e30, f32::NAN, f32::INFINITY][random.below(4)];
    more.columns.insert(0, vec![constant; table.n_rows()]);
    more.categorical.iter_mut().for_each(|at| *at += 1);
    // Ties go to the first feature, so never to the copy.
    let copy = random.below(more.columns.len());
    if more.categorical.contains(&copy) {
        more.categorical.push(more.columns.len());
    }
    more.columns.push(more.columns[copy].clone());
    let here = table.predictions(&table.trained(&params, objective));
    prop_assert!(more.predictions(&more.trained(&params, objective)) == here, "{objective}, {params:?}");
    Ok(())
}

fn reorder_columns(seed: u64) -> Result<(), TestCaseError> {
    let mut random = Random::new(seed);
    let mut table = Table::new(&mut random, "squared");
    // With noise, splits tie only if their columns partition the rows identically.
    table.targets.iter_mut().for_each(|target| *target += random.unit() as f32);
    // In symmetric trees, columns may tie and still differ in nodes that are too small to gain anything.
    let growth = [Growth::LeafWise, Growth::DepthWise][random.below(2)];
    let mut params = Params { growth, ..params(&mut random) };
    // Leaves of single rows at a learning rate of 1 fit exactly: the next residuals are rounding errors, which tie.
    if params.learning_rate == 1.0 {
        params.n_estimators = 1;
    }
    let mut order: Vec<usize> = (0..table.columns.len()).collect();
    (1..order.len()).rev().for_each(|last| order.swap(last, random.below(last + 1)));
    let mut other = table.clone();
    other.columns = order.iter().map(|&at| table.columns[at].clone()).collect();
    other.categorical = (0..order.len()).filter(|&at| table.categorical.contains(&order[at])).collect();
    let here = table.predictions(&table.trained(&params, "squared"));
    let there = other.predictions(&other.trained(&params, "squared"));
    // Tied columns may partition rows of weight 0 differently.
    let counts = |row: usize| table.weights.as_ref().is_none_or(|weights| weights[row] > 0.0);
    let counted = here.iter().zip(&there).enumerate().filter(|(row, _)| counts(*row));
    let far = counted.map(|(_, (a, b))| (a - b).abs()).fold(0.0, f64::max);
    prop_assert!(far < 1e-4, "{order:?}, {params:?}: {far}");
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn the_order_of_values_is_all_that_counts(seed: u64, which in 0..OBJECTIVES.len(), power in -20_i32..20) {
        let mut random = Random::new(seed);
        let (mut table, params) = (Table::new(&mut random, OBJECTIVES[which]), any_precision(&mut random));
        // Cuts ignore rows of weight 0, whose values lie between them and may change sides.
        table.weights.iter_mut().flatten().for_each(|weight| *weight += 0.5);
        let mut mapped = table.clone();
        for at in (0..table.columns.len()).filter(|at| !table.categorical.contains(at)) {
            let by_factor = random.one_in(2) && table.columns[at].iter().all(|value| value.is_nan() || value.abs() > 1e-25 || *value == 0.0);
            mapped.columns[at] = match by_factor {
                true => table.columns[at].iter().map(|value| value * 2.0_f32.powi(power)).collect(),
                false => stretched(&table.columns[at], &mut random),
            };
        }
        let objective = OBJECTIVES[which];
        let here = table.predictions(&table.trained(&params, objective));
        prop_assert!(mapped.predictions(&mapped.trained(&params, objective)) == here, "{objective}, {params:?}");
    }

    #[test]
    fn constant_and_repeated_columns_change_nothing(seed: u64, which in 0..OBJECTIVES.len()) {
        add_constant_and_repeated_columns(seed, which)?;
    }

    #[test]
    fn the_order_of_columns_does_not_matter_where_no_splits_tie(seed: u64) {
        reorder_columns(seed)?;
    }
}

/// The missing-value bin of the added column holds all rows, and its sum differs from the node's by a rounding error.
#[test]
fn a_column_without_values_changes_nothing_if_children_may_have_zero_weight() {
    add_constant_and_repeated_columns(18_431_600_212_762_593_623, 4).expect("the same predictions");
}
