"""Two networks side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bitgrain.weights.fidelity import Fidelity

__all__ = ["NetworkComparison", "network_comparison"]


@dataclass(frozen=True)
class NetworkComparison:
    """Two networks side by side.

    Attributes
    ----------
    parameters : dict of str to Fidelity
        How far the weights of each parameter are apart, as they are used.
    overall : Fidelity
        All weights together.
    outputs : Fidelity or None
        How far what comes out is apart, if inputs were given.
    mean_cosine : float or None
        The mean, over samples, of the cosine between their outputs.
    same_choice : float or None
        The share of samples whose largest output is in the same place.
    """

    parameters: dict[str, Fidelity]
    overall: Fidelity
    outputs: Fidelity | None
    mean_cosine: float | None
    same_choice: float | None


def network_comparison(found: dict[str, Any]) -> NetworkComparison:
    """Give what the native half found."""
    outputs = found["outputs"]
    return NetworkComparison(
        parameters={row["name"]: Fidelity(**row["error"]) for row in found["parameters"]},
        overall=Fidelity(**found["overall"]),
        outputs=None if outputs is None else Fidelity(**outputs["error"]),
        mean_cosine=None if outputs is None else outputs["mean_cosine"],
        same_choice=None if outputs is None else outputs["same_choice"],
    )
