"""Leaf values fitted to new rows, and modes of boosting other than the default."""

import pickle

import numpy as np
import pytest

import bitgrain
from bitgrain.sklearn import BitgrainClassifier, BitgrainRegressor

RNG = np.random.default_rng(7)
X = RNG.random((600, 3))
Y = 4 * X[:, 0] + (X[:, 1] > 0.5)


def trained(**settings):
    return bitgrain.train(bitgrain.Dataset(X, Y), n_estimators=20, **settings)


def test_refit_follows_new_targets_and_keeps_the_trees():
    model = trained()
    moved = model.refit(X, Y + 3, decay_rate=0.0)
    assert np.abs(moved.predict(X) - model.predict(X) - 3).max() < 1e-3
    np.testing.assert_array_equal(moved.predict_leaf(X), model.predict_leaf(X))
    np.testing.assert_array_equal(model.refit(X, Y + 3, decay_rate=1.0).predict(X), model.predict(X))
    np.testing.assert_array_equal(model.refit(X, Y, n_jobs=1).predict(X), model.refit(X, Y, n_jobs=2).predict(X))
    assert pickle.loads(pickle.dumps(moved)).metadata["refit.decay_rate"] == "0"


def test_refit_uses_weights_labels_and_functions():
    model = trained()
    half = X[:, 2] < 0.5
    target = np.where(half, Y, Y + 100)
    weighed = model.refit(X, target, decay_rate=0.0, sample_weight=half.astype(float))
    assert np.abs(weighed.predict(X[half]) - Y[half]).max() < 1.0

    def squared(y_true, raw_score):
        return raw_score - y_true, np.ones_like(raw_score)

    own = bitgrain.train(bitgrain.Dataset(X, Y), objective=squared, n_estimators=20)
    moved = own.refit(X, Y + 3, decay_rate=0.0, objective=squared)
    # Without base scores, trees of a low learning rate approach the new level step by step, as in training.
    assert np.mean(moved.predict(X)) > np.mean(own.predict(X)) + 2
    with pytest.raises(bitgrain.Error, match="unknown objective"):
        own.refit(X, Y)

    classifier = BitgrainClassifier(n_estimators=20).fit(X, np.where(Y > 2.5, "high", "low"))
    turned = classifier.booster_.refit(X, np.where(Y > 2.5, "low", "high"), decay_rate=0.0)
    assert np.mean(turned.predict_class(X) == classifier.booster_.predict_class(X)) < 0.1


def test_unusable_refits_are_errors():
    model = trained()
    for arguments, message in [
        ({"decay_rate": 1.5}, "decay_rate: `1.5`; use a number from 0 to 1"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"reg_lambda": -1.0}, "reg_lambda"),
        ({"objective": "poisson"}, "link function is identity"),
        ({"objective": "lambdarank"}, "is not a relevance label"),
    ]:
        with pytest.raises(bitgrain.Error, match=message):
            model.refit(X, Y, **arguments)
    with pytest.raises(bitgrain.Error, match="600"):
        model.refit(X, Y[:10])
    with pytest.raises(bitgrain.Error):
        model.refit(X[:, :2], Y)
    with pytest.raises(bitgrain.Error):
        model.refit(X, np.full(600, np.nan))
    unknown = bitgrain.boosting.Model.from_bytes(model.export("xgboost-json"))
    with pytest.raises(bitgrain.Error, match="pass learning_rate"):
        unknown.refit(X, Y)
    assert unknown.refit(X, Y, learning_rate=0.1).n_trees == 20


def test_modes_of_boosting_work_in_estimators():
    forest = BitgrainRegressor(boosting="rf", subsample=0.6, num_leaves=63, n_estimators=30).fit(X, Y)
    dart = BitgrainRegressor(boosting="dart", learning_rate=0.3).fit(X, Y)
    assert forest.score(X, Y) > 0.95
    assert dart.score(X, Y) > 0.9
    assert dart.best_iteration_ is None
    for model in (forest.booster_, dart.booster_):
        contributions = model.predict_contributions(X[:50])
        np.testing.assert_allclose(contributions.sum(axis=1), model.predict_raw(X[:50]), rtol=1e-9)
        again = bitgrain.boosting.Model.from_bytes(model.to_bytes())
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(bitgrain.Error, match="choose n_estimators by cross-validation"):
        BitgrainRegressor(boosting="dart", early_stopping_rounds=3).fit(X, Y, eval_set=[(X, Y + 0.1)])
    with pytest.raises(bitgrain.Error, match="set subsample below 1"):
        BitgrainRegressor(boosting="rf").fit(X, Y)


def test_dart_refuses_checkpoints_before_training(tmp_path):
    with pytest.raises(bitgrain.Error, match="dropped trees of dart"):
        trained(boosting="dart", checkpoint=tmp_path / "run.bitgrain")
    assert not any(tmp_path.iterdir())
