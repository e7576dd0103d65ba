"""How trees are grown."""

from __future__ import annotations

import dataclasses
import math
import operator
from typing import Any, SupportsFloat

from bitgrain.errors import DTypeError, InputError

__all__ = ["Params", "whole"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Params:
    """How trees are grown. Names and defaults are LightGBM's where it has them, but for `subsample_freq`.

    Parameters
    ----------
    n_estimators : int
        Rounds: trees, or trees per class.
    learning_rate : float
        How far each tree goes.
    num_leaves : int
        Leaves of a tree at most.
    max_depth : int
        Splits from the root to a leaf at most; -1 or None is no bound.
    growth : {"leaf", "depth", "symmetric"}
        The order nodes are split in: the leaf that gains most, level by level, or all nodes of a level by one question.
    min_child_samples : int
        Rows of a leaf at least.
    min_child_weight : float
        Sum of the hessians of a leaf at least.
    reg_alpha, reg_lambda : float
        Shrink leaves by a constant, and in proportion.
    min_split_gain : float
        What a split must gain at least.
    subsample : float
        Share of the rows for each tree.
    subsample_freq : int
        A new share every so many rounds; 0, which is LightGBM's default, takes all rows whatever `subsample` says.
    data_sample_strategy : {"bagging", "goss"}
        ``"goss"`` keeps the rows with large gradients, `top_rate` of all, and draws `other_rate` from the others.
    top_rate, other_rate : float
        See `data_sample_strategy`.
    colsample_bytree, colsample_bynode : float
        Share of the features for each tree, and for each node.
    gradient_precision : {"auto", "f32", "pair8", "pair4"}
        How gradients are kept: as they are, a byte or four bits for each of gradient and hessian, or by the number of
        rows: ``"auto"`` is ``"f32"`` up to a million, ``"pair8"`` up to ten million, ``"pair4"`` beyond.
    stochastic_rounding : bool
        Whether quantized gradients are rounded up or down by chance.
    early_stopping_rounds : int, optional
        Rounds without improvement on the validation data before training ends.
    max_cat_to_onehot : int
        Categories of a feature at most for splits of one category against the rest.
    cat_l2, cat_smooth : float
        Regularize splits by categories.
    max_cat_threshold : int
        Categories on the smaller side of a split at most.
    seed : int
        Chooses samples and roundings. A seed gives the same model on any number of threads.

    Examples
    --------
    >>> Params(num_leaves=63).num_leaves
    63
    >>> Params(learning_rate=-1.0).check()
    Traceback (most recent call last):
    bitgrain.errors.InputError: learning_rate = -1.0: it must be a number above 0

    """

    n_estimators: int = 100
    learning_rate: float = 0.1
    num_leaves: int = 31
    max_depth: int | None = -1
    growth: str = "leaf"
    min_child_samples: int = 20
    min_child_weight: float = 1e-3
    reg_alpha: float = 0.0
    reg_lambda: float = 0.0
    min_split_gain: float = 0.0
    subsample: float = 1.0
    subsample_freq: int = 1
    data_sample_strategy: str = "bagging"
    top_rate: float = 0.2
    other_rate: float = 0.1
    colsample_bytree: float = 1.0
    colsample_bynode: float = 1.0
    gradient_precision: str = "f32"
    stochastic_rounding: bool = True
    early_stopping_rounds: int | None = None
    max_cat_to_onehot: int = 4
    cat_l2: float = 10.0
    cat_smooth: float = 10.0
    max_cat_threshold: int = 32
    seed: int = 0

    def replace(self, **settings: Any) -> Params:
        """Give the same with other settings.

        Raises
        ------
        InputError
            If one of them is not known.

        """
        known = {field.name for field in dataclasses.fields(self)}
        unknown = sorted(set(settings) - known)
        if unknown:
            raise InputError(f"there is no setting {unknown[0]!r}; there are: {', '.join(sorted(known))}")
        return dataclasses.replace(self, **settings)

    def check(self) -> None:
        """Check every setting.

        Raises
        ------
        InputError
            If one is out of its range.
        DTypeError
            If one is not a number at all.

        """
        self.native()

    def native(self) -> dict[str, Any]:
        """Give the settings as the native half takes them, checked."""
        depth = -1 if self.max_depth is None else whole("max_depth", self.max_depth, -1)
        one_of("growth", self.growth, ("leaf", "depth", "symmetric"))
        one_of("gradient_precision", self.gradient_precision, ("auto", "f32", "pair8", "pair4"))
        one_of("data_sample_strategy", self.data_sample_strategy, ("bagging", "goss"))
        share = _share("subsample", self.subsample)
        every = whole("subsample_freq", self.subsample_freq, 0)
        goss = self.data_sample_strategy == "goss"
        if goss and self.top_rate + self.other_rate > 1.0:
            raise InputError(f"top_rate = {self.top_rate} and other_rate = {self.other_rate}: together at most 1")
        stopping = self.early_stopping_rounds
        return {
            "rounds": whole("n_estimators", self.n_estimators, 1),
            "learning_rate": _number("learning_rate", self.learning_rate, above=True),
            "growth": self.growth,
            "num_leaves": whole("num_leaves", self.num_leaves, 2, 131_072),
            "max_depth": None if depth <= 0 else min(depth, 64),
            "min_child_samples": whole("min_child_samples", self.min_child_samples, 0),
            "min_child_weight": _number("min_child_weight", self.min_child_weight),
            "lambda_l1": _number("reg_alpha", self.reg_alpha),
            "lambda_l2": _number("reg_lambda", self.reg_lambda),
            "min_split_gain": _number("min_split_gain", self.min_split_gain),
            "feature_fraction": _share("colsample_bytree", self.colsample_bytree),
            "feature_fraction_by_node": _share("colsample_bynode", self.colsample_bynode),
            "bagging": (share, every) if share < 1.0 and every > 0 and not goss else None,
            "goss": (_share("top_rate", self.top_rate), _share("other_rate", self.other_rate)) if goss else None,
            "precision": self.gradient_precision,
            "stochastic_rounding": bool(self.stochastic_rounding),
            "early_stopping": None if stopping is None else whole("early_stopping_rounds", stopping, 1),
            "max_cat_to_onehot": whole("max_cat_to_onehot", self.max_cat_to_onehot, 0),
            "cat_l2": _number("cat_l2", self.cat_l2),
            "cat_smooth": _number("cat_smooth", self.cat_smooth),
            "max_cat_threshold": whole("max_cat_threshold", self.max_cat_threshold, 0),
            "seed": whole("seed", self.seed, 0, 2**64 - 1),
        }


def one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    """Refuse what is none of the known words."""
    if value not in known:
        words = ", ".join(map(repr, known[:-1]))
        raise InputError(f"{name} = {value!r}: it must be {words} or {known[-1]!r}")


def whole(name: str, value: object, least: int, most: int = 2**63 - 1) -> int:
    """Give a whole number within bounds."""
    try:
        whole = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise DTypeError(f"{name} = {value!r}: it must be a whole number") from None
    if not least <= whole <= most:
        between = f"from {least} on" if most == 2**63 - 1 else f"from {least} to {most}"
        raise InputError(f"{name} = {whole}: it must be a whole number {between}")
    return whole


def _number(name: str, value: SupportsFloat, *, above: bool = False) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise DTypeError(f"{name} = {value!r}: it must be a number") from None
    if not math.isfinite(number) or number < 0.0 or (above and number == 0.0):
        raise InputError(f"{name} = {number}: it must be a number {'above 0' if above else 'from 0 on'}")
    return number


def _share(name: str, value: SupportsFloat) -> float:
    share = _number(name, value)
    if not 0.0 < share <= 1.0:
        raise InputError(f"{name} = {share}: it must be a share above 0 and at most 1")
    return share
