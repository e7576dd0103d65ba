"""Comparison of two networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bitgrain.weights.fidelity import Fidelity

__all__ = ["NetworkComparison", "network_comparison"]


@dataclass(frozen=True)
class NetworkComparison:
    """Comparison of two networks.

    Attributes
    ----------
    parameters : dict of str to Fidelity
        Difference of each parameter, as used by the forward pass.
    overall : Fidelity
        Difference over all weights.
    outputs : Fidelity or None
        Difference of the outputs, if inputs were given.
    mean_cosine : float or None
        Mean over the samples of the cosine similarity of their outputs.
    same_choice : float or None
        Share of the samples whose largest output is at the same index.
    """

    parameters: dict[str, Fidelity]
    overall: Fidelity
    outputs: Fidelity | None
    mean_cosine: float | None
    same_choice: float | None


def network_comparison(found: dict[str, Any]) -> NetworkComparison:
    """Convert from the native representation."""
    outputs = found["outputs"]
    return NetworkComparison(
        parameters={row["name"]: Fidelity(**row["error"]) for row in found["parameters"]},
        overall=Fidelity(**found["overall"]),
        outputs=None if outputs is None else Fidelity(**outputs["error"]),
        mean_cosine=None if outputs is None else outputs["mean_cosine"],
        same_choice=None if outputs is None else outputs["same_choice"],
    )
