"""Support for ``shap.TreeExplainer(model)``.

shap recognizes models by their types and cannot be extended. This module therefore patches its class ``TreeEnsemble``,
which converts models, when shap is imported. Nothing here imports shap.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitgrain.boosting.model import Model
from bitgrain.errors import FormatError

__all__ = ["register"]

_MODULE = "shap.explainers._tree"


class _Explained:
    """A model in the form in which shap uses LightGBM's: the model computes its own path-dependent values."""

    params: dict[str, Any]

    def __init__(self, model: Model) -> None:
        self.model = model
        self.params = {}

    def _rounds(self, limit: int) -> int | None:
        return limit if 0 < limit < self.model.n_rounds else None

    def predict(self, X: Any, num_iteration: int = -1, pred_contrib: bool = True) -> NDArray[np.float64]:
        values = self.model.predict_contributions(X, rounds=self._rounds(num_iteration))
        return values.reshape(len(values), -1)

    def interactions(self, X: Any, limit: int) -> NDArray[np.float64]:
        """Return the values of pairs of features in shap's shape, without the expected score."""
        pairs = self.model.predict_contributions(X, interactions=True, rounds=self._rounds(limit))[..., :-1, :-1]
        return np.moveaxis(pairs, 1, -1) if pairs.ndim == 4 else pairs


def _adapt(module: ModuleType) -> None:
    """Let ``TreeEnsemble`` of a loaded module accept models and fitted estimators of this package."""
    ensemble = getattr(module, "TreeEnsemble", None)
    if ensemble is None or hasattr(ensemble, "_takes_bitgrain"):
        return
    convert = ensemble.__init__

    def convert_all(self: Any, model: Any, *args: Any, **named: Any) -> None:
        own = model if isinstance(model, Model) else getattr(model, "booster_", None)
        if not isinstance(own, Model):
            convert(self, model, *args, **named)
            return
        try:
            trees, is_plain = own.to_shap(), True
        except FormatError:
            trees, is_plain = _without_trees(own), False
        convert(self, trees, *args, **named)
        if not is_plain:
            # As with categorical models of LightGBM: only values that follow the training rows.
            self.trees = None
        self.model_type = "lightgbm"
        self.original_model = _Explained(own)

    ensemble.__init__ = convert_all
    ensemble._takes_bitgrain = True
    explainer = getattr(module, "TreeExplainer", None)
    if explainer is None or not hasattr(explainer, "shap_interaction_values"):
        return
    interact = explainer.shap_interaction_values

    @functools.wraps(interact)
    def interact_all(self: Any, X: Any, y: Any = None, tree_limit: int | None = None) -> Any:
        own = getattr(self.model, "original_model", None)
        follows_rows = getattr(self, "feature_perturbation", "") == "tree_path_dependent"
        if not isinstance(own, _Explained) or not follows_rows or self.model.model_output != "raw":
            return interact(self, X, y, tree_limit)
        limit = tree_limit if tree_limit is not None else getattr(self.model, "tree_limit", None)
        return own.interactions(X, -1 if limit is None else limit)

    explainer.shap_interaction_values = interact_all


def _without_trees(model: Model) -> dict[str, Any]:
    """Return a constant that stands for trees that shap cannot evaluate."""
    leaf = np.array([-1], dtype=np.int32)
    outputs = model._native.n_outputs
    tree = {name: leaf for name in ("children_left", "children_right", "children_default", "features")}
    arrays = {"thresholds": np.zeros(1), "values": np.zeros((1, outputs)), "node_sample_weight": np.ones(1)}
    return {"trees": [tree | arrays], "tree_output": "raw_value"}


class _Finder(MetaPathFinder):
    """Finds shap's module like Python's own finder, and adapts it after it is loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                load(module)
                _adapt(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def register() -> None:
    """Adapt shap now if it is loaded, otherwise when it is."""
    loaded = sys.modules.get(_MODULE)
    if loaded is not None:
        _adapt(loaded)
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
