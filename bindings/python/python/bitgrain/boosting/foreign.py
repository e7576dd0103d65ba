"""Import of LightGBM and XGBoost models."""

from __future__ import annotations

import math
import os
from typing import Any

from bitgrain import _native
from bitgrain.boosting.model import Model
from bitgrain.errors import DTypeError, FormatError, InputError

__all__ = ["from_lightgbm", "from_xgboost"]


def from_lightgbm(booster: Any) -> Model:
    """Convert a LightGBM model; predictions are the same.

    Parameters
    ----------
    booster : lightgbm.Booster, lightgbm.LGBMModel or str
        A booster, a fitted estimator, or a model in LightGBM's text format. If training stopped early, only the rounds
        up to the best are used.

    Returns
    -------
    Model
        The converted model, which no longer needs LightGBM.

    Raises
    ------
    DTypeError
        If `booster` has another type.
    FormatError
        If the model is of an unsupported kind.

    Examples
    --------
    >>> import numpy as np, lightgbm
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> theirs = lightgbm.LGBMRegressor(verbose=-1).fit(X, X[:, 0])
    >>> bool(np.allclose(from_lightgbm(theirs).predict(X), theirs.predict(X)))
    True

    """
    classes = getattr(booster, "classes_", None)
    inner = getattr(booster, "booster_", booster)
    if isinstance(inner, str | os.PathLike) and "\n" not in os.fspath(inner):
        raise FormatError(f"{os.fspath(inner)!r} is not a LightGBM model in text format; use load_model to read a file")
    if isinstance(inner, str):
        text = inner
    elif hasattr(inner, "model_to_string"):
        text = inner.model_to_string()
    else:
        kinds = "a lightgbm.Booster, a fitted LightGBM estimator, or a model in text format"
        raise DTypeError(f"from_lightgbm takes {kinds}, not {type(booster).__name__}")
    return _with_classes(_native.Booster.from_bytes(text.encode()), classes)


def from_xgboost(booster: Any) -> Model:
    """Convert an XGBoost model; predictions are the same.

    Parameters
    ----------
    booster : xgboost.Booster, xgboost.XGBModel or bytes
        A booster, a fitted estimator, or the bytes of a model in JSON or UBJSON. If training of an estimator stopped
        early, only the rounds up to the best are used. Absent entries of a sparse matrix are missing values in XGBoost,
        but zeros here.

    Returns
    -------
    Model
        The converted model, which no longer needs XGBoost.

    Raises
    ------
    DTypeError
        If `booster` has another type.
    InputError
        If the estimator represents missing values by a value other than NaN.
    FormatError
        If the model is of an unsupported kind.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> X = np.random.default_rng(0).random((200, 3)).astype(np.float32)
    >>> theirs = xgboost.XGBRegressor(n_estimators=10).fit(X, X[:, 0])
    >>> bool(np.allclose(from_xgboost(theirs).predict(X), theirs.predict(X), atol=1e-6))
    True

    """
    classes = None
    if hasattr(booster, "get_booster"):
        missing = getattr(booster, "missing", math.nan)
        if missing is not None and not math.isnan(missing):
            raise InputError(f"the model takes {missing} for a missing value; replace it in your data with NaN")
        classes = getattr(booster, "classes_", None)
        inner = booster.get_booster()
        best = getattr(booster, "early_stopping_rounds", None) and getattr(booster, "best_iteration", None)
        if best is not None and best is not False and best + 1 < inner.num_boosted_rounds():
            inner = inner[: best + 1]
        data = inner.save_raw("ubj")
    elif hasattr(booster, "save_raw"):
        data = booster.save_raw("ubj")
    elif isinstance(booster, bytes | bytearray | memoryview):
        data = booster
    else:
        kinds = "an xgboost.Booster, a fitted XGBoost estimator, or the bytes of a model"
        raise DTypeError(f"from_xgboost takes {kinds}, not {type(booster).__name__}")
    return _with_classes(_native.Booster.from_bytes(bytes(data)), classes)


def _with_classes(native: _native.Booster, classes: Any) -> Model:
    if classes is not None and native.classes and len(classes) == len(native.classes):
        native = native.annotated([str(each) for each in classes])
    return Model(native)
