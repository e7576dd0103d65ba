"""Tensors of torch on their way to NumPy, which takes them only with nothing attached to them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from bitgrain.errors import DTypeError

__all__ = ["bfloat16_codes", "detached"]


def _is_tensor(values: Any) -> bool:
    # Whoever has a tensor has imported torch.
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, getattr(torch, "Tensor", ()))


def detached(values: Any, what: str = "the array") -> Any:
    """Give the values of a torch tensor as an array, of any device and with or without gradients.

    Anything else is given back as it is. Types that NumPy does not have, such as bfloat16, become float32.

    Raises
    ------
    DTypeError
        If the tensor has no values of its own, or they are not all there: on the device ``meta``, or sparse.

    """
    if not _is_tensor(values):
        return values
    try:
        try:
            return values.numpy(force=True)
        except TypeError:
            return values.float().numpy(force=True)
    except (TypeError, RuntimeError) as error:
        raise DTypeError(f"{what} is a tensor whose values NumPy cannot take: {error}") from error


def bfloat16_codes(values: Any) -> npt.NDArray[np.int16] | None:
    """Give the bits of a torch tensor of bfloat16, which NumPy has no type for; ``None`` for anything else."""
    if not _is_tensor(values) or str(values.dtype) != "torch.bfloat16":
        return None
    codes: npt.NDArray[np.int16] = detached(values.detach().contiguous().view(sys.modules["torch"].int16))
    return codes
