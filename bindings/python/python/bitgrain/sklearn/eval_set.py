"""Validation data of `fit`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bitgrain.boosting.dataset import Dataset
from bitgrain.boosting.frame import is_frame, is_sparse, matrix
from bitgrain.boosting.same import same_rows
from bitgrain.boosting.target import Target
from bitgrain.boosting.valid import checked, default_names
from bitgrain.errors import InputError

__all__ = ["EvalSet", "Pair"]

#: A pair of features and targets.
Pair = tuple[Any, ArrayLike]


@dataclasses.dataclass(frozen=True, slots=True)
class EvalSet:
    """Pairs of features and targets, with their weights and names."""

    pairs: list[Pair]
    weights: list[ArrayLike | None]
    names: list[str] | None

    @classmethod
    def read(
        cls,
        eval_set: Pair | Sequence[Pair] | None,
        weights: Sequence[ArrayLike | None] | None,
        names: Sequence[str] | None,
    ) -> EvalSet:
        """Parse the arguments of `fit`."""
        if eval_set is None:
            return cls([], [], None)
        single = isinstance(eval_set, tuple) and not all(isinstance(each, tuple) for each in eval_set)
        pairs: list[Any] = [eval_set] if single else list(eval_set) if isinstance(eval_set, Iterable) else [None]
        if not all(map(_is_pair, pairs)):
            raise InputError("eval_set must be a pair (X, y), or a list of such pairs")
        own: list[ArrayLike | None] = [None] * len(pairs)
        if weights is not None:
            # The weights of a single pair need not be wrapped in a list.
            alone = single and (len(weights) != 1 or np.ndim(weights[0]) == 0)  # type: ignore[arg-type]
            own = [weights] if alone else list(weights)  # type: ignore[list-item]
        called = None if names is None else [names] if isinstance(names, str) else list(names)
        for what, given in (("eval_sample_weight", own), ("eval_names", called)):
            if given is not None and len(given) != len(pairs):
                raise InputError(f"{len(given)} {what} for {len(pairs)} pairs in eval_set")
        return cls(pairs, own, called)

    def binned(
        self, data: Dataset, given: Pair, encode: Callable[[ArrayLike], Target], n_jobs: int | None
    ) -> tuple[list[tuple[str, Dataset]], str | None]:
        """Return validation data binned like `data`, with names, and the name of the training data if it was requested.

        A pair with the same values as `given`, the arguments of `fit`, is the training data.
        """
        trained = [same_rows(pair, given) for pair in self.pairs]
        names = iter(default_names(trained.count(False)))
        called = self.names or ["train" if own else next(names) for own in trained]
        train, valid = None, []
        for (X, y), weight, name, own in zip(self.pairs, self.weights, called, trained, strict=True):
            if own:
                train = name
                continue
            rows = X if is_frame(X) or is_sparse(X) else matrix(X)
            valid.append((name, data.like(rows, encode(y), weight=weight, n_jobs=n_jobs)))
        return checked(valid, train), train


def _is_pair(given: Any) -> bool:
    return isinstance(given, tuple | list) and len(given) == 2
