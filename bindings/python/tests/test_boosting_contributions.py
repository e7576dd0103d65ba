"""SHAP values: equal to those of LightGBM and XGBoost, and they sum to the raw scores."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from numpy.typing import NDArray
from scipy import sparse

import bitgrain
from bitgrain import BitgrainClassifier, BitgrainRegressor
from bitgrain.boosting import from_lightgbm, from_xgboost

rng = np.random.default_rng(7)


def table(rows: int = 400, missing: bool = True) -> NDArray[np.float64]:
    X = rng.normal(size=(rows, 6))
    X[:, 4] = rng.integers(0, 8, size=rows)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X


def target(X: NDArray[np.float64]) -> NDArray[np.float64]:
    filled = np.nan_to_num(X)
    return filled[:, 0] * filled[:, 1] + np.sin(filled[:, 2]) + (filled[:, 4] % 3) * 0.5


def test_values_equal_lightgbm() -> None:
    X = table()
    for objective, y in [
        ("regression", target(X)),
        ("binary", (target(X) > 0.5).astype(float)),
        ("multiclass", np.digitize(target(X), [0.0, 1.0])),
    ]:
        settings = {"objective": objective, "num_leaves": 15, "min_data_in_leaf": 5, "verbose": -1}
        if objective == "multiclass":
            settings["num_class"] = 3
        data = lgb.Dataset(X, y, categorical_feature=[4], free_raw_data=False)
        theirs = lgb.train(settings, data, 20)
        ours = from_lightgbm(theirs).predict_contributions(X)
        expected = theirs.predict(X, pred_contrib=True)
        np.testing.assert_allclose(ours.reshape(len(X), -1), expected, rtol=0, atol=1e-6)


def test_values_and_interactions_equal_xgboost() -> None:
    X = table(200)
    for objective, y in [
        ("reg:squarederror", target(X)),
        ("binary:logistic", (target(X) > 0.5).astype(float)),
        ("multi:softprob", np.digitize(target(X), [0.0, 1.0])),
    ]:
        settings = {"objective": objective, "max_depth": 5}
        if objective == "multi:softprob":
            settings["num_class"] = 3
        matrix = xgb.DMatrix(X, y)
        theirs = xgb.train(settings, matrix, 15)
        ours = from_xgboost(theirs)
        expected = theirs.predict(matrix, pred_contribs=True)
        np.testing.assert_allclose(ours.predict_contributions(X), expected, rtol=0, atol=2e-5)
        pairs = theirs.predict(matrix, pred_interactions=True)
        np.testing.assert_allclose(ours.predict_contributions(X, interactions=True), pairs, rtol=0, atol=5e-5)


def test_values_sum_to_the_raw_scores() -> None:
    X = table()
    regressor = BitgrainRegressor(n_estimators=30).fit(X, target(X))
    values = regressor.predict_contributions(X)
    assert values.shape == (400, 7)
    np.testing.assert_allclose(values.sum(axis=1), regressor.booster_.predict_raw(X), rtol=0, atol=1e-9)
    classes = np.array(["a", "b", "c"])[np.digitize(target(X), [0.0, 1.0])]
    classifier = BitgrainClassifier(n_estimators=10).fit(X, classes)
    values = classifier.predict_contributions(X, background=X[:50])
    assert values.shape == (400, 3, 7)
    np.testing.assert_allclose(values.sum(axis=2), classifier.booster_.predict_raw(X), rtol=0, atol=1e-9)
    # The expected score of interventional values is the mean over the background.
    mean = classifier.booster_.predict_raw(X[:50]).mean(axis=0)
    np.testing.assert_allclose(values[0, :, -1], mean, rtol=0, atol=1e-9)


def test_fewer_rounds_frames_and_sparse_rows_are_explained() -> None:
    X = np.round(table(missing=False))
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = BitgrainRegressor(n_estimators=10).fit(frame, target(X)).booster_
    values = model.predict_contributions(frame[list("fedcba")], rounds=4)
    np.testing.assert_allclose(values.sum(axis=1), model.predict_raw(frame, rounds=4), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(model.predict_contributions(sparse.csr_matrix(X)), model.predict_contributions(X))
    np.testing.assert_array_equal(model.pred_contrib(X, n_jobs=1), model.predict_contributions(X, n_jobs=2))


def test_bad_input_is_an_error() -> None:
    X = table()
    model = BitgrainRegressor(n_estimators=3).fit(X, target(X)).booster_
    with pytest.raises(bitgrain.Error):
        model.predict_contributions(X[:, :5])
    with pytest.raises(bitgrain.Error):
        model.predict_contributions(X, background=X[:, :5])
    with pytest.raises(bitgrain.Error):
        model.predict_contributions(X, background=X[:0])
    with pytest.raises(bitgrain.Error):
        model.predict_contributions(X, rounds=-1)
