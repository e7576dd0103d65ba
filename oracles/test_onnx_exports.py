"""Models written as ONNX: onnxruntime computes the same scores in f64."""

import numpy as np
import onnx
import onnxruntime
import pytest
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


def session(bitgrain, model):
    path = bitgrain.path(".onnx")
    bitgrain.run("convert-model", model, path)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def check(bitgrain, model, rows, names):
    """Checks raw scores, predictions and, for classifiers, probabilities and labels."""
    runtime = session(bitgrain, model)
    table = columns(rows, names)
    precision = np.float32 if runtime.get_inputs()[0].type == "tensor(float)" else np.float64
    with np.errstate(over="ignore"):
        found = dict(zip([out.name for out in runtime.get_outputs()], runtime.run(None, {"X": rows.astype(precision)})))
    # The runtime chooses the order of the sum.
    raw = bitgrain.predict(model, table, "--raw")
    np.testing.assert_allclose(found["raw_score"], raw, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(found["prediction"], bitgrain.predict(model, table), rtol=1e-12, atol=1e-14)
    told = own(bitgrain, model)
    if told["link"] in ("logistic", "softmax"):
        np.testing.assert_allclose(found["probabilities"].sum(axis=1), 1, rtol=1e-14)
        labels = np.array(told["classes"])
        assert (found["label"] == labels[found["probabilities"].argmax(axis=1)]).all()
    # A row on its own has the same score as in a batch, up to the order of the sum.
    one = runtime.run(["raw_score"], {"X": rows[:1].astype(precision)})[0]
    np.testing.assert_allclose(one, raw[:1], rtol=1e-14, atol=1e-14)
    return found, raw


@pytest.mark.parametrize("kind", TRAINED)
def test_trained_models(bitgrain, random, kind):
    model, rows = trained(bitgrain, random, kind)
    check(bitgrain, model, rows, NAMES)


def test_scores_are_the_same_bits_in_a_batch_on_one_thread(bitgrain, random):
    model, rows = trained(bitgrain, random, "squared")
    found, raw = check(bitgrain, model, rows, NAMES)
    assert np.array_equal(found["raw_score"], raw)


@pytest.mark.parametrize("kind", [kind for kind in CATEGORICAL if kind != "strings"])
def test_categories(bitgrain, random, kind):
    model, rows = with_categories(bitgrain, random, kind)
    check(bitgrain, model, codes(rows), ["x", "few", "many"])


def test_models_of_xgboost(bitgrain, random):
    _, path, rows = imported_xgboost(bitgrain, random, with_codes=False)
    check(bitgrain, path, rows, NAMES)
    _, path, rows = imported_xgboost(bitgrain, random, with_codes=True)
    check(bitgrain, path, codes(rows), ["x", "few", "many"])


@pytest.mark.parametrize("parameters", [{}, {"use_missing": False}, {"boosting": "rf"}], ids=str)
def test_models_of_lightgbm(bitgrain, random, parameters):
    if parameters.get("boosting") == "rf":
        parameters = parameters | {"bagging_freq": 1, "bagging_fraction": 0.6}
    _, path, rows = imported_lightgbm(bitgrain, random, parameters)
    check(bitgrain, path, rows, NAMES)


def test_zeros_as_missing_values_are_refused(bitgrain, random):
    _, path, _ = imported_lightgbm(bitgrain, random, {"zero_as_missing": True})
    with pytest.raises(AssertionError, match="onnx cannot represent .* treats 0 as a missing value; use lightgbm"):
        bitgrain.run("convert-model", path, bitgrain.path(".onnx"))
