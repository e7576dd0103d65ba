"""Gradient-boosted trees on binned features and quantized gradients.

:func:`train` grows the trees of a :class:`Model` on a :class:`Dataset`, which is binned once and can be reused for many
training runs. The scikit-learn estimators are in :mod:`bitgrain.sklearn`.
"""

from bitgrain.boosting.cross_validation import CrossValidationResult, cross_validate
from bitgrain.boosting.dataset import Dataset
from bitgrain.boosting.explain import PartialDependence, PermutationImportance
from bitgrain.boosting.foreign import from_lightgbm, from_xgboost
from bitgrain.boosting.model import Model, load_model
from bitgrain.boosting.params import Params
from bitgrain.boosting.plot import (
    plot_importance,
    plot_metric,
    plot_partial_dependence,
    plot_permutation_importance,
    plot_tree,
)
from bitgrain.boosting.queries import query_folds, query_metric
from bitgrain.boosting.rounds import Round
from bitgrain.boosting.session import Session
from bitgrain.boosting.shap import register as _register_shap
from bitgrain.boosting.training import train

__all__ = [
    "CrossValidationResult",
    "Dataset",
    "Model",
    "Params",
    "PartialDependence",
    "PermutationImportance",
    "Round",
    "Session",
    "cross_validate",
    "from_lightgbm",
    "from_xgboost",
    "load_model",
    "plot_importance",
    "plot_metric",
    "plot_partial_dependence",
    "plot_permutation_importance",
    "plot_tree",
    "query_folds",
    "query_metric",
    "train",
]

_register_shap()
