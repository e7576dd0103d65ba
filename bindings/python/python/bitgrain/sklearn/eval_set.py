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

__all__ = ["EvalSet", "Pair", "held_out"]

#: A pair of features and targets.
Pair = tuple[Any, ArrayLike]


@dataclasses.dataclass(frozen=True, slots=True)
class EvalSet:
    """Pairs of features and targets, with their weights and names."""

    pairs: list[Pair]
    weights: list[ArrayLike | None]
    names: list[str] | None
    queries: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    """Queries and initial scores of each pair, as keywords of :meth:`Dataset.like`; empty if no pair has any."""

    def with_queries(self, group: Sequence[ArrayLike] | None, qid: Sequence[ArrayLike] | None) -> EvalSet:
        """Add the queries of each pair; those of a single pair need not be wrapped in a list."""
        queries: list[dict[str, Any]] = [{} for _ in self.pairs]
        for name, given in (("group", group), ("qid", qid)):
            if given is None:
                continue
            own = list(given) if len(given) and np.ndim(given[0]) else [given]
            if len(own) != len(self.pairs):
                raise InputError(f"{len(own)} eval_{name} for {len(self.pairs)} pairs in eval_set")
            for each, of_pair in zip(queries, own, strict=True):
                each[name] = of_pair
        if not all(queries):
            raise InputError("missing queries of eval_set; pass eval_group or eval_qid")
        return dataclasses.replace(self, queries=queries)

    def with_init_scores(self, scores: Sequence[ArrayLike] | None) -> EvalSet:
        """Add the initial scores of each pair; those of a single pair need not be wrapped in a list."""
        if scores is None:
            return self
        own = [scores] if len(self.pairs) == 1 and np.ndim(scores[0]) == 0 else list(scores)
        if len(own) != len(self.pairs):
            raise InputError(f"{len(own)} eval_init_score for {len(self.pairs)} pairs in eval_set")
        before = self.queries or [{} for _ in self.pairs]
        more = [{**each, "init_score": score} for each, score in zip(before, own, strict=True)]
        return dataclasses.replace(self, queries=more)

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
        queries = self.queries or [{} for _ in self.pairs]
        for (X, y), weight, name, own, of_pair in zip(self.pairs, self.weights, called, trained, queries, strict=True):
            if own:
                train = name
                continue
            rows = X if is_frame(X) or is_sparse(X) else matrix(X)
            valid.append((name, data.like(rows, encode(y), weight=weight, n_jobs=n_jobs, **of_pair)))
        return checked(valid, train), train


def held_out(
    X: Any, y: Any, weight: Any, fraction: float, seed: int, *, stratify: bool
) -> tuple[tuple[Any, Any, Any], Pair, Any]:
    """Divide the rows into training data and validation data, each with its weights."""
    from sklearn.model_selection import train_test_split
    from sklearn.utils import _safe_indexing

    if not isinstance(fraction, int | float) or not 0 < fraction < 1:
        raise InputError(f"validation_fraction = {fraction!r}: it must be a number between 0 and 1")
    label = np.asarray(y)
    try:
        kept, held = train_test_split(
            np.arange(len(label)), test_size=fraction, random_state=seed, stratify=label if stratify else None
        )
    except ValueError as error:
        raise InputError(f"validation_fraction = {fraction}: {error}") from None
    parts: list[list[Any]] = [
        [None if each is None else _safe_indexing(each, np.sort(rows)) for each in (X, y, weight)]
        for rows in (kept, held)
    ]
    (X1, y1, w1), (X2, y2, w2) = parts
    return (X1, y1, w1), (X2, y2), None if w2 is None else [w2]


def _is_pair(given: Any) -> bool:
    return isinstance(given, tuple | list) and len(given) == 2
