"""Test cases: random recipes for tables and settings."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from differential.column import Column
from differential.task import Array, Task

__all__ = ["Case", "Rows", "Table"]


@dataclasses.dataclass(frozen=True)
class Rows:
    """Features, targets and weights."""

    X: Array
    y: Array
    weight: Array | None


@dataclasses.dataclass(frozen=True)
class Table:
    """Training and held-out rows of one distribution."""

    train: Rows
    held_out: Rows
    categorical: list[int]


@dataclasses.dataclass(frozen=True)
class Case:
    """A recipe, determined by its seed and index."""

    seed: int
    index: int
    n_rows: int
    columns: list[Column]
    task: Task
    weights: str
    settings: dict[str, Any]

    @classmethod
    def random(cls, seed: int, index: int) -> Case:
        """Draw a recipe."""
        rng = np.random.default_rng([seed, index])
        task = Task.random(rng)
        low, high = [(1, 20), (20, 300), (300, 3000), (3000, 20_000)][rng.choice(4, p=[0.15, 0.45, 0.36, 0.04])]
        n_rows = max(int(rng.integers(low, high + 1)), task.least_rows())
        columns = [Column.random(rng) for _ in range(rng.integers(1, 9))]
        weights = str(rng.choice(["none", "none", "uniform", "zeros", "skewed", "small", "large"]))
        settings = _settings(rng, n_rows)
        if any(column.kind == "many_categories" and column.size > 255 for column in columns):
            # bitgrain distinguishes 255 categories by default; the rivals keep all of them.
            settings["max_bin"] = 512
        return cls(seed, index, n_rows, columns, task, weights, settings)

    def draw(self, repeat: int = 0) -> Table:
        """Draw a table; each repeat is another sample of the same distribution."""
        rng = np.random.default_rng([self.seed, self.index, 1, repeat])
        held_out = max(300, self.n_rows // 2)
        n_rows = self.n_rows + held_out
        # Category effects are drawn again as well, so that a repeat is an independent table.
        drawn = [column.draw(rng, self.n_rows, n_rows) for column in self.columns]
        X = np.column_stack([values for values, _ in drawn])
        y = self.task.draw(rng, _signal(rng, [effect for _, effect in drawn]))
        weight = _weight(rng, self.weights, n_rows)
        if rng.random() < 0.1 and self.n_rows > 10:
            # Duplicate rows, as in a bootstrap sample.
            X[self.n_rows // 2 : self.n_rows], y[self.n_rows // 2 : self.n_rows] = (
                X[: self.n_rows - self.n_rows // 2].copy(),
                y[: self.n_rows - self.n_rows // 2].copy(),
            )
        cut = self.n_rows
        train = Rows(X[:cut].copy(), y[:cut].copy(), None if weight is None else weight[:cut].copy())
        rest = Rows(X[cut:].copy(), y[cut:].copy(), None if weight is None else weight[cut:].copy())
        return Table(train, rest, [at for at, column in enumerate(self.columns) if column.is_category])

    def again(self, repeat: int) -> Case:
        """Return the same recipe with another seed for row and column samples, so that repeats draw other samples."""
        return dataclasses.replace(self, settings={**self.settings, "seed": self.settings["seed"] + repeat})

    @property
    def compares(self) -> bool:
        """Whether the libraries train by the same rules, so that losses can be compared.

        Neither rival grows symmetric trees, which use one split per level and fit less at the same depth. Learning
        rates above 1 diverge differently in every library. Leaves of a few rows depend on definitions that differ, such
        as the quantile of three weighted values. Such cases are checked for all other invariants.
        """
        known = self.settings["growth"] != "symmetric" and self.settings["learning_rate"] <= 1.0
        return known and self.n_rows >= 50

    def describe(self) -> dict[str, Any]:
        """Return the description for a report; seed and index suffice to run the case again."""
        columns = [f"{column.kind}/{column.missing}" for column in self.columns]
        return {
            "seed": self.seed,
            "case": self.index,
            "rows": self.n_rows,
            "objective": self.task.name,
            "scale": self.task.scale,
            "shift": self.task.shift,
            "noise": self.task.noise,
            "weights": self.weights,
            "columns": columns,
            "settings": self.settings,
        }


def _settings(rng: np.random.Generator, n_rows: int) -> dict[str, Any]:
    def choose(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    return {
        "n_estimators": int(choose(1, 5, 20, 40)) if n_rows > 3000 else int(choose(1, 5, 20, 60, 100)),
        "learning_rate": float(choose(0.03, 0.1, 0.1, 0.3, 1.0)) if rng.random() < 0.97 else float(choose(10.0, 100.0)),
        "growth": choose("leaf", "leaf", "leaf", "depth", "depth", "symmetric"),
        "num_leaves": int(choose(2, 4, 15, 31, 31, 64)),
        "max_depth": int(choose(-1, -1, 1, 3, 6)),
        "min_child_samples": int(choose(1, 2, 5, 20, 20)),
        "min_child_weight": float(choose(0.0, 1e-3, 1e-3, 1.0)),
        "reg_alpha": float(choose(0.0, 0.0, 0.0, 0.1)),
        "reg_lambda": float(choose(0.0, 0.0, 1.0, 10.0)),
        "subsample": float(choose(1.0, 1.0, 1.0, 0.5)),
        "colsample_bytree": float(choose(1.0, 1.0, 1.0, 0.6)),
        "gradient_precision": choose("f32", "f32", "auto", "pair8", "pair4"),
        "max_bin": int(choose(256, 256, 64, 16)),
        "seed": int(rng.integers(1000)),
    }


def _signal(rng: np.random.Generator, effects: list[Array]) -> Array:
    """Return the signal that the target depends on: a few columns, a curve and a product."""
    picked = [effects[at] for at in rng.permutation(len(effects))[:3]]
    signal = sum(rng.uniform(-1, 1) * np.sin(rng.uniform(0.5, 4) * effect) for effect in picked)
    return np.asarray(signal + picked[0] * picked[-1])


def _weight(rng: np.random.Generator, kind: str, n_rows: int) -> NDArray[np.float64] | None:
    match kind:
        case "uniform":
            weight = rng.uniform(0.5, 2, n_rows)
        case "zeros":
            weight = rng.integers(0, 3, n_rows).astype(float)
            # A class or table whose weights are all zero would be rejected.
            weight[:10] = 1.0
        case "skewed":
            weight = rng.lognormal(0, 2, n_rows)
        case "small":
            weight = rng.uniform(0.5, 2, n_rows) * 1e-3
        case "large":
            weight = rng.uniform(0.5, 2, n_rows) * 1e4
        case _:
            return None
    return weight.astype(np.float32).astype(np.float64)
