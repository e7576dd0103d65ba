"""Partial dependence and permutation importance: equal to scikit-learn's where comparable. Training reports."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.metrics import mean_absolute_error, r2_score

import bitgrain
from bitgrain import BitgrainClassifier, BitgrainRegressor
from bitgrain.boosting import (
    Model,
    PartialDependence,
    plot_partial_dependence,
    plot_permutation_importance,
)
from bitgrain.errors import DTypeError, FileError, InputError


def table(rows: int = 600) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rows, 5))
    X[:, 4] = rng.integers(0, 4, size=rows)
    return X, X[:, 0] * 2 + X[:, 1] * X[:, 2] + (X[:, 4] == 2) * 3


@pytest.fixture(scope="module")
def regression() -> tuple[BitgrainRegressor, NDArray[np.float64], NDArray[np.float64]]:
    X, y = table()
    return BitgrainRegressor(n_estimators=40).fit(X, y), X, y


@pytest.mark.parametrize("features", [[0], [4], [0, 1], [1, 4]])
def test_partial_dependence_equals_scikit_learn(regression: Any, features: list[int]) -> None:
    model, X, _ = regression
    theirs = partial_dependence(model, X, features, method="brute", grid_resolution=12, kind="both")
    grid: Any = list(theirs["grid_values"])
    ours = model.booster_.partial_dependence(X, features, grid=grid, kind="both")
    np.testing.assert_allclose(ours.average, theirs["average"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.individual, theirs["individual"], rtol=0, atol=1e-12)
    assert ours.features == [f"f{feature}" for feature in features]


def test_partial_dependence_of_classes_equals_scikit_learn() -> None:
    X, y = table()
    for bins in ([0.0], [-1.0, 1.5]):
        model = BitgrainClassifier(n_estimators=10).fit(X, np.digitize(y, bins))
        theirs = partial_dependence(model, X, [0], method="brute", grid_resolution=9, response_method="predict_proba")
        ours = model.booster_.partial_dependence(X, 0, grid=theirs["grid_values"][0])
        np.testing.assert_allclose(ours.average, theirs["average"], rtol=0, atol=1e-12)


def test_grids_are_numpy_quantiles_or_distinct_values(regression: Any) -> None:
    model, X, _ = regression
    found = model.booster_.partial_dependence(X, "f0", grid_size=7, percentiles=(0.1, 0.9))
    np.testing.assert_allclose(found.grid[0], np.quantile(X[:, 0], np.linspace(0.1, 0.9, 7)), rtol=1e-12)
    assert model.booster_.partial_dependence(X, "f4").grid[0].tolist() == [0, 1, 2, 3]
    assert found.individual is None


def test_centered_curves_start_at_zero(regression: Any) -> None:
    model, X, _ = regression
    plain = model.booster_.partial_dependence(X, 0, kind="both", n_jobs=1)
    centered = model.booster_.partial_dependence(X, 0, kind="individual", centered=True, n_jobs=2)
    assert (centered.individual[:, :, 0] == 0).all()
    np.testing.assert_array_equal(centered.individual, plain.individual - plain.individual[:, :, :1])


def frame() -> tuple[pd.DataFrame, NDArray[Any]]:
    X, y = table()
    data = pd.DataFrame(
        {"size": X[:, 0], "city": pd.Categorical(np.array(["Oslo", "Rome", "Lima", "Bonn"])[X[:, 4].astype(int)])}
    )
    return data, y


def test_categories_are_strings() -> None:
    data, y = frame()
    model = bitgrain.train(bitgrain.Dataset(data, y), n_estimators=10)
    found = model.partial_dependence(data, "city")
    assert found.grid[0].tolist() == model.categories["city"]
    picked = model.partial_dependence(data, "city", grid=["Rome", "Oslo"])
    order = found.grid[0].tolist()
    expected = found.average[0, [order.index("Rome"), order.index("Oslo")]]
    np.testing.assert_array_equal(picked.average[0], expected)
    both = model.partial_dependence(data, ["size", "city"], grid=[[0.0, 1.0], ["Rome"]])
    assert both.average.shape == (1, 2, 1)
    with pytest.raises(InputError, match="'Paris' is not a category of feature 'city'"):
        model.partial_dependence(data, "city", grid=["Paris"])


def test_permutation_importance_agrees_with_scikit_learn(regression: Any) -> None:
    model, X, y = regression
    theirs = permutation_importance(model, X, y, scoring="r2", n_repeats=30, random_state=0)
    ours = model.booster_.permutation_importance(X, y, metric="r2", n_repeats=30)
    # The shuffles differ, so the means agree within their standard errors.
    error = np.sqrt((theirs.importances_std**2 + ours.importances_std**2) / 30)
    assert (np.abs(ours.importances_mean - theirs.importances_mean) <= 5 * error + 1e-9).all()
    assert abs(ours.baseline - r2_score(y, model.predict(X))) < 1e-12
    np.testing.assert_allclose(ours.importances_std, theirs.importances_std, rtol=0.6, atol=1e-3)


def test_permutation_importance_takes_any_metric_and_does_not_depend_on_threads(regression: Any) -> None:
    model, X, y = regression
    booster: Model = model.booster_
    named = booster.permutation_importance(X, y, metric="mae", n_jobs=1)
    called = booster.permutation_importance(X, y, metric=mean_absolute_error, n_jobs=2)
    np.testing.assert_allclose(called.importances, named.importances, rtol=0, atol=1e-9)
    assert (named.metric, called.metric) == ("mae", "mean_absolute_error")
    again = booster.permutation_importance(X, y, metric="mae", n_jobs=2)
    np.testing.assert_array_equal(again.importances, named.importances)
    other = booster.permutation_importance(X, y, metric="mae", seed=1)
    assert (other.importances[0] != named.importances[0]).all()
    weighted = booster.permutation_importance(X, y, metric="mae", sample_weight=np.arange(len(y)))
    assert weighted.baseline != named.baseline

    def broken(y_true: Any, y_pred: Any) -> float:
        raise RuntimeError("no metric today")

    with pytest.raises(RuntimeError, match="no metric today"):
        booster.permutation_importance(X, y, metric=broken)


def test_class_labels_are_those_of_the_model() -> None:
    X, y = table()
    for labels in (np.array(["low", "high"]), np.array([1.0, 2.0]), np.array([False, True])):
        target = labels[(y > 0).astype(int)]
        model = BitgrainClassifier(n_estimators=5).fit(X, target).booster_
        found = model.permutation_importance(X, target, metric="error")
        assert found.baseline < 0.3
        with pytest.raises(InputError, match="is not among the 2 classes"):
            model.permutation_importance(X, np.array(["other"] * len(y)))


def test_invalid_requests(regression: Any) -> None:
    model, X, y = regression
    booster: Model = model.booster_
    missing = np.where(np.arange(len(X)) < 0, 0.0, np.nan)
    for call, error, message in [
        (lambda: booster.partial_dependence(X, "height"), InputError, "unknown feature `height`"),
        (lambda: booster.partial_dependence(X, 5), InputError, "feature = 5"),
        (lambda: booster.partial_dependence(X, [0, 1, 2]), InputError, "one feature or two"),
        (lambda: booster.partial_dependence(X, []), InputError, "one feature or two"),
        (lambda: booster.partial_dependence(X, 0, kind="all"), InputError, "kind = 'all'"),
        (lambda: booster.partial_dependence(X, 0, grid_size=0), InputError, "1 to 1000"),
        (lambda: booster.partial_dependence(X, 0, grid=[]), InputError, "1 to 1000"),
        (lambda: booster.partial_dependence(X, [0, 1], grid=[[1.0]]), InputError, "grid has 1 lists"),
        (lambda: booster.partial_dependence(X, 0, percentiles=(0.9, 0.1)), InputError, "ascending"),
        (lambda: booster.partial_dependence(X, 0, percentiles=3), DTypeError, "two numbers"),
        (
            lambda: booster.partial_dependence(np.column_stack([missing, X[:, 1:]]), 0),
            InputError,
            "only missing values",
        ),
        (lambda: booster.partial_dependence(X[:0], 0), InputError, "minimum of 1"),
        (lambda: booster.permutation_importance(X, y, metric="auc"), InputError, "auc"),
        (lambda: booster.permutation_importance(X, y, metric=3), DTypeError, "metric 3"),
        (lambda: booster.permutation_importance(X, y, n_repeats=0), InputError, "n_repeats = 0"),
        (lambda: booster.permutation_importance(X, y[1:]), InputError, "599 targets for 600 rows"),
        (lambda: booster.permutation_importance(X, np.where(y == y[3], np.nan, y)), InputError, "row 3"),
    ]:
        with pytest.raises(error, match=message):
            call()


def test_a_report_is_written_for_every_kind_of_target(tmp_path: Path) -> None:
    data, y = frame()
    path = tmp_path / "report.html"
    for target, word in [
        (y, "Residuals"),
        (y > 0, "ROC curve"),
        (np.array(["a", "b", "c"])[np.digitize(y, [-1, 1])], "Confusion matrix"),
    ]:
        train = bitgrain.Dataset(data[:400], target[:400])
        valid = train.like(data[400:], target[400:])
        model = bitgrain.train(train, n_estimators=10, valid=valid)
        model.report(path, data[:400], target[:400], valid=(data[400:], target[400:]), title="Houses & more")
        page = path.read_text(encoding="utf-8")
        assert all(text in page for text in (word, "Learning curves", "Houses &amp; more"))
        assert "Without validation data" not in page
        model.report(path, data, target, sample_weight=np.ones(len(target)))
        assert "Without validation data" in path.read_text(encoding="utf-8")
    with pytest.raises(FileError):
        model.report(tmp_path / "missing" / "report.html", data, target)
    with pytest.raises(DTypeError, match="valid must be a tuple"):
        model.report(path, data, target, valid=data)


def test_reports_of_one_row_and_of_missing_targets(regression: Any, tmp_path: Path) -> None:
    model, X, y = regression
    model.booster_.report(tmp_path / "one.html", X[:1], y[:1])
    with pytest.raises(InputError, match="row 0"):
        model.booster_.report(tmp_path / "none.html", X[:1], [np.nan])
    assert not (tmp_path / "none.html").exists()


def test_plots(regression: Any) -> None:
    import matplotlib

    matplotlib.use("Agg")
    model, X, y = regression
    booster: Model = model.booster_
    axes = plot_permutation_importance(booster.permutation_importance(X, y, n_repeats=2), max_features=3)
    assert len(axes.patches) == 3
    axes = plot_partial_dependence(booster.partial_dependence(X, 0, kind="both"), max_curves=10)
    assert len(axes.lines) == 11
    assert plot_partial_dependence(booster.partial_dependence(X, [0, 1], grid_size=5)).get_ylabel() == "f1"
    data, y = frame()
    found = bitgrain.train(bitgrain.Dataset(data, y), n_estimators=3).partial_dependence(data, "city")
    assert isinstance(found, PartialDependence)
    assert [tick.get_text() for tick in plot_partial_dependence(found).get_xticklabels()] == found.grid[0].tolist()
    with pytest.raises(InputError, match="score = 1"):
        plot_partial_dependence(found, score=1)
    with pytest.raises(InputError, match="result of partial_dependence"):
        plot_partial_dependence(booster)  # type: ignore[arg-type]
