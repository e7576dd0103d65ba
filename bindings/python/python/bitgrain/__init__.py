"""One quantization engine for the numbers machine learning runs on.

- Boosting: :class:`BitgrainClassifier`, :class:`BitgrainRegressor`, :class:`Dataset`, :func:`train`
- Weights: :func:`quantize`, :class:`WeightStore`, :class:`Network`, :func:`quantize_file`, :func:`compare_files`
- Tensors at rest: :class:`TensorStore`
"""

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


def __getattr__(name: str) -> Any:
    # scikit-learn takes most of a second to import, and not everybody has it.
    if name in _ESTIMATORS:
        from bitgrain import sklearn

        return getattr(sklearn, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
