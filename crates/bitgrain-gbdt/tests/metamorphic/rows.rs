//! Rows that are repeated, weighted, removed or reordered.
//!
//! Gradients of the absolute loss are integers, and leaf values are medians, so sums are exact in any order.

use bitgrain_gbdt::train::Params;
use proptest::prelude::*;

use crate::cases;
use crate::table::{OBJECTIVES, Random, Table, any_precision, params};

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn the_order_of_rows_does_not_matter_where_sums_are_exact(seed: u64, squared: bool) {
        let mut random = Random::new(seed);
        let mut table = Table::of_integers(&mut random);
        let mut params = params(&mut random);
        if squared {
            // The base score is an integer, and so is every gradient of the first round.
            let n_rows = table.n_rows() & !1;
            table = table.rows(&(0..n_rows).collect::<Vec<_>>());
            table.weights = None;
            for row in 0..n_rows / 2 {
                table.targets[n_rows - 1 - row] = 8.0 - table.targets[row];
            }
            params = Params { n_estimators: 1, ..params };
        }
        let mut order: Vec<usize> = (0..table.n_rows()).collect();
        (1..order.len()).rev().for_each(|last| order.swap(last, random.below(last + 1)));
        let other = table.rows(&order);
        let objective = if squared { "squared" } else { "absolute" };
        let here = table.predictions(&table.trained(&params, objective));
        let there = other.predictions(&other.trained(&params, objective));
        let want: Vec<f64> = order.iter().map(|&row| here[row]).collect();
        prop_assert!(there == want, "{objective}, {params:?}");
    }

    #[test]
    fn an_integer_weight_equals_repeated_rows(seed: u64) {
        let mut random = Random::new(seed);
        let mut table = Table::of_integers(&mut random);
        let params = params(&mut random);
        // Categories are smoothed by estimated row counts, so they are removed. Rows of weight 0 determine whether a
        // feature has missing values, which takes one of its bins; they are excluded where bins are scarce.
        table.categorical.clear();
        let least = usize::from(table.n_rows() > 250);
        let times: Vec<usize> =
            (0..table.n_rows()).map(|row| if row == 0 { 1 } else { least + random.below(3) }).collect();
        table.weights = None;
        let rows: Vec<usize> = (0..table.n_rows()).flat_map(|row| std::iter::repeat_n(row, times[row])).collect();
        let repeated = table.rows(&rows);
        table.weights = Some(times.iter().map(|&times| times as f32).collect());
        let heavy = table.predictions(&table.trained(&params, "absolute"));
        let there = repeated.predictions(&repeated.trained(&params, "absolute"));
        let want: Vec<f64> = rows.iter().map(|&row| heavy[row]).collect();
        prop_assert!(there == want, "{params:?}");
    }

    #[test]
    fn threads_change_no_bit(seed: u64, which in 0_usize..9) {
        let mut random = Random::new(seed);
        let (table, params) = (Table::new(&mut random, OBJECTIVES[which]), any_precision(&mut random));
        let trained = |threads: usize| on_threads(threads, || table.trained(&params, OBJECTIVES[which]));
        prop_assert!(trained(1) == trained(3), "{}, {params:?}", OBJECTIVES[which]);
    }
}
