//! Categorical splits as one list of codes.

use std::collections::BTreeSet;

use crate::model::{InputKind, Model, Rule, Split};

/// A value that is a code but is in no set: larger than any code that a model may have.
const UNLISTED: f64 = 2_147_483_647.0;

/// A categorical split in the form that other programs use.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CategoricalSplit {
    /// Codes that go to one side, ascending; all others go to the other side.
    pub(super) listed: Vec<u32>,
    /// Side of the listed codes.
    pub(super) listed_left: bool,
    /// Side of missing values.
    pub(super) missing_left: bool,
}

impl CategoricalSplit {
    /// Converts a split; `None` if it has a threshold.
    ///
    /// If the feature knows its codes, the unknown ones are missing, so the listed codes are those on the side opposite
    /// to missing values.
    pub(super) fn new(model: &Model, split: &Split) -> Option<Self> {
        let (set, outside_left) = match &split.rule {
            Rule::AtMost(_) => return None,
            Rule::In(set) => (set, false),
            Rule::NotIn(set) => (set, true),
        };
        let missing_left = split.goes_left(f64::NAN);
        let known = match &model.inputs.get(split.feature as usize)?.kind {
            InputKind::Categorical { known, .. } => known.as_deref(),
            InputKind::Numeric => None,
        };
        let (listed, listed_left) = match known {
            Some(known) => {
                let is_listed = |&&code: &&u32| split.goes_left(code.into()) != missing_left;
                (known.iter().filter(is_listed).copied().collect(), !missing_left)
            }
            None => {
                debug_assert_eq!(split.goes_left(UNLISTED), outside_left);
                // Code 0 may count as missing.
                let codes: BTreeSet<u32> = set.iter().chain([0]).collect();
                let is_listed = |code: &u32| split.goes_left((*code).into()) != outside_left;
                (codes.into_iter().filter(is_listed).collect(), !outside_left)
            }
        };
        Some(Self { listed, listed_left, missing_left })
    }
}
