"""Models trained by XGBoost and saved as JSON and UBJSON, used by the command: the same scores up to f32 sums."""

import json

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from boosting import NAMES, ROWS, categories, columns, hard, numbers, odd_categories, signal

BASE = {"max_depth": 4, "nthread": 1, "seed": 1}


def train(parameters, rows, targets, rounds=12, names=NAMES, types=None, **options):
    data = xgb.DMatrix(rows, targets, feature_names=names, feature_types=types, enable_categorical=bool(types))
    return xgb.train(BASE | parameters, data, rounds, **options)


def saved(booster):
    """Returns the part of a model file that holds its trees."""
    model = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]
    return model.get("gbtree", model)["model"]


def thresholds(booster):
    """Returns some of the thresholds in a model file."""
    trees = saved(booster)["trees"]
    return sorted({float(np.float32(x)) for tree in trees for x in tree["split_conditions"]})[::7]


def by_rounds(booster):
    """Returns the trees with one per score in turn; files store parallel trees of a score next to each other."""
    scores = saved(booster)["tree_info"]
    return sorted(range(len(scores)), key=lambda tree: (scores[:tree].count(scores[tree]), scores[tree]))


def near(rows, thresholds):
    """Rows that are hard in f32: neighbors of thresholds among f32 numbers, and among f64 numbers."""
    around = [np.nextafter(np.float32(t), np.float32(side)) for t in thresholds for side in (-np.inf, np.inf)]
    return hard(rows, thresholds + [float(x) for x in around])


def check(bitgrain, booster, rows, names=NAMES, types=None, link=True):
    """Checks that raw scores and predictions equal XGBoost's, and that rows share leaves, for both file formats."""
    data = xgb.DMatrix(rows, feature_names=names, feature_types=types, enable_categorical=bool(types))
    table = columns(rows, names)
    for ending in [".json", ".ubj"]:
        path = bitgrain.path(ending)
        booster.save_model(path)
        wanted = booster.predict(data, output_margin=True).reshape(len(rows), -1)
        np.testing.assert_allclose(bitgrain.predict(path, table, "--raw"), wanted, rtol=1e-5, atol=2e-6)
        if link:
            wanted = booster.predict(data).reshape(len(rows), -1)
            np.testing.assert_allclose(bitgrain.predict(path, table), wanted, rtol=1e-5, atol=2e-6)
    wanted = booster.predict(data, pred_leaf=True).reshape(len(rows), -1)[:, by_rounds(booster)]
    found = bitgrain.predict(path, table, "--leaf")
    assert wanted.shape == found.shape
    for theirs, ours in zip(wanted.T, found.T):
        pairs = len(set(zip(theirs, ours)))
        assert pairs == len(set(theirs)) == len(set(ours)), "leaves are the same up to their numbers"


REGRESSION = [
    {"objective": "reg:squarederror"},
    {"objective": "reg:squarederror", "base_score": 3.5},
    {"objective": "reg:absoluteerror"},
    {"objective": "reg:pseudohubererror"},
    {"objective": "reg:quantileerror", "quantile_alpha": 0.9},
    {"objective": "reg:squarederror", "tree_method": "exact"},
    {"objective": "reg:squarederror", "tree_method": "approx"},
    {"objective": "reg:squarederror", "grow_policy": "lossguide", "max_leaves": 9, "max_depth": 0},
    {"objective": "reg:squarederror", "gamma": 30.0, "tree_method": "exact"},
    {"objective": "reg:squarederror", "booster": "dart", "rate_drop": 0.5},
    {"objective": "reg:squarederror", "booster": "dart", "rate_drop": 0.5, "normalize_type": "forest"},
    {"objective": "reg:squarederror", "num_parallel_tree": 4, "subsample": 0.5},
]


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("parameters", REGRESSION, ids=str)
def test_regression(bitgrain, random, parameters, missing):
    rows = numbers(random, missing)
    booster = train(parameters, rows, signal(rows))
    check(bitgrain, booster, near(rows, thresholds(booster)))


@pytest.mark.parametrize("base_score", [None, 0.3])
@pytest.mark.parametrize(
    "objective", ["count:poisson", "reg:gamma", "reg:tweedie", "reg:squaredlogerror", "survival:cox"]
)
def test_positive_targets(bitgrain, random, objective, base_score):
    rows = numbers(random, 0.1)
    parameters = {"objective": objective} | ({} if base_score is None else {"base_score": base_score})
    booster = train(parameters, rows, np.exp(0.3 * signal(rows)))
    check(bitgrain, booster, near(rows, thresholds(booster)))


def test_survival_times(bitgrain, random):
    rows = numbers(random)
    data = xgb.DMatrix(rows, feature_names=NAMES)
    times = np.exp(0.3 * signal(rows))
    data.set_float_info("label_lower_bound", times)
    data.set_float_info("label_upper_bound", np.where(random.random(ROWS) < 0.3, np.inf, times))
    check(bitgrain, xgb.train(BASE | {"objective": "survival:aft"}, data, 8), rows)


@pytest.mark.parametrize("base_score", [None, 0.1])
@pytest.mark.parametrize("objective", ["binary:logistic", "binary:logitraw", "binary:hinge", "reg:logistic"])
def test_binary(bitgrain, random, objective, base_score):
    rows = numbers(random, 0.1)
    parameters = {"objective": objective} | ({} if base_score is None else {"base_score": base_score})
    booster = train(parameters, rows, signal(rows) > 1)
    check(bitgrain, booster, near(rows, thresholds(booster)))


@pytest.mark.parametrize(
    "parameters", [{}, {"base_score": 0.7}, {"num_parallel_tree": 3}, {"booster": "dart"}], ids=str
)
@pytest.mark.parametrize("objective", ["multi:softprob", "multi:softmax"])
def test_classes(bitgrain, random, objective, parameters):
    rows = numbers(random, 0.1)
    booster = train({"objective": objective, "num_class": 3} | parameters, rows, np.digitize(signal(rows), [-0.5, 0.5]))
    # `softmax` differs from `softprob` only in XGBoost's output: the class instead of probabilities.
    check(bitgrain, booster, near(rows, thresholds(booster)), link=objective == "multi:softprob")


def test_several_quantiles_at_once(bitgrain, random):
    rows = numbers(random)
    booster = train({"objective": "reg:quantileerror", "quantile_alpha": [0.1, 0.5, 0.9]}, rows, signal(rows))
    check(bitgrain, booster, near(rows, thresholds(booster)))


def test_several_targets_with_a_tree_for_each(bitgrain, random):
    rows = numbers(random)
    booster = train({"objective": "reg:squarederror"}, rows, np.column_stack([signal(rows), -2 * signal(rows) + 1]))
    check(bitgrain, booster, near(rows, thresholds(booster)))


def test_several_labels_at_once(bitgrain, random):
    rows = numbers(random)
    targets = np.column_stack([signal(rows) > 0, signal(rows) > 1, rows[:, 0] > 0])
    booster = train({"objective": "binary:logistic"}, rows, targets)
    check(bitgrain, booster, near(rows, thresholds(booster)))


@pytest.mark.parametrize("one_hot", [1, 6, 1000])
@pytest.mark.parametrize("method", ["hist", "approx"])
def test_categories(bitgrain, random, method, one_hot):
    rows, targets = categories(random)
    names, types = ["x", "few", "many"], ["float", "c", "c"]
    parameters = {"objective": "reg:squarederror", "tree_method": method, "max_cat_to_onehot": one_hot, "max_depth": 6}
    booster = train(parameters, rows, targets, names=names, types=types)
    check(bitgrain, booster, odd_categories(rows), names, types)


def test_strings_of_a_pandas_table(bitgrain, random):
    rows, targets = categories(random)
    # Only ASCII: XGBoost 3.2 stores character counts instead of byte counts, so that its own file truncates "grün".
    names = np.array(["red", "green, light", 'a "quoted" one', "blue", "black"])
    few = names[np.nan_to_num(rows[:, 1]).astype(int)]
    table = pd.DataFrame({"x": rows[:, 0], "few": pd.Categorical(few), "y": rows[:, 2]})
    data = xgb.DMatrix(table, targets, enable_categorical=True)
    booster = xgb.train(BASE | {"max_cat_to_onehot": 1}, data, 10)
    for ending in [".json", ".ubj"]:
        path = bitgrain.path(ending)
        booster.save_model(path)
        found = bitgrain.predict(path, {"x": rows[:, 0], "few": few.tolist(), "y": rows[:, 2]}, "--raw")
        np.testing.assert_allclose(found[:, 0], booster.predict(data, output_margin=True), rtol=1e-5, atol=2e-6)


def test_continued_and_early_stopped_models(bitgrain, random):
    rows = numbers(random, 0.1)
    targets = signal(rows)
    first = train({}, rows, targets, rounds=5)
    check(bitgrain, train({"learning_rate": 0.1}, rows, targets, rounds=5, xgb_model=first), rows)
    check(bitgrain, first[1:4], rows)


def test_models_without_names(bitgrain, random):
    rows = numbers(random)
    booster = train({}, rows, signal(rows), names=None)
    path = bitgrain.path(".ubj")
    booster.save_model(path)
    found = bitgrain.predict(path, columns(rows, ["f0", "f1", "f2", "f3"]), "--raw")
    np.testing.assert_allclose(found[:, 0], booster.predict(xgb.DMatrix(rows)), rtol=1e-5, atol=2e-6)


REFUSED = [({"booster": "gblinear"}, "gblinear"), ({"multi_strategy": "multi_output_tree"}, "several outputs")]


@pytest.mark.parametrize("parameters, words", REFUSED)
def test_unsupported_models_are_rejected_with_a_clear_message(bitgrain, random, parameters, words):
    rows = numbers(random)
    booster = train(parameters, rows, np.column_stack([signal(rows), signal(rows)]))
    for ending in [".json", ".ubj"]:
        path = bitgrain.path(ending)
        booster.save_model(path)
        with pytest.raises(AssertionError, match=words):
            bitgrain.predict(path, columns(rows))
