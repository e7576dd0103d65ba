"""Models written as C99 and Rust source: compiled with warnings as errors, they compute the same scores, bit for bit."""

import os
import shutil
import subprocess

import numpy as np
import pytest
from boosting import NAMES, columns, odd_categories
from exported import CATEGORICAL, TRAINED, imported_lightgbm, imported_xgboost, trained, with_categories

C_MAIN = """
#include <stdio.h>
#include <string.h>
#include "@SOURCE@"

int main(void) {
    double row[BITGRAIN_N_FEATURES + 1], scores[BITGRAIN_N_SCORES];
    while (fread(row, sizeof(double), BITGRAIN_N_FEATURES, stdin) == BITGRAIN_N_FEATURES) {
        bitgrain_raw_scores(row, scores);
        fwrite(scores, sizeof(double), BITGRAIN_N_SCORES, stdout);
        bitgrain_predict(row, scores);
        fwrite(scores, sizeof(double), BITGRAIN_N_SCORES, stdout);
    }
    return strlen(bitgrain_feature_names[0]) == 0;
}
"""

RUST_MAIN = """
#[path = "@SOURCE@"]
mod model;
use std::io::{Read, Write};

fn main() {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).unwrap();
    let values: Vec<f64> = bytes.chunks(8).map(|value| f64::from_le_bytes(value.try_into().unwrap())).collect();
    assert_eq!(model::FEATURE_NAMES.len(), model::N_FEATURES);
    let _ = model::CLASS_LABELS;
    for row in values.chunks(model::N_FEATURES) {
        let row = row.try_into().unwrap();
        for score in model::raw_scores(row).into_iter().chain(model::predict(row)) {
            std::io::stdout().write_all(&score.to_le_bytes()).unwrap();
        }
    }
}
"""


def program(bitgrain, model, ending):
    """Compiles the exported source with a main function and returns the program."""
    source, main, out = bitgrain.path(ending), bitgrain.path(f"_main{ending}"), bitgrain.path(".out")
    bitgrain.run("convert-model", model, source)
    main.write_text((C_MAIN if ending == ".c" else RUST_MAIN).replace("@SOURCE@", source.name))
    if ending == ".c":
        strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]
        subprocess.run([os.environ.get("CC", "cc"), *strict, main, "-o", out, "-lm"], check=True)
    else:
        subprocess.run([shutil.which("rustc"), "--edition=2021", "-Dwarnings", "-Copt-level=1", main, "-o", out], check=True)
    return out


def check(bitgrain, model, rows, names):
    """Checks raw scores bit for bit and predictions up to the last digits of the platform's exponential."""
    table = columns(rows, names)
    raw, predictions = bitgrain.predict(model, table, "--raw"), bitgrain.predict(model, table)
    for ending in [".c", ".rs"]:
        run = program(bitgrain, model, ending)
        out = subprocess.run([run], input=rows.astype("<f8").tobytes(), capture_output=True, check=True).stdout
        found = np.frombuffer(out, "<f8").reshape(len(rows), 2, -1)
        assert np.array_equal(found[:, 0], raw), ending
        np.testing.assert_allclose(found[:, 1], predictions, rtol=4e-15)


@pytest.mark.parametrize("kind", [kind for kind in TRAINED if kind not in ("absolute", "quantile:0.9", "tweedie:1.3")])
def test_trained_models(bitgrain, random, kind):
    model, rows = trained(bitgrain, random, kind)
    check(bitgrain, model, rows, NAMES)


def test_categories(bitgrain, random):
    """All values, also those that are not integers, mean the same in source code."""
    model, rows = with_categories(bitgrain, random, CATEGORICAL[0])
    check(bitgrain, model, odd_categories(rows), ["x", "few", "many"])


def test_models_of_lightgbm_and_xgboost(bitgrain, random):
    _, path, rows = imported_xgboost(bitgrain, random, with_codes=True)
    check(bitgrain, path, odd_categories(rows), ["x", "few", "many"])
    rf = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}
    for parameters in [{"zero_as_missing": True}, {"use_missing": False}, rf]:
        _, path, rows = imported_lightgbm(bitgrain, random, parameters)
        check(bitgrain, path, rows, NAMES)
