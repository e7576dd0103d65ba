"""Models of LightGBM and XGBoost."""

from __future__ import annotations

import math
import os
from typing import Any

from bitgrain import _native
from bitgrain.boosting.model import Model
from bitgrain.errors import DTypeError, FormatError, InputError

__all__ = ["from_lightgbm", "from_xgboost"]


def from_lightgbm(booster: Any) -> Model:
    """Take over a model of LightGBM; predictions are the same.

    Parameters
    ----------
    booster : lightgbm.Booster, lightgbm.LGBMModel or str
        A booster, a fitted estimator, or the text of a model. If its training stopped early, the rounds up to the best.

    Returns
    -------
    Model
        The same model, which needs LightGBM no more.

    Raises
    ------
    DTypeError
        If it is none of these.
    FormatError
        If it is of a kind that is not supported.

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
        raise FormatError(f"{os.fspath(inner)!r} is no text of a model: if it is a file, use load_model")
    if isinstance(inner, str):
        text = inner
    elif hasattr(inner, "model_to_string"):
        text = inner.model_to_string()
    else:
        kinds = "a lightgbm.Booster, a fitted estimator of lightgbm, or a model's text"
        raise DTypeError(f"from_lightgbm takes {kinds}, not {type(booster).__name__}")
    return _with_classes(_native.Booster.from_bytes(text.encode()), classes)


def from_xgboost(booster: Any) -> Model:
    """Take over a model of XGBoost; predictions are the same.

    Parameters
    ----------
    booster : xgboost.Booster, xgboost.XGBModel or bytes
        A booster, a fitted estimator, or the bytes of a model in JSON or UBJSON. Of an estimator whose training stopped
        early, the rounds up to the best. What is absent from a sparse matrix is missing for XGBoost, and zero here.

    Returns
    -------
    Model
        The same model, which needs XGBoost no more.

    Raises
    ------
    DTypeError
        If it is none of these.
    InputError
        If the estimator takes another value than NaN for a missing one.
    FormatError
        If it is of a kind that is not supported.

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
            raise InputError(f"the model takes {missing} for a missing value: here NaN is; replace it in your data")
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
        kinds = "an xgboost.Booster, a fitted estimator of xgboost, or a model's bytes"
        raise DTypeError(f"from_xgboost takes {kinds}, not {type(booster).__name__}")
    return _with_classes(_native.Booster.from_bytes(bytes(data)), classes)


def _with_classes(native: _native.Booster, classes: Any) -> Model:
    if classes is not None and native.classes and len(classes) == len(native.classes):
        native = native.annotated([str(each) for each in classes])
    return Model(native)
