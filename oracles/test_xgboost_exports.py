"""Models written as XGBoost's JSON and UBJSON: XGBoost reaches the same leaves and adds up their values in f32."""

import numpy as np
import pytest
import xgboost as xgb
from boosting import NAMES, columns
from exported import (
    CATEGORICAL,
    TRAINED,
    codes,
    imported_lightgbm,
    imported_xgboost,
    own,
    trained,
    with_categories,
)

#: File endings and formats; .json selects our own format.
FORMATS = [(".json", ["--format", "xgboost-json"]), (".ubj", [])]


def loaded(bitgrain, model):
    """Returns the model as XGBoost loads it from each format."""
    boosters = []
    for ending, options in FORMATS:
        path = bitgrain.path(ending)
        bitgrain.run("convert-model", model, path, *options)
        boosters.append(xgb.Booster(model_file=path))
    return boosters


def finite(rows):
    """The rows without values that are infinite in f32, which XGBoost does not accept."""
    return np.where(np.abs(rows) > 3.4e38, 3.4e38 * np.sign(rows), rows)


def check(bitgrain, model, rows, names, types=None):
    """Checks that rows share leaves, that raw scores are f32 sums of the leaf values, and predictions."""
    table = columns(rows, names)
    leaves = bitgrain.predict(model, table, "--leaf").astype(int)
    told = own(bitgrain, model)
    values = [np.array([leaf["value"] for leaf in tree["leaves"]]) for tree in told["trees"]]
    base = np.array(told["base_scores"])
    sums = np.zeros((len(rows), len(base)), np.float32)
    for tree, (of_tree, reached) in enumerate(zip(values, leaves.T, strict=True)):
        first = base[tree] if tree < len(base) else 0.0
        sums[:, tree % len(base)] += (of_tree[reached] + first).astype(np.float32)
    raw = bitgrain.predict(model, table, "--raw")
    data = xgb.DMatrix(rows, feature_names=names, feature_types=types, enable_categorical=bool(types))
    for booster in loaded(bitgrain, model):
        found = booster.predict(data, output_margin=True).reshape(len(rows), -1)
        assert np.array_equal(found, sums), "the same bits as f32 sums in the order of the trees"
        # Each of n terms and each of n sums is rounded once.
        total = sum(np.abs(of_tree).max() for of_tree in values) + np.abs(base).max()
        assert np.abs(found - raw).max() <= 2 * max(len(values) / len(base), 1) * 2.0**-24 * total
        wanted = bitgrain.predict(model, table)
        np.testing.assert_allclose(booster.predict(data).reshape(len(rows), -1), wanted, rtol=2e-5, atol=1e-6)
        theirs = booster.predict(data, pred_leaf=True).reshape(len(rows), -1)
        for one, other in zip(theirs.T, leaves.T, strict=True):
            assert len(set(zip(one, other))) == len(set(one)) == len(set(other)), "leaves are the same up to their numbers"
    # Our own reader gets the same leaves back.
    path = bitgrain.path(".ubj")
    bitgrain.run("convert-model", model, path)
    np.testing.assert_allclose(bitgrain.predict(path, table, "--raw"), raw, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", [kind for kind in TRAINED if kind != "f64"])
def test_trained_models(bitgrain, random, kind):
    model, rows = trained(bitgrain, random, kind)
    check(bitgrain, model, finite(rows), NAMES)


@pytest.mark.parametrize("kind", [kind for kind in CATEGORICAL if kind != "strings"])
def test_categories(bitgrain, random, kind):
    model, rows = with_categories(bitgrain, random, kind)
    check(bitgrain, model, codes(rows), ["x", "few", "many"], ["float", "c", "c"])


@pytest.mark.parametrize("with_codes", [False, True])
def test_models_of_xgboost_return_unchanged(bitgrain, random, with_codes):
    theirs, path, rows = imported_xgboost(bitgrain, random, with_codes)
    names, types = (["x", "few", "many"], ["float", "c", "c"]) if with_codes else (NAMES, ["float"] * 4)
    rows = codes(rows) if with_codes else rows
    data = xgb.DMatrix(rows, feature_names=names, feature_types=types, enable_categorical=with_codes)
    for booster in loaded(bitgrain, path):
        np.testing.assert_allclose(booster.predict(data), theirs.predict(data), rtol=1e-6, atol=1e-6)


def test_f64_thresholds_are_exact_for_f32_rows(bitgrain, random):
    """A threshold of LightGBM becomes the largest f32 below it, so every f32 goes to the same side."""
    _, path, rows = imported_lightgbm(bitgrain, random, {})
    rows = np.where(np.abs(rows) < 1e-30, 0, rows).astype(np.float32).astype(float)
    check(bitgrain, path, rows, NAMES)


def test_zeros_as_missing_values_are_refused(bitgrain, random):
    _, path, _ = imported_lightgbm(bitgrain, random, {"zero_as_missing": True})
    with pytest.raises(AssertionError, match="xgboost-ubj cannot represent .* treats 0 as a missing value; use "):
        bitgrain.run("convert-model", path, bitgrain.path(".ubj"))
