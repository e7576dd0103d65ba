"""Several sets of validation data, what they are called, and which of them decides."""

import numpy as np
import pytest

import bitgrain
from bitgrain import BitgrainClassifier, BitgrainRegressor, Dataset, train


def parts(table):
    X, y = table
    return (X[:1000], y[:1000]), (X[1000:1500], y[1000:1500]), (X[1500:], y[1500:])


def test_several_are_measured_each_under_its_name(table):
    fitted, first, second = parts(table)
    one = BitgrainRegressor(n_estimators=8).fit(*fitted, eval_set=[first])
    other = BitgrainRegressor(n_estimators=8).fit(*fitted, eval_set=second)
    both = BitgrainRegressor(n_estimators=8).fit(*fitted, eval_set=[first, fitted, second])
    assert list(both.evals_result_) == ["train", "valid_0", "valid_1"]
    assert both.evals_result_["valid_0"] == one.evals_result_["valid"]
    assert both.evals_result_["valid_1"] == other.evals_result_["valid"]
    # More to look at changes no tree.
    assert both.booster_.predict(first[0]).tobytes() == one.booster_.predict(first[0]).tobytes()


@pytest.mark.parametrize("pairs", [list, tuple])
def test_pairs_come_as_a_list_or_a_tuple(table, pairs):
    fitted, first, second = parts(table)
    model = BitgrainRegressor(n_estimators=2).fit(*fitted, eval_set=pairs([first, second]))
    assert sorted(model.evals_result_) == ["valid_0", "valid_1"]
    model.fit(*fitted, eval_set=pairs([first]))
    assert sorted(model.evals_result_) == ["valid"]


def test_what_looks_alike_is_validation_data(table):
    X, y = table
    model = BitgrainRegressor(n_estimators=2).fit(X[:400], y[:400], eval_set=[(X[:400], y[:400]), (X[400:], y[400:])])
    assert sorted(model.evals_result_) == ["valid_0", "valid_1"]


def test_names_of_ones_own(table):
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
    for names, message in ((["a"], "1 eval_names for 2"), (["a", "a"], "two data are called 'a'"), ([1, 2], "texts")):
        with pytest.raises(bitgrain.InputError, match=message):
            model.fit(*fitted, eval_set=[first, second], eval_names=names)
    with pytest.raises(bitgrain.InputError, match="two data are called"):
        model.fit(*fitted, eval_set=[fitted, second], eval_names=["a", "a"])


def test_early_stopping_goes_by_the_first(table):
    fitted, (X, y), _ = parts(table)
    # The more is learned, the worse it gets here.
    against = (X, -y)
    settings = {"n_estimators": 200, "learning_rate": 0.5, "early_stopping_rounds": 5}
    good = BitgrainRegressor(**settings).fit(*fitted, eval_set=[(X, y), against])
    bad = BitgrainRegressor(**settings).fit(*fitted, eval_set=[against, (X, y)])
    assert good.best_iteration_ == 1 + int(np.argmin(good.evals_result_["valid_0"]["rmse"])) > 3
    assert bad.best_iteration_ == bad.booster_.n_rounds == 1
    # The training data is none of them, wherever it stands.
    third = BitgrainRegressor(**settings).fit(*fitted, eval_set=[fitted, (X, y), against])
    assert third.best_iteration_ == good.best_iteration_


def test_weights_go_with_their_pairs(table):
    fitted, first, second = parts(table)
    weight = np.linspace(0, 1, 500)
    plain = BitgrainRegressor(n_estimators=3).fit(*fitted, eval_set=[first, second])
    weighed = BitgrainRegressor(n_estimators=3).fit(
        *fitted, eval_set=[first, second], eval_sample_weight=[None, weight]
    )
    assert weighed.evals_result_["valid_0"] == plain.evals_result_["valid_0"]
    assert weighed.evals_result_["valid_1"] != plain.evals_result_["valid_1"]
    # Of one pair, they may stand alone.
    alone = BitgrainRegressor(n_estimators=3).fit(*fitted, eval_set=second, eval_sample_weight=weight)
    assert alone.evals_result_["valid"] == weighed.evals_result_["valid_1"]


def test_classes_are_those_of_the_training_data(table):
    X, y = table
    texts = np.where(y > 2, "high", "low")
    model = BitgrainClassifier(n_estimators=3)
    model.fit(X, texts, eval_set=[(X[:500], texts[:500]), (X[500:], texts[500:])], eval_metric="auc")
    assert {name: len(values["auc"]) for name, values in model.evals_result_.items()} == {"valid_0": 3, "valid_1": 3}


def test_a_training_takes_several_too(table):
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
        ({"train": valid[0]}, "two data are called 'train'"),
        ({3: valid[0]}, "names must be texts"),
    ):
        with pytest.raises(bitgrain.InputError, match=message):
            train(data, valid=wrong, n_estimators=1)
