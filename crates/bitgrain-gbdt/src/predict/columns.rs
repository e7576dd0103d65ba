//! Columns of codes that a model's trees read, and the code that each split compares with.

use std::collections::BTreeMap;
use std::ops::Range;

use bitgrain_kernels::Backend;

use super::classes::{Classes, set_of};
use super::numbers::{MAX_CUTS, Numbers};
use super::question::{comparable, goes_left, rounded_down};
use crate::feature::{ByFeature, Features};
use crate::model::{Comparison, Input, InputKind, Missing, Model, Rule, Split};
use crate::narrow::narrow;

/// Marker of a column that does not exist.
pub(super) const NONE: u32 = u32::MAX;

/// Features read at a time: their f32 values fill a cache line of a row.
const READ: usize = 16;

/// Padding between columns, so that the same row of different columns does not fall into one cache set.
const GAP: usize = 16;

/// All columns of a model.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    features: Vec<FeatureColumns>,
    /// Features that trees use.
    used: Vec<usize>,
    /// Position of each feature in `used`.
    place: Vec<Option<u32>>,
    comparison: Comparison,
    n_columns: u32,
}

/// Columns of a feature.
#[derive(Debug, Clone)]
struct FeatureColumns {
    input: Input,
    numbers: Vec<Numbers>,
    classes: Vec<Classes>,
    /// Index of the classes of each category set, in tree order.
    class_of_set: Vec<usize>,
}

impl FeatureColumns {
    /// Returns whether any split uses the feature.
    fn is_used(&self) -> bool {
        !self.numbers.is_empty() || !self.classes.is_empty()
    }
}

/// Comparison of a split in terms of codes.
pub(super) enum CodeQuestion {
    /// Codes of the column up to this one go left.
    AtMost { column: u32, code: u8 },
    /// Codes of the column go right where the table is 1.
    Table { column: u32, goes_right: Box<[u8; 256]> },
}

impl Columns {
    pub(super) fn new(model: &Model) -> Self {
        let (features, used, place) = (Vec::new(), Vec::new(), Vec::new());
        let mut columns = Self { features, used, place, comparison: model.comparison, n_columns: 0 };
        let mut splits: Vec<Vec<&Split>> = vec![Vec::new(); model.inputs.len()];
        for split in model.trees.iter().flat_map(|tree| &tree.splits) {
            splits[split.feature as usize].push(split);
        }
        columns.features =
            model.inputs.iter().zip(splits).map(|(input, splits)| columns.feature(input, &splits)).collect();
        columns.place = vec![None; model.inputs.len()];
        for (at, _) in columns.features.iter().enumerate().filter(|(_, feature)| feature.is_used()) {
            columns.place[at] = Some(narrow(columns.used.len()));
            columns.used.push(at);
        }
        columns
    }

    fn feature(&mut self, input: &Input, splits: &[&Split]) -> FeatureColumns {
        let known = match &input.kind {
            InputKind::Categorical { known, .. } => known.clone(),
            InputKind::Numeric => None,
        };
        let mut cuts: BTreeMap<bool, Vec<f64>> = BTreeMap::new();
        for split in splits {
            if let Rule::AtMost(threshold) = split.rule {
                cuts.entry(zero_is_missing(split)).or_default().push(self.cut(threshold));
            }
        }
        let mut numbers = Vec::new();
        for (zero_is_missing, mut cuts) in cuts {
            cuts.sort_by(f64::total_cmp);
            cuts.dedup();
            numbers
                .extend(cuts.chunks(MAX_CUTS).map(|cuts| Numbers::new(cuts.to_vec(), zero_is_missing, known.clone())));
        }
        for split in splits {
            if let Some((number, _)) = self.number(&mut numbers, split) {
                let column = if goes_left(split, f64::NAN) { &mut number.left } else { &mut number.right };
                if *column == NONE {
                    *column = self.n_columns;
                    self.n_columns += 1;
                }
            }
        }
        let sets: Vec<&Split> = splits.iter().copied().filter(|split| set_of(split).is_some()).collect();
        let (mut classes, mut class_of_set) = (Vec::new(), Vec::new());
        while class_of_set.len() < sets.len() {
            let (class, taken) =
                Classes::new(self.n_columns, &sets[class_of_set.len()..], known.as_deref(), self.comparison);
            self.n_columns += 1;
            class_of_set.extend(std::iter::repeat_n(classes.len(), taken));
            classes.push(class);
        }
        FeatureColumns { input: input.clone(), numbers, classes, class_of_set }
    }

    /// Returns the cut of a threshold. Thresholds that no value distinguishes have the same cut; both zeros become 0.
    fn cut(&self, threshold: f64) -> f64 {
        let cut = match self.comparison {
            Comparison::F32 => f64::from(rounded_down(threshold)),
            Comparison::F64 => threshold,
        };
        cut + 0.0
    }

    fn number<'a>(&self, numbers: &'a mut [Numbers], split: &Split) -> Option<(&'a mut Numbers, u8)> {
        let Rule::AtMost(threshold) = split.rule else { return None };
        let (cut, zero) = (self.cut(threshold), zero_is_missing(split));
        let mut of_kind = numbers.iter_mut().filter(|number| number.zero_is_missing == zero);
        of_kind.find_map(|number| number.code_of(cut).map(|code| (number, code)))
    }

    /// Returns a function that maps the splits of the model, called in tree order, to comparisons of codes.
    pub(super) fn questions<'a>(&self, model: &'a Model) -> impl FnMut(&'a Split) -> CodeQuestion {
        let mut features = self.features.clone();
        let mut sets = vec![0; model.inputs.len()];
        let columns = Self { features: Vec::new(), used: Vec::new(), place: Vec::new(), ..*self };
        move |split| {
            let feature = split.feature as usize;
            let FeatureColumns { numbers, classes, class_of_set, .. } = &mut features[feature];
            if let Some((number, code)) = columns.number(numbers, split) {
                let column = if goes_left(split, f64::NAN) { number.left } else { number.right };
                return CodeQuestion::AtMost { column, code };
            }
            let classes = &classes[class_of_set[sets[feature]]];
            sets[feature] += 1;
            CodeQuestion::Table { column: classes.column, goes_right: Box::new(classes.goes_right(split)) }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.n_columns as usize
    }

    /// Writes the codes of a range of rows to the columns in `out.0`, which start `out.1` codes apart.
    pub(super) fn fill(
        &self,
        backend: Backend,
        source: &Features<'_>,
        rows: Range<usize>,
        out: (&mut [u8], usize),
        raw: &mut Raw,
    ) {
        let place = |feature: usize| self.place[feature].map(|place| place as usize);
        if let Some((entries, absent)) = source.entries(rows.clone(), self.used.len(), place) {
            return self.fill_sparse(backend, &entries, absent, rows, out);
        }
        let (codes, stride) = out;
        let n_rows = rows.len();
        raw.codes.resize(n_rows, 0);
        let between = n_rows + GAP;
        let exact = source.is_f64() && self.comparison == Comparison::F64;
        let Raw { singles, doubles, copies, codes: found } = raw;
        let mut write = |column: u32, found: &[u8]| {
            codes[column as usize * stride..][..found.len()].copy_from_slice(found);
        };
        for (features, first) in self.features.chunks(READ).zip((0..).step_by(READ)) {
            if !features.iter().any(FeatureColumns::is_used) {
                continue;
            }
            let range = first..first + features.len();
            singles.resize(READ * between, 0.0);
            if exact {
                doubles.resize(READ * between, 0.0);
                source.read_f64(range, rows.clone(), doubles, between);
            } else {
                source.read_f32(range, rows.clone(), singles, between);
            }
            for (at, feature) in features.iter().enumerate() {
                let column = at * between..at * between + n_rows;
                // Classes first: `code_f32` and `code_f64` replace zeros that are missing.
                for classes in &feature.classes {
                    let value = |at: usize| if exact { doubles[at] } else { f64::from(singles[at]) };
                    found.iter_mut().zip(column.clone()).for_each(|(code, at)| *code = classes.of(value(at)));
                    write(classes.column, found);
                }
                for (nth, numbers) in feature.numbers.iter().enumerate() {
                    debug_assert!(nth == 0 || numbers.zero_is_missing >= feature.numbers[nth - 1].zero_is_missing);
                    if exact {
                        copies.resize(n_rows, 0.0);
                        numbers.code_f64(backend, &mut doubles[column.clone()], copies, found, &mut write);
                    } else {
                        numbers.code_f32(backend, &mut singles[column.clone()], found, &mut write);
                    }
                }
            }
        }
    }

    /// Writes the codes of sparse rows: encodes the absent value and the entries of each feature, not all its rows.
    fn fill_sparse(
        &self,
        backend: Backend,
        entries: &ByFeature,
        absent: f32,
        rows: Range<usize>,
        (codes, stride): (&mut [u8], usize),
    ) {
        let (mut values, mut found) = (Vec::new(), Vec::new());
        for (at, &feature) in self.used.iter().enumerate() {
            let (in_rows, entries) = entries.entries(at);
            let mut write = |column: u32, found: &[u8]| {
                let column = &mut codes[column as usize * stride..][..rows.len()];
                column.fill(found[0]);
                in_rows.iter().zip(&found[1..]).for_each(|(&row, &code)| column[row as usize - rows.start] = code);
            };
            values.clear();
            values.push(absent);
            values.extend_from_slice(entries);
            found.resize(values.len(), 0);
            // In the order of `fill`.
            for classes in &self.features[feature].classes {
                found.iter_mut().zip(&values).for_each(|(code, &value)| *code = classes.of(value.into()));
                write(classes.column, &found);
            }
            for numbers in &self.features[feature].numbers {
                numbers.code_f32(backend, &mut values, &mut found, &mut write);
            }
        }
    }

    /// Returns a value of a feature as its splits compare it.
    pub(super) fn comparable(&self, feature: usize, value: f64) -> f64 {
        comparable(value, self.comparison, &self.features[feature].input.kind)
    }

    /// Names of the features.
    pub(super) fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.features.iter().map(|feature| feature.input.name.as_str())
    }
}

/// Buffers of a block's raw values.
#[derive(Debug, Default)]
pub(super) struct Raw {
    singles: Vec<f32>,
    doubles: Vec<f64>,
    copies: Vec<f32>,
    codes: Vec<u8>,
}

fn zero_is_missing(split: &Split) -> bool {
    split.missing == Missing::NanOrZero
}
