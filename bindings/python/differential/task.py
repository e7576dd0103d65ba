"""Objectives common to the libraries: names, targets and losses."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

__all__ = ["Task"]

Array = NDArray[np.float64]

OBJECTIVES = ("squared", "absolute", "quantile", "huber", "poisson", "gamma", "tweedie", "binary", "multiclass")
SHARES = (0.24, 0.1, 0.08, 0.05, 0.1, 0.07, 0.06, 0.2, 0.1)

METRICS = {
    "squared": "rmse",
    "absolute": "mae",
    "quantile": "pinball",
    "huber": "huber",
    "poisson": "poisson_deviance",
    "gamma": "gamma_deviance",
    "tweedie": "tweedie_deviance",
    "binary": "logloss",
    "multiclass": "multi_logloss",
}


@dataclasses.dataclass(frozen=True)
class Task:
    """An objective, with its parameter and the distribution of its targets."""

    objective: str
    parameter: float
    """Quantile, variance power, distance of outliers, or number of classes."""
    scale: float
    shift: float
    """Mean of the target, in multiples of its spread."""
    noise: float

    @classmethod
    def random(cls, rng: np.random.Generator) -> Task:
        """Draw an objective."""
        objective = str(rng.choice(OBJECTIVES, p=SHARES))
        parameter = {
            "quantile": float(rng.choice([0.1, 0.5, 0.9])),
            "huber": float(rng.choice([0.5, 0.9, 2.0])),
            "tweedie": float(rng.choice([1.1, 1.5, 1.9])),
            "multiclass": float(rng.integers(3, 7)),
        }.get(objective, 0.0)
        free = objective in ("squared", "absolute", "quantile")
        scale = float(10.0 ** rng.integers(-6, 7)) if free or objective == "gamma" else 1.0
        if objective == "poisson":
            scale = float(rng.choice([0.1, 1.0, 10.0, 1000.0]))
        shift = float(rng.choice([0.0, 0.0, 1.0, -10.0, 1e3, 1e4])) if free else 0.0
        return cls(objective, parameter, scale, shift, float(rng.choice([0.0, 0.1, 0.5, 2.0])))

    @property
    def name(self) -> str:
        """Name of the objective in bitgrain, with its parameter."""
        if self.objective == "multiclass":
            return f"multiclass:{int(self.parameter)}"
        return f"{self.objective}:{self.parameter:g}" if self.parameter else self.objective

    @property
    def metric(self) -> str:
        """Name of the default metric in the history."""
        name = METRICS[self.objective]
        return f"{name}:{self.parameter:g}" if self.objective in ("quantile", "huber", "tweedie") else name

    @property
    def n_classes(self) -> int:
        """Number of classes of a multiclass objective, otherwise 1."""
        return int(self.parameter) if self.objective == "multiclass" else 1

    def draw(self, rng: np.random.Generator, signal: Array) -> Array:
        """Return targets that depend on the signal, exact in float32."""
        n_rows = len(signal)
        noisy = signal + self.noise * rng.normal(size=n_rows)
        match self.objective:
            case "poisson":
                y = rng.poisson(np.exp(np.clip(signal, -3, 3)) * self.scale).astype(float)
                y[0] = max(y[0], 1.0)
            case "gamma":
                y = rng.gamma(2.0, np.exp(np.clip(signal, -3, 3)) * self.scale) + 1e-6 * self.scale
            case "tweedie":
                counts = rng.poisson(np.exp(np.clip(signal, -3, 3)))
                y = np.where(counts > 0, rng.gamma(2.0 * np.maximum(counts, 1), 1.0), 0.0)
                y[0] = max(y[0], 1.0)
            case "binary":
                y = (rng.random(n_rows) < 1 / (1 + np.exp(-2 * noisy + self.noise))).astype(float)
                y[:2] = [0.0, 1.0]
            case "multiclass":
                edges = np.quantile(noisy, np.linspace(0, 1, self.n_classes + 1)[1:-1])
                y = np.digitize(noisy, edges).astype(float)
                y[: self.n_classes] = np.arange(self.n_classes)
            case _:
                y = (noisy + self.shift) * self.scale
        return y.astype(np.float32).astype(np.float64)

    def least_rows(self) -> int:
        """Return the minimum number of training rows at which every class occurs."""
        return {"binary": 2, "multiclass": self.n_classes}.get(self.objective, 1)

    def loss(self, y: Array, p: Array, weight: Array | None) -> float:
        """Return the weighted mean loss of predictions after the link, as the metric defines it."""
        with np.errstate(all="ignore"):
            mean = float(np.average(self._losses(y, p), weights=weight))
        return mean**0.5 if self.objective == "squared" else mean

    def _losses(self, y: Array, p: Array) -> Array:
        match self.objective:
            case "squared":
                return (y - p) ** 2
            case "absolute":
                return np.abs(y - p)
            case "quantile":
                return np.maximum(self.parameter * (y - p), (self.parameter - 1) * (y - p))
            case "huber":
                error, delta = np.abs(y - p), self.parameter
                return np.where(error <= delta, error**2 / 2, delta * (error - delta / 2))
            case "poisson":
                return 2 * (np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0) / p), 0.0) - y + p)
            case "gamma":
                return 2 * (np.log(p / y) + y / p - 1)
            case "tweedie":
                power = self.parameter
                whole = np.where(y > 0, y, 0.0) ** (2 - power) / ((1 - power) * (2 - power))
                return 2 * (whole - y * p ** (1 - power) / (1 - power) + p ** (2 - power) / (2 - power))
            case "binary":
                likely = np.clip(p, 1e-15, 1 - 1e-15)
                return -np.where(y == 1, np.log(likely), np.log1p(-likely))
            case _:
                return -np.log(np.clip(p[np.arange(len(y)), y.astype(int)], 1e-15, 1.0))

    def constant(self, y: Array, weight: Array | None, n_rows: int) -> Array:
        """Return the best constant prediction."""
        if self.objective == "multiclass":
            shares = [float(np.average(y == each, weights=weight)) for each in range(self.n_classes)]
            return np.tile(shares, (n_rows, 1))
        if self.objective in ("absolute", "quantile", "huber"):
            order = np.argsort(y)
            below = np.cumsum((np.ones(len(y)) if weight is None else weight)[order])
            share = self.parameter if self.objective == "quantile" else 0.5
            at = min(int(np.searchsorted(below, share * below[-1])), len(y) - 1)
            return np.full(n_rows, y[order][at])
        return np.full(n_rows, float(np.average(y, weights=weight)))
