"""Training round by round, initial scores, checkpoints, and the metric that early stopping uses."""

import gc
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import bitgrain
from bitgrain.boosting import Session, load_model
from bitgrain.errors import InputError


def table(rows=2000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((rows, 4))
    return X, np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=rows)


SETTINGS = {"num_leaves": 15, "subsample": 0.7, "colsample_bytree": 0.7, "seed": 3}


def test_a_session_grows_the_trees_of_one_training():
    X, y = table()
    data = bitgrain.Dataset(X[:1500], y[:1500])
    valid = data.like(X[1500:], y[1500:])
    whole = bitgrain.train(data, valid={"held": valid}, metric=["rmse", "mae"], n_estimators=12, **SETTINGS)
    with Session(data, valid={"held": valid}, metric=["rmse", "mae"], **SETTINGS) as session:
        for at in range(12):
            round = session.update()
            assert round.index == at
            for name in ("rmse", "mae"):
                assert round.metrics["held"][name] == whole.history["held"][name][at]
            if at == 4:
                early = session.model()
        assert session.model().predict(X).tolist() == whole.predict(X).tolist()
    assert early.n_rounds == 5
    assert early.predict(X).tolist() == whole.predict(X, rounds=5).tolist()


def test_parameters_change_between_rounds():
    X, y = table()
    data = bitgrain.Dataset(X, y)
    with Session(data, learning_rate=0.5) as session:
        session.change(learning_rate=0.3)
        session.update()
        session.change(learning_rate=0.1, num_leaves=4)
        session.update()
        model = session.model()
        assert session.params.learning_rate == 0.1
    first = bitgrain.train(data, learning_rate=0.3, n_estimators=1)
    assert model.predict(X, rounds=1).tolist() == first.predict(X).tolist()
    assert len(model.trees[1]["leaves"]) == 4


def test_sessions_refuse_what_they_cannot_do():
    X, y = table(200)
    data = bitgrain.Dataset(X, y)
    session = Session(data)
    with pytest.raises(InputError, match="call update first"):
        session.model()
    session.update()
    with pytest.raises(InputError, match="learning_rate"):
        session.change(learning_rate=-1)
    session.change(extra_trees=True)
    with pytest.raises(InputError, match="`extra_trees` cannot change during training"):
        session.update()
    with pytest.raises(InputError, match="closed"):
        session.update()
    with pytest.raises(InputError, match="targets 0 or 1"):
        Session(data, objective="binary").update()
    # The data is not lost.
    assert bitgrain.train(data, n_estimators=2).n_rounds == 2


def test_forgotten_sessions_end_their_threads():
    X, y = table(200)
    before = threading.active_count()
    session = Session(bitgrain.Dataset(X, y))
    session.update()
    gone = weakref.ref(session)
    del session
    gc.collect()
    assert gone() is None
    assert threading.active_count() == before


def test_an_open_session_does_not_keep_the_interpreter():
    code = """
import numpy as np, bitgrain
X = np.random.default_rng(0).random((200, 2))
session = bitgrain.boosting.Session(bitgrain.Dataset(X, X[:, 0]))
session.update()
print("done")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "done\n"


@pytest.mark.parametrize("objective", ["squared", "absolute", "poisson"])
def test_initial_scores_start_the_training_outside_the_model(objective):
    X, y = table()
    y = np.abs(y)
    margin = X[:, 3] - 0.5
    data = bitgrain.Dataset(X[:1500], y[:1500], init_score=margin[:1500])
    valid = data.like(X[1500:], y[1500:], init_score=margin[1500:])
    model = bitgrain.train(data, objective=objective, valid=valid, n_estimators=40)
    raw = model.predict_raw(X[1500:]) + margin[1500:]
    predicted = np.exp(raw) if objective == "poisson" else raw
    assert np.sqrt(np.mean((predicted - y[1500:]) ** 2)) < 0.35
    metric = {"squared": "rmse", "absolute": "mae"}.get(objective)
    if metric == "rmse":
        assert model.history["valid"]["rmse"][-1] == pytest.approx(np.sqrt(np.mean((raw - y[1500:]) ** 2)))
    # Scores of 0 are not the same as the best constant.
    zero = bitgrain.train(bitgrain.Dataset(X, y, init_score=np.zeros(len(y))), objective=objective, n_estimators=1)
    assert zero.predict_raw(X).mean() < 0.5 * np.mean(y) or objective == "poisson"


def test_initial_scores_of_another_model_continue_it():
    X, y = table()
    label = (y > 1) * 1.0
    first = bitgrain.train(bitgrain.Dataset(X, label), objective="binary", n_estimators=10)
    margin = first.predict_raw(X)
    more = bitgrain.train(bitgrain.Dataset(X, label, init_score=margin), objective="binary", n_estimators=10)
    whole = bitgrain.train(bitgrain.Dataset(X, label, init_model=first), objective="binary", n_estimators=10)
    np.testing.assert_allclose(margin + more.predict_raw(X), whole.predict_raw(X), atol=1e-9)
    model = bitgrain.BitgrainClassifier(n_estimators=10).fit(X, label, init_score=margin)
    np.testing.assert_allclose(model.decision_function(X), more.predict_raw(X), atol=1e-9)


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (np.zeros(3), "pass one row for each of 200 rows"),
        (np.full(200, np.nan), "is not finite"),
        (np.zeros((200, 2)), "the objective needs 1 per row"),
    ],
)
def test_unusable_initial_scores_are_errors(score, message):
    X, y = table(200)
    with pytest.raises(InputError, match=message):
        bitgrain.train(bitgrain.Dataset(X, y, init_score=score), n_estimators=1)


def test_initial_scores_are_for_all_data_or_none():
    X, y = table(200)
    data = bitgrain.Dataset(X, y, init_score=y)
    with pytest.raises(InputError, match="validation set 0 \\(0-based\\) does not"):
        bitgrain.train(data, valid=data.like(X, y), n_estimators=1)
    plain = bitgrain.Dataset(X, y)
    with pytest.raises(InputError, match="the training data does not"):
        bitgrain.train(plain, valid=plain.like(X, y, init_score=y), n_estimators=1)


@pytest.mark.parametrize("precision", ["pair8", "pair4"])
@pytest.mark.parametrize("more", [{}, {"data_sample_strategy": "goss", "subsample": 1.0}, {"objective": "absolute"}])
def test_a_resumed_training_has_the_bits_of_an_uninterrupted_one(tmp_path, precision, more):
    X, y = table()
    path = tmp_path / "run.bitgrain"
    settings = {**SETTINGS, "n_estimators": 25, "early_stopping_rounds": 8, "gradient_precision": precision, **more}

    def data(init_model=None):
        made = bitgrain.Dataset(X[:1500], y[:1500], init_model=init_model)
        return made, made.like(X[1500:], y[1500:])

    learned, valid = data()
    whole = bitgrain.train(learned, valid=valid, **settings)
    bitgrain.train(learned, valid=valid, callbacks=[lambda round: round.index == 13], checkpoint=path, **settings)
    assert load_model(path).n_rounds == 14
    learned, valid = data(load_model(path))
    again = bitgrain.train(learned, valid=valid, resume=True, **settings)
    assert again.n_rounds == whole.n_rounds
    assert again.predict(X).tolist() == whole.predict(X).tolist()
    assert [tree["leaves"] for tree in again.trees] == [tree["leaves"] for tree in whole.trees]
    assert again.history == whole.history
    assert again.best_iteration == whole.best_iteration


def test_a_resumed_training_with_float_gradients_differs_by_rounding_only(tmp_path):
    X, y = table()
    path = tmp_path / "run.bitgrain"
    data = bitgrain.Dataset(X, y)
    whole = bitgrain.train(data, n_estimators=20, **SETTINGS)
    bitgrain.train(data, n_estimators=20, callbacks=[lambda round: round.index == 9], checkpoint=path, **SETTINGS)
    again = bitgrain.train(
        bitgrain.Dataset(X, y, init_model=load_model(path)), n_estimators=20, resume=True, **SETTINGS
    )
    assert again.n_rounds == 20
    # Sums of floats depend on the order of the rows, which a checkpoint does not contain.
    assert np.abs(again.predict(X) - whole.predict(X)).mean() < 0.02 * y.std()


def test_a_killed_training_leaves_a_checkpoint(tmp_path):
    path = tmp_path / "run.bitgrain"
    code = f"""
import os, numpy as np, bitgrain
X = np.random.default_rng(0).random((500, 3))
def kill(round):
    if round.index == 8:
        os.kill(os.getpid(), 9)
data = bitgrain.Dataset(X, X[:, 0])
common = {{"n_estimators": 50, "gradient_precision": "pair8"}}
bitgrain.train(data, checkpoint={str(path)!r}, checkpoint_every=3, callbacks=[kill], **common)
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == -9
    X = np.random.default_rng(0).random((500, 3))
    assert load_model(path).n_rounds == 6
    data = bitgrain.Dataset(X, X[:, 0], init_model=load_model(path))
    again = bitgrain.train(data, n_estimators=20, gradient_precision="pair8", resume=True)
    whole = bitgrain.train(bitgrain.Dataset(X, X[:, 0]), n_estimators=20, gradient_precision="pair8")
    assert again.predict(X).tolist() == whole.predict(X).tolist()


def test_checkpoints_of_another_training_are_refused(tmp_path):
    X, y = table(300)
    path = tmp_path / "run.bitgrain"
    bitgrain.train(bitgrain.Dataset(X, y), n_estimators=5, checkpoint=path, checkpoint_every=2, learning_rate=0.2)
    data = bitgrain.Dataset(X, y, init_model=load_model(path))
    with pytest.raises(InputError, match="its learning_rate is 0\\.2, but that of the training is 0\\.1"):
        bitgrain.train(data, n_estimators=9, resume=True)
    with pytest.raises(InputError, match="its objective is"):
        bitgrain.train(data, objective="huber", n_estimators=9, learning_rate=0.2, resume=True)
    plain = bitgrain.Dataset(X, y, init_model=bitgrain.train(bitgrain.Dataset(X, y), n_estimators=2))
    with pytest.raises(InputError, match="not a checkpoint"):
        bitgrain.train(plain, n_estimators=5, resume=True)
    with pytest.raises(InputError, match="init_model=load_model"):
        bitgrain.train(bitgrain.Dataset(X, y), n_estimators=5, resume=True)
    with pytest.raises(InputError, match="checkpoint_every"):
        bitgrain.train(bitgrain.Dataset(X, y), checkpoint=path, checkpoint_every=0)


def test_early_stopping_uses_the_chosen_metric_and_dataset():
    X, y = table()
    data = bitgrain.Dataset(X[:1000], y[:1000])
    noise = np.random.default_rng(1).normal(size=500)
    sets = {"noise": data.like(X[1000:1500], noise), "held": data.like(X[1500:], y[1500:])}
    common = {"valid": sets, "metric": ["rmse", "mae"], "n_estimators": 60, "early_stopping_rounds": 5}
    first = bitgrain.train(data, **common)
    assert first.n_rounds < 10
    held = bitgrain.train(data, stop_on=("held", "mae"), **common)
    values = held.history["held"]["mae"]
    assert held.n_rounds == held.best_iteration == 1 + int(np.argmin(values)) > 10
    metric = bitgrain.train(data, stop_on="mean_absolute_error", **common)
    assert metric.best_iteration == 1 + int(np.argmin(metric.history["noise"]["mae"]))
    for wrong in ("auc", ("other", "mae"), ("held", "mse"), 3):
        with pytest.raises(bitgrain.Error, match="stop_on"):
            bitgrain.train(data, stop_on=wrong, **common)


def test_small_improvements_do_not_count():
    X, y = table()
    data = bitgrain.Dataset(X[:1500], y[:1500])
    valid = data.like(X[1500:], y[1500:])
    common = {"valid": valid, "n_estimators": 200, "early_stopping_rounds": 5}
    exact, coarse = bitgrain.train(data, **common), bitgrain.train(data, early_stopping_min_delta=0.01, **common)
    assert coarse.n_rounds < exact.n_rounds
    values = coarse.history["valid"]["rmse"]
    best = 0
    for at, value in enumerate(values):
        best = at if value < values[best] - 0.01 else best
    assert coarse.best_iteration == best + 1 == len(values) - 5


def test_verbose_prints_the_metrics_every_n_rounds(capsys):
    X, y = table(300)
    data = bitgrain.Dataset(X, y)
    bitgrain.train(data, valid=data, n_estimators=7, verbose=3)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("]")[0] for line in lines] == ["[3", "[6", "[7"]
    assert all("valid rmse 0." in line for line in lines)


def test_ranges_of_rounds_add_up():
    X, y = table(500)
    model = bitgrain.train(bitgrain.Dataset(X, y), n_estimators=9)
    whole = model.predict_raw(X)
    np.testing.assert_allclose(model.predict_raw(X, rounds=4) + model.predict_raw(X, start=4), whole)
    assert model.predict_leaf(X, start=4).tolist() == model.predict_leaf(X)[:, 4:].tolist()
    values = model.predict_contributions(X[:20], start=4)
    np.testing.assert_allclose(values.sum(axis=1), model.predict_raw(X[:20], start=4), atol=1e-9)
    stages = list(model.staged_predict(X, every=4))
    assert [each.tolist() for each in stages] == [model.predict(X, rounds=rounds).tolist() for rounds in (4, 8)]
    with pytest.raises(bitgrain.Error, match="start"):
        model.predict(X, start=-1)


def test_estimators_have_what_scripts_expect():
    X, y = table()
    label = np.where(y > 1, "high", "low")
    model = bitgrain.BitgrainClassifier(n_estimators=30, early_stopping_rounds=5, validation_fraction=0.2)
    model.fit(X, label, eval_metric=["auc", "logloss"])
    assert model.n_iter_ == model.best_iteration_ == model.booster_.n_rounds
    best = model.best_iteration_ - 1
    assert model.best_score_ == {"valid": {name: values[best] for name, values in model.evals_result_["valid"].items()}}
    assert model.feature_name_ == [f"f{at}" for at in range(4)]
    assert list(model.staged_predict(X))[-1].tolist() == model.predict(X).tolist()
    assert next(model.staged_predict_proba(X, every=model.n_iter_)).tolist() == model.predict_proba(X).tolist()
    assert list(model.staged_decision_function(X))[-1].tolist() == model.decision_function(X).tolist()
    scaled = bitgrain.BitgrainClassifier(n_estimators=10, scale_pos_weight=5.0).fit(X, label)
    weighted = bitgrain.BitgrainClassifier(n_estimators=10, class_weight={"high": 1.0, "low": 5.0}).fit(X, label)
    assert scaled.predict_proba(X).tolist() == weighted.predict_proba(X).tolist()
    with pytest.raises(InputError, match="exclude each other"):
        bitgrain.BitgrainClassifier(scale_pos_weight=2.0, class_weight="balanced").fit(X, label)
    for fraction in (0.0, 1.5, "half"):
        with pytest.raises(InputError, match="validation_fraction"):
            bitgrain.BitgrainRegressor(validation_fraction=fraction).fit(X, y)


def test_a_warm_start_adds_rounds():
    X, y = table(600)
    model = bitgrain.BitgrainRegressor(n_estimators=10, warm_start=True, learning_rate=0.2).fit(X, y)
    early = model.predict(X)
    model.set_params(n_estimators=25).fit(X, y)
    assert model.n_iter_ == 25
    assert model.booster_.predict(X, rounds=10).tolist() == early.tolist()
    assert np.mean((model.predict(X) - y) ** 2) < np.mean((early - y) ** 2)
    assert model.fit(X, y).n_iter_ == 25
    with pytest.raises(InputError, match="has 25 rounds already"):
        model.set_params(n_estimators=5).fit(X, y)
