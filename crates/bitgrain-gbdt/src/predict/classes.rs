//! Codes of a categorical feature: categories that the model never tells apart are one class.

use std::collections::{BTreeMap, HashMap};

use super::question::{as_code, category, goes_left, is_zero};
use crate::model::{Comparison, Rule, Split};

/// Categories of no set; any number that is no category, too.
const OUTSIDE: u8 = 0;
const MISSING: u8 = 1;
/// Zero itself, which is missing at some splits and category 0 at others.
const ZERO: u8 = 2;
const FIRST: u8 = 3;

/// Categories up to here are looked up in an array, larger ones are searched for.
const DENSE: usize = 1 << 16;

/// A classification that tells some sets of the model apart.
#[derive(Debug, Clone)]
pub(super) struct Classes {
    pub(super) column: u32,
    dense: Vec<u8>,
    sparse: Vec<(u32, u8)>,
    /// Categories that are nowhere here are missing, and fractions too; otherwise they are outside of every set.
    closed: bool,
    /// Numbers between -1 and 0 are no category: XGBoost's rule. For LightGBM they are category 0.
    no_negative: bool,
    /// A value of each class.
    examples: Vec<f64>,
}

impl Classes {
    /// Classes for as many of the sets as a byte can tell apart, from the first on, and how many these are.
    pub(super) fn new(column: u32, splits: &[&Split], known: Option<&[u32]>, comparison: Comparison) -> (Self, usize) {
        let sets = || splits.iter().filter_map(|split| set_of(split));
        let mut codes: Vec<u32> = match known {
            Some(known) => known.to_vec(),
            None => sets().flat_map(|set| set.iter()).collect(),
        };
        codes.sort_unstable();
        codes.dedup();
        let most = usize::from(u8::MAX - FIRST);
        let mut groups = vec![0_usize; codes.len()];
        let mut taken = 0;
        for set in sets() {
            let mut numbers = HashMap::new();
            let finer: Vec<usize> = groups
                .iter()
                .zip(&codes)
                .map(|(&group, &code)| {
                    let next = numbers.len();
                    *numbers.entry((group, set.contains(code))).or_insert(next)
                })
                .collect();
            if numbers.len() > most {
                break;
            }
            groups = finer;
            taken += 1;
        }
        let mut classes = Self::of_groups(column, &codes, &groups, known.is_some());
        classes.no_negative = comparison == Comparison::F32;
        (classes, taken)
    }

    fn of_groups(column: u32, codes: &[u32], groups: &[usize], closed: bool) -> Self {
        let mut examples = BTreeMap::from([(OUTSIDE, -1.0), (MISSING, f64::NAN), (ZERO, 0.0)]);
        let mut classes =
            Self { column, dense: Vec::new(), sparse: Vec::new(), closed, no_negative: false, examples: Vec::new() };
        let nowhere = classes.nowhere();
        for (&code, &group) in codes.iter().zip(groups) {
            #[expect(clippy::cast_possible_truncation, reason = "at most 252 groups")]
            let class = FIRST + group as u8;
            // What is cut to category 0 but is not zero: a half.
            examples.insert(class, if code == 0 { 0.5 } else { f64::from(code) });
            match code as usize {
                code if code < DENSE => {
                    classes.dense.resize(code, nowhere);
                    classes.dense.push(class);
                }
                _ => classes.sparse.push((code, class)),
            }
        }
        classes.examples = examples.into_values().collect();
        classes
    }

    fn nowhere(&self) -> u8 {
        if self.closed { MISSING } else { OUTSIDE }
    }

    /// The class of a value, rounded if the model's comparison rounds.
    pub(super) fn of(&self, value: f64) -> u8 {
        let value = if self.closed { as_code(value) } else { value };
        let code = match category(value).filter(|_| !(self.no_negative && value < 0.0)) {
            Some(code) if !self.closed || f64::from(code) == value => code,
            None if value.is_nan() => return MISSING,
            _ => return self.nowhere(),
        };
        let class = match self.dense.get(code as usize) {
            Some(&class) => class,
            None => match self.sparse.binary_search_by_key(&code, |&(code, _)| code) {
                Ok(at) => self.sparse[at].1,
                Err(_) => self.nowhere(),
            },
        };
        if is_zero(value) && class != MISSING { ZERO } else { class }
    }

    /// For each class whether a split sends it right: 0 or 1.
    pub(super) fn goes_right(&self, split: &Split) -> [u8; 256] {
        let mut table = [0; 256];
        for (right, &value) in table.iter_mut().zip(&self.examples) {
            *right = u8::from(!goes_left(split, value));
        }
        table
    }
}

/// The set that a split asks for.
pub(super) fn set_of(split: &Split) -> Option<&crate::model::CategorySet> {
    match &split.rule {
        Rule::AtMost(_) => None,
        Rule::In(set) | Rule::NotIn(set) => Some(set),
    }
}
