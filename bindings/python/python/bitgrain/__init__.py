"""One quantization engine for the numbers machine learning runs on.

- Boosting: :class:`BitgrainClassifier`, :class:`BitgrainRegressor`, :class:`Dataset`, :func:`train`
- Weights: :func:`quantize`, :class:`WeightStore`, :class:`Network`, :func:`quantize_file`, :func:`compare_files`
- Tensors at rest: :class:`TensorStore`
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from bitgrain import boosting as _boosting
from bitgrain import errors as _errors
from bitgrain import store as _store
from bitgrain import weights as _weights
from bitgrain._native import __version__
from bitgrain.boosting import *
from bitgrain.errors import *
from bitgrain.store import *
from bitgrain.weights import *

if TYPE_CHECKING:
    from bitgrain.sklearn import BitgrainClassifier, BitgrainRegressor

__all__ = [
    "BitgrainClassifier",
    "BitgrainRegressor",
    "__version__",
    *_boosting.__all__,
    *_errors.__all__,
    *_store.__all__,
    *_weights.__all__,
]

_ESTIMATORS = ("BitgrainClassifier", "BitgrainRegressor")


def _has_sklearn() -> bool:
    try:
        return find_spec("sklearn") is not None
    except ValueError:
        return False


if not TYPE_CHECKING and not _has_sklearn():
    # Whoever imports everything wants everything there is.
    __all__ = [name for name in __all__ if name not in _ESTIMATORS]


def __getattr__(name: str) -> Any:
    # scikit-learn takes most of a second to import, and not everybody has it.
    if name in _ESTIMATORS:
        try:
            from bitgrain import sklearn
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("sklearn"):
                raise
            message = f"{name} needs scikit-learn: install it with pip install 'bitgrain[sklearn]'"
            raise ImportError(message, name="sklearn") from error
        return getattr(sklearn, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
