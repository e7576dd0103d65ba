"""LightGBM's Python interface: replace ``import lightgbm as lgb`` with ``import bitgrain.compat.lightgbm as lgb``.

Parameters, callbacks and results have LightGBM's names and meaning. A name without an equivalent raises an error that
names the alternative; ``docs/coming-from/lightgbm.md`` lists these names.

Examples
--------
>>> import numpy as np
>>> import bitgrain.compat.lightgbm as lgb
>>> X = np.random.default_rng(0).random((500, 2))
>>> params = {"objective": "regression", "learning_rate": 0.3, "verbosity": -1}
>>> booster = lgb.train(params, lgb.Dataset(X, label=X[:, 0]), num_boost_round=20)
>>> booster.num_trees(), booster.predict(X, raw_score=True).shape
(20, (500,))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bitgrain import __version__
from bitgrain.compat.lightgbm.booster import Booster
from bitgrain.compat.lightgbm.callback import (
    EarlyStopException,
    early_stopping,
    log_evaluation,
    record_evaluation,
    register_logger,
    reset_parameter,
)
from bitgrain.compat.lightgbm.dataset import Dataset
from bitgrain.compat.lightgbm.engine import CVBooster, cv, train
from bitgrain.compat.lightgbm.plotting import plot_importance, plot_metric, plot_tree
from bitgrain.errors import Error as LightGBMError

if TYPE_CHECKING:
    from bitgrain.compat.lightgbm.sklearn import LGBMClassifier, LGBMModel, LGBMRanker, LGBMRegressor

__all__ = [
    "Booster",
    "CVBooster",
    "Dataset",
    "EarlyStopException",
    "LGBMClassifier",
    "LGBMModel",
    "LGBMRanker",
    "LGBMRegressor",
    "LightGBMError",
    "__version__",
    "cv",
    "early_stopping",
    "log_evaluation",
    "plot_importance",
    "plot_metric",
    "plot_tree",
    "record_evaluation",
    "register_logger",
    "reset_parameter",
    "train",
]

_ESTIMATORS = ("LGBMClassifier", "LGBMModel", "LGBMRanker", "LGBMRegressor")

#: LightGBM's names without an equivalent, with the alternative.
_MISSING = {
    "DaskLGBMClassifier": "use bitgrain.distributed.dask.BitgrainDaskClassifier",
    "DaskLGBMRegressor": "use bitgrain.distributed.dask.BitgrainDaskRegressor",
    "DaskLGBMRanker": "use bitgrain.distributed.dask.BitgrainDaskRanker",
    "Sequence": "use bitgrain.Dataset.from_batches",
    "create_tree_digraph": "use plot_tree, or booster.model.trees",
    "plot_split_value_histogram": "use booster.model.trees, which lists all splits",
}


def __getattr__(name: str) -> Any:
    # scikit-learn is optional, so the estimators are imported on first use.
    if name in _ESTIMATORS:
        return getattr(import_module("bitgrain.compat.lightgbm.sklearn"), name)
    if name in _MISSING:
        raise AttributeError(f"lightgbm.{name} is not supported by bitgrain; {_MISSING[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
