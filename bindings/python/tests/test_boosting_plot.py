"""Plots, and the error without matplotlib."""

import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest

import bitgrain

matplotlib.use("Agg")
from matplotlib import pyplot


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    city = rng.choice(["Oslo", "Rome", "Lima", "Cairo", "Quito"], 800)
    frame = pd.DataFrame({"size": rng.uniform(30, 150, 800), "city": pd.Categorical(city), "noise": rng.random(800)})
    frame.loc[::9, "size"] = np.nan
    y = frame["size"].fillna(200) * np.where(city == "Oslo", 6.0, 3.0)
    made = bitgrain.BitgrainRegressor(n_estimators=60, num_leaves=6, early_stopping_rounds=10)
    return made.fit(frame[:600], y[:600], eval_set=[(frame[600:], y[600:])])


def test_every_plot_is_drawn(model, tmp_path):
    for name, draw in {
        "importance": lambda: bitgrain.boosting.plot_importance(model),
        "split": lambda: bitgrain.boosting.plot_importance(model.booster_, kind="split", max_features=2),
        "metric": lambda: bitgrain.boosting.plot_metric(model),
        "history": lambda: bitgrain.boosting.plot_metric(model.evals_result_, "rmse"),
        "tree": lambda: bitgrain.boosting.plot_tree(model),
        "top": lambda: bitgrain.boosting.plot_tree(model, 1, max_depth=1),
    }.items():
        axes = draw()
        assert isinstance(axes, matplotlib.axes.Axes)
        path = tmp_path / f"{name}.png"
        axes.figure.savefig(path, dpi=80)
        assert path.read_bytes().startswith(b"\x89PNG")
        assert pyplot.imread(path)[..., :3].std() > 0.01, "the plot is empty"
        pyplot.close(axes.figure)


def test_plots_are_labeled(model):
    figure, axes = pyplot.subplots()
    assert bitgrain.boosting.plot_importance(model, ax=axes) is axes
    assert [text.get_text() for text in axes.get_yticklabels()][-1] in ("city", "size")
    pyplot.close(figure)
    axes = bitgrain.boosting.plot_tree(model)
    texts = " ".join(text.get_text() for text in axes.texts)
    assert "≤" in texts
    assert "rows" in texts
    assert "missing" in texts
    pyplot.close(axes.figure)
    assert (
        f"round {model.best_iteration_}" in bitgrain.boosting.plot_metric(model).get_legend().get_texts()[-1].get_text()
    )


def test_plots_without_data_are_rejected(model):
    with pytest.raises(bitgrain.errors.InputError, match="tree 1000 is out of range"):
        bitgrain.boosting.plot_tree(model, 1000)
    with pytest.raises(bitgrain.errors.InputError, match="'auc' is not in the training history; use one of rmse"):
        bitgrain.boosting.plot_metric(model, "auc")
    with pytest.raises(bitgrain.errors.InputError, match="the training history is empty"):
        bitgrain.boosting.plot_metric(bitgrain.boosting.Model.from_bytes(model.booster_.to_bytes()))
    with pytest.raises(bitgrain.errors.InputError, match="model must be a Model or a fitted bitgrain estimator"):
        bitgrain.boosting.plot_importance(5)


def test_the_error_without_matplotlib_names_the_package():
    program = """
import sys
sys.modules["matplotlib"] = None
import bitgrain
model = bitgrain.train(bitgrain.Dataset([[1.0], [2.0]], [1.0, 2.0]), n_estimators=1)
try:
    bitgrain.boosting.plot_importance(model)
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "bitgrain[plot]" in done.stdout


def test_boosting_works_without_scikit_learn_and_others():
    program = """
import sys
for name in ("sklearn", "scipy", "pandas", "matplotlib", "polars", "pyarrow"):
    sys.modules[name] = None
import numpy as np, bitgrain
model = bitgrain.train(bitgrain.Dataset(np.arange(100.0).reshape(50, 2), np.arange(50.0)), n_estimators=3)
print(len(model.predict(np.ones((3, 2)))))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "3"
