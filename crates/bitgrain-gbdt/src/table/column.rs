//! A column: its name, and numbers or texts.

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, unique in the table.
    pub name: String,
    /// Its values.
    pub data: ColumnData,
}

/// The values of a column. NaN, and [`Text::MISSING`], are missing.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnData {
    /// Numbers that f32 holds exactly, or that the reader was asked to round.
    F32(Vec<f32>),
    /// Numbers that it does not.
    F64(Vec<f64>),
    /// Texts.
    Text(Text),
}

/// Texts as codes of the different ones there are.
///
/// ```
/// use bitgrain_gbdt::table::Text;
/// let text = Text::new([Some("b"), None, Some("a"), Some("b")]);
/// assert_eq!(text.labels, ["a", "b"]); // sorted, whatever came first
/// assert_eq!(text.codes, [1, Text::MISSING, 0, 1]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// The code of each row's text, or [`MISSING`](Self::MISSING).
    pub codes: Vec<u32>,
    /// The text of each code, ascending.
    pub labels: Vec<String>,
}

impl Text {
    /// The code of a row without text.
    pub const MISSING: u32 = u32::MAX;

    /// Texts as a column holds them.
    pub fn new<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut words = super::words::Words::default();
        texts.into_iter().for_each(|text| words.push(text));
        words.finish()
    }

    /// The text of a row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&str> {
        self.labels.get(*self.codes.get(row)? as usize).map(String::as_str)
    }
}

impl ColumnData {
    /// Rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text(text) => text.codes.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers of a numeric column.
    #[must_use]
    pub fn numbers(&self) -> Option<Box<dyn Iterator<Item = f64> + '_>> {
        match self {
            Self::F32(values) => Some(Box::new(values.iter().map(|value| f64::from(*value)))),
            Self::F64(values) => Some(Box::new(values.iter().copied())),
            Self::Text(_) => None,
        }
    }
}
