"""Quantization engine for machine learning: boosted trees, weights and stored tensors.

- Boosting: :class:`BitgrainClassifier`, :class:`BitgrainRegressor`, :class:`BitgrainRanker`, :class:`Dataset`,
  :func:`train`, :func:`load_model`; see also :mod:`bitgrain.boosting`
- Weights: :func:`quantize`, :class:`Network`, :mod:`layers`, :func:`open_model`, :func:`quantize_file`,
  :func:`compare_files`; see also :mod:`bitgrain.weights`
- Tensor storage: :class:`TensorStore`; see also :mod:`bitgrain.store`
- Exceptions: :class:`Error` is the base class; see :mod:`bitgrain.errors` for its subclasses
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from bitgrain import boosting, errors, store, weights
from bitgrain._native import __version__
from bitgrain.boosting import Dataset, load_model, train
from bitgrain.errors import Error
from bitgrain.store import TensorStore
from bitgrain.weights import Network, compare_files, layers, open_model, quantize, quantize_file

if TYPE_CHECKING:
    from bitgrain import sklearn
    from bitgrain.sklearn import BitgrainClassifier, BitgrainRanker, BitgrainRegressor

__all__ = [
    "BitgrainClassifier",
    "BitgrainRanker",
    "BitgrainRegressor",
    "Dataset",
    "Error",
    "Network",
    "TensorStore",
    "__version__",
    "boosting",
    "compare_files",
    "errors",
    "layers",
    "load_model",
    "open_model",
    "quantize",
    "quantize_file",
    "sklearn",
    "store",
    "train",
    "weights",
]

_ESTIMATORS = ("BitgrainClassifier", "BitgrainRanker", "BitgrainRegressor")


def _has_sklearn() -> bool:
    try:
        return find_spec("sklearn") is not None
    except ValueError:
        return False


if not TYPE_CHECKING and not _has_sklearn():
    # `from bitgrain import *` must work without scikit-learn.
    __all__ = [name for name in __all__ if name not in (*_ESTIMATORS, "sklearn")]


def __getattr__(name: str) -> Any:
    # scikit-learn is optional and takes most of a second to import, so it is imported on first use.
    if name in _ESTIMATORS or name == "sklearn":
        try:
            module = import_module("bitgrain.sklearn")
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("sklearn"):
                raise
            message = f"{name} needs scikit-learn: install it with pip install 'bitgrain[sklearn]'"
            raise ImportError(message, name="sklearn") from error
        return module if name == "sklearn" else getattr(module, name)
    for module in (boosting, weights, store, errors):
        if name in module.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}; use {module.__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
