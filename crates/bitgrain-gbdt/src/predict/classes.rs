//! Codes of a categorical feature: categories that no split of the model separates share a class.

use std::collections::{BTreeMap, HashMap};

use super::question::{as_code, category, goes_left, is_zero};
use crate::model::{Comparison, Rule, Split};

/// Categories in no set, and values without a category.
const OUTSIDE: u8 = 0;
const MISSING: u8 = 1;
/// Zero, which is missing at some splits and category 0 at others.
const ZERO: u8 = 2;
const FIRST: u8 = 3;

/// Categories below this are looked up in an array, larger ones by binary search.
const DENSE: usize = 1 << 16;

/// Partition of the categories into classes, for some of the model's sets.
#[derive(Debug, Clone)]
pub(super) struct Classes {
    pub(super) column: u32,
    dense: Vec<u8>,
    sparse: Vec<(u32, u8)>,
    /// Whether unlisted categories and fractions are missing; otherwise they are outside every set.
    closed: bool,
    /// Whether numbers between -1 and 0 have no category, as in XGBoost. In LightGBM they are category 0.
    no_negative: bool,
    /// A representative value of each class.
    examples: Vec<f64>,
}

impl Classes {
    /// Creates classes for as many sets as a byte can distinguish, starting with the first; returns the number of these
    /// sets.
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
        // Refine the partition set by set: codes stay together only if every set contains both or neither.
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
        let nowhere = classes.unlisted();
        for (&code, &group) in codes.iter().zip(groups) {
            #[expect(clippy::cast_possible_truncation, reason = "at most 252 groups, see `most`")]
            let class = FIRST + group as u8;
            // The representative of category 0 must truncate to 0 without being zero, which may count as missing.
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

    fn unlisted(&self) -> u8 {
        if self.closed { MISSING } else { OUTSIDE }
    }

    /// Returns the class of a value that was rounded to the model's comparison precision.
    pub(super) fn of(&self, value: f64) -> u8 {
        let value = if self.closed { as_code(value) } else { value };
        let code = match category(value).filter(|_| !(self.no_negative && value < 0.0)) {
            Some(code) if !self.closed || f64::from(code) == value => code,
            None if value.is_nan() => return MISSING,
            _ => return self.unlisted(),
        };
        let class = match self.dense.get(code as usize) {
            Some(&class) => class,
            None => match self.sparse.binary_search_by_key(&code, |&(code, _)| code) {
                Ok(at) => self.sparse[at].1,
                Err(_) => self.unlisted(),
            },
        };
        if is_zero(value) && class != MISSING { ZERO } else { class }
    }

    /// Returns for each class whether a split sends it right: 0 or 1.
    pub(super) fn goes_right(&self, split: &Split) -> [u8; 256] {
        let mut table = [0; 256];
        for (right, &value) in table.iter_mut().zip(&self.examples) {
            *right = u8::from(!goes_left(split, value));
        }
        table
    }
}

/// Returns the category set of a split.
pub(super) fn set_of(split: &Split) -> Option<&crate::model::CategorySet> {
    match &split.rule {
        Rule::AtMost(_) => None,
        Rule::In(set) | Rule::NotIn(set) => Some(set),
    }
}
