"""Hyperparameters: every interface matches the parameter table of the engine."""

import dataclasses
import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import bitgrain
from bitgrain import BitgrainClassifier, BitgrainRegressor, _native
from bitgrain.boosting import Params

RNG = np.random.default_rng(5)
X = RNG.random((200, 4))
Y = X[:, 0] + np.sin(9 * X[:, 1])
DATA = bitgrain.Dataset(X, Y)
VALID = DATA.like(X[:50], Y[:50])
TABLE = {entry["name"]: entry for entry in _native.parameters()}
TRAINING = [entry for entry in TABLE.values() if entry["stage"] == "training"]
WORDS = {
    "growth": "depth",
    "boosting": "dart",
    "skip_drop": 0.25,
    "data_sample_strategy": "goss",
    "gradient_precision": "pair8",
    "label_gain": [0, 1, 5],
    "monotone_constraints": [1, 0, -1, 0],
    "monotone_constraints_method": "intermediate",
    "interaction_constraints": [[0, 1], [2]],
    "feature_contri": [1.0, 0.5, 1.0, 2.0],
    "cegb_penalty_feature_coupled": {"f0": 0.5},
    "forced_splits": {"feature": 0, "threshold": 0.5},
}


def other(entry):
    """Return a value that is not the default."""
    default = entry["default"]
    if entry["name"] in WORDS:
        return WORDS[entry["name"]]
    return not default if isinstance(default, bool) else 0.5 if isinstance(default, float) else 5


def grown(*arguments, **keywords):
    return bitgrain.train(DATA, *arguments, valid=VALID, **keywords).to_bytes()


def test_the_fields_of_params_are_the_table():
    fields = {field.name: field.default for field in dataclasses.fields(Params)}
    assert fields == {entry["name"]: entry["default"] for entry in TRAINING}
    for name in fields:
        assert f"\n    {name} : " in Params.__doc__


@pytest.mark.parametrize("estimator", [BitgrainClassifier, BitgrainRegressor])
def test_the_signatures_of_estimators_are_the_table(estimator):
    wanted = {entry["name"]: entry["default"] for entry in [*TRAINING, TABLE["max_bin"]]}
    del wanted["seed"]
    signature = {name: each.default for name, each in inspect.signature(estimator).parameters.items()}
    assert {name: signature.get(name, "missing") for name in wanted} == wanted
    own = {"objective", "class_weight", "categorical_features", "importance_type", "random_state", "n_jobs", "verbose"}
    own |= {"scale_pos_weight", "validation_fraction", "warm_start"}
    assert set(signature) - set(wanted) <= own
    for name in signature:
        assert f"\n{name} : " in f"\n{estimator.__doc__}", name
    assert estimator().get_params().items() >= wanted.items()


@pytest.mark.parametrize("entry", TRAINING, ids=lambda entry: entry["name"])
def test_every_alias_gives_the_same_model(entry):
    name, value = entry["name"], other(entry)
    model = grown({name: value})
    assert model == grown(**{name: value}) == grown(Params(**{name: value}))
    own = "random_state" if name == "seed" else name
    wanted = BitgrainRegressor(**{own: value}).get_params()
    for alias in entry["aliases"]:
        assert grown({alias: value}) == grown(**{alias: value}) == model, alias
        assert Params(**{alias: value}) == Params().replace(**{alias: value}) == Params(**{name: value})
        for estimator in (BitgrainRegressor(**{alias: value}), BitgrainRegressor().set_params(**{alias: value})):
            assert estimator.get_params() == clone(estimator).get_params() == wanted, alias
        assert BitgrainClassifier(**{alias: value}).get_params()[own] == value


def test_estimators_accept_aliases():
    theirs = BitgrainRegressor(num_iterations=9, lambda_l2=2.0, max_bins=31, seed=3, num_threads=1).fit(X, Y)
    ours = BitgrainRegressor(n_estimators=9, reg_lambda=2.0, max_bin=31, random_state=3, n_jobs=1).fit(X, Y)
    np.testing.assert_array_equal(theirs.predict(X), ours.predict(X))
    search = GridSearchCV(BitgrainRegressor(n_estimators=5), {"lambda_l2": [0.0, 1.0]}, cv=2).fit(X, Y)
    assert search.best_estimator_.reg_lambda == search.best_params_["lambda_l2"]


def test_datasets_accept_aliases():
    assert bitgrain.Dataset(X, Y, max_bins=8)._native.n_bins == bitgrain.Dataset(X, Y, max_bin=8)._native.n_bins
    with pytest.raises(TypeError, match="num_leaves"):
        bitgrain.Dataset(X, Y, num_leaves=3)


def test_a_lightgbm_params_dict_is_accepted_unchanged():
    script = {
        "objective": "regression_l1",
        "metric": ["l2", "l1"],
        "num_iterations": 12,
        "bagging_fraction": 0.8,
        "bagging_freq": 2,
        "max_depth": -1,
        "num_threads": 1,
        "verbosity": -1,
        "early_stopping_round": 0,
    }
    model = bitgrain.train(DATA, script, valid=VALID)
    assert (model.objective, model.n_rounds, list(model.history["valid"])) == ("absolute", 12, ["mse", "mae"])
    same = bitgrain.train(
        DATA,
        objective="absolute",
        metric=["mse", "mae"],
        valid=VALID,
        n_estimators=12,
        subsample=0.8,
        subsample_freq=2,
    )
    assert model.to_bytes() == same.to_bytes()
    assert bitgrain.train(DATA, script, objective="squared").objective == "squared"
    folds = bitgrain.boosting.cross_validate(DATA, script, folds=2)
    assert (list(folds.metrics), folds.rounds) == (["mse", "mae"], [12, 12])


def test_keywords_take_precedence_over_params():
    assert grown({"lambda_l2": 1.0}, reg_lambda=2.0) == grown(reg_lambda=2.0)
    assert grown(Params(reg_lambda=1.0), lambda_l2=2.0) == grown(reg_lambda=2.0)


def test_values_that_contradict_each_other_are_rejected():
    message = r"`lambda_l2 = 1` and `reg_lambda = 2`; both names mean reg_lambda, give one of them"
    given = {"lambda_l2": 1, "reg_lambda": 2}
    for call in (
        lambda: bitgrain.train(DATA, given),
        lambda: bitgrain.train(DATA, **given),
        lambda: Params(**given),
        lambda: Params().replace(**given),
        lambda: BitgrainRegressor(**given),
        lambda: BitgrainClassifier(**given),
        lambda: BitgrainRegressor().set_params(**given),
    ):
        with pytest.raises(bitgrain.errors.InputError, match=message):
            call()
    assert Params(lambda_l2=1, reg_lambda=1.0).reg_lambda == 1
    for objective in ("quantile", "huber"):
        with pytest.raises(bitgrain.errors.InputError, match="call it reg_alpha"):
            bitgrain.train(DATA, {"alpha": 0.9}, objective=objective)
        with pytest.raises(bitgrain.errors.InputError, match="call it reg_alpha"):
            BitgrainRegressor(alpha=0.9, objective=objective)


def test_unknown_names_suggest_the_nearest():
    message = r"unknown parameter: `num_leavs`; did you mean `num_leaves`\?"
    for call in (BitgrainRegressor, BitgrainClassifier, Params):
        with pytest.raises(TypeError, match=message):
            call(num_leavs=3)
    for call in (Params().replace, BitgrainRegressor().set_params, lambda **given: bitgrain.train(DATA, given)):
        with pytest.raises(ValueError, match=message):
            call(num_leavs=3)
    with pytest.raises(bitgrain.errors.InputError, match="`max_bin` belongs to the binning"):
        bitgrain.train(DATA, max_bins=63)
    with pytest.raises(bitgrain.errors.InputError, match="`objective` belongs to the call"):
        Params().replace(objective="binary")


def test_numpy_scalars_are_numbers():
    assert grown(num_leaves=np.int64(7), learning_rate=np.float32(0.5), stochastic_rounding=np.True_) == grown(
        num_leaves=7, learning_rate=0.5
    )
    for setting in ({"num_leaves": "7"}, {"num_leaves": None}, {"num_leaves": True}, {"growth": 3}, {"cat_l2": [1]}):
        with pytest.raises(bitgrain.errors.DTypeError):
            grown(setting)
    assert bitgrain.train(DATA, early_stopping_rounds=0, n_estimators=2).n_rounds == 2
    assert grown(max_depth=None) == grown(max_depth=-1) == grown(max_depth=0)
