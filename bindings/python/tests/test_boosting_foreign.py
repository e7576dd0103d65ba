"""Imported models of LightGBM and XGBoost make the same predictions."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import bitgrain


def test_lightgbm_boosters_and_estimators():
    X, y = load_diabetes(return_X_y=True)
    booster = lightgbm.train({"verbose": -1}, lightgbm.Dataset(X, y), 20)
    for given in (booster, booster.model_to_string()):
        np.testing.assert_allclose(bitgrain.boosting.from_lightgbm(given).predict(X), booster.predict(X), rtol=1e-12)
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    theirs = lightgbm.LGBMClassifier(verbose=-1, n_estimators=10).fit(X, names)
    ours = bitgrain.boosting.from_lightgbm(theirs)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    assert (ours.predict_class(X) == theirs.predict(X)).all()


def test_early_stopped_lightgbm_models_predict_the_same():
    X, y = load_breast_cancer(return_X_y=True)
    theirs = lightgbm.LGBMClassifier(verbose=-1, n_estimators=400)
    stop = lightgbm.early_stopping(5, verbose=False)
    theirs.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])], callbacks=[stop])
    assert theirs.best_iteration_ < 400
    np.testing.assert_allclose(
        bitgrain.boosting.from_lightgbm(theirs).predict_proba(X), theirs.predict_proba(X), rtol=1e-9
    )


def test_lightgbm_categories_of_pandas():
    rng = np.random.default_rng(0)
    city = rng.choice(["Oslo", "Rome", "Lima"], 500)
    frame = pd.DataFrame({"city": pd.Categorical(city), "x": rng.random(500)})
    y = np.where(city == "Rome", 5.0, 1.0) + frame["x"]
    theirs = lightgbm.LGBMRegressor(verbose=-1, n_estimators=20).fit(frame, y)
    ours = bitgrain.boosting.from_lightgbm(theirs)
    assert ours.categories == {"city": ["Lima", "Oslo", "Rome"]}
    turned = frame.assign(city=frame["city"].cat.reorder_categories(["Rome", "Oslo", "Lima"]))
    for given in (frame, turned, frame[["x", "city"]]):
        np.testing.assert_allclose(ours.predict(given), theirs.predict(frame), rtol=1e-12)


def test_lightgbm_ordered_categories_of_pandas(tmp_path):
    rng = np.random.default_rng(0)
    grades, cities = ["low", "mid", "high"], ["Oslo", "Rome", "Lima"]
    grade, city = rng.choice(grades, 500), rng.choice(cities, 500)
    frame = pd.DataFrame(
        {
            "x": rng.random(500),
            "grade": pd.Categorical(grade, grades, ordered=True),
            "city": pd.Categorical(city),
            "zip": rng.integers(0, 3, 500),
        }
    )
    y = 3.0 * (grade == "high") + 5.0 * (city == "Rome") + frame["x"] + (frame["zip"] == 1)
    # The second model has as many lists as categorical features, but for other columns.
    for features in (["x", "grade", "city"], ["x", "grade", "zip"]):
        theirs = lightgbm.LGBMRegressor(verbose=-1, n_estimators=20)
        theirs.fit(frame[features], y, categorical_feature=[each for each in ("city", "zip") if each in features])
        want = theirs.predict(frame[features])
        theirs.booster_.save_model(tmp_path / "model.txt")
        taken = bitgrain.boosting.from_lightgbm(theirs)
        taken.save(tmp_path / "model.bitgrain")
        for name in ("model.txt", "model.bitgrain"):
            np.testing.assert_allclose(bitgrain.load_model(tmp_path / name).predict(frame[features]), want, rtol=1e-12)
        other_codes = frame.assign(grade=frame["grade"].cat.reorder_categories(["high", "low", "mid"]))
        for given in (frame[features], other_codes[features[::-1]]):
            np.testing.assert_allclose(taken.predict(given), want, rtol=1e-12)
        # Codes in a plain array are used directly, and a grade unseen in training is missing.
        codes = frame[features].assign(
            **{name: frame[name].cat.codes for name in ("grade", "city") if name in features}
        )
        np.testing.assert_allclose(taken.predict(codes.to_numpy(float)), want, rtol=1e-12)
        unseen = frame[features].assign(grade=pd.Categorical(["none"] * 500, [*grades, "none"], ordered=True))
        np.testing.assert_allclose(taken.predict(unseen), theirs.predict(unseen), rtol=1e-12)


def test_xgboost_boosters_and_estimators():
    X, y = load_diabetes(return_X_y=True)
    X = X.astype(np.float32)
    booster = xgboost.train({"max_depth": 4}, xgboost.DMatrix(X, y), 20)
    for given in (booster, booster.save_raw("json"), bytes(booster.save_raw("ubj"))):
        np.testing.assert_allclose(
            bitgrain.boosting.from_xgboost(given).predict(X), booster.predict(xgboost.DMatrix(X)), rtol=2e-6
        )
    X, y = load_iris(return_X_y=True)
    theirs = xgboost.XGBClassifier(n_estimators=10).fit(X, y)
    np.testing.assert_allclose(
        bitgrain.boosting.from_xgboost(theirs).predict_proba(X), theirs.predict_proba(X), rtol=2e-5
    )


def test_early_stopped_xgboost_models_predict_the_same():
    X, y = load_breast_cancer(return_X_y=True)
    theirs = xgboost.XGBClassifier(n_estimators=400, early_stopping_rounds=5)
    theirs.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])], verbose=False)
    assert theirs.best_iteration < 390
    ours = bitgrain.boosting.from_xgboost(theirs)
    assert ours.n_rounds == theirs.best_iteration + 1
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-4, atol=1e-6)


def test_other_files_are_not_models():
    for taken in (bitgrain.boosting.from_lightgbm, bitgrain.boosting.from_xgboost):
        with pytest.raises(bitgrain.errors.DTypeError, match="not int"):
            taken(5)
    with pytest.raises(bitgrain.errors.FormatError):
        bitgrain.boosting.from_lightgbm("no model")
    with pytest.raises(bitgrain.errors.FormatError):
        bitgrain.boosting.from_xgboost(b"no model")
    zeros = xgboost.XGBRegressor(n_estimators=2, missing=0.0).fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(bitgrain.errors.InputError, match=r"takes 0.0 for a missing value"):
        bitgrain.boosting.from_xgboost(zeros)


def test_lightgbm_and_xgboost_files_are_loaded(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    booster = lightgbm.train({"verbose": -1}, lightgbm.Dataset(X, y), 5)
    booster.save_model(tmp_path / "lightgbm.txt")
    np.testing.assert_allclose(bitgrain.load_model(tmp_path / "lightgbm.txt").predict(X), booster.predict(X))
    theirs = xgboost.XGBRegressor(n_estimators=5).fit(X, y)
    theirs.save_model(tmp_path / "xgboost.ubj")
    np.testing.assert_allclose(
        bitgrain.load_model(tmp_path / "xgboost.ubj").predict(X.astype(np.float32)), theirs.predict(X), rtol=2e-6
    )
    again = bitgrain.BitgrainRegressor.load(tmp_path / "lightgbm.txt")
    np.testing.assert_allclose(again.predict(X), booster.predict(X))
