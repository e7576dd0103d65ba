//! Summary statistics of a column.

use super::{Column, ColumnData, StringColumn};

/// Summary statistics of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Summary {
    /// A numeric column.
    Numbers {
        /// Number of missing values.
        missing: usize,
        /// Minimum and maximum; `None` if all values are missing.
        range: Option<(f64, f64)>,
        /// Sum of the values, including infinities.
        sum: f64,
        /// Whether all values are integers.
        integer: bool,
        /// Size of a value in bytes.
        bytes: usize,
    },
    /// A column of strings.
    Strings {
        /// Number of missing values.
        missing: usize,
        /// Distinct strings with their number of rows, most frequent first.
        counts: Vec<(String, usize)>,
    },
}

impl Column {
    /// Computes summary statistics.
    ///
    /// ```
    /// use bitgrain_gbdt::table::{Column, ColumnData, Summary};
    /// let column = Column { name: "n".into(), data: ColumnData::F32(vec![2.0, f32::NAN, 5.0]) };
    /// let numbers = Summary::Numbers { missing: 1, range: Some((2.0, 5.0)), sum: 7.0, integer: true, bytes: 4 };
    /// assert_eq!(column.summary(), numbers);
    /// ```
    #[must_use]
    pub fn summary(&self) -> Summary {
        match &self.data {
            ColumnData::Strings(text) => strings(text),
            ColumnData::F32(values) => numbers(values.iter().map(|value| f64::from(*value)), size_of::<f32>()),
            ColumnData::F64(values) => numbers(values.iter().copied(), size_of::<f64>()),
        }
    }
}

fn numbers(values: impl Iterator<Item = f64>, bytes: usize) -> Summary {
    let (mut missing, mut range, mut sum, mut integer) = (0, None, 0.0, true);
    for value in values {
        if value.is_nan() {
            missing += 1;
            continue;
        }
        let (low, high): (f64, f64) = range.unwrap_or((value, value));
        range = Some((low.min(value), high.max(value)));
        sum += value;
        integer &= value.fract() == 0.0;
    }
    Summary::Numbers { missing, range, sum, integer, bytes }
}

fn strings(text: &StringColumn) -> Summary {
    let mut counts: Vec<(String, usize)> = text.labels.iter().map(|label| (label.clone(), 0)).collect();
    let mut missing = 0;
    for code in &text.codes {
        match counts.get_mut(*code as usize) {
            Some((_, count)) => *count += 1,
            None => missing += 1,
        }
    }
    // The sort is stable: equally frequent strings stay in ascending order.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Summary::Strings { missing, counts }
}
