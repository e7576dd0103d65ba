#!/usr/bin/env python3
"""Create vectors/foreign_models: small models saved by LightGBM and XGBoost, with rows and their raw scores.

Run once, with the packages of oracles/requirements.txt. `null` stands for NaN.
"""

import json
import pathlib

import lightgbm as lgb
import numpy as np
import xgboost as xgb

FOLDER = pathlib.Path(__file__).parent / "vectors" / "foreign_models"
NAMES = ["x", "z", "c"]
LIGHTGBM = {"verbose": -1, "num_leaves": 4, "min_data_in_leaf": 3, "num_threads": 1}
LIGHTGBM |= {"min_data_per_group": 3, "cat_smooth": 1}
XGBOOST = {"max_depth": 2, "nthread": 1}


def table(random, missing):
    rows = np.column_stack(
        [random.standard_normal(120), random.integers(-1, 2, 120), random.integers(0, 40, 120)]
    ).astype(float)
    rows[random.random(rows.shape) < missing] = np.nan
    x = np.nan_to_num(rows)
    return rows, x[:, 0] + x[:, 1] + 2 * np.sin(x[:, 2] * 3)


def asked(rows):
    """Return some rows, with edge cases among their values."""
    some = rows[:16].copy()
    some[:8, 2] = [np.nan, 40, 64, 1e6, 1.5, 39.9, 0, 31]
    some[8:14, 0] = [np.nan, 0.0, -0.0, 1e-36, 1e30, -1e30]
    some[:6, 1] = [np.nan, 0.0, 1e-36, -1e-36, 0.5, 1.0]
    return some


def keep(name, rows, scores):
    cells = [[None if value != value else value for value in row] for row in rows.tolist()]
    scores = np.asarray(scores, float).reshape(len(rows), -1).tolist()
    (FOLDER / f"{name}.scores.json").write_text(json.dumps({"rows": cells, "scores": scores}) + "\n")


def lightgbm(name, missing, **parameters):
    rows, targets = table(np.random.default_rng(1), missing)
    if parameters["objective"] != "regression":
        targets = np.digitize(targets, [-1, 1] if "num_class" in parameters else [0])
    data = lgb.Dataset(rows, targets, feature_name=NAMES, categorical_feature=["c"])
    booster = lgb.train(LIGHTGBM | parameters, data, 3)
    booster.save_model(FOLDER / f"{name}.txt")
    scale = 3 if parameters.get("boosting") == "rf" else 1
    keep(name, asked(rows), booster.predict(asked(rows), raw_score=True) / scale)


def xgboost(name, **parameters):
    rows, targets = table(np.random.default_rng(1), 0.1)
    if parameters["objective"] != "reg:squarederror":
        targets = np.digitize(targets, [-1, 1] if "num_class" in parameters else [0])
    types = ["float", "float", "c"]
    data = xgb.DMatrix(rows, targets, feature_names=NAMES, feature_types=types, enable_categorical=True)
    booster = xgb.train(XGBOOST | parameters, data, 3)
    for ending in ["json", "ubj"]:
        booster.save_model(FOLDER / f"{name}.{ending}")
    some = xgb.DMatrix(asked(rows), feature_names=NAMES, feature_types=types, enable_categorical=True)
    keep(name, asked(rows), booster.predict(some, output_margin=True))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    lightgbm("lightgbm_binary", 0.1, objective="binary")
    lightgbm("lightgbm_no_missing", 0.0, objective="regression")
    lightgbm("lightgbm_zero_missing", 0.1, objective="regression", zero_as_missing=True)
    lightgbm("lightgbm_classes", 0.1, objective="multiclass", num_class=3)
    lightgbm("lightgbm_forest", 0.1, objective="regression", boosting="rf", bagging_freq=1, bagging_fraction=0.7)
    xgboost("xgboost_binary", objective="binary:logistic", max_cat_to_onehot=1)
    xgboost("xgboost_classes", objective="multi:softprob", num_class=3, num_parallel_tree=2, max_cat_to_onehot=100)
    xgboost("xgboost_dart", objective="reg:squarederror", booster="dart", rate_drop=0.5, one_drop=1)
