"""Models written in LightGBM's formats: LightGBM, treelite and lleaves compute the same scores, bit for bit."""

import json

import lightgbm as lgb
import lleaves
import llvmlite.binding
import numpy as np
import pandas as pd
import pytest
import treelite
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
    without_tiny,
)


def exported(bitgrain, model):
    path = bitgrain.path(".txt")
    bitgrain.run("convert-model", model, path)
    return path


def check(bitgrain, model, rows, names, text=None):
    """Checks the raw scores, leaves and predictions of LightGBM, and the raw scores of treelite."""
    text = text or exported(bitgrain, model)
    booster = lgb.Booster(model_file=text)
    table = columns(rows, names)
    wanted = bitgrain.predict(model, table, "--raw")
    found = booster.predict(rows, raw_score=True).reshape(len(rows), -1)
    assert np.array_equal(found, wanted)
    assert np.array_equal(booster.predict(rows, pred_leaf=True), bitgrain.predict(model, table, "--leaf"))
    wanted_link = bitgrain.predict(model, table)
    np.testing.assert_allclose(booster.predict(rows).reshape(len(rows), -1), wanted_link, rtol=4e-15, atol=1e-300)
    # The file is read back to the same scores here, too.
    assert np.array_equal(bitgrain.predict(text, table, "--raw"), wanted)
    trees = treelite.frontend.load_lightgbm_model(text)
    found = treelite.gtil.predict(trees, rows, nthread=1, pred_margin=True).reshape(len(rows), -1)
    assert np.array_equal(found, wanted)
    return booster


@pytest.mark.parametrize("kind", TRAINED)
def test_trained_models(bitgrain, random, kind):
    model, rows = trained(bitgrain, random, kind)
    check(bitgrain, model, without_tiny(rows), NAMES)


@pytest.mark.parametrize("kind", CATEGORICAL)
def test_categories(bitgrain, random, kind):
    model, rows = with_categories(bitgrain, random, kind)
    rows = codes(rows)
    if kind != "strings":
        check(bitgrain, model, rows, ["x", "few", "many"])
        return
    labels = own(bitgrain, model)["features"][1]["labels"]
    few = [f"label {int(code)}" if code >= 0 else None for code in rows[:, 1]]
    frame = pd.DataFrame({"x": rows[:, 0], "few": pd.Categorical(few), "many": rows[:, 2]})
    booster = lgb.Booster(model_file=exported(bitgrain, model))
    assert booster.pandas_categorical == [labels]
    wanted = bitgrain.predict(model, {"x": rows[:, 0], "few": [name or "" for name in few], "many": rows[:, 2]}, "--raw")
    assert np.array_equal(booster.predict(frame, raw_score=True), wanted[:, 0])


@pytest.mark.parametrize("parameters", [{}, {"zero_as_missing": True}, {"use_missing": False}, {"boosting": "rf"}], ids=str)
def test_models_of_lightgbm_return_unchanged(bitgrain, random, parameters):
    if parameters.get("boosting") == "rf":
        parameters = parameters | {"bagging_freq": 1, "bagging_fraction": 0.6}
    theirs, path, rows = imported_lightgbm(bitgrain, random, parameters)
    again = bitgrain.path(".txt")
    bitgrain.run("convert-model", path, again)
    booster = lgb.Booster(model_file=again)
    for options in [{"raw_score": True}, {"pred_leaf": True}, {}]:
        assert np.array_equal(booster.predict(rows, **options), theirs.predict(rows, **options))


def test_models_of_xgboost(bitgrain, random):
    _, path, rows = imported_xgboost(bitgrain, random, with_codes=False)
    check(bitgrain, path, without_tiny(rows), NAMES)


def test_missing_values_with_the_listed_categories_are_refused(bitgrain, random):
    _, path, _ = imported_xgboost(bitgrain, random, with_codes=True)
    with pytest.raises(AssertionError, match="cannot represent split .* missing values along .*; use json, c or rust"):
        exported(bitgrain, path)


@pytest.mark.parametrize("kind", ["binary", "multiclass", "one leaf", "categories"])
def test_the_dump_is_that_of_lightgbm(bitgrain, random, kind):
    model, _ = (with_categories if kind in CATEGORICAL else trained)(bitgrain, random, kind)
    path = bitgrain.path(".json")
    bitgrain.run("convert-model", model, path, "--format", "lightgbm-json")
    ours, theirs = json.loads(path.read_text()), lgb.Booster(model_file=exported(bitgrain, model)).dump_model()
    same(ours, theirs)


def same(ours, theirs, key=None):
    """Checks that two dumps are equal. LightGBM rounds what does not affect predictions to six digits."""
    assert type(ours) is type(theirs) or isinstance(ours, int | float), key
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for key, value in ours.items():
            same(value, theirs[key], key)
    elif isinstance(ours, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other, key)
    elif key in {"split_gain", "internal_value", "internal_weight", "leaf_weight"}:
        assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-30)
    else:
        assert ours == theirs, key


class NoPasses:
    """Stands for LLVM's optimizer, whose old interface lleaves needs and llvmlite no longer has."""

    def populate(self, passes):
        pass

    def run(self, module):
        pass


@pytest.mark.parametrize("kind", ["squared", "binary", "multiclass"])
def test_lleaves_compiles_the_model(bitgrain, random, kind, monkeypatch):
    for name in ["PassManagerBuilder", "ModulePassManager"]:
        monkeypatch.setattr(llvmlite.binding, name, NoPasses, raising=False)
    monkeypatch.setattr(llvmlite.binding, "initialize", lambda: None)
    model, rows = trained(bitgrain, random, kind)
    rows = without_tiny(rows)
    compiled = lleaves.Model(model_file=exported(bitgrain, model))
    compiled.compile(raw_score=True)
    wanted = bitgrain.predict(model, columns(rows), "--raw")
    assert np.array_equal(compiled.predict(rows, n_jobs=1).reshape(len(rows), -1), wanted)
