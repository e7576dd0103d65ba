//! C99 source.

use super::literal::{c_number, c_string, comment, lines};
use super::tables::{Row, Tables};
use crate::model::{Link, Model};

/// Returns a C99 file that needs only the standard headers, and `-lm` for the exponential of a link function.
pub(in crate::model::export) fn source(model: &Model) -> String {
    let tables = Tables::new(model);
    let flag = u8::from;
    let row = |row: &Row| {
        let Row { threshold, feature, children: [left, right], codes: (first, count), .. } = row;
        let flags = format!("{}, {}, {}", row.kind, flag(row.missing_left), flag(row.listed_left));
        format!("{{{}, {left}, {right}, {first}, {count}, {feature}, {flags}}}", c_number(*threshold))
    };
    // Arrays of C have at least one element.
    let at_least_one = |mut rows: Vec<String>, one: &str| {
        if rows.is_empty() {
            rows.push(one.to_owned());
        }
        rows
    };
    let nodes = at_least_one(tables.rows.iter().map(row).collect(), "{0.0, 0, 0, 0, 0, 0, 0, 0, 0}");
    let numbers = |values: &[f64]| values.iter().map(|&value| c_number(value)).collect::<Vec<_>>();
    let strings = |values: &mut dyn Iterator<Item = &str>| values.map(c_string).collect::<Vec<_>>();
    let texts = |values: &[u32]| values.iter().map(u32::to_string).collect::<Vec<_>>();
    let names = strings(&mut model.inputs.iter().map(|input| input.name.as_str()));
    let classes = strings(&mut model.output.classes.iter().map(String::as_str));
    let average = if model.output.average && model.n_rounds() > 0 {
        format!("bitgrain_base_scores[score] + scores[score] / {}.0", model.n_rounds())
    } else if model.output.average {
        "bitgrain_base_scores[score]".into()
    } else {
        "scores[score]".into()
    };
    let start = if model.output.average { "0.0" } else { "bitgrain_base_scores[score]" };
    TEMPLATE
        .replace("@OBJECTIVE@", &comment(&model.output.objective))
        .replace("@FEATURES@", &model.n_inputs().to_string())
        .replace("@SCORES@", &model.n_outputs().to_string())
        .replace("@CLASSES@", &model.output.classes.len().to_string())
        .replace("@TREES@", &model.trees.len().to_string())
        .replace("@ZERO@", &c_number(tables.zero))
        .replace("@START@", start)
        .replace("@END@", &average)
        .replace("@LINK@", &link(model.output.link))
        .replace("@KINDS@", &lines(at_least_one(tables.features.iter().map(u8::to_string).collect(), "0"), 32))
        .replace("@ROOTS@", &lines(at_least_one(tables.roots.iter().map(i64::to_string).collect(), "0"), 16))
        .replace("@CODES@", &lines(at_least_one(texts(&tables.codes), "0"), 16))
        .replace("@LEAVES@", &lines(at_least_one(numbers(&tables.leaves), "0.0"), 4))
        .replace("@BASE@", &lines(numbers(&model.output.base_scores), 4))
        .replace("@NODES@", &lines(nodes, 1))
        // Strings of the model come last: a name may contain any text.
        .replace("@LABELS@", &lines(at_least_one(classes, "0"), 1))
        .replace("@NAMES@", &lines(at_least_one(names, "0"), 1))
}

/// Statements that turn `predictions`, which hold raw scores, into predictions.
fn link(link: Link) -> String {
    let each = |statements: &str| {
        let statements = statements.replace("SCORE", "predictions[score]");
        format!("    for (int score = 0; score < BITGRAIN_N_SCORES; score++) {{\n        {statements}\n    }}\n")
    };
    match link {
        Link::Identity => String::new(),
        Link::Logistic { slope } => each(&format!("SCORE = 1.0 / (1.0 + exp({} * SCORE));", c_number(-slope))),
        Link::Exponential => each("SCORE = exp(SCORE < 700.0 ? SCORE : 700.0);"),
        Link::Softplus => each("SCORE = (SCORE > 0.0 ? SCORE : 0.0) + log1p(exp(-fabs(SCORE)));"),
        Link::SignedSquare => each("SCORE *= fabs(SCORE);"),
        Link::Step => each("SCORE = SCORE > 0.0 ? 1.0 : 0.0;"),
        Link::Softmax => [
            "    double largest = predictions[0], sum = 0.0;\n".to_owned(),
            each("largest = SCORE > largest ? SCORE : largest;"),
            each("SCORE = exp(SCORE - largest);\n        sum += SCORE;"),
            each("SCORE /= sum;"),
        ]
        .concat(),
    }
}

const TEMPLATE: &str = r#"/* Boosted trees (@OBJECTIVE@), written by bitgrain.
 *
 * C99, no dependencies; link with -lm. Not for -ffast-math, which removes tests for NaN.
 * A row holds one double per feature: a number, or the code of a category; NaN is missing.
 */
#include <math.h>
#include <stdint.h>

#define BITGRAIN_N_FEATURES @FEATURES@
#define BITGRAIN_N_SCORES @SCORES@
#define BITGRAIN_N_CLASSES @CLASSES@
#define BITGRAIN_N_TREES @TREES@

/* Names of the features and labels of the classes; a null pointer if the model does not have any. */
extern const char *const bitgrain_feature_names[];
extern const char *const bitgrain_class_labels[];
/* Raw scores of a row: BITGRAIN_N_SCORES numbers. */
void bitgrain_raw_scores(const double *row, double *scores);
/* Predictions of a row after the link function: BITGRAIN_N_SCORES numbers. */
void bitgrain_predict(const double *row, double *predictions);

const char *const bitgrain_feature_names[] = {
@NAMES@};

const char *const bitgrain_class_labels[] = {
@LABELS@};

struct bitgrain_node {
    double threshold;    /* largest value that goes left */
    int64_t left, right; /* a node, or -1 - i for leaf i */
    int64_t first, count; /* listed category codes */
    uint32_t feature;
    uint8_t kind; /* 0: NaN is missing, 1: NaN and 0, 2: NaN is 0, 3: categories */
    uint8_t missing_left, listed_left;
};

static const struct bitgrain_node bitgrain_nodes[] = {
@NODES@};

static const double bitgrain_leaves[] = {
@LEAVES@};

static const double bitgrain_base_scores[] = {
@BASE@};

static const int64_t bitgrain_roots[] = {
@ROOTS@};

static const uint32_t bitgrain_codes[] = {
@CODES@};

/* 1: known category codes, 2: integer part, 3: integer part of a float of at least 0. */
static const uint8_t bitgrain_feature_kinds[] = {
@KINDS@};

static int bitgrain_is_listed(const struct bitgrain_node *node, double value) {
    int64_t low = node->first, high = node->first + node->count;
    int kind = bitgrain_feature_kinds[node->feature];
    if (!(value > -2147483648.0 && value < 2147483648.0)) {
        return 0;
    }
    if (kind == 3 || (kind == 1 && fabs(value) < 16777216.0)) {
        value = (double)(float)value;
    }
    if (kind == 3 && value < 0.0) {
        return 0;
    }
    if (kind != 1) {
        value = trunc(value);
    }
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        double code = (double)bitgrain_codes[middle];
        if (code == value) {
            return 1;
        }
        if (code < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return 0;
}

static int bitgrain_goes_left(const struct bitgrain_node *node, double value) {
    if (node->kind == 3) {
        if (isnan(value)) {
            return node->missing_left;
        }
        return bitgrain_is_listed(node, value) ? node->listed_left : !node->listed_left;
    }
    if (isnan(value) && node->kind == 2) {
        value = 0.0;
    }
    if (isnan(value) || (node->kind == 1 && fabs(value) <= @ZERO@)) {
        return node->missing_left;
    }
    return value <= node->threshold;
}

void bitgrain_raw_scores(const double *row, double *scores) {
    int score;
    int64_t tree;
    for (score = 0; score < BITGRAIN_N_SCORES; score++) {
        scores[score] = @START@;
    }
    for (tree = 0; tree < BITGRAIN_N_TREES; tree++) {
        int64_t at = bitgrain_roots[tree];
        while (at >= 0) {
            const struct bitgrain_node *node = &bitgrain_nodes[at];
            at = bitgrain_goes_left(node, row[node->feature]) ? node->left : node->right;
        }
        scores[tree % BITGRAIN_N_SCORES] += bitgrain_leaves[-1 - at];
    }
    for (score = 0; score < BITGRAIN_N_SCORES; score++) {
        scores[score] = @END@;
    }
}

void bitgrain_predict(const double *row, double *predictions) {
    bitgrain_raw_scores(row, predictions);
@LINK@}
"#;
