"""Shared by the oracles of exported models: models of every kind, made by the command, and rows that are hard for them."""

import csv
import json

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from boosting import NAMES, categories, columns, hard, numbers, odd_categories, signal
from conftest import cell
from sklearn.datasets import load_diabetes, load_iris

#: Kinds of models trained by the command on numeric columns: an objective, or a special case.
TRAINED = ["squared", "absolute", "quantile:0.9", "poisson", "tweedie:1.3", "binary", "multiclass", "one leaf", "f64"]
TRAINED += ["lambdarank", "rank_xendcg", "rank_pairwise"]
#: Kinds of models trained with categorical columns.
CATEGORICAL = ["categories", "categories without missing values", "strings"]


def written(path, table):
    """Writes columns to a CSV file."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*(map(cell, column) for column in table.values()), strict=True))
    return path


def train(bitgrain, table, targets, *options, rounds=10):
    """Trains with the command and returns the path of the model."""
    data, model = bitgrain.path(".csv"), bitgrain.path(".bitgrain")
    written(data, table | {"target": targets})
    bitgrain.run("train", data, "--target", "target", "--model", model, "--rounds", rounds, "--num-leaves", 15, *options)
    return model


def trained(bitgrain, random, kind):
    """Returns a model of a kind, and rows to predict with every threshold and its neighbors, infinities and NaN."""
    if kind == "multiclass":
        rows, targets = load_iris(return_X_y=True)
        rows[random.random(rows.shape) < 0.1] = np.nan
        model = train(bitgrain, columns(rows), [f"class {k}" for k in targets], "--objective", "multiclass")
    elif kind == "one leaf":
        rows = numbers(random)
        model = train(bitgrain, columns(rows), np.full(len(rows), 0.1), "--objective", "squared", rounds=2)
    elif kind == "f64":
        rows, targets = load_diabetes(return_X_y=True)
        rows = rows[:, :4]
        rows[:, 0] = 1e12 + np.round(1000 * rows[:, 0])
        model = train(bitgrain, columns(rows), targets + rows[:, 0] - 1e12)
    elif "rank" in kind:
        rows = numbers(random, 0.1)
        grades = np.digitize(signal(rows), [-1.0, 0.0, 1.0])
        queries = {"query": np.repeat(np.arange(len(rows) // 20), 20)}
        model = train(bitgrain, columns(rows) | queries, grades, "--group", "query", "--objective", kind)
    else:
        rows = numbers(random, 0.1)
        targets = np.exp(0.3 * signal(rows))
        if kind == "binary":
            targets = np.where(targets > 1, "yes", "no")
        model = train(bitgrain, columns(rows), targets, "--objective", kind)
    return model, with_infinities(hard(rows, thresholds(bitgrain, model)))


def with_categories(bitgrain, random, kind):
    """Returns a model with categorical columns, rows of codes, and whether codes have labels."""
    rows, targets = categories(random)
    if kind == "categories without missing values":
        rows = np.nan_to_num(rows)
    few = [f"label {code}" if code == code else "" for code in rows[:, 1]]
    table = {"x": rows[:, 0], "few": few if kind == "strings" else rows[:, 1], "many": rows[:, 2]}
    chosen = "many" if kind == "strings" else "few,many"
    options = ["--categorical", chosen, "--min-data-in-leaf", 5]
    return train(bitgrain, table, targets, *options), rows


def own(bitgrain, model):
    """Returns the model as our JSON."""
    path = bitgrain.path(".json")
    bitgrain.run("convert-model", model, path)
    return json.loads(path.read_text())


def thresholds(bitgrain, model):
    """Returns some of the thresholds of a model, and their neighbors among f32 numbers."""
    splits = [split for tree in own(bitgrain, model)["trees"] for split in tree["splits"]]
    found = sorted({split["at_most"] for split in splits if isinstance(split.get("at_most"), float)})[::7]
    sides = [np.float32(-np.inf), np.float32(np.inf)]
    middle = [(t + float(np.nextafter(np.float32(t), np.float32(np.inf)))) / 2 for t in found]
    return found + middle + [float(np.nextafter(np.float32(t), side)) for t in found for side in sides]


def with_infinities(rows):
    """Adds rows of infinities and of the largest numbers."""
    some = np.repeat(rows[:4], rows.shape[1], axis=0)
    for at, row in enumerate(some):
        row[at % len(row)] = [np.inf, -np.inf, 3.4028235677973366e38, -1e300][at // len(row)]
    return np.vstack([rows, some])


def without_tiny(rows):
    """The rows without nonzero magnitudes up to 1e-35, which LightGBM reads as 0."""
    return np.where(np.abs(rows) <= 1.1e-35, 0.0, rows)


def imported_lightgbm(bitgrain, random, parameters):
    """Returns the path of a model of LightGBM, and rows."""
    rows = numbers(random, 0.2)
    base = {"verbose": -1, "num_leaves": 15, "min_data_in_leaf": 5, "num_threads": 1, "seed": 1}
    booster = lgb.train(base | parameters, lgb.Dataset(rows, signal(rows), feature_name=NAMES), 10)
    path = bitgrain.path(".txt")
    booster.save_model(path)
    return booster, path, rows


def imported_xgboost(bitgrain, random, with_codes):
    """Returns the path of a model of XGBoost, and rows, with categorical columns or without."""
    if with_codes:
        rows, targets = categories(random)
        names, types = ["x", "few", "many"], ["float", "c", "c"]
    else:
        rows, names, types = numbers(random, 0.2), NAMES, ["float"] * 4
        targets = signal(rows)
    data = xgb.DMatrix(rows, targets, feature_names=names, feature_types=types, enable_categorical=with_codes)
    booster = xgb.train({"max_depth": 5, "nthread": 1, "max_cat_to_onehot": 1}, data, 10)
    path = bitgrain.path(".json")
    booster.save_model(path)
    return booster, path, rows


def codes(rows):
    """The rows, with unseen, missing and negative codes. Codes are integers: programs differ in their view of others."""
    rows = odd_categories(rows)
    return rows[np.all((rows[:, 1:] % 1 == 0) | np.isnan(rows[:, 1:]), axis=1)]

