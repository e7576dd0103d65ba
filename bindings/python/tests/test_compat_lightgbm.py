"""The same scripts with LightGBM and with `bitgrain.compat.lightgbm`: structure, and quality of the results."""

import copy
import math
import pickle

import lightgbm
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, KFold

import bitgrain
import bitgrain.compat.lightgbm as compat

BOTH = pytest.mark.parametrize("lgb", [lightgbm, compat], ids=["lightgbm", "bitgrain"])
QUIET = {"verbosity": -1, "num_threads": 1}


def regression(rows=1500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((rows, 5))
    return X, np.sin(5 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=rows)


def binary(rows=1500, seed=0):
    X, y = regression(rows, seed)
    return X, (y > np.median(y)).astype(int)


def ranking(queries=60, size=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((queries * size, 4))
    return X, np.floor(4 * X[:, 0] * X[:, 1] + 0.3 * rng.random(queries * size)).clip(0, 4), np.full(queries, size)


def rmse(y, p):
    return float(np.sqrt(np.mean((y - p) ** 2)))


# ---------------------------------------------------------------------------------------------------- whole scripts


def script_of_regression(lgb):
    """Train with validation data, early stopping, a file and importances."""
    X, y = regression()
    train = lgb.Dataset(X[:1000], y[:1000])
    valid = lgb.Dataset(X[1000:], y[1000:], reference=train)
    params = {
        "boosting_type": "gbdt",
        "objective": "regression",
        "metric": {"l2", "l1"},
        "num_leaves": 31,
        "learning_rate": 0.1,
        "feature_fraction": 0.9,
        "bagging_fraction": 0.8,
        "bagging_freq": 5,
        **QUIET,
    }
    history = {}
    callbacks = [
        lgb.early_stopping(stopping_rounds=10, verbose=False),
        lgb.record_evaluation(history),
        lgb.log_evaluation(0),
    ]
    return lgb.train(params, train, num_boost_round=300, valid_sets=valid, callbacks=callbacks), history, X, y


def test_a_regression_script_gives_the_same_structure_and_quality(tmp_path):
    results = {}
    for lgb in (lightgbm, compat):
        booster, history, X, y = script_of_regression(lgb)
        booster.save_model(tmp_path / "model.txt")
        again = lgb.Booster(model_file=tmp_path / "model.txt")
        np.testing.assert_allclose(again.predict(X), booster.predict(X), rtol=1e-6)
        assert 0 < booster.best_iteration < 300
        assert set(history) == {"valid_0"}
        assert set(history["valid_0"]) == {"l1", "l2"}
        for metric, values in history["valid_0"].items():
            assert booster.best_score["valid_0"][metric] == values[booster.best_iteration - 1]
        assert booster.best_iteration == 1 + int(np.argmin(history["valid_0"]["l2"])) or (
            booster.best_iteration == 1 + int(np.argmin(history["valid_0"]["l1"]))
        )
        results[lgb] = rmse(y[1000:], booster.predict(X[1000:], num_iteration=booster.best_iteration))
        assert booster.feature_name() == [f"Column_{at}" for at in range(5)]
        assert booster.num_feature() == 5
        assert booster.feature_importance().dtype == np.int32
        assert booster.feature_importance("gain").shape == (5,)
        assert booster.num_model_per_iteration() == 1
    assert results[compat] < 1.05 * results[lightgbm]


def test_the_models_read_each_other(tmp_path):
    booster, _, X, _ = script_of_regression(compat)
    booster.save_model(tmp_path / "ours.txt", num_iteration=7)
    theirs = lightgbm.Booster(model_file=tmp_path / "ours.txt")
    np.testing.assert_allclose(theirs.predict(X), booster.predict(X, num_iteration=7), rtol=1e-9)
    booster, _, X, _ = script_of_regression(lightgbm)
    ours = compat.Booster(model_str=booster.model_to_string())
    np.testing.assert_allclose(ours.predict(X), booster.predict(X, num_iteration=booster.best_iteration), rtol=1e-9)
    contributions = booster.predict(X[:50], pred_contrib=True)
    np.testing.assert_allclose(ours.predict(X[:50], pred_contrib=True), contributions, atol=1e-6)
    shared = {"tree_index", "node_depth", "split_feature", "threshold", "value", "count"}
    assert shared <= set(ours.trees_to_dataframe().columns)
    assert len(ours.trees_to_dataframe()) == len(
        compat.Booster(model_str=booster.model_to_string()).trees_to_dataframe()
    )


@BOTH
def test_predictions_have_the_shapes_of_lightgbm(lgb):
    X, y = load_iris(return_X_y=True)
    params = {"objective": "multiclass", "num_class": 3, **QUIET}
    booster = lgb.train(params, lgb.Dataset(X, y), num_boost_round=6)
    assert booster.predict(X).shape == (150, 3)
    np.testing.assert_allclose(booster.predict(X).sum(axis=1), 1)
    raw = booster.predict(X, raw_score=True)
    assert booster.predict(X, pred_leaf=True).shape == (150, 18)
    assert booster.predict(X, pred_leaf=True).dtype == np.int32
    contributions = booster.predict(X, pred_contrib=True)
    assert contributions.shape == (150, 15)
    np.testing.assert_allclose(contributions.reshape(150, 3, 5).sum(axis=2), raw, atol=1e-6)
    first = booster.predict(X, raw_score=True, num_iteration=2)
    rest = booster.predict(X, raw_score=True, start_iteration=2)
    np.testing.assert_allclose(first + rest, raw, atol=1e-9)
    assert booster.predict(X, pred_leaf=True, start_iteration=1, num_iteration=2).shape == (150, 6)
    assert booster.num_trees() == 18
    assert booster.current_iteration() == 6
    dump = booster.dump_model()
    assert dump["num_class"] == 3
    assert len(dump["tree_info"]) == 18


@BOTH
def test_initial_scores_are_not_part_of_the_model(lgb):
    X, y = regression()
    margin = 3 * X[:, 3]
    params = {"objective": "regression", "metric": "l2", **QUIET}
    train = lgb.Dataset(X[:1000], y[:1000] + margin[:1000], init_score=margin[:1000])
    valid = train.create_valid(X[1000:], y[1000:] + margin[1000:], init_score=margin[1000:])
    history = {}
    booster = lgb.train(params, train, 60, valid_sets=[valid], callbacks=[lgb.record_evaluation(history)])
    total = booster.predict(X[1000:]) + margin[1000:]
    error = rmse(y[1000:] + margin[1000:], total)
    assert error < 0.2
    assert history["valid_0"]["l2"][-1] == pytest.approx(error**2, rel=1e-5)


@BOTH
def test_training_continues_from_a_booster_or_a_file(lgb, tmp_path):
    X, y = regression()
    params = {"objective": "regression", **QUIET}
    first = lgb.train(params, lgb.Dataset(X, y, free_raw_data=False), 10)
    first.save_model(tmp_path / "first.txt")
    for init_model in (first, str(tmp_path / "first.txt")):
        more = lgb.train(params, lgb.Dataset(X, y, free_raw_data=False), 15, init_model=init_model)
        assert more.num_trees() == 25
        assert rmse(y, more.predict(X)) < 0.6 * rmse(y, first.predict(X))


def test_training_continues_from_lightgbms_models(tmp_path):
    X, y = regression()
    first = lightgbm.train({"objective": "regression", **QUIET}, lightgbm.Dataset(X, y), 10)
    first.save_model(tmp_path / "first.txt")
    more = compat.train({"objective": "regression"}, compat.Dataset(X, y), 15, init_model=tmp_path / "first.txt")
    assert more.num_trees() == 25
    np.testing.assert_allclose(more.predict(X, num_iteration=10), first.predict(X), rtol=1e-9)
    assert rmse(y, more.predict(X)) < 0.6 * rmse(y, first.predict(X))


@BOTH
def test_objectives_and_metrics_may_be_functions(lgb):
    X, y = regression()

    def squared(predictions, data):
        return predictions - data.get_label(), np.ones_like(predictions)

    def worst(predictions, data):
        return "worst", float(np.abs(predictions - data.get_label()).max()), False

    def several(predictions, data):
        return [("low", float(predictions.min()), True), ("high", float(predictions.max()), False)]

    history = {}
    train = lgb.Dataset(X[:1000], y[:1000])
    valid = train.create_valid(X[1000:], y[1000:])
    booster = lgb.train(
        {"objective": squared, "metric": "None", **QUIET},
        train,
        40,
        valid_sets=[train, valid],
        valid_names=["own", "other"],
        feval=[worst, several],
        callbacks=[lgb.record_evaluation(history)],
    )
    assert list(history) == ["own", "other"]
    assert list(history["own"]) == list(history["other"]) == ["worst", "low", "high"]
    predictions = booster.predict(X[1000:])
    assert history["other"]["worst"][-1] == pytest.approx(np.abs(predictions - y[1000:]).max(), rel=1e-5)
    assert history["own"]["high"][-1] == pytest.approx(booster.predict(X[:1000]).max(), rel=1e-5)
    assert rmse(y[1000:], predictions) < 0.2


@BOTH
def test_boosters_train_round_by_round(lgb):
    X, y = binary()
    params = {"objective": "binary", "metric": "auc", "learning_rate": 0.3, **QUIET}
    train = lgb.Dataset(X[:1000], y[:1000], free_raw_data=False)
    booster = lgb.Booster(params=params, train_set=train)
    booster.add_valid(lgb.Dataset(X[1000:], y[1000:], reference=train, free_raw_data=False), "held")
    values = []
    for _ in range(5):
        booster.update()
        [(name, metric, value, higher)] = booster.eval_valid()
        assert (name, metric, higher) == ("held", "auc", True)
        values.append(value)
    assert booster.current_iteration() == 5
    assert values[-1] > values[0]
    [(name, metric, value, _)] = booster.eval_train()
    assert (name, metric) == ("training", "auc")
    assert 0.9 < value <= 1
    booster.reset_parameter({"learning_rate": 1e-9})
    before = booster.predict(X, raw_score=True)
    booster.update()
    np.testing.assert_allclose(booster.predict(X, raw_score=True), before, atol=1e-6)


@BOTH
def test_callbacks_change_parameters_and_see_the_model(lgb):
    X, y = regression()
    seen = []

    def watch(env):
        seen.append((env.iteration, env.begin_iteration, env.end_iteration, len(env.evaluation_result_list)))
        assert env.model.current_iteration() == env.iteration + 1
        assert env.params["metric"] == "l2"

    train = lgb.Dataset(X, y)
    rates = [0.5] * 3 + [1e-9] * 3
    booster = lgb.train(
        {"objective": "regression", "metric": "l2", **QUIET},
        train,
        6,
        valid_sets=[train],
        callbacks=[watch, lgb.reset_parameter(learning_rate=rates)],
    )
    assert seen == [(at, 0, 6, 1) for at in range(6)]
    late = booster.predict(X, num_iteration=6) - booster.predict(X, num_iteration=3)
    assert np.abs(late).max() < 1e-6
    assert rmse(y, booster.predict(X, num_iteration=3)) < 0.5 * y.std()


@BOTH
@pytest.mark.parametrize("first_only", [False, True])
def test_early_stopping_uses_all_metrics_of_all_validation_sets_or_the_first_metric(lgb, first_only):
    X, y = regression()
    noise = np.random.default_rng(1).normal(size=500)
    train = lgb.Dataset(X[:1000], y[:1000])
    good, bad = train.create_valid(X[1000:], y[1000:]), train.create_valid(X[1000:], noise)
    history = {}
    booster = lgb.train(
        {"objective": "regression", "metric": ["l2", "l1"], "learning_rate": 0.3, **QUIET},
        train,
        200,
        valid_sets=[train, good, bad] if not first_only else [train, good],
        callbacks=[
            lgb.early_stopping(5, first_metric_only=first_only, verbose=False, min_delta=1e-3),
            lgb.record_evaluation(history),
        ],
    )
    rounds = len(history["training"]["l2"])
    assert rounds < 200
    assert booster.num_trees() == booster.best_iteration == rounds - 5
    assert set(booster.best_score) == set(history)


@BOTH
def test_early_stopping_by_parameters(lgb):
    X, y = regression()
    train = lgb.Dataset(X[:1000], y[:1000])
    params = {
        "objective": "regression",
        "metric": "rmse",
        "early_stopping_round": 5,
        "first_metric_only": True,
        **QUIET,
    }
    booster = lgb.train({**params, "n_iter": 500}, train, valid_sets=[train.create_valid(X[1000:], y[1000:])])
    assert 5 < booster.best_iteration == booster.num_trees() < 495


@pytest.mark.parametrize("stratified", [True, False])
def test_cross_validation_has_a_history_per_round_on_the_same_folds(stratified):
    X, y = binary()
    params = {"objective": "binary", "metric": ["binary_logloss", "auc"], **QUIET}
    found = {}
    for lgb in (lightgbm, compat):
        found[lgb] = lgb.cv(
            params,
            lgb.Dataset(X, y),
            30,
            nfold=4,
            stratified=stratified,
            seed=3,
            eval_train_metric=True,
            return_cvbooster=True,
        )
    assert list(found[compat]) == list(found[lightgbm])
    for name in found[compat].keys() - {"cvbooster"}:
        assert len(found[compat][name]) == len(found[lightgbm][name]) == 30
    ours, theirs = (found[lgb]["valid binary_logloss-mean"][-1] for lgb in (compat, lightgbm))
    assert ours < 1.05 * theirs
    boosters = found[compat]["cvbooster"].boosters
    assert len(boosters) == 4
    assert len(found[compat]["cvbooster"].predict(X[:3])) == 4


@BOTH
def test_cross_validation_stops_early_on_the_mean_of_own_folds(lgb):
    X, y = regression()
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    for given in (folds, KFold(3, shuffle=True, random_state=0)):
        history = lgb.cv(
            {"objective": "regression", "metric": "l2", "learning_rate": 0.3, **QUIET},
            lgb.Dataset(X, y, free_raw_data=False),
            300,
            folds=given,
            callbacks=[lgb.early_stopping(5, verbose=False)],
        )
        assert list(history) == ["valid l2-mean", "valid l2-stdv"]
        means = history["valid l2-mean"]
        assert len(means) < 300
        assert int(np.argmin(means)) == len(means) - 1


@BOTH
def test_messages_are_printed_in_the_same_form(lgb, capsys):
    X, y = regression()
    train = lgb.Dataset(X[:1000], y[:1000])
    params = {"objective": "regression", "metric": "l2", **QUIET}
    valid = train.create_valid(X[1000:], y[1000:])
    lgb.train(params, train, 4, valid_sets=[valid], callbacks=[lgb.log_evaluation(2), lgb.early_stopping(2)])
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("Training until validation scores don't improve for 2 rounds") for line in lines)
    assert any("Did not meet early stopping. Best iteration is:" in line for line in lines)
    assert any("[2]\tvalid_0's l2: 0." in line for line in lines)
    assert any("[4]\tvalid_0's l2: 0." in line for line in lines)


# ------------------------------------------------------------------------------------------------------- estimators


@BOTH
def test_classifiers(lgb):
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["malignant", "benign"])[y]
    model = lgb.LGBMClassifier(n_estimators=200, num_leaves=15, random_state=0, n_jobs=1, verbosity=-1)
    model.fit(
        X[:400],
        names[:400],
        eval_set=[(X[400:], names[400:])],
        eval_metric="auc",
        callbacks=[lgb.early_stopping(10, verbose=False)],
    )
    assert model.classes_.tolist() == ["benign", "malignant"]
    assert model.n_classes_ == 2
    assert list(model.evals_result_["valid_0"]) == ["auc", "binary_logloss"]
    assert 0 < model.best_iteration_ < 200
    assert set(model.best_score_["valid_0"]) == {"auc", "binary_logloss"}
    assert model.score(X[400:], names[400:]) > 0.93
    assert model.predict_proba(X[:3]).shape == (3, 2)
    assert model.predict(X[:3], raw_score=True).shape == (3,)
    assert model.feature_importances_.dtype == np.int32
    assert model.n_features_in_ == model.n_features_ == 30
    assert len(model.feature_name_) == 30
    assert model.n_estimators_ == model.best_iteration_
    assert model.predict(X[:3], pred_contrib=True).shape == (3, 31)


@BOTH
def test_several_classes_and_class_weights(lgb):
    X, y = load_iris(return_X_y=True)
    model = lgb.LGBMClassifier(n_estimators=20, class_weight="balanced", verbosity=-1, n_jobs=1)
    model.fit(X, y, eval_set=[(X, y)], eval_metric=["logloss", "error"])
    assert list(model.evals_result_) == ["training"]
    assert list(model.evals_result_["training"]) == ["multi_logloss", "multi_error"]
    assert model.score(X, y) > 0.95
    assert model.predict_proba(X).shape == (150, 3)


@BOTH
def test_positive_rows_may_weigh_more(lgb):
    X, y = binary()
    y = y * (np.random.default_rng(0).random(len(y)) < 0.2)
    plain = lgb.LGBMClassifier(n_estimators=20, verbosity=-1, n_jobs=1).fit(X, y).predict_proba(X)[:, 1].mean()
    for more in ({"scale_pos_weight": 8}, {"is_unbalance": True}, {"class_weight": "balanced"}):
        model = lgb.LGBMClassifier(n_estimators=20, verbosity=-1, n_jobs=1, **more).fit(X, y)
        assert model.predict_proba(X)[:, 1].mean() > 1.5 * plain


@BOTH
def test_regressors_in_searches(lgb):
    X, y = regression(600)
    model = lgb.LGBMRegressor(n_estimators=20, verbosity=-1, n_jobs=1, min_data_in_leaf=5)
    assert clone(model).get_params()["min_data_in_leaf"] == 5
    search = GridSearchCV(model, {"num_leaves": [4, 15]}, cv=3).fit(X, y)
    assert search.best_params_ == {"num_leaves": 15}
    quantile = lgb.LGBMRegressor(objective="quantile", alpha=0.9, n_estimators=60, verbosity=-1, n_jobs=1).fit(X, y)
    assert 0.84 < np.mean(y <= quantile.predict(X)) < 0.96


@BOTH
def test_estimators_take_functions(lgb):
    X, y = regression(600)

    def loss(y_true, y_pred):
        return y_pred - y_true, np.ones_like(y_pred)

    def bias(y_true, y_pred, weight):
        return "bias", float(np.average(y_pred - y_true, weights=weight)), False

    model = lgb.LGBMRegressor(objective=loss, n_estimators=80, verbosity=-1, n_jobs=1)
    model.fit(X, y, sample_weight=np.ones(len(y)), eval_set=[(X, y)], eval_metric=bias)
    assert rmse(y, model.predict(X)) < 0.2
    assert len(model.evals_result_["training"]["bias"]) == 80


@BOTH
def test_rankers(lgb):
    X, y, group = ranking()
    model = lgb.LGBMRanker(n_estimators=20, verbosity=-1, n_jobs=1, min_child_samples=5)
    model.fit(X, y, group=group, eval_set=[(X, y)], eval_group=[group], eval_at=[1, 3])
    assert list(model.evals_result_["training"]) == ["ndcg@1", "ndcg@3"]
    assert model.evals_result_["training"]["ndcg@3"][-1] > 0.9
    train = lgb.Dataset(X, y, group=group)
    booster = lgb.train({"objective": "lambdarank", "metric": "map", **QUIET}, train, 5, valid_sets=[train])
    assert list(booster.best_score["training"]) == [f"map@{at}" for at in range(1, 6)]


@BOTH
def test_frames_with_categories(lgb):
    rng = np.random.default_rng(0)
    cities = rng.choice(["Oslo", "Rome", "Lima"], 900)
    frame = pd.DataFrame({"size": rng.random(900), "city": pd.Categorical(cities), "code": rng.integers(0, 5, 900)})
    y = np.select([cities == "Oslo", cities == "Rome"], [3.0, 1.0], 0.0) + (frame["code"] == 3)
    for categorical in ("auto", ["code"], ["city", "code"]):
        data = lgb.Dataset(frame, y, categorical_feature=categorical)
        booster = lgb.train({"objective": "regression", "min_data_in_leaf": 5, **QUIET}, data, 60)
        assert booster.feature_name() == ["size", "city", "code"]
        assert rmse(y, booster.predict(frame)) < 0.3


@pytest.mark.parametrize(
    ("objective", "metric", "more"),
    [
        ("regression_l1", "l1", {}),
        ("huber", "huber", {"alpha": 0.5}),
        ("fair", "fair", {"fair_c": 0.7}),
        ("quantile", "quantile", {"alpha": 0.3}),
        ("mape", "mape", {}),
        ("poisson", "poisson", {}),
        ("gamma", "gamma", {}),
        ("tweedie", "tweedie", {"tweedie_variance_power": 1.3}),
        ("cross_entropy", "cross_entropy", {}),
        ("cross_entropy", "kullback_leibler", {}),
        ("binary", "binary_error", {}),
        ("binary", "average_precision", {}),
        ("gamma", "gamma_deviance", {}),
    ],
)
def test_objectives_reach_the_loss_of_lightgbm(objective, metric, more):
    X, y = regression(2500)
    shares = 1 / (1 + np.exp(-2 * (y - y.mean())))
    label = {"cross_entropy": shares, "binary": (shares > 0.5) * 1.0}.get(objective, np.exp(y))
    params = {"objective": objective, "metric": metric, "learning_rate": 0.1, "min_data_in_bin": 1, **more, **QUIET}
    losses = {}
    for lgb in (lightgbm, compat):
        train = lgb.Dataset(X[:2000], label[:2000])
        history = {}
        lgb.train(
            params,
            train,
            50,
            valid_sets=[train.create_valid(X[2000:], label[2000:])],
            callbacks=[lgb.record_evaluation(history)],
        )
        losses[lgb] = history["valid_0"][metric]
    # After one round both libraries have nearly the same trees, so that definitions of the metrics are comparable.
    # LightGBM starts these two from the mean, bitgrain from the best constant.
    spread = 0.3 if objective in ("huber", "fair") or metric == "binary_error" else 0.02
    assert losses[compat][0] == pytest.approx(losses[lightgbm][0], rel=spread)
    low, high = losses[lightgbm][-1], losses[lightgbm][0]
    if metric == "average_precision":
        assert losses[compat][-1] > low - 0.01
    else:
        assert losses[compat][-1] < low + 0.06 * abs(high - low)


def test_auc_mu_is_lightgbms():
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(size=X.shape)
    weight = np.random.default_rng(1).random(150) + 0.1
    model = lightgbm.train({"objective": "multiclass", "num_class": 3, **QUIET}, lightgbm.Dataset(X[::2], y[::2]), 5)
    params = {"objective": "multiclass", "num_class": 3, "metric": "auc_mu", **QUIET}
    found = {}
    for lgb in (lightgbm, compat):
        # A learning rate near 0 leaves the scores of the model unchanged.
        data = lgb.Dataset(X[::2], y[::2], free_raw_data=False)
        valid = data.create_valid(X[1::2], y[1::2], weight=weight[1::2])
        path = model.model_to_string()
        start = lgb.Booster(model_str=path)
        history = {}
        lgb.train(
            {**params, "learning_rate": 1e-12},
            data,
            1,
            valid_sets=[valid],
            init_model=start,
            callbacks=[lgb.record_evaluation(history)],
        )
        found[lgb] = history["valid_0"]["auc_mu"][0]
    assert found[compat] == pytest.approx(found[lightgbm], abs=1e-6)


@pytest.mark.parametrize("xgboost_mode", [False, True])
@pytest.mark.parametrize("objective", ["regression", "binary"])
def test_dart_is_lightgbms_if_all_trees_are_dropped(objective, xgboost_mode):
    X, y = regression(600)
    y = y > np.median(y) if objective == "binary" else y
    # The random numbers differ, but not if every round drops all others. LightGBM also drops the base score, which is a
    # part of its first tree, unless training starts from 0.
    params = {
        "objective": objective, "boosting": "dart", "drop_rate": 1.0, "skip_drop": 0.0, "max_drop": -1,
        "uniform_drop": True, "xgboost_dart_mode": xgboost_mode, "learning_rate": 0.3, "num_leaves": 7, **QUIET,
        "boost_from_average": False,
    }  # fmt: skip
    # Few distinct values, so that both libraries have the same bins.
    X = np.round(X * 16)
    found = [lgb.train(params, lgb.Dataset(X, y), 6).predict(X, raw_score=True) for lgb in (lightgbm, compat)]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4, atol=1e-5)


def test_a_forest_is_lightgbms_if_all_features_are_sampled():
    X, y = regression(600)
    # A share that is rounded to all features, so that the trees do not depend on random numbers.
    params = {"objective": "regression", "boosting": "rf", "feature_fraction": 0.95, "num_leaves": 7, **QUIET}
    X = np.round(X * 16)
    found = [lgb.train(params, lgb.Dataset(X, y), 4).predict(X) for lgb in (lightgbm, compat)]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4, atol=1e-5)


def test_modes_save_and_predict_in_lightgbm(tmp_path):
    X, y = regression(500)
    modes = ({"boosting": "dart", "drop_rate": 0.5}, {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6})
    for params in modes:
        booster = compat.train({"objective": "regression", **params, **QUIET}, compat.Dataset(X, y), 12)
        path = tmp_path / "model.txt"
        booster.save_model(path)
        np.testing.assert_allclose(lightgbm.Booster(model_file=path).predict(X), booster.predict(X), rtol=1e-12)
        values = booster.predict(X, pred_contrib=True)
        np.testing.assert_allclose(values.sum(axis=1), booster.predict(X, raw_score=True), rtol=1e-9)


def test_early_stopping_is_off_in_dart_mode_as_in_lightgbm():
    X, y = regression(400)
    for lgb in (lightgbm, compat):
        data = lgb.Dataset(X[:300], y[:300], free_raw_data=False)
        with pytest.warns(UserWarning, match="Early stopping is not available in dart mode"):
            booster = lgb.train(
                {"objective": "regression", "boosting_type": "dart", "learning_rate": 1.0, **QUIET},
                data,
                30,
                valid_sets=[data.create_valid(X[300:], y[300:])],
                callbacks=[lgb.early_stopping(1, verbose=False)],
            )
        assert booster.current_iteration() == 30
        assert booster.best_iteration <= 0


@pytest.mark.parametrize(
    ("objective", "more"),
    [("regression", {}), ("regression", {"lambda_l2": 5.0, "lambda_l1": 0.5}), ("binary", {}), ("poisson", {}),
     ("regression", {"boosting": "dart", "drop_rate": 0.5}), ("huber", {"max_delta_step": 0.1})],
)  # fmt: skip
@pytest.mark.parametrize("decay_rate", [0.0, 0.9])
def test_refit_is_lightgbms(objective, more, decay_rate):
    X, y = regression(1000)
    if objective != "regression":
        y = (y > np.median(y)).astype(float) if objective == "binary" else np.abs(y)
    params = {"objective": objective, "num_leaves": 7, "min_data_in_leaf": 40, **more, **QUIET}
    theirs = lightgbm.train(params, lightgbm.Dataset(X[:700], y[:700]), 10)
    own = compat.Booster(model_str=theirs.model_to_string())
    own.params = params
    weight = np.random.default_rng(1).random(1000) + 0.5
    new = 2 * y if objective == "regression" else y
    for given in (None, weight):
        wanted = theirs.refit(X, new, decay_rate, weight=given).predict(X, raw_score=True)
        found = own.refit(X, new, decay_rate, weight=given).predict(X, raw_score=True)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_refit_of_classes_and_of_own_boosters():
    X, y = load_iris(return_X_y=True)
    params = {"objective": "multiclass", "num_class": 3, "min_data_in_leaf": 10, **QUIET}
    theirs = lightgbm.train(params, lightgbm.Dataset(X, y), 5)
    own = compat.Booster(model_str=theirs.model_to_string())
    wanted = theirs.refit(X, (y + 1) % 3, 0.5).predict(X)
    np.testing.assert_allclose(own.refit(X, (y + 1) % 3, 0.5).predict(X), wanted, rtol=1e-4, atol=1e-4)
    X, y = regression(400)
    booster = compat.train({"objective": "regression", **QUIET}, compat.Dataset(X, y), 20)
    refitted = booster.refit(X, y + 5, decay_rate=0.0)
    assert np.mean(refitted.predict(X)) == pytest.approx(np.mean(y) + 5, rel=1e-3)
    assert np.array_equal(refitted.predict(X, pred_leaf=True), booster.predict(X, pred_leaf=True))
    with pytest.raises(bitgrain.Error, match="decay_rate"):
        booster.refit(X, y, decay_rate=2.0)
    with pytest.raises(bitgrain.Error, match="init_score is not supported by refit"):
        booster.refit(X, y, init_score=y)


# ------------------------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"num_leafs": 7}, "unknown parameter 'num_leafs'; did you mean 'num_leaf"),
        ({"boosting": "linear"}, "boosting='linear' is not supported by bitgrain; use gbdt, dart"),
        ({"boosting_type": "rf"}, "set subsample below 1"),
        ({"boosting_type": "dart", "drop_rate": 2}, "drop_rate"),
        ({"linear_tree": True}, "linear_tree=True is not supported"),
        ({"device": "gpu"}, "bitgrain trains on the CPU"),
        ({"zero_as_missing": True}, "replace zeros with NaN"),
        ({"pos_bagging_fraction": 0.5}, "use bagging_fraction"),
        ({"objective": "multiclassova", "num_class": 3}, "use multiclass"),
        ({"objective": "multiclass"}, "num_class"),
        ({"objective": "none"}, "params\\['objective'\\]"),
        ({"objective": "regresion"}, "unknown objective"),
        ({"metric": "ks"}, "metric 'ks' is not supported by bitgrain; use feval"),
        ({"scale_pos_weight": 2.0}, "need the objective binary"),
        ({"num_leaves": 7, "max_leaves": 9}, "the same parameter"),
        ({"learning_rate": -1}, "learning_rate"),
        ({"gamma": 1.0}, "unknown parameter 'gamma'"),
        ({"machines": "a:1"}, "is not supported"),
    ],
)
def test_unsupported_parameters_are_errors(params, message):
    X, y = regression(100)
    with pytest.raises(bitgrain.Error, match=message):
        compat.train({"verbosity": -1, **params}, compat.Dataset(X, y), 2)


def test_unsupported_calls_name_the_alternative(tmp_path):
    X, y = regression(200)
    data = compat.Dataset(X, y)
    for old in ("early_stopping_rounds", "verbose_eval", "evals_result"):
        with pytest.raises(TypeError, match="callbacks"):
            compat.train({}, data, 2, **{old: 1})
    booster = compat.train({"objective": "regression"}, data, 2)
    for missing in ("rollback_one_iter", "shuffle_models", "get_split_value_histogram"):
        with pytest.raises(AttributeError, match="is not supported"):
            getattr(booster, missing)
    with pytest.raises(AttributeError, match="is not supported"):
        _ = compat.DaskLGBMRegressor
    with pytest.raises(bitgrain.Error, match="is not supported"):
        booster.predict(X, pred_early_stop=True)
    with pytest.raises(bitgrain.Error, match="exclude each other"):
        booster.predict(X, raw_score=True, pred_leaf=True)
    with pytest.raises(bitgrain.Error, match="from_files"):
        compat.Dataset(str(tmp_path / "table.csv"))
    with pytest.raises(bitgrain.Error, match="has no label"):
        compat.train({}, compat.Dataset(X), 2)
    with pytest.raises(bitgrain.Error, match="needs at least one validation dataset"):
        compat.train({}, data, 2, callbacks=[compat.early_stopping(2)])
    with pytest.raises(bitgrain.Error, match="num_boost_round"):
        compat.train({}, data, 0)
    with pytest.raises(TypeError, match="Dataset of this module"):
        compat.train({}, lightgbm.Dataset(X, y), 2)
    with pytest.raises(TypeError, match="early_stopping"):
        compat.LGBMRegressor().fit(X, y, early_stopping_rounds=5)
    with pytest.raises(bitgrain.Error, match="cannot change during training"):
        compat.train({}, data, 3, callbacks=[compat.reset_parameter(extra_trees=[False, True, True])])


def test_exceptions_of_functions_arrive_unchanged():
    X, y = regression(200)

    def broken(predictions, data):
        raise ZeroDivisionError("mine")

    data = compat.Dataset(X, y)
    with pytest.raises(ZeroDivisionError, match="mine"):
        compat.train({"metric": "None"}, data, 3, valid_sets=[data], feval=broken)
    with pytest.raises(ZeroDivisionError, match="mine"):
        compat.train({"objective": broken}, data, 3)
    # The data can be used again.
    assert compat.train({}, data, 3).num_trees() == 3


def test_boosters_survive_pickle_and_copies():
    X, y = regression(300)
    booster = compat.train({"objective": "regression"}, compat.Dataset(X, y), 4)
    for again in (pickle.loads(pickle.dumps(booster)), copy.deepcopy(booster)):
        assert again.predict(X).tolist() == booster.predict(X).tolist()
    model = compat.LGBMRegressor(n_estimators=4).fit(X, y)
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()
    assert booster.lower_bound() <= booster.predict(X).min() <= booster.predict(X).max() <= booster.upper_bound()
    leaf = booster.predict(X[:1], pred_leaf=True)[0, 0]
    assert math.isfinite(booster.get_leaf_output(0, int(leaf)))
