"""Datasets, training and models; user-defined losses, metrics and callbacks."""

import copy
import json
import pickle

import numpy as np
import pytest

import bitgrain
from bitgrain import BitgrainClassifier, BitgrainRegressor, Dataset, train
from bitgrain.boosting import Params


def test_a_dataset_can_be_trained_on_repeatedly(table):
    X, y = table
    data = Dataset(X, y)
    first = train(data, n_estimators=10)
    other = train(data, n_estimators=10, num_leaves=5)
    again = train(data, n_estimators=10)
    assert first.to_bytes() == again.to_bytes() != other.to_bytes()
    assert first.predict(X).tobytes() == BitgrainRegressor(n_estimators=10).fit(X, y).predict(X).tobytes()
    assert data.n_rows == len(data) == 2000
    assert data.feature_names == ["f0", "f1", "f2", "f3"]
    assert data.bytes_per_row <= 8
    assert len(data.cuts(0)) == 255
    assert len(data.cuts("f0")) == 255
    with pytest.raises(KeyError, match="unknown feature 'x'"):
        data.cuts("x")
    assert len(Dataset(X, y, max_bin=16).cuts(0)) == 15


def test_objectives_follow_the_target(table):
    X, y = table
    strings = np.array(["low", "middle", "high"])[np.digitize(y, [1.5, 2.5])]
    assert train(Dataset(X, y), n_estimators=2).objective == "squared"
    assert train(Dataset(X, y > 2), n_estimators=2).objective == "binary"
    three = train(Dataset(X, strings), n_estimators=5)
    assert three.objective == "multiclass:3"
    assert three.classes == ["high", "low", "middle"]
    assert (three.predict_class(X) == strings).mean() > 0.8
    assert three.predict(X).shape == three.predict_proba(X).shape == (2000, 3)
    assert three.predict_leaf(X).shape == (2000, 15)
    assert train(Dataset(X, np.digitize(y, [1.5, 2.5])), objective="multiclass", n_estimators=2).n_trees == 6
    assert train(Dataset(X, y), objective="quantile:0.2", n_estimators=2).objective == "quantile:0.2"
    with pytest.raises(bitgrain.errors.InputError, match="no probabilities"):
        train(Dataset(X, y), n_estimators=2).predict_proba(X)


def test_every_growth_policy(table):
    X, y = table
    data = Dataset(X, y)
    for settings in (
        {"growth": "depth", "max_depth": 3},
        {"growth": "symmetric"},
        {"gradient_precision": "pair8"},
        {"gradient_precision": "pair4"},
        {"subsample": 0.5},
        {"data_sample_strategy": "goss"},
        {"colsample_bytree": 0.75, "colsample_bynode": 0.75},
        {"reg_alpha": 1.0, "reg_lambda": 1.0, "min_split_gain": 0.1},
    ):
        model = train(data, Params(n_estimators=30, **settings))
        assert np.sqrt(np.mean((model.predict(X) - y) ** 2)) < 0.25, settings


def test_models_are_compared_and_copied_by_value(table):
    X, y = table
    data = Dataset(X[:1500], y[:1500])
    model = train(data, valid=data.like(X[1500:], y[1500:]), n_estimators=20)
    for other in (
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        bitgrain.boosting.Model.from_bytes(model.to_bytes()),
    ):
        assert other.predict(X).tobytes() == model.predict(X).tobytes()
    assert pickle.loads(pickle.dumps(model)).history == model.history
    assert model.truncated(5).predict(X).tobytes() == model.predict(X, rounds=5).tobytes()
    assert model.truncated(5).n_trees == 5
    assert np.allclose(model.predict_raw(X), model.predict(X))
    assert json.loads(model.to_json())["objective"] == "squared"
    tree = model.trees[0]
    assert len(tree["leaves"]) == len(tree["splits"]) + 1
    assert sum(leaf["count"] for leaf in tree["leaves"]) == 1500
    leaves = model.predict_leaf(X[:1500])[:, 0]
    assert np.bincount(leaves).tolist() == [leaf["count"] for leaf in tree["leaves"]]
    assert repr(model).startswith("<Model: squared: 4 features, 1 score, 20 rounds")
    with pytest.raises(bitgrain.errors.InputError, match="importance 'x'"):
        model.feature_importance("x")


def test_the_command_line_reads_a_model(table, tmp_path):
    from bitgrain._native import command

    X, y = table
    model = BitgrainRegressor(n_estimators=5).fit(X, y)
    model.save(tmp_path / "model.bitgrain")
    np.savetxt(tmp_path / "rows.csv", X[:50], delimiter=",", header="f0,f1,f2,f3", comments="", fmt="%.9g")
    words = ["predict", tmp_path / "model.bitgrain", tmp_path / "rows.csv", "-o", tmp_path / "out.csv"]
    assert command(["bitgrain", *map(str, words)]) == 0
    found = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(found.reshape(50, -1)[:, -1], model.predict(X[:50]), rtol=1e-6)


def test_a_custom_loss_equals_the_built_in_one(table):
    X, y = table
    mean = float(np.mean(y))
    seen = []

    def squared(y_true, raw_score):
        seen.append(y_true.copy())
        return raw_score - y_true, np.ones_like(raw_score)

    own = BitgrainRegressor(objective=squared, n_estimators=20).fit(X, y - mean)
    built_in = BitgrainRegressor(n_estimators=20).fit(X, y - mean)
    np.testing.assert_allclose(own.predict(X), built_in.predict(X), atol=1e-3)
    # Called once per round, with all rows in their order.
    assert len(seen) == 20
    for targets in seen:
        np.testing.assert_array_equal(targets, (y - mean).astype(np.float32))
    assert own.booster_.objective == "custom:squared"


def test_weights_reach_a_custom_loss(table):
    X, y = table
    y = y - y.mean()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(np.float32)
    plain = BitgrainRegressor(objective=lambda t, s: (s - t, np.ones_like(s)), n_estimators=10)
    weighs = BitgrainRegressor(objective=lambda t, s, weight: ((s - t) * weight, weight), n_estimators=10)
    want = BitgrainRegressor(n_estimators=30).fit(X, y, sample_weight=weight).predict(X)
    got = plain.fit(X, y, sample_weight=weight).predict(X)
    np.testing.assert_array_equal(weighs.fit(X, y, sample_weight=weight).predict(X), got)
    assert np.corrcoef(got, want)[0, 1] > 0.95
    assert not np.array_equal(plain.fit(X, y).predict(X), got)


def test_losses_of_classifiers(table):
    X, y = table

    def logistic(y_true, raw_score):
        p = 1 / (1 + np.exp(-raw_score))
        return p - y_true, p * (1 - p)

    model = BitgrainClassifier(objective=logistic, n_estimators=40).fit(X, np.where(y > 2, "b", "a"))
    want = BitgrainClassifier(n_estimators=40).fit(X, np.where(y > 2, "b", "a")).predict_proba(X)
    assert np.abs(model.predict_proba(X) - want).mean() < 0.03

    def softmax(y_true, raw_score):
        assert raw_score.shape == (2000, 3)
        p = np.exp(raw_score - raw_score.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return p - np.eye(3)[y_true.astype(int)], 1.5 * p * (1 - p)

    three = np.digitize(y, [1.5, 2.5])
    model = BitgrainClassifier(objective=softmax, n_estimators=40).fit(X, three)
    assert model.score(X, three) > 0.95
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


def test_custom_metrics(table):
    X, y = table

    def share(y_true, y_pred):
        return "share", np.mean(np.abs(y_true - y_pred) < 0.1), True

    def mae(y_true, y_pred):
        return np.abs(y_true - y_pred).mean()

    def weighted(y_true, y_pred, weight):
        assert weight is None
        return np.abs(y_true - y_pred).mean()

    valid = (X[1500:], y[1500:])
    model = BitgrainRegressor(n_estimators=300, early_stopping_rounds=10, learning_rate=0.2)
    model.fit(X[:1500], y[:1500], eval_set=valid, eval_metric=[share, mae, "mae", weighted])
    history = model.evals_result_["valid"]
    assert list(history) == ["share", "mae", "mae_2", "weighted"]
    assert history["share"][model.best_iteration_ - 1] == max(history["share"])
    np.testing.assert_allclose(history["mae"], history["mae_2"], rtol=1e-5)
    assert history["mae"] == history["weighted"]

    def worst(y_true, y_pred):
        assert y_pred.shape == (len(y_true), 3)
        np.testing.assert_allclose(y_pred.sum(axis=1), 1)
        return y_pred.max()

    BitgrainClassifier(n_estimators=3).fit(X, np.digitize(y, [1.5, 2.5]), eval_set=(X, y > 9), eval_metric=worst)


class SentinelError(Exception):
    pass


def test_exceptions_of_callables_propagate_unchanged(table):
    X, y = table
    error = SentinelError("as it is")

    def fails(*_):
        raise error

    calls = []

    def fails_later(y_true, raw_score):
        calls.append(1)
        if len(calls) > 3:
            raise error
        return raw_score - y_true, np.ones_like(y_true)

    for settings, fit in (
        ({"objective": lambda a, b: fails()}, {}),
        ({"objective": fails_later}, {}),
        ({}, {"eval_set": (X, y), "eval_metric": lambda a, b: fails()}),
        ({}, {"callbacks": [fails]}),
    ):
        with pytest.raises(SentinelError) as caught:
            BitgrainRegressor(n_estimators=50, **settings).fit(X, y, **fit)
        assert caught.value is error
    assert len(calls) == 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda t, s: s - t, "must return two arrays"),
        (lambda t, s: (s[:-1], s[:-1]), r"gradients of shape \(1999,\); expected \(2000,\)"),
        (lambda t, s: (s, s[:, None]), r"hessians of shape \(2000, 1\)"),
        (lambda t, s: (s * np.nan, s), "returned gradient NaN and hessian 0 for row 0"),
        (lambda t, s: (s - t, -np.ones_like(s)), r"hessian -1 for row 0 \(0-based\) in round 0"),
        (lambda t, s: (["a"] * len(t), s), "returned non-numeric gradients"),
    ],
)
def test_losses_with_invalid_results_are_rejected(table, given, message):
    with pytest.raises(bitgrain.Error, match=message):
        BitgrainRegressor(objective=given).fit(*table)


def test_metrics_with_invalid_results_are_rejected(table):
    X, y = table
    with pytest.raises(TypeError, match=r"must return a number.*it returned 'good'"):
        BitgrainRegressor().fit(X, y, eval_set=(X, y), eval_metric=lambda t, p: "good")


def test_callbacks_get_progress_and_can_stop_training(table):
    X, y = table
    rounds = []

    def callback(round):
        rounds.append(round)
        return round.metrics["valid"]["rmse"] < 0.3

    model = BitgrainRegressor(n_estimators=500).fit(
        X[:1500], y[:1500], eval_set=(X[1500:], y[1500:]), callbacks=[callback]
    )
    assert model.booster_.n_rounds == len(rounds) < 100
    assert [round.index for round in rounds] == list(range(len(rounds)))
    assert rounds[0].total == 500
    assert rounds[-1].metrics["valid"]["rmse"] == model.evals_result_["valid"]["rmse"][-1] < 0.3


def test_a_callback_may_use_the_training_data(table):
    X, y = table
    data = Dataset(X, y)
    inner = []

    def callback(round):
        # Neither reading the data nor training on it waits for the training that runs the callback.
        assert data.n_rows == 2000
        inner.append(train(data, n_estimators=2, n_jobs=1).predict(X[:100], n_jobs=1).sum())

    train(data, n_estimators=3, callbacks=[callback], n_jobs=1)
    assert len(set(inner)) == 1
    assert len(inner) == 3


def test_progress_is_shown_when_asked_for(table, capsys):
    X, y = table
    BitgrainRegressor(n_estimators=3, verbose=True).fit(X, y, eval_set=(X, y))
    assert "training" in capsys.readouterr().err
    BitgrainRegressor(n_estimators=3).fit(X, y)
    assert capsys.readouterr().err == ""


def test_cross_validation_measures_every_fold(table):
    X, y = table
    data = Dataset(X, y)
    found = bitgrain.boosting.cross_validate(data, metric=["rmse", "mae"], folds=4, n_estimators=20)
    assert found.metrics["rmse"].shape == (4,)
    assert found.rounds == [20] * 4
    assert 0.02 < found.metrics["rmse"].mean() < 0.3
    assert str(found).startswith("rmse 0.")
    early = bitgrain.boosting.cross_validate(
        data, n_estimators=400, early_stopping_rounds=5, learning_rate=0.3, folds=2
    )
    assert max(early.rounds) < 400

    def own(y_true, y_pred):
        return np.abs(y_true - y_pred).max()

    assert bitgrain.boosting.cross_validate(data, metric=own, folds=2, n_estimators=2).metrics["own"].shape == (2,)
    for folds in (1, 2001):
        with pytest.raises(bitgrain.errors.InputError, match="folds"):
            bitgrain.boosting.cross_validate(data, folds=folds)


@pytest.mark.parametrize("offset", [1e9, 1e9 + 0.1, -123_456_789.3])
def test_targets_far_from_zero_are_fitted_as_well_as_shifted_ones(offset):
    rng = np.random.default_rng(3)
    X = rng.random((600, 3))
    small = np.floor(8 * X[:, 0]) + rng.integers(0, 2, 600)
    y = offset + small
    assert np.any(y.astype(np.float32) != y)
    train, valid = slice(0, 400), slice(400, None)

    def fit(target):
        model = BitgrainRegressor(n_estimators=40, num_leaves=15)
        seen = []

        def dtype(y_true, y_pred):
            seen.append((y_true.dtype, float(y_true[0])))
            return 0.0

        model.fit(X[train], target[train], eval_set=(X[valid], target[valid]), eval_metric=["rmse", dtype])
        assert set(seen) == {(np.dtype(np.float64), target[400])}
        (history,) = model.evals_result_.values()
        return model.predict(X[valid]) - target[valid], history["rmse"]

    want, want_history = fit(small)
    got, got_history = fit(y)
    # Gradients are rounded to float32, so a split whose gain nearly ties with another's may differ.
    assert np.quantile(np.abs(got - want), 0.95) < 1e-4
    np.testing.assert_allclose(got_history, want_history, rtol=1e-3)
    assert got_history[-1] < 0.7

    data = bitgrain.Dataset(X[train], y[train])
    model = bitgrain.train(data, valid=data.like(X[valid], y[valid]), n_estimators=40, num_leaves=15)
    np.testing.assert_array_equal(model.predict(X[valid]) - y[valid], got)


def test_targets_are_float64_only_where_float32_would_change_them():
    X = np.arange(4.0).reshape(4, 1)

    def dtype(y):
        return bitgrain.Dataset(X, y).target.values.dtype

    thirds = np.arange(4, dtype=np.float32) / 3
    for y in ([0, 1, 2, 3], [0.5, 1.0, 2.0, 4.0], np.arange(4), thirds, ["a", "b", "a", "b"]):
        assert dtype(y) == np.float32
    for y in ([0.1, 1.0, 2.0, 3.0], 10**9 + np.arange(4), [1e9 + 1, 0, 0, 0]):
        assert dtype(y) == np.float64
    y = 1e9 + np.arange(4.0)
    assert bitgrain.Dataset(X, y).target.values is y


def test_class_objectives_depend_on_the_number_of_classes(table):
    X, y = table
    strings = np.array(["low", "middle", "high"])[np.digitize(y, [1.5, 2.5])]
    for target, objective in ((y > 2, "binary"), (strings, "multiclass:3")):
        assert train(Dataset(X, target), objective="log_loss", n_estimators=1).objective == objective
        assert BitgrainClassifier(objective="log_loss", n_estimators=1).fit(X, target).booster_.objective == objective
    places = np.unique(strings, return_inverse=True)[1]
    assert train(Dataset(X, places), objective="log_loss", n_estimators=1).objective == "multiclass:3"
    for learn in (
        lambda: train(Dataset(X, strings), objective="binary", n_estimators=1),
        lambda: BitgrainClassifier(objective="binary", n_estimators=1).fit(X, strings),
    ):
        with pytest.raises(bitgrain.errors.InputError, match="predicts 2 classes, but the target has 3"):
            learn()


def test_spaces_of_columns_match_underscores_of_a_model(table):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, y = table
    names = ["floor_area", "b", "c", "d"]
    frame = pandas.DataFrame(X, columns=names)
    model = train(Dataset(frame, y), n_estimators=3)
    want = model.predict(frame).tobytes()
    spaced = frame.rename(columns={"floor_area": "floor area"})[["d", "floor area", "c", "b"]]
    assert model.predict(spaced).tobytes() == want
    assert model.predict(polars.from_pandas(spaced)).tobytes() == want


def test_gradients_are_f32_by_default():
    assert Params().gradient_precision == BitgrainRegressor().gradient_precision == "f32"
    assert BitgrainClassifier().gradient_precision == "f32"
