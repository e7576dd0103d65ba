"""What quantizing cost."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Fidelity"]


@dataclass(frozen=True)
class Fidelity:
    """How far numbers are from what they were.

    Attributes
    ----------
    max_error : float
        Largest difference.
    rmse : float
        Root mean square of the differences.
    relative_rmse : float
        That over the root mean square of the original.
    cosine : float
        Cosine of the angle between the two.
    snr_db : float or None
        Signal-to-noise ratio in decibels; None if nothing is different.
    exact : bool
        Whether nothing is different.
    non_finite : int
        Numbers that are NaN or infinite in the original, and count in none of the figures.
    non_finite_in_second : int
        Numbers that are NaN or infinite only in the second; counted where two files are compared.
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
