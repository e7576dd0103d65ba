"""Quantization error."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Fidelity"]


@dataclass(frozen=True)
class Fidelity:
    """Difference between an array and its approximation.

    Attributes
    ----------
    max_error : float
        Maximum absolute difference.
    rmse : float
        Root mean square (RMS) of the differences.
    relative_rmse : float
        ``rmse`` divided by the RMS of the original.
    cosine : float
        Cosine similarity.
    snr_db : float or None
        Signal-to-noise ratio in decibels; None if there is no difference.
    exact : bool
        Whether there is no difference.
    non_finite : int
        Number of NaN and infinite values in the original, which are excluded from all other attributes.
    non_finite_in_second : int
        Number of values that are NaN or infinite only in the second array; counted when two files are compared.
    """

    max_error: float
    rmse: float
    relative_rmse: float
    cosine: float
    snr_db: float | None
    exact: bool
    non_finite: int = 0
    non_finite_in_second: int = 0

    def __repr__(self) -> str:
        return (
            f"Fidelity(max_error={self.max_error:.4g}, rmse={self.rmse:.4g}, "
            f"relative_rmse={self.relative_rmse:.4g}, cosine={self.cosine:.6f})"
        )
