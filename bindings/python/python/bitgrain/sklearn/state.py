"""What a model's file keeps of an estimator, beside the trees: JSON in its metadata."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from bitgrain.boosting.model import Model

__all__ = ["KEY", "as_json", "plain", "read"]

#: Where the model's file has it.
KEY = "python.estimator"


def as_json(name: str, params: dict[str, Any], names: Any, more: dict[str, Any]) -> str:
    """Give what only Python knows: the class, its settings as far as JSON has them, names of features, and more."""
    state: dict[str, Any] = {
        "class": name,
        "params": {name: plain(value) for name, value in params.items() if _is_plain(value)},
    }
    if names is not None:
        state["feature_names"] = [str(name) for name in names]
    return json.dumps({**state, **more})


def read(model: Model) -> dict[str, Any]:
    """Give what the file of a model said; nothing if it was no estimator's."""
    try:
        state = json.loads(model.metadata.get(KEY, "{}"))
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}


def plain(value: Any) -> Any:
    """Give a setting or a class as JSON keeps it: numbers of NumPy as Python's."""
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    simple = value.item() if isinstance(value, np.generic) else value
    return simple if simple is None or isinstance(simple, bool | int | float | str) else str(simple)


def _is_plain(value: Any) -> bool:
    """Whether JSON keeps it as it is."""
    if isinstance(value, list | tuple):
        return all(_is_plain(each) for each in value)
    simple = value.item() if isinstance(value, np.generic) else value
    return simple is None or isinstance(simple, bool | int | float | str)
