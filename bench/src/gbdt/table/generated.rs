//! Seeded tables with interactions, nonlinear functions, steps and noise.

use super::{Objective, Rows, Table};
use crate::data::{Random, SEED};
use crate::measure::Pace;

/// Parameters of a generated table.
pub(crate) struct Recipe {
    name: &'static str,
    about: &'static str,
    objective: Objective,
    columns: usize,
    /// Number of training rows; the validation set has a fifth as many.
    rows: usize,
    predict_training_rows: bool,
    /// Fills a row and returns its target.
    row: fn(&mut Random, &mut [f32]) -> f32,
}

/// The generated tables.
pub(crate) static RECIPES: [Recipe; 6] = [
    Recipe {
        name: "binary",
        about: "Two classes; twenty normal features, four rounded to multiples of 0.5, two binary, two of noise; 10 \
                % of the values of three features are missing.",
        objective: Objective::Binary,
        columns: 28,
        rows: 1_000_000,
        predict_training_rows: true,
        row: binary,
    },
    Recipe {
        name: "regression",
        about: "Target from 20 of 100 normal features, with noise of standard deviation 1.",
        objective: Objective::Squared,
        columns: 100,
        rows: 100_000,
        predict_training_rows: false,
        row: regression,
    },
    Recipe {
        name: "wide",
        about: "Two classes from 56 of 500 features; half of the features have 2 to 14 distinct values.",
        objective: Objective::Binary,
        columns: 500,
        rows: 100_000,
        predict_training_rows: false,
        row: wide,
    },
    Recipe {
        name: "tall",
        about: "Two classes from five normal features and two with 300 and 200 codes.",
        objective: Objective::Binary,
        columns: 7,
        rows: 2_400_000,
        predict_training_rows: false,
        row: tall,
    },
    Recipe {
        name: "medium",
        about: "Two classes from 22 normal features.",
        objective: Objective::Binary,
        columns: 22,
        rows: 128_000,
        predict_training_rows: false,
        row: medium,
    },
    Recipe {
        name: "small",
        about: "Target from five of eight normal features, with noise of standard deviation 0.5.",
        objective: Objective::Squared,
        columns: 8,
        rows: 32_000,
        predict_training_rows: false,
        row: small,
    },
];

impl Recipe {
    /// Generates the table, with the same values in every run. A quick run has a tenth of the rows.
    pub(crate) fn make(&self, pace: Pace) -> Table {
        let rows = if pace == Pace::Quick { self.rows / 10 } else { self.rows };
        let mut random = Random::new(SEED ^ self.columns as u64);
        let mut some = |count: usize| {
            let mut features = vec![0.0; count * self.columns];
            let targets = features.chunks_mut(self.columns).map(|row| (self.row)(&mut random, row)).collect();
            Rows { features, targets }
        };
        let (train, held) = (some(rows), some(rows / 5));
        Table {
            name: self.name,
            about: self.about,
            objective: self.objective,
            columns: self.columns,
            categorical: Vec::new(),
            train,
            held,
            judged: true,
            predict_training_rows: self.predict_training_rows,
        }
    }
}

fn binary(random: &mut Random, x: &mut [f32]) -> f32 {
    x.fill_with(|| random.normal());
    x[20..24].iter_mut().for_each(|value| *value = (*value * 2.0).round() / 2.0);
    x[24..26].iter_mut().for_each(|value| *value = f32::from(u8::from(*value > 0.3)));
    let curved = (2.0 * x[2]).sin() + 0.7 * x[3].abs() + 0.3 * x[7] * x[7];
    let together = x[0] * x[1] + 0.6 * x[24] * x[6] - if x[5] > 0.0 { 0.5 * x[4] } else { 0.0 };
    let score = curved + together + 0.4 * x[20] - 0.5 * x[8] - 1.0;
    for feature in [2, 9, 10] {
        if uniform(random) < 0.1 {
            x[feature] = f32::NAN;
        }
    }
    drawn(random, score)
}

fn regression(random: &mut Random, x: &mut [f32]) -> f32 {
    x.fill_with(|| random.normal());
    let curved = 5.0 * (x[0] * x[1]).sin() + 3.0 * (x[2] - 0.3) * (x[2] - 0.3);
    curved + 4.0 * x[3] + 2.0 * x[4] * x[5] + x[6..20].iter().sum::<f32>() + random.normal()
}

fn wide(random: &mut Random, x: &mut [f32]) -> f32 {
    x.fill_with(|| random.normal());
    for (i, value) in x.iter_mut().enumerate().skip(250) {
        let (stretched, values) = (value.abs() * (1 + i % 5) as f32, (2 + i % 13) as f32);
        *value = stretched.floor() % values;
    }
    let curved = x[0] * x[1] + (2.0 * x[2]).sin() + 0.7 * x[3].abs();
    drawn(random, curved + 0.3 * x[250] - 0.2 * x[300] + 0.1 * x[10..60].iter().sum::<f32>() - 0.5)
}

fn tall(random: &mut Random, x: &mut [f32]) -> f32 {
    x.fill_with(|| random.normal());
    for (feature, codes) in [(5, 300.0), (6, 200.0)] {
        x[feature] = (uniform(random) * codes).floor();
    }
    // Codes without an order.
    let of_codes = (x[5] * 2.399).sin() + 0.7 * (x[6] * 1.713).cos();
    drawn(random, x[0] * x[1] + (2.0 * x[2]).sin() + of_codes + if x[3] > 0.5 { x[4] } else { 0.0 })
}

fn medium(random: &mut Random, x: &mut [f32]) -> f32 {
    x.fill_with(|| random.normal());
    let curved = x[0] * x[1] + (2.0 * x[2]).sin() + 0.7 * x[3].abs() - 0.5 * x[4] * x[4];
    drawn(random, curved + 0.2 * x[5..15].iter().sum::<f32>())
}

fn small(random: &mut Random, x: &mut [f32]) -> f32 {
    x.fill_with(|| random.normal());
    x[0] * x[1] + 2.0 * (1.5 * x[2]).sin() + x[3].abs() - x[4] + 0.5 * random.normal()
}

/// Returns a uniform number from 0 to 1.
fn uniform(random: &mut Random) -> f32 {
    (random.next() >> 40) as f32 / (1_u32 << 24) as f32
}

/// Returns 1 with the probability given by a logistic score.
fn drawn(random: &mut Random, score: f32) -> f32 {
    f32::from(u8::from(uniform(random) < 1.0 / (1.0 + (-score).exp())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_similar_sizes_and_some_values_are_missing() {
        let table = RECIPES[0].make(Pace::Quick);
        let ones = table.train.targets.iter().sum::<f32>() / table.train.targets.len() as f32;
        let missing = table.train.features.iter().filter(|value| value.is_nan()).count();
        assert!((0.3..0.7).contains(&ones), "{ones}");
        let share = missing as f32 / table.train.targets.len() as f32;
        assert!((0.28..0.32).contains(&share), "{share} of a row");
        assert_eq!(table.size(), "100,000 × 28");
    }

    #[test]
    fn two_features_of_the_tall_table_are_codes() {
        let table = RECIPES[3].make(Pace::Quick);
        let most = |feature| table.train.features.chunks(7).map(|row| row[feature]).fold(0.0, f32::max);
        assert_eq!([most(5), most(6)], [299.0, 199.0]);
        let ones = table.held.targets.iter().sum::<f32>() / table.held.targets.len() as f32;
        assert!((0.3..0.7).contains(&ones), "{ones}");
    }

    #[test]
    fn half_of_the_wide_table_has_few_values() {
        let table = RECIPES[2].make(Pace::Quick);
        let mut values: Vec<f32> = table.train.features.chunks(500).map(|row| row[261]).collect();
        values.sort_by(f32::total_cmp);
        values.dedup();
        assert!(values.len() <= 14 && values.len() > 1, "{values:?}");
        let ones = table.held.targets.iter().sum::<f32>() / table.held.targets.len() as f32;
        assert!((0.3..0.7).contains(&ones), "{ones}");
    }
}
