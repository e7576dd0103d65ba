//! Matching of table columns to the features of a schema.

use std::collections::HashMap;

use super::Schema;

impl Schema {
    /// Returns the position of each feature among the columns of a table.
    ///
    /// A feature matches the column with its name. LightGBM replaces spaces in names with underscores, so a feature
    /// without such a column also matches the column whose spaces are underscores in the feature's name. If a feature
    /// is still unmatched, the table has as many columns as features, and either side has generated names (`f0`, `f1`,
    /// …; `Column_0` in LightGBM models), columns are matched by position. `named` tells whether the column names come
    /// from the table.
    ///
    /// ```
    /// use bitgrain_gbdt::feature::Schema;
    /// let schema = Schema::new(vec!["floor_area".into(), "city".into()])?;
    /// assert_eq!(schema.match_columns(&["city", "id", "floor area"], true).expect("both features exist"), [2, 0]);
    /// assert!(schema.match_columns(&["city", "size"], true).is_err());
    /// assert_eq!(schema.match_columns(&["f0", "f1"], false).expect("by position"), [0, 1]);
    /// # Ok::<(), bitgrain_gbdt::feature::FeatureError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ColumnMismatch::Missing`] or [`ColumnMismatch::Duplicate`].
    pub fn match_columns(&self, columns: &[&str], named: bool) -> Result<Vec<usize>, ColumnMismatch> {
        let exact = positions(columns.iter().enumerate().map(|(at, name)| (at, (*name).to_owned())));
        let spaced = columns.iter().enumerate().filter(|(_, name)| name.contains(' '));
        let underscored = positions(spaced.map(|(at, name)| (at, name.replace(' ', "_"))));
        let (mut found, mut missing) = (Vec::with_capacity(self.n_features()), Vec::new());
        for name in self.names() {
            match exact.get(name).or_else(|| underscored.get(name)) {
                Some(Position::At(at)) => found.push(*at),
                Some(Position::Several(at)) => {
                    return Err(ColumnMismatch::Duplicate { name: columns[*at].to_owned() });
                }
                None => missing.push(name.clone()),
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        if columns.len() == self.n_features() && (!named || self.is_unnamed()) {
            return Ok((0..columns.len()).collect());
        }
        let known = |name: &&&str| !self.names().iter().any(|own| own == **name);
        let unknown = columns.iter().filter(known).map(|name| (*name).to_owned()).collect();
        Err(ColumnMismatch::Missing { missing, unknown })
    }

    /// Returns whether all names are generated: `f0`, `f1` and so on, or `Column_0` in LightGBM models.
    #[must_use]
    pub fn is_unnamed(&self) -> bool {
        let counts = |(at, name): (usize, &String)| {
            let number = name.strip_prefix("Column_").or_else(|| name.strip_prefix('f'));
            number.is_some_and(|number| number.parse() == Ok(at))
        };
        self.names().iter().enumerate().all(counts)
    }
}

/// Positions of a name among the columns.
enum Position {
    At(usize),
    /// Several columns; this is the first.
    Several(usize),
}

fn positions(names: impl Iterator<Item = (usize, String)>) -> HashMap<String, Position> {
    let mut positions = HashMap::new();
    for (at, name) in names {
        let position = positions.entry(name).or_insert(Position::At(at));
        if let Position::At(first) = *position
            && first != at
        {
            *position = Position::Several(first);
        }
    }
    positions
}

/// Columns of a table that do not match the features of a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnMismatch {
    /// Features without a matching column.
    #[error("missing columns: {}; unknown columns: {}", listed(missing), listed(unknown))]
    Missing {
        /// Names of the features.
        missing: Vec<String>,
        /// Columns that are not features.
        unknown: Vec<String>,
    },
    /// A feature that several columns match.
    #[error("two columns are named `{name}`; rename one of them")]
    Duplicate {
        /// Name of the first such column.
        name: String,
    },
}

/// Formats the first few names for an error message.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut list: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        list.push(format!("{} more", names.len() - SHOWN));
    }
    if list.is_empty() { "none".to_owned() } else { list.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(names: &[&str]) -> Schema {
        Schema::new(names.iter().map(|name| (*name).to_owned()).collect()).expect("unique names")
    }

    #[test]
    fn an_exact_column_name_takes_precedence_over_one_with_spaces() {
        let schema = schema(&["a_b", "c_d"]);
        assert_eq!(schema.match_columns(&["a b", "c d", "a_b"], true), Ok(vec![2, 1]));
        assert_eq!(schema.match_columns(&["c d", "a b"], true), Ok(vec![1, 0]));
    }

    #[test]
    fn columns_that_match_twice_are_rejected_if_a_feature_needs_them() {
        let duplicate = |name: &str| Err(ColumnMismatch::Duplicate { name: name.to_owned() });
        assert_eq!(schema(&["a"]).match_columns(&["a", "b", "a"], true), duplicate("a"));
        assert_eq!(schema(&["b"]).match_columns(&["a", "b", "a"], true), Ok(vec![1]));
        assert_eq!(schema(&["a_b_c"]).match_columns(&["a b_c", "a_b c"], true), duplicate("a b_c"));
    }

    #[test]
    fn spaces_of_a_feature_are_not_underscores() {
        let error = schema(&["a b"]).match_columns(&["a_b", "c"], true).expect_err("no such column");
        assert_eq!(error.to_string(), "missing columns: `a b`; unknown columns: `a_b`, `c`");
    }
}
