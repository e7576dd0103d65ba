"""Feature columns: constant, repeated, heavy-tailed, huge, tiny, shifted, categorical, missing."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

__all__ = ["Column"]

KINDS = (
    "uniform",
    "normal",
    "integers",
    "few_values",
    "constant",
    "heavy_tail",
    "huge",
    "tiny",
    "shifted",
    "mostly_zero",
    "category",
    "many_categories",
)
MISSING = ("never", "never", "never", "never", "some", "most", "large_values", "only_held_out", "always")


@dataclasses.dataclass(frozen=True)
class Column:
    """Distribution of a column's values."""

    kind: str
    missing: str
    size: float
    """Number of categories or distinct values, or the exponent of a scale."""
    shift: float
    """Distance from zero, in multiples of the spread."""

    @classmethod
    def random(cls, rng: np.random.Generator) -> Column:
        """Draw a kind of column."""
        kind = str(rng.choice(KINDS))
        # Values that float32 cannot distinguish are covered by `wide` in case.py.
        shift = float(rng.choice([0.0, 1.0, 1e2, 1e4]))
        size = {
            "few_values": float(rng.integers(2, 6)),
            "integers": float(10 ** rng.integers(1, 5)),
            "category": float(rng.integers(2, 9)),
            "many_categories": float(rng.integers(20, 300)),
            "huge": float(rng.integers(6, 35)),
            "tiny": float(-rng.integers(6, 30)),
        }.get(kind, 0.0)
        return cls(kind, str(rng.choice(MISSING)), size, shift)

    @property
    def is_category(self) -> bool:
        """Whether the values are category codes."""
        return self.kind in ("category", "many_categories")

    def draw(
        self, rng: np.random.Generator, n_train: int, n_rows: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the values of all rows, and their effect on the target: about -1 to 1.

        The first `n_train` rows are the training data.
        """
        clean, effect = self._clean(rng, n_rows)
        holes = self._holes(rng, effect, n_train)
        values = np.where(holes, np.nan, clean)
        # A missing value has its own effect, unless training never sees one.
        missing = 0.0 if self.missing == "only_held_out" else 0.7
        return values, np.where(holes & (self.missing != "only_held_out"), missing, effect)

    def _clean(self, rng: np.random.Generator, n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self.is_category:
            count = int(self.size)
            shares = rng.dirichlet(np.full(count, 0.5)) if rng.random() < 0.5 else None
            codes = rng.choice(count, n_rows, p=shares)
            return codes.astype(np.float64), rng.uniform(-1, 1, count)[codes]
        even = rng.uniform(-1, 1, n_rows)
        match self.kind:
            case "constant":
                return np.full(n_rows, self.shift), np.zeros(n_rows)
            case "normal":
                even = np.clip(rng.normal(0, 0.5, n_rows), -3, 3)
                return even + self.shift, even
            case "integers":
                return np.round(even * self.size), even
            case "few_values":
                steps = np.round((even + 1) / 2 * (self.size - 1))
                return steps + self.shift, steps / (self.size - 1) * 2 - 1
            case "heavy_tail":
                return np.tan(even * np.pi / 2 * 0.9999), even
            case "huge" | "tiny":
                return even * 10.0**self.size, even
            case "shifted":
                return even + self.shift, even
            case "mostly_zero":
                kept = rng.random(n_rows) < 0.1
                return np.where(kept, even, 0.0), np.where(kept, even, 0.0)
            case _:
                return even, even

    def _holes(self, rng: np.random.Generator, effect: NDArray[np.float64], n_train: int) -> NDArray[np.bool_]:
        n_rows = len(effect)
        match self.missing:
            case "some":
                return rng.random(n_rows) < 0.1
            case "most":
                return rng.random(n_rows) < 0.9
            case "large_values":
                return effect > 0.6
            case "only_held_out":
                return (np.arange(n_rows) >= n_train) & (rng.random(n_rows) < 0.2)
            case "always":
                return np.ones(n_rows, dtype=bool)
            case _:
                return np.zeros(n_rows, dtype=bool)
