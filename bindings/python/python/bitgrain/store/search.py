"""Results of a nearest-neighbor search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bitgrain.store.array import TensorId
from bitgrain.store.tier import Tier

__all__ = ["SearchResult"]


@dataclass(frozen=True, slots=True, eq=False)
class SearchResult:
    """Answers of a search, best first."""

    ids: list[TensorId]
    """Id of the tensor of each answer."""
    rows: npt.NDArray[np.uint64]
    """Row of the matrix, 0-based; 0 if the tensor is a vector."""
    scores: npt.NDArray[np.float64]
    """Inner product, cosine or squared distance of the stored vector."""
    low: npt.NDArray[np.float64]
    """Lower end of the interval that contains the score of the vector as it was put."""
    high: npt.NDArray[np.float64]
    """Upper end of the interval."""
    proven: npt.NDArray[np.bool_]
    """Whether the answer is proven to be among the best k of the vectors as they were put."""
    tiers: list[Tier]
    """Tier of each stored vector."""
    certified: int
    """Number of proven answers."""
    skipped: int
    """Number of selected tensors that were not searched, because their data was evicted."""

    def __len__(self) -> int:
        return len(self.ids)


def search_result(found: dict[str, Any]) -> SearchResult:
    """Convert from the native representation."""
    found["tiers"] = [Tier(tier) for tier in found["tiers"]]
    return SearchResult(**found)
