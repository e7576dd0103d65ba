//! `Column`: named numbers or strings.

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Name, unique in the table.
    pub name: String,
    /// Values.
    pub data: ColumnData,
}

/// Values of a column. NaN and [`StringColumn::MISSING`] are missing.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnData {
    /// Numbers that are exact in f32, or that the reader was asked to round.
    F32(Vec<f32>),
    /// Numbers that are not exact in f32.
    F64(Vec<f64>),
    /// Strings.
    Strings(StringColumn),
}

/// Dictionary-encoded strings.
///
/// ```
/// use bitgrain_gbdt::table::StringColumn;
/// let text = StringColumn::new([Some("b"), None, Some("a"), Some("b")]);
/// assert_eq!(text.labels, ["a", "b"]); // sorted
/// assert_eq!(text.codes, [1, StringColumn::MISSING, 0, 1]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StringColumn {
    /// Code of each row, or [`MISSING`](Self::MISSING).
    pub codes: Vec<u32>,
    /// Distinct strings in ascending order; code `i` is `labels[i]`.
    pub labels: Vec<String>,
}

impl StringColumn {
    /// Code of a missing string.
    pub const MISSING: u32 = u32::MAX;

    /// Encodes strings.
    pub fn new<'a>(strings: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut words = super::words::Words::default();
        strings.into_iter().for_each(|text| words.push(text));
        words.finish()
    }

    /// Returns the string of a row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&str> {
        self.labels.get(*self.codes.get(row)? as usize).map(String::as_str)
    }
}

impl ColumnData {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Strings(text) => text.codes.len(),
        }
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the values of a numeric column.
    #[must_use]
    pub fn numbers(&self) -> Option<Box<dyn Iterator<Item = f64> + '_>> {
        match self {
            Self::F32(values) => Some(Box::new(values.iter().map(|value| f64::from(*value)))),
            Self::F64(values) => Some(Box::new(values.iter().copied())),
            Self::Strings(_) => None,
        }
    }
}
