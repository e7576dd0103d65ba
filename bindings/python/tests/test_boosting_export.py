"""Exported models: other programs make the same predictions; shap explains unchanged models."""

import pathlib
import subprocess
import sys
from typing import Any

import lightgbm
import numpy as np
import onnxruntime
import pandas as pd
import pytest
import shap
import xgboost
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import bitgrain
from bitgrain import BitgrainClassifier, BitgrainRegressor


def diabetes() -> tuple[bitgrain.boosting.Model, NDArray[np.float64]]:
    X, y = load_diabetes(return_X_y=True)
    X[::7, 2] = np.nan
    return bitgrain.train(bitgrain.Dataset(X, y), n_estimators=20), X


def test_every_format_is_saved_and_exported(tmp_path: pathlib.Path) -> None:
    model, X = diabetes()
    endings = {"bitgrain": "bitgrain", "json": "json", "lightgbm": "txt", "xgboost-ubj": "ubj"}
    for format in [*endings, "lightgbm-json", "xgboost-json", "onnx", "c", "rust"]:
        path = tmp_path / f"model.{endings.get(format, 'other')}"
        model.save(path, None if format in endings else format)
        assert path.read_bytes() == model.export(format), format
        assert model.export(format.replace("-", "_")) == model.export(format), "an underscore is as good as a hyphen"
    for format in ("bitgrain", "json", "lightgbm"):
        path = tmp_path / f"model.{endings[format]}"
        np.testing.assert_array_equal(bitgrain.load_model(path).predict_raw(X), model.predict_raw(X))
    again = bitgrain.load_model(tmp_path / "model.json")
    assert again.to_bytes() == model.to_bytes()
    assert bitgrain.boosting.Model.from_bytes(model.to_json().encode()).to_bytes() == model.to_bytes()


def test_other_programs_predict_the_same(tmp_path: pathlib.Path) -> None:
    model, X = diabetes()
    theirs = lightgbm.Booster(model_str=model.export("lightgbm").decode())
    np.testing.assert_array_equal(theirs.predict(X), model.predict(X))
    booster = xgboost.Booster(model_file=bytearray(model.export("xgboost-ubj")))
    data = xgboost.DMatrix(X, feature_names=model.feature_names)
    np.testing.assert_allclose(booster.predict(data), model.predict(X), rtol=1e-5)
    runtime = onnxruntime.InferenceSession(model.export("onnx"))
    found = runtime.run(["prediction"], {"X": X.astype(np.float32)})[0]
    np.testing.assert_allclose(found[:, 0], model.predict(X.astype(np.float32)), rtol=1e-13)


def test_bad_formats_are_errors(tmp_path: pathlib.Path) -> None:
    model, _ = diabetes()
    with pytest.raises(bitgrain.errors.InputError, match="unknown model format `pmml`; the formats are bitgrain, json"):
        model.export("pmml")
    with pytest.raises(bitgrain.errors.InputError, match="pmml"):
        model.save(tmp_path / "model.xml", "pmml")
    assert not (tmp_path / "model.xml").exists()
    with pytest.raises(TypeError):
        model.export(5)  # type: ignore[arg-type]
    X, y = load_diabetes(return_X_y=True)
    theirs = lightgbm.train({"verbose": -1, "zero_as_missing": True}, lightgbm.Dataset(np.round(X, 2), y), 5)
    with pytest.raises(bitgrain.errors.FormatError, match=r"onnx cannot represent .*; use lightgbm"):
        bitgrain.boosting.from_lightgbm(theirs).export("onnx")
    for broken in (b'{"bitgrain_model": 1}', b'{"bitgrain_model": 2}', model.to_json().encode()[:-20]):
        with pytest.raises(bitgrain.errors.FormatError):
            bitgrain.boosting.Model.from_bytes(broken)


def explained(explainer: Any, X: Any) -> NDArray[np.float64]:
    """Return the values of shap with the expected score last, as `predict_contributions` has them."""
    values = np.asarray(explainer.shap_values(X))
    expected = np.broadcast_to(explainer.expected_value, values.shape[:1] + values.shape[2:])[:, None]
    both = np.concatenate([values, expected], axis=1)
    return both.swapaxes(1, 2) if both.ndim == 3 else both


def test_shap_explains_models_and_estimators() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X[::5, 3] = np.nan
    classifier = BitgrainClassifier(n_estimators=15).fit(X, y)
    for given in (classifier, classifier.booster_):
        values = explained(shap.TreeExplainer(given), X[:50])
        np.testing.assert_allclose(values, classifier.predict_contributions(X[:50]), rtol=0, atol=1e-6)
    # The generic interface chooses the same explainer.
    generic = shap.Explainer(classifier)
    assert isinstance(generic, shap.TreeExplainer)
    np.testing.assert_allclose(
        generic(X[:20]).values, classifier.predict_contributions(X[:20])[:, :-1], rtol=0, atol=1e-6
    )
    model, X = diabetes()
    explainer = shap.TreeExplainer(model)
    np.testing.assert_allclose(explained(explainer, X), model.predict_contributions(X), rtol=0, atol=1e-6)
    pairs = model.predict_contributions(X[:5], interactions=True)[:, :-1, :-1]
    np.testing.assert_allclose(explainer.shap_interaction_values(X[:5]), pairs, rtol=0, atol=1e-6)
    arrays = shap.TreeExplainer(model.to_shap())
    np.testing.assert_allclose(arrays.shap_interaction_values(X[:5]), pairs, rtol=0, atol=1e-6)


def test_shap_evaluates_the_arrays_itself() -> None:
    model, X = diabetes()
    explainer = shap.TreeExplainer(model.to_shap())
    np.testing.assert_allclose(explained(explainer, X), model.predict_contributions(X), rtol=0, atol=1e-6)
    background = np.nan_to_num(X[:40])
    explainer = shap.TreeExplainer(model, background)
    wanted = model.predict_contributions(X[:20], background=background)
    np.testing.assert_allclose(explainer.shap_values(X[:20]), wanted[:, :-1], rtol=0, atol=1e-6)


def test_shap_explains_several_classes_and_categories() -> None:
    X, y = load_iris(return_X_y=True)
    classifier = BitgrainClassifier(n_estimators=8).fit(X, y)
    values = explained(shap.TreeExplainer(classifier), X)
    np.testing.assert_allclose(values, classifier.predict_contributions(X), rtol=0, atol=1e-6)
    arrays = explained(shap.TreeExplainer(classifier.booster_.to_shap()), X)
    np.testing.assert_allclose(arrays, classifier.predict_contributions(X), rtol=0, atol=1e-6)
    frame = pd.DataFrame({"size": X[:, 0], "kind": pd.Categorical(np.array(["a", "b", "c"])[y])})
    regressor = BitgrainRegressor(n_estimators=8, min_child_samples=5).fit(frame, X[:, 2])
    values = explained(shap.TreeExplainer(regressor), frame)
    np.testing.assert_allclose(values, regressor.predict_contributions(frame), rtol=0, atol=1e-6)
    pairs = shap.TreeExplainer(regressor).shap_interaction_values(frame[:9])
    np.testing.assert_allclose(pairs.sum(axis=2), values[:9, :-1], rtol=0, atol=1e-9)
    several = shap.TreeExplainer(classifier).shap_interaction_values(X[:9])
    assert several.shape == (9, 4, 4, 3)
    np.testing.assert_allclose(several, several.swapaxes(1, 2), rtol=0, atol=1e-12)
    wanted = classifier.predict_contributions(X[:9])[..., :-1]
    np.testing.assert_allclose(several.sum(axis=2).swapaxes(1, 2), wanted, rtol=0, atol=1e-9)
    with pytest.raises(bitgrain.errors.FormatError, match="categorical"):
        regressor.booster_.to_shap()


@pytest.mark.parametrize("order", ["import shap, bitgrain", "import bitgrain, shap"])
def test_the_order_of_imports_does_not_matter(order: str) -> None:
    code = f"""
import numpy
{order}
model = bitgrain.train(bitgrain.Dataset([[1.0], [2.0]] * 20, [1.0, 2.0] * 20), n_estimators=1)
assert shap.TreeExplainer(model).shap_values(numpy.ones((1, 1))).shape == (1, 1)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    subprocess.run([sys.executable, "-c", "import sys, bitgrain; assert 'shap' not in sys.modules"], check=True)
