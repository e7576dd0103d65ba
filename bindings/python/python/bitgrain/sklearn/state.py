"""State of an estimator in the metadata of a model file, as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from bitgrain.boosting.model import Model

__all__ = ["KEY", "as_json", "plain", "read"]

#: Metadata key of the state.
KEY = "python.estimator"


def as_json(name: str, params: dict[str, Any], names: Any, more: dict[str, Any]) -> str:
    """Encode the state that the model lacks: class, JSON-compatible parameters, feature names, and `more`."""
    state: dict[str, Any] = {
        "class": name,
        "params": {name: plain(value) for name, value in params.items() if _is_plain(value)},
    }
    if names is not None:
        state["feature_names"] = [str(name) for name in names]
    return json.dumps({**state, **more})


def read(model: Model) -> dict[str, Any]:
    """Return the state stored in a model; empty if the model was not saved by an estimator."""
    try:
        state = json.loads(model.metadata.get(KEY, "{}"))
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}


def plain(value: Any) -> Any:
    """Convert a parameter or class label to a JSON-compatible value: NumPy scalars become Python numbers."""
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    simple = value.item() if isinstance(value, np.generic) else value
    return simple if simple is None or isinstance(simple, bool | int | float | str) else str(simple)


def _is_plain(value: Any) -> bool:
    """Return whether JSON preserves a value."""
    if isinstance(value, list | tuple):
        return all(_is_plain(each) for each in value)
    simple = value.item() if isinstance(value, np.generic) else value
    return simple is None or isinstance(simple, bool | int | float | str)
