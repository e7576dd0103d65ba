"""Losses and metrics compared with LightGBM, XGBoost and scikit-learn."""

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.metrics import balanced_accuracy_score, brier_score_loss

import bitgrain

ROWS = 4000


def table(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((ROWS, 4)).astype(np.float32)
    return X, np.sin(5 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_t(2, ROWS)


def losses(name, y, p):
    error = p - y
    match name:
        case "fair":
            return np.abs(error) - np.log1p(np.abs(error))
        case "mape":
            return np.abs(error) / np.maximum(np.abs(y), 1)
        case "cross_entropy":
            return -y * np.log(p) - (1 - y) * np.log1p(-p)
        case "expectile":
            return np.where(error > 0, 0.2, 0.8) * error**2
        case _:
            return np.logaddexp(error, -error) - np.log(2)


@pytest.mark.parametrize("name", ["fair", "mape", "cross_entropy"])
def test_losses_reach_those_of_lightgbm(name):
    X, y = table()
    y = 1 / (1 + np.exp(-y)) if name == "cross_entropy" else 4 * y
    params = {"objective": name, "verbosity": -1, "num_threads": 1, "min_data_in_bin": 1}
    theirs = lightgbm.train(params, lightgbm.Dataset(X[:3000], y[:3000]), 60).predict(X[3000:])
    ours = bitgrain.train(bitgrain.Dataset(X[:3000], y[:3000]), objective=name, n_estimators=60).predict(X[3000:])
    found, wanted = (losses(name, y[3000:], p).mean() for p in (ours, theirs))
    assert found < 1.03 * wanted


@pytest.mark.parametrize("name", ["expectile:0.8", "log_cosh"])
def test_smooth_losses_are_minimized(name):
    X, y = table()
    y = 10 * y
    own, held = name.split(":")[0], slice(3000, ROWS)
    data = bitgrain.Dataset(X[:3000], y[:3000])
    model = bitgrain.train(data, objective=name, n_estimators=100, num_leaves=15)
    other = bitgrain.train(data, objective="squared", n_estimators=100, num_leaves=15)
    found, wanted = (losses(own, y[held], each.predict(X[held])).mean() for each in (model, other))
    assert found < wanted


def test_an_expectile_of_one_half_is_the_mean():
    X, y = table()
    # Gradients are halved throughout, so leaf values differ by rounding only.
    expectile, mean = (
        bitgrain.train(
            bitgrain.Dataset(X, y), objective=name, n_estimators=20, min_child_weight=0, min_child_samples=weight
        ).predict(X)
        for name, weight in (("expectile:0.5", 20), ("squared", 20))
    )
    assert np.corrcoef(expectile, mean)[0, 1] > 0.98
    assert abs(expectile.mean() - mean.mean()) < 0.01


def test_a_focal_loss_of_exponent_0_is_the_logistic_loss():
    X, y = table()
    data = bitgrain.Dataset(X, y > 1)
    focal, binary = (bitgrain.train(data, objective=name, n_estimators=20).predict(X) for name in ("focal:0", "binary"))
    # Gradients are rounded differently, so that nearly equal splits may change places.
    assert np.abs(focal - binary).mean() < 1e-3
    model = bitgrain.BitgrainClassifier(objective="focal:2", n_estimators=30).fit(X, y > 1)
    assert model.score(X, y > 1) > 0.85


def survival(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((ROWS, 4)).astype(np.float32)
    hazard = np.exp(3 * X[:, 0] - 2 * X[:, 1])
    # Rounded, so that times tie.
    event = np.ceil(20 * rng.exponential(1 / hazard)) / 20
    censored = np.ceil(20 * rng.exponential(1.0, ROWS)) / 20
    return X, np.where(event <= censored, event, -censored), np.log(hazard)


def concordance(y, p):
    t = np.abs(y)
    earlier = (y > 0)[:, None] & ((t[:, None] < t) | ((t[:, None] == t) & (y < 0)))
    return ((p[:, None] > p)[earlier] + 0.5 * (p[:, None] == p)[earlier]).mean()


def test_cox_orders_survival_times_as_xgboost_does():
    X, y, hazard = survival()
    train, test = slice(0, 3000), slice(3000, ROWS)
    valid = bitgrain.Dataset(X[train], y[train])
    model = bitgrain.train(
        valid, objective="cox", valid=valid.like(X[test], y[test]), n_estimators=60, num_leaves=8, min_child_weight=1
    )
    ours = model.predict(X[test])
    params = {"objective": "survival:cox", "max_leaves": 8, "eta": 0.1, "max_depth": 0, "lambda": 0, "nthread": 1}
    booster = xgboost.train({**params, "tree_method": "hist"}, xgboost.DMatrix(X[train], y[train]), 60)
    theirs = booster.predict(xgboost.DMatrix(X[test]))
    reached, wanted = concordance(y[test], ours), concordance(y[test], theirs)
    assert reached > wanted - 0.01
    assert reached > concordance(y[test], hazard[test]) - 0.02
    assert model.history["valid"]["concordance"][-1] == pytest.approx(reached, abs=1e-12)
    assert np.corrcoef(np.log(ours), hazard[test])[0, 1] > 0.9


def test_metrics_are_those_of_scikit_learn():
    X, y = table()
    label = y > 1
    data = bitgrain.Dataset(X[:3000], label[:3000])
    valid = data.like(X[3000:], label[3000:])
    model = bitgrain.train(data, valid=valid, metric=["brier", "balanced_accuracy", "cross_entropy"], n_estimators=10)
    p = model.predict(X[3000:])
    history = model.history["valid"]
    assert history["brier"][-1] == pytest.approx(brier_score_loss(label[3000:], p))
    assert history["balanced_accuracy"][-1] == pytest.approx(balanced_accuracy_score(label[3000:], p > 0.5))
    assert history["cross_entropy"][-1] == pytest.approx(losses("cross_entropy", label[3000:] * 1.0, p).mean())
    three = np.digitize(y, [0.5, 1.5]).astype(float)
    data = bitgrain.Dataset(X[:3000], three[:3000])
    model = bitgrain.train(
        data,
        objective="multiclass",
        valid=data.like(X[3000:], three[3000:]),
        metric=["balanced_accuracy", "auc_mu"],
        n_estimators=10,
    )
    p = model.predict(X[3000:]).argmax(axis=1)
    assert model.history["valid"]["balanced_accuracy"][-1] == pytest.approx(balanced_accuracy_score(three[3000:], p))
    assert 0.7 < model.history["valid"]["auc_mu"][-1] < 1


@pytest.mark.parametrize(
    ("objective", "target", "message"),
    [
        ("cross_entropy", [0.0, 1.5], "targets from 0 to 1"),
        ("cox", [1.0, 0.0], "finite times other than 0"),
        ("cox", [-1.0, -2.0], "no events"),
        ("focal", [0.0, 0.5], "targets 0 or 1"),
        ("expectile:1", [0.0, 1.0], "an expectile between 0 and 1"),
        ("fair:0", [0.0, 1.0], "a number above 0"),
        ("focal:-1", [0.0, 1.0], "a number from 0 to 100"),
        ("log_cosh:2", [0.0, 1.0], "no parameter"),
    ],
)
def test_unsuitable_targets_and_parameters_are_named(objective, target, message):
    with pytest.raises(bitgrain.errors.InputError, match=message):
        bitgrain.train(bitgrain.Dataset([[0.0], [1.0]], target), objective=objective, n_estimators=1)
