"""Several validation sets: their names, and the one that early stopping uses."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn.metrics

import bitgrain
from bitgrain import BitgrainClassifier, BitgrainRegressor, Dataset, train


def parts(table):
    X, y = table
    return (X[:1000], y[:1000]), (X[1000:1500], y[1000:1500]), (X[1500:], y[1500:])


def test_several_validation_sets_are_measured_under_their_names(table):
    fitted, first, second = parts(table)
    one = BitgrainRegressor(n_estimators=8).fit(*fitted, eval_set=[first])
    other = BitgrainRegressor(n_estimators=8).fit(*fitted, eval_set=second)
    both = BitgrainRegressor(n_estimators=8).fit(*fitted, eval_set=[first, fitted, second])
    assert list(both.evals_result_) == ["train", "valid_0", "valid_1"]
    assert both.evals_result_["valid_0"] == one.evals_result_["valid"]
    assert both.evals_result_["valid_1"] == other.evals_result_["valid"]
    # More validation data does not change the trees.
    assert both.booster_.predict(first[0]).tobytes() == one.booster_.predict(first[0]).tobytes()


@pytest.mark.parametrize("pairs", [list, tuple])
def test_pairs_may_be_a_list_or_a_tuple(table, pairs):
    fitted, first, second = parts(table)
    model = BitgrainRegressor(n_estimators=2).fit(*fitted, eval_set=pairs([first, second]))
    assert sorted(model.evals_result_) == ["valid_0", "valid_1"]
    model.fit(*fitted, eval_set=pairs([first]))
    assert sorted(model.evals_result_) == ["valid"]


def as_given(X):
    return X


def as_sparse(X):
    return scipy.sparse.csr_matrix(np.nan_to_num(X))


def as_pandas(X):
    return pd.DataFrame(X, columns=list("abcd")).assign(e=pd.Categorical(["x", "y"] * (len(X) // 2)))


def as_polars(X):
    return pl.DataFrame(X, schema=list("abcd"))


@pytest.mark.parametrize("convert", [as_given, as_sparse, as_pandas, as_polars, np.asfortranarray, np.ndarray.tolist])
def test_the_training_data_is_recognized_by_its_values(table, convert):
    X, y = table
    settings = {"n_estimators": 60, "learning_rate": 1.0, "early_stopping_rounds": 3, "min_child_samples": 2}
    valid = (convert(X[400:600]), y[400:600])
    model = BitgrainRegressor(**settings).fit(
        convert(X[:400]), y[:400], eval_set=[(convert(X[:400]), y[:400].tolist()), valid]
    )
    assert list(model.evals_result_) == ["train", "valid"]
    assert model.best_iteration_ == 1 + int(np.argmin(model.evals_result_["valid"]["rmse"])) < 60


def test_data_that_differs_in_one_value_is_validation_data(table):
    X, y = table
    X, y = X[:400], y[:400]
    other_x, other_y = X.copy(), y.copy()
    other_x[399, 0] += 1
    other_y[399] += 1
    for pair in ((X, other_y), (other_x, y), (X[:399], y[:399])):
        model = BitgrainRegressor(n_estimators=2).fit(X, y, eval_set=[pair])
        assert list(model.evals_result_) == ["valid"]


def test_custom_names(table):
    fitted, first, second = parts(table)
    rounds = []
    model = BitgrainRegressor(n_estimators=3).fit(
        *fitted,
        eval_set=[fitted, first, second],
        eval_names=["own", "near", "far"],
        callbacks=[lambda round: rounds.append(round.metrics)],
    )
    assert list(model.evals_result_) == ["own", "near", "far"]
    assert rounds[2]["far"]["rmse"] == model.evals_result_["far"]["rmse"][2]
    for names, message in ((["a"], "1 eval_names for 2"), (["a", "a"], "datasets are called 'a'"), ([1, 2], "strings")):
        with pytest.raises(bitgrain.errors.InputError, match=message):
            model.fit(*fitted, eval_set=[first, second], eval_names=names)
    with pytest.raises(bitgrain.errors.InputError, match="two datasets are called"):
        model.fit(*fitted, eval_set=[fitted, second], eval_names=["a", "a"])


def test_early_stopping_uses_the_first_validation_set(table):
    fitted, (X, y), _ = parts(table)
    # Overfitting: the metric on the first set only gets worse.
    against = (X, -y)
    settings = {"n_estimators": 200, "learning_rate": 0.5, "early_stopping_rounds": 5}
    good = BitgrainRegressor(**settings).fit(*fitted, eval_set=[(X, y), against])
    bad = BitgrainRegressor(**settings).fit(*fitted, eval_set=[against, (X, y)])
    assert good.best_iteration_ == 1 + int(np.argmin(good.evals_result_["valid_0"]["rmse"])) > 3
    assert bad.best_iteration_ == bad.booster_.n_rounds == 1
    # The training data is never used for early stopping, regardless of its position.
    third = BitgrainRegressor(**settings).fit(*fitted, eval_set=[fitted, (X, y), against])
    assert third.best_iteration_ == good.best_iteration_


def test_eval_weights_belong_to_their_pairs(table):
    fitted, first, second = parts(table)
    weight = np.linspace(0, 1, 500)
    plain = BitgrainRegressor(n_estimators=3).fit(*fitted, eval_set=[first, second])
    weighed = BitgrainRegressor(n_estimators=3).fit(
        *fitted, eval_set=[first, second], eval_sample_weight=[None, weight]
    )
    assert weighed.evals_result_["valid_0"] == plain.evals_result_["valid_0"]
    assert weighed.evals_result_["valid_1"] != plain.evals_result_["valid_1"]
    # The weights of a single pair need no list.
    alone = BitgrainRegressor(n_estimators=3).fit(*fitted, eval_set=second, eval_sample_weight=weight)
    assert alone.evals_result_["valid"] == weighed.evals_result_["valid_1"]


def test_classes_are_those_of_the_training_data(table):
    X, y = table
    strings = np.where(y > 2, "high", "low")
    model = BitgrainClassifier(n_estimators=3)
    model.fit(X, strings, eval_set=[(X[:500], strings[:500]), (X[500:], strings[500:])], eval_metric="auc")
    assert {name: len(values["auc"]) for name, values in model.evals_result_.items()} == {"valid_0": 3, "valid_1": 3}


def test_binary_metric_names_select_multiclass_metrics(table):
    X, y = table
    three = np.digitize(y, [1.5, 2.5])
    model = BitgrainClassifier(n_estimators=3)
    model.fit(X, three, eval_set=(X[:500], three[:500]), eval_metric=["logloss", "error"])
    expected = sklearn.metrics.log_loss(three[:500], model.predict_proba(X[:500]))
    assert model.evals_result_["valid"]["multi_logloss"][-1] == pytest.approx(expected, rel=1e-5)
    assert model.evals_result_["valid"]["multi_error"][-1] == pytest.approx(1 - model.score(X[:500], three[:500]))
    two = (y > 2).astype(int)
    model.fit(X, two, eval_set=(X[:500], two[:500]), eval_metric="multi_logloss")
    expected = sklearn.metrics.log_loss(two[:500], model.predict_proba(X[:500]))
    assert model.evals_result_["valid"]["logloss"][-1] == pytest.approx(expected, rel=1e-5)


def test_metrics_that_do_not_suit_the_classes_name_those_that_do(table):
    X, y = table
    three = np.digitize(y, [1.5, 2.5])
    for metric in ("auc", "rmse", "average_precision"):
        message = (
            f"metric `{metric}` takes one prediction per row, but objective `multiclass:3` makes 3; use `multi_logl"
        )
        with pytest.raises(bitgrain.errors.InputError, match=message):
            BitgrainClassifier().fit(X, three, eval_set=(X[:50], three[:50]), eval_metric=metric)
        with pytest.raises(bitgrain.errors.InputError, match=message):
            bitgrain.boosting.cross_validate(Dataset(X, three), objective="multiclass", metric=metric)
    with pytest.raises(
        bitgrain.errors.InputError, match="metric `merror` compares classes, but the objective is `squared`"
    ):
        BitgrainRegressor().fit(X, y, eval_set=(X[:50], y[:50]), eval_metric="merror")


def test_train_accepts_several_validation_sets(table):
    fitted, first, second = parts(table)
    data = Dataset(*fitted)
    valid = [data.like(*first), data.like(*second)]
    listed = train(data, valid=valid, n_estimators=3, watch_train=True)
    named = train(data, valid={"near": valid[0], "far": valid[1]}, n_estimators=3)
    assert list(listed.history) == ["train", "valid_0", "valid_1"]
    assert named.history == {"near": listed.history["valid_0"], "far": listed.history["valid_1"]}
    assert train(data, valid=[], n_estimators=1).history == {}
    for wrong, message in (
        ((first[0], first[1]), r"must be a Dataset, not ndarray.*Dataset\.like"),
        ({"train": valid[0]}, "two datasets are called 'train'"),
        ({3: valid[0]}, "names must be strings"),
    ):
        with pytest.raises(bitgrain.errors.InputError, match=message):
            train(data, valid=wrong, n_estimators=1)
