"""Models trained and saved by LightGBM, used by the command: the same scores, in f64."""

import re

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from boosting import NAMES, ROWS, categories, columns, hard, numbers, odd_categories, signal

BASE = {"verbose": -1, "num_leaves": 15, "min_data_in_leaf": 5, "num_threads": 1, "deterministic": True, "seed": 1}


def train(parameters, rows, targets, rounds=12, names=NAMES, **data):
    dataset = lgb.Dataset(rows, targets, feature_name=names, free_raw_data=False, **data)
    return lgb.train(BASE | parameters, dataset, rounds)


def thresholds(booster):
    """Returns some of the thresholds in a model file."""
    lines = re.findall(r"^threshold=(.*)$", booster.model_to_string(), re.MULTILINE)
    return sorted({float(text) for line in lines for text in line.split()})[::7]


def check(bitgrain, booster, rows, names=NAMES):
    """Checks that raw scores, predictions and leaves equal LightGBM's."""
    path = bitgrain.path(".txt")
    booster.save_model(path)
    table = columns(rows, names)
    wanted = booster.predict(rows, raw_score=True).reshape(len(rows), -1)
    if booster.params.get("boosting") == "rf":
        # LightGBM's raw scores of a forest are sums, although its predictions use means.
        wanted /= booster.current_iteration()
    np.testing.assert_allclose(bitgrain.predict(path, table, "--raw"), wanted, rtol=1e-12, atol=1e-12)
    wanted = booster.predict(rows).reshape(len(rows), -1)
    np.testing.assert_allclose(bitgrain.predict(path, table), wanted, rtol=1e-9, atol=1e-12)
    wanted = booster.predict(rows, pred_leaf=True).reshape(len(rows), -1)
    assert np.array_equal(bitgrain.predict(path, table, "--leaf"), wanted)


REGRESSION = [
    {"objective": "regression"},
    {"objective": "regression", "reg_sqrt": True},
    {"objective": "regression_l1"},
    {"objective": "huber"},
    {"objective": "fair"},
    {"objective": "mape"},
    {"objective": "quantile", "alpha": 0.9},
    {"objective": "regression", "boosting": "dart", "drop_rate": 0.5},
    {"objective": "regression", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6},
    {"objective": "regression", "data_sample_strategy": "goss", "learning_rate": 0.3},
    {"objective": "regression", "use_quantized_grad": True},
    {"objective": "regression", "extra_trees": True, "max_bin": 15},
]


@pytest.mark.parametrize("parameters", REGRESSION, ids=str)
def test_regression(bitgrain, random, parameters):
    rows = numbers(random, missing=0.1)
    booster = train(parameters, rows, signal(rows))
    check(bitgrain, booster, hard(rows, thresholds(booster)))


@pytest.mark.parametrize("objective", ["poisson", "gamma", "tweedie", "cross_entropy_lambda"])
def test_positive_targets(bitgrain, random, objective):
    rows = numbers(random)
    targets = np.exp(0.3 * signal(rows))
    booster = train({"objective": objective}, rows, targets / targets.max())
    check(bitgrain, booster, hard(rows, thresholds(booster)))


@pytest.mark.parametrize("parameters", [{}, {"sigmoid": 2.5}, {"boosting": "dart"}, {"is_unbalance": True}], ids=str)
def test_binary(bitgrain, random, parameters):
    rows = numbers(random, missing=0.2)
    booster = train({"objective": "binary"} | parameters, rows, signal(rows) > 0)
    check(bitgrain, booster, hard(rows, thresholds(booster)))


def test_cross_entropy(bitgrain, random):
    rows = numbers(random)
    booster = train({"objective": "cross_entropy"}, rows, 1 / (1 + np.exp(-signal(rows))))
    check(bitgrain, booster, hard(rows, thresholds(booster)))


@pytest.mark.parametrize("objective", ["multiclass", "multiclassova"])
@pytest.mark.parametrize("boosting", ["gbdt", "rf"])
def test_classes(bitgrain, random, objective, boosting):
    rows = numbers(random, missing=0.1)
    targets = np.digitize(signal(rows), [-0.5, 0.5])
    parameters = {"objective": objective, "num_class": 3, "boosting": boosting, "bagging_freq": 1}
    booster = train(parameters | {"bagging_fraction": 0.7}, rows, targets)
    check(bitgrain, booster, hard(rows, thresholds(booster)))


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("parameters", [{}, {"zero_as_missing": True}, {"use_missing": False}], ids=str)
def test_missing_values_match_lightgbm(bitgrain, random, missing, parameters):
    """With and without NaN in training: without it, NaN counts as 0."""
    rows = numbers(random, missing)
    booster = train({"objective": "regression"} | parameters, rows, signal(rows))
    types = re.findall(r"^decision_type=(\d+)", booster.model_to_string(), re.MULTILINE)
    kinds = {int(text) >> 2 & 3 for text in types}
    wanted = 1 if "zero_as_missing" in parameters else 2 if missing and not parameters else 0
    assert kinds == {wanted}, "the model has the splits this test is about"
    check(bitgrain, booster, hard(rows, thresholds(booster)))


@pytest.mark.parametrize(
    "parameters", [{}, {"max_cat_to_onehot": 100}, {"zero_as_missing": True}, {"use_missing": False}], ids=str
)
def test_categories(bitgrain, random, parameters):
    rows, targets = categories(random)
    options = {"objective": "regression", "min_data_per_group": 3, "cat_smooth": 1} | parameters
    booster = train(options, rows, targets, names=["x", "few", "many"], categorical_feature=["few", "many"])
    assert "num_cat=0" not in booster.model_to_string().split("Tree=1")[0]
    check(bitgrain, booster, odd_categories(rows), ["x", "few", "many"])


def test_strings_of_a_pandas_table(bitgrain, random):
    rows, targets = categories(random)
    names = np.array(["red", "green, light", 'a "quoted" one', "blau", "grün"])
    few = names[np.nan_to_num(rows[:, 1]).astype(int)]
    table = pd.DataFrame({"x": rows[:, 0], "few": pd.Categorical(few), "y": rows[:, 2]})
    booster = lgb.train(BASE | {"objective": "regression", "min_data_per_group": 3}, lgb.Dataset(table, targets), 10)
    path = bitgrain.path(".txt")
    booster.save_model(path)
    found = bitgrain.predict(path, {"x": rows[:, 0], "few": few.tolist(), "y": rows[:, 2]}, "--raw")
    np.testing.assert_allclose(found[:, 0], booster.predict(table, raw_score=True), rtol=1e-12)


def test_continued_and_early_stopped_models(bitgrain, random):
    rows = numbers(random, missing=0.1)
    targets = signal(rows)
    first = train({"objective": "regression"}, rows, targets, rounds=5)
    more = lgb.Dataset(rows, targets, feature_name=NAMES, free_raw_data=False)
    faster = BASE | {"objective": "regression", "learning_rate": 0.3}
    check(bitgrain, lgb.train(faster, more, 7, init_model=first), rows)
    held = lgb.Dataset(rows[:200], targets[:200], reference=more)
    stopped = lgb.train(BASE, more, 40, valid_sets=[held], callbacks=[lgb.early_stopping(2, verbose=False)])
    check(bitgrain, stopped, rows)


def test_a_custom_loss(bitgrain, random):
    rows = numbers(random)
    booster = train({"objective": lambda scores, data: (scores - data.get_label(), np.ones(ROWS))}, rows, signal(rows))
    check(bitgrain, booster, rows)


def test_trees_of_one_leaf(bitgrain, random):
    rows = numbers(random)
    check(bitgrain, train({"objective": "regression"}, rows, np.ones(ROWS), rounds=2), rows)


def test_ranking(bitgrain, random):
    rows = numbers(random)
    targets = np.clip(np.digitize(signal(rows), [-1, 0, 1]), 0, 3)
    check(bitgrain, train({"objective": "lambdarank"}, rows, targets, group=[20] * (ROWS // 20)), rows)


@pytest.mark.parametrize("decay", [0.0, 0.7])
@pytest.mark.parametrize("parameters", [{}, {"boosting": "dart", "drop_rate": 0.5}, {"lambda_l2": 3.0}], ids=str)
def test_refitted_leaves_are_lightgbms(bitgrain, random, parameters, decay):
    rows, new = numbers(random, missing=0.1), numbers(random, missing=0.1)
    booster = train({"objective": "regression", "min_data_in_leaf": 40} | parameters, rows, signal(rows))
    path, refitted, table = bitgrain.path(".txt"), bitgrain.path(".bitgrain"), bitgrain.path(".csv")
    booster.save_model(path)
    targets = 2 * signal(new) + 1
    with table.open("w") as file:
        np.savetxt(file, np.column_stack([new, targets]), "%.17g", ",", header=",".join([*NAMES, "y"]), comments="")
    l2 = parameters.get("lambda_l2", 0)
    bitgrain.run("refit", path, table, "--target", "y", "-o", refitted, "--decay-rate", decay, "--reg-lambda", l2)
    wanted = booster.refit(new, targets, decay_rate=decay).predict(rows)
    found = bitgrain.predict(refitted, columns(rows))[:, 0]
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_linear_trees_are_rejected_with_a_clear_message(bitgrain, random):
    rows = numbers(random)
    booster = train({"objective": "regression", "linear_tree": True}, rows, signal(rows))
    path = bitgrain.path(".txt")
    booster.save_model(path)
    with pytest.raises(AssertionError, match="linear trees"):
        bitgrain.predict(path, columns(rows))
