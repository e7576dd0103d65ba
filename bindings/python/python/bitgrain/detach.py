"""Conversion of torch tensors to NumPy arrays."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from bitgrain.errors import DTypeError

__all__ = ["bfloat16_codes", "detached"]


def _is_tensor(values: Any) -> bool:
    # A torch tensor exists only after torch has been imported.
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, getattr(torch, "Tensor", ()))


def detached(values: Any, what: str = "the array") -> Any:
    """Return a torch tensor as a NumPy array, regardless of its device, with or without gradients.

    Other values are returned unchanged. Dtypes that NumPy lacks, such as bfloat16, become float32.

    Raises
    ------
    DTypeError
        If NumPy cannot represent the tensor: on the device ``meta``, or sparse.

    """
    if not _is_tensor(values):
        return values
    try:
        try:
            return values.numpy(force=True)
        except TypeError:
            return values.float().numpy(force=True)
    except (TypeError, RuntimeError) as error:
        raise DTypeError(f"{what} is a tensor that NumPy cannot convert: {error}") from error


def bfloat16_codes(values: Any) -> npt.NDArray[np.int16] | None:
    """Return the bits of a bfloat16 torch tensor, a dtype NumPy lacks; ``None`` for other values."""
    if not _is_tensor(values) or str(values.dtype) != "torch.bfloat16":
        return None
    codes: npt.NDArray[np.int16] = detached(values.detach().contiguous().view(sys.modules["torch"].int16))
    return codes
