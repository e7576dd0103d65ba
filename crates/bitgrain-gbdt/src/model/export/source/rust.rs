//! Rust source.

use super::literal::{comment, lines, rust_number};
use super::tables::{Row, Tables};
use crate::model::{Link, Model};

/// Returns a Rust file that needs only the standard library: a module for `mod` or `include!`.
pub(in crate::model::export) fn source(model: &Model) -> String {
    let tables = Tables::new(model);
    let row = |row: &Row| {
        let Row { threshold, feature, children: [left, right], codes: (first, count), kind, .. } = row;
        let end = first + count;
        format!(
            "Node {{ threshold: {}, feature: {feature}, left: {left}, right: {right}, codes: ({first}, {end}), kind: {kind}, \
             missing_left: {}, listed_left: {} }}",
            rust_number(*threshold),
            row.missing_left,
            row.listed_left
        )
    };
    let numbers = |values: &[f64]| values.iter().map(|&value| rust_number(value)).collect::<Vec<_>>();
    let quoted = |text: &String| format!("{text:?}");
    let names: Vec<String> = model.inputs.iter().map(|input| quoted(&input.name)).collect();
    let classes: Vec<String> = model.output.classes.iter().map(quoted).collect();
    let (start, end) = match (model.output.average, model.n_rounds().max(1)) {
        (false, _) => ("BASE_SCORES", String::new()),
        (true, rounds) => {
            let mean = format!("*score = base + *score / {rounds}.0");
            ("[0.0; N_SCORES]", format!("    scores.iter_mut().zip(BASE_SCORES).for_each(|(score, base)| {mean});\n"))
        }
    };
    TEMPLATE
        .replace("@OBJECTIVE@", &comment(&model.output.objective))
        .replace("@N_FEATURES@", &model.n_inputs().to_string())
        .replace("@N_SCORES@", &model.n_outputs().to_string())
        .replace("@N_CLASSES@", &classes.len().to_string())
        .replace("@ZERO@", &rust_number(tables.zero))
        .replace("@START@", start)
        .replace("@END@", &end)
        .replace("@LINK@", &link(model.output.link))
        .replace("@KINDS@", &lines(&tables.features, 32))
        .replace("@ROOTS@", &lines(&tables.roots, 16))
        .replace("@CODES@", &lines(&tables.codes, 16))
        .replace("@LEAVES@", &lines(numbers(&tables.leaves), 4))
        .replace("@BASE@", &lines(numbers(&model.output.base_scores), 4))
        .replace("@NODES@", &lines(tables.rows.iter().map(row), 1))
        // Strings of the model come last: a name may contain any text.
        .replace("@LABELS@", &lines(classes, 1))
        .replace("@NAMES@", &lines(names, 1))
}

/// Statements that turn `scores` into predictions.
fn link(link: Link) -> String {
    let each = |statement: &str| format!("    scores.iter_mut().for_each(|score| {statement});\n");
    match link {
        Link::Identity => String::new(),
        Link::Logistic { slope } => each(&format!("*score = 1.0 / (1.0 + ({} * *score).exp())", rust_number(-slope))),
        Link::Exponential => each("*score = score.min(700.0).exp()"),
        Link::Softplus => each("*score = score.max(0.0) + (-score.abs()).exp().ln_1p()"),
        Link::SignedSquare => each("*score *= score.abs()"),
        Link::Step => each("*score = f64::from(u8::from(*score > 0.0))"),
        Link::Softmax => [
            "    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);\n".to_owned(),
            each("*score = (*score - largest).exp()"),
            "    let sum: f64 = scores.iter().sum();\n".to_owned(),
            each("*score /= sum"),
        ]
        .concat(),
    }
}

const TEMPLATE: &str = r#"// Boosted trees (@OBJECTIVE@), written by bitgrain.
//
// A row holds one number per feature: a value, or the code of a category; NaN is missing.

/// Number of features of a row.
pub const N_FEATURES: usize = @N_FEATURES@;
/// Number of scores of a row.
pub const N_SCORES: usize = @N_SCORES@;
/// Names of the features.
pub const FEATURE_NAMES: [&str; N_FEATURES] = [
@NAMES@];
/// Labels of the classes; empty unless the model is a classifier.
pub const CLASS_LABELS: [&str; @N_CLASSES@] = [
@LABELS@];

struct Node {
    /// Largest value that goes left.
    threshold: f64,
    feature: u32,
    /// A node, or -1 - i for leaf i.
    left: i64,
    right: i64,
    /// Range of the listed category codes.
    codes: (usize, usize),
    /// 0: NaN is missing, 1: NaN and 0, 2: NaN is 0, 3: categories.
    kind: u8,
    missing_left: bool,
    listed_left: bool,
}

static NODES: &[Node] = &[
@NODES@];

static LEAVES: &[f64] = &[
@LEAVES@];

static BASE_SCORES: [f64; N_SCORES] = [
@BASE@];

static ROOTS: &[i64] = &[
@ROOTS@];

static CODES: &[u32] = &[
@CODES@];

/// 1: known category codes, 2: integer part, 3: integer part of an f32 of at least 0.
static FEATURE_KINDS: &[u8] = &[
@KINDS@];

impl Node {
    fn is_listed(&self, mut value: f64) -> bool {
        let kind = FEATURE_KINDS[self.feature as usize];
        if !(value > -2147483648.0 && value < 2147483648.0) {
            return false;
        }
        if kind == 3 || (kind == 1 && value.abs() < 16777216.0) {
            value = f64::from(value as f32);
        }
        if kind == 3 && value < 0.0 {
            return false;
        }
        if kind != 1 {
            value = value.trunc();
        }
        let codes = &CODES[self.codes.0..self.codes.1];
        let at = codes.partition_point(|&code| f64::from(code) < value);
        codes.get(at).is_some_and(|&code| f64::from(code) == value)
    }

    fn goes_left(&self, mut value: f64) -> bool {
        if self.kind == 3 {
            return if value.is_nan() { self.missing_left } else { self.is_listed(value) == self.listed_left };
        }
        if value.is_nan() && self.kind == 2 {
            value = 0.0;
        }
        if value.is_nan() || (self.kind == 1 && value.abs() <= @ZERO@) {
            return self.missing_left;
        }
        value <= self.threshold
    }
}

/// Returns the raw scores of a row.
pub fn raw_scores(row: &[f64; N_FEATURES]) -> [f64; N_SCORES] {
    let mut scores = @START@;
    for (tree, &root) in ROOTS.iter().enumerate() {
        let mut at = root;
        while let Ok(index) = usize::try_from(at) {
            let node = &NODES[index];
            at = if node.goes_left(row[node.feature as usize]) { node.left } else { node.right };
        }
        scores[tree % N_SCORES] += LEAVES[(-1 - at) as usize];
    }
@END@    scores
}

/// Returns the predictions of a row, after the link function.
pub fn predict(row: &[f64; N_FEATURES]) -> [f64; N_SCORES] {
    #[allow(unused_mut)]
    let mut scores = raw_scores(row);
@LINK@    scores
}
"#;
