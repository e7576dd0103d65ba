"""Panics of the native extension are exceptions that ordinary error handling catches."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV

import bitgrain
from bitgrain import BitgrainRegressor, _native


def panics(targets, scores):
    _native._panic("a loss that panics")


def squared(targets, scores):
    return scores - targets, np.ones_like(scores)


@pytest.mark.parametrize("on_worker", [False, True])
def test_a_panic_is_an_internal_error(on_worker):
    with pytest.raises(
        bitgrain.errors.InternalError, match=r"^index 5; this is a bug in bitgrain, please report"
    ) as raised:
        _native._panic("index 5", on_worker=on_worker)
    assert isinstance(raised.value, RuntimeError)
    assert isinstance(raised.value, bitgrain.Error)


def test_a_panic_below_a_callback_ends_the_training_as_an_internal_error(table):
    X, y = table
    model = BitgrainRegressor(n_estimators=3, objective=panics)
    with pytest.raises(bitgrain.errors.InternalError) as raised:
        model.fit(X, y)
    assert str(raised.value).count("please report") == 1
    # The threads that panicked are still usable.
    assert model.set_params(objective=squared).fit(X, y).booster_.n_rounds == 3


@pytest.mark.parametrize("jobs", [None, 2])
def test_a_grid_search_survives_a_candidate_that_panics(table, jobs):
    X, y = table
    search = GridSearchCV(
        BitgrainRegressor(n_estimators=3), {"objective": [panics, squared]}, cv=2, error_score=np.nan, n_jobs=jobs
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        warnings.filterwarnings("ignore", message="One or more of the test scores are non-finite")
        search.fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [True, False]
    assert search.best_params_["objective"] is squared


def test_a_panic_is_pickled_as_an_internal_error():
    with pytest.raises(bitgrain.errors.InternalError) as raised:
        _native._panic("index 5")
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is bitgrain.errors.InternalError
    assert str(again) == str(raised.value)


def test_a_panic_that_is_not_caught_ends_the_program_with_a_traceback():
    program = "from bitgrain import _native; _native._panic('index 5')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("please report it with the steps that led to it")
