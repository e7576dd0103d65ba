"""LightGBM's ``Dataset``: rows that are binned when training starts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitgrain import boosting
from bitgrain.boosting.frame import is_frame, is_sparse
from bitgrain.compat.lightgbm.parameters import Settings, canonical, translated
from bitgrain.detach import detached
from bitgrain.errors import DTypeError, InputError

__all__ = ["Dataset", "checked_rows"]

#: Fields of a dataset besides its features.
_FIELDS = ("label", "weight", "group", "init_score", "position")


class Dataset:
    """Rows with their labels; binned at the first use in training.

    Parameters
    ----------
    data : array, sparse matrix, data frame or list of arrays
        Features. They are not copied, and kept until the dataset is deleted, regardless of `free_raw_data`.
    label, weight, group, init_score, position : array-like, optional
        Label, weight and initial raw score of each row, sizes of the queries, and displayed positions.
    reference : Dataset, optional
        Training data whose bins are used, for validation data.
    feature_name : list of str or "auto"
        Names of the features.
    categorical_feature : list of int or str, or "auto"
        Columns whose numbers are category codes; columns with a categorical type always are.
    params : dict, optional
        Parameters of binning, such as ``max_bin``.
    free_raw_data : bool
        Whether :meth:`get_data` raises an error after construction.

    """

    def __init__(
        self,
        data: Any,
        label: ArrayLike | None = None,
        reference: Dataset | None = None,
        weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
        init_score: ArrayLike | None = None,
        feature_name: Sequence[str] | str = "auto",
        categorical_feature: Sequence[Any] | str = "auto",
        params: Mapping[str, Any] | None = None,
        free_raw_data: bool = True,
        position: ArrayLike | None = None,
    ) -> None:
        self.data = checked_rows(data)
        self.label, self.weight, self.group = label, weight, group
        self.init_score, self.position = init_score, position
        self.reference = reference
        self.feature_name: Any = feature_name
        self.categorical_feature: Any = categorical_feature
        self.params: dict[str, Any] = dict(params or {})
        self.free_raw_data = free_raw_data
        self.used_indices: NDArray[np.intp] | None = None
        self._inner: boosting.Dataset | None = None
        self._made_for: tuple[Any, ...] | None = None
        canonical(self.params)

    # ----------------------------------------------------------------------------------------------------- binning

    def construct(self) -> Dataset:
        """Bin the rows now."""
        self._binned(translated(_without_objective(self.params)))
        return self

    def _binned(self, settings: Settings, init_model: boosting.Model | None = None) -> boosting.Dataset:
        """Return the binned rows for a training, as training or validation data."""
        weights = settings.class_weight if self.reference is None else None
        key = (tuple(sorted(settings.binning.items())), str(weights), settings.zero_base, id(init_model))
        if self._inner is not None and self._made_for == key:
            return self._inner
        if self.label is None:
            raise InputError("the Dataset has no label; pass label, or call set_label")
        if self.used_indices is not None and self.reference is not None:
            whole = self.reference._binned(settings, init_model)
            self._inner = whole.subset(self.used_indices)
        elif self.reference is not None:
            whole = self.reference._binned(settings, init_model)
            self._inner = whole.like(
                self.data, self._target(), weight=self._column("weight"), group=self._column("group"),
                init_score=self._scores(settings), n_jobs=settings.n_jobs,
            )  # fmt: skip
        else:
            if init_model is not None and self.init_score is not None:
                raise InputError("init_score and init_model exclude each other; add the raw predictions to init_score")
            position: Any = self._column("position")
            self._inner = boosting.Dataset(
                self.data,
                self._target(),
                weight=self._column("weight"),
                group=self._column("group"),
                position=position,
                categorical=self._categorical(settings),
                class_weight=None if weights is None else self._class_weight(weights),
                init_score=None if init_model is not None else self._scores(settings),
                init_model=init_model,
                feature_names=self._names() if init_model is None else None,
                n_jobs=settings.n_jobs,
                **settings.binning,
            )
        self._made_for = key
        return self._inner

    def _target(self) -> NDArray[Any]:
        label = np.asarray(detached(self.label)).reshape(-1)
        if label.dtype.kind not in "biuf" and label.dtype != object:
            raise DTypeError(f"label is of dtype {label.dtype}, but it must be numeric; encode classes as 0, 1, ...")
        return label.astype(np.float64)

    def _column(self, field: str) -> Any:
        value = getattr(self, field)
        return None if value is None else np.asarray(detached(value)).reshape(-1)

    def _scores(self, settings: Settings) -> Any:
        if self.init_score is not None:
            scores = np.asarray(detached(self.init_score), dtype=np.float64)
            # LightGBM also takes the scores of several classes as a flat array, class by class.
            flat = scores.ndim == 1 and settings.num_class > 1 and len(scores) == self._rows() * settings.num_class
            return scores.reshape(settings.num_class, -1).T if flat else scores
        return np.zeros((self._rows(), settings.num_class)) if settings.zero_base else None

    def _class_weight(self, weights: list[float] | str) -> list[float]:
        if not isinstance(weights, str):
            return weights
        positive = float(np.count_nonzero(self._target() > 0))
        negative = self._rows() - positive
        if not positive or not negative:
            raise InputError("is_unbalance needs rows of both classes")
        return [positive / negative, 1.0] if positive > negative else [1.0, negative / positive]

    def _names(self) -> list[str] | None:
        if isinstance(self.feature_name, str):
            if self.feature_name != "auto":
                raise InputError(f"feature_name={self.feature_name!r}: it must be 'auto' or a list of names")
            if is_frame(self.data):
                return None
            return [f"Column_{at}" for at in range(self.data.shape[1])]
        return [str(name) for name in self.feature_name]

    def _categorical(self, settings: Settings) -> list[Any] | None:
        given: Any = self.categorical_feature
        if isinstance(given, str) and given == "auto":
            given = settings.categorical
        if given is None or given == "":
            return None
        if isinstance(given, str):
            names = given.removeprefix("name:").split(",")
            given = names if given.startswith("name:") else [int(each) for each in names]
        elif not isinstance(given, Sequence | np.ndarray | set):
            given = [given]
        return list(given)

    def _rows(self) -> int:
        return int(self.data.shape[0]) if self.used_indices is None else len(self.used_indices)

    # ------------------------------------------------------------------------------------------------------- other

    def create_valid(
        self,
        data: Any,
        label: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
        init_score: ArrayLike | None = None,
        params: Mapping[str, Any] | None = None,
        position: ArrayLike | None = None,
    ) -> Dataset:
        """Return validation data with the bins of this dataset."""
        return Dataset(
            data, label, self, weight, group, init_score, params=params, position=position,
            free_raw_data=self.free_raw_data,
        )  # fmt: skip

    def subset(self, used_indices: ArrayLike, params: Mapping[str, Any] | None = None) -> Dataset:
        """Return a subset of the rows with the bins of this dataset."""
        rows = np.asarray(used_indices, dtype=np.intp)
        other = object.__new__(Dataset)
        other.__dict__.update(self.__dict__)
        other.params = {**self.params, **(params or {})}
        other.reference, other.used_indices = self, np.sort(rows)
        other._inner, other._made_for = None, None
        for field in _FIELDS:
            value = getattr(self, field)
            if value is not None and field != "group":
                setattr(other, field, np.asarray(detached(value))[other.used_indices])
        if self.group is not None:
            ends = np.cumsum(self._column("group"))
            queries = np.searchsorted(ends, other.used_indices, side="right")
            other.group = np.unique(queries, return_counts=True)[1]
        return other

    def set_field(self, field_name: str, data: Any) -> Dataset:
        """Replace the label, weight, group, init_score or position."""
        name = {"query": "group"}.get(field_name, field_name)
        if name not in _FIELDS:
            raise InputError(f"unknown field {field_name!r}; use one of {', '.join(_FIELDS)}")
        setattr(self, name, data)
        self._inner = self._made_for = None
        return self

    def get_field(self, field_name: str) -> Any:
        """Return the label, weight, group, init_score or position."""
        name = {"query": "group"}.get(field_name, field_name)
        if name not in _FIELDS:
            raise InputError(f"unknown field {field_name!r}; use one of {', '.join(_FIELDS)}")
        value = getattr(self, name)
        return None if value is None else np.asarray(detached(value))

    def set_label(self, label: Any) -> Dataset:
        """Replace the labels."""
        return self.set_field("label", label)

    def set_weight(self, weight: Any) -> Dataset:
        """Replace the weights."""
        return self.set_field("weight", weight)

    def set_group(self, group: Any) -> Dataset:
        """Replace the sizes of the queries."""
        return self.set_field("group", group)

    def set_init_score(self, init_score: Any) -> Dataset:
        """Replace the initial scores."""
        return self.set_field("init_score", init_score)

    def set_position(self, position: Any) -> Dataset:
        """Replace the displayed positions."""
        return self.set_field("position", position)

    def set_reference(self, reference: Dataset) -> Dataset:
        """Set the training data whose bins are used."""
        self.reference = reference
        self._inner = self._made_for = None
        return self

    def set_feature_name(self, feature_name: Any) -> Dataset:
        """Replace the names of the features."""
        self.feature_name = feature_name
        self._inner = self._made_for = None
        return self

    def set_categorical_feature(self, categorical_feature: Any) -> Dataset:
        """Replace the categorical features."""
        self.categorical_feature = categorical_feature
        self._inner = self._made_for = None
        return self

    def get_label(self) -> Any:
        """Return the labels."""
        return self.get_field("label")

    def get_weight(self) -> Any:
        """Return the weights."""
        return self.get_field("weight")

    def get_group(self) -> Any:
        """Return the sizes of the queries."""
        return self.get_field("group")

    def get_init_score(self) -> Any:
        """Return the initial scores."""
        return self.get_field("init_score")

    def get_position(self) -> Any:
        """Return the displayed positions."""
        return self.get_field("position")

    def get_params(self) -> dict[str, Any]:
        """Return the parameters of the dataset."""
        return dict(self.params)

    def get_data(self) -> Any:
        """Return the features."""
        if self._inner is not None and self.free_raw_data:
            raise InputError("the raw data is not available after construction; pass free_raw_data=False")
        return self.data if self.used_indices is None else self.data[self.used_indices]

    def get_feature_name(self) -> list[str]:
        """Return the names of the features."""
        if self._inner is not None:
            return self._inner.feature_names
        names = self._names()
        return [str(each) for each in self.data.columns] if names is None else names

    def feature_num_bin(self, feature: int | str) -> int:
        """Return the number of bins of a feature."""
        return len(self._binned(translated(_without_objective(self.params))).cuts(feature)) + 1

    def num_data(self) -> int:
        """Return the number of rows."""
        return self._rows()

    def num_feature(self) -> int:
        """Return the number of features."""
        return int(self.data.shape[1])

    def save_binary(self, filename: str | os.PathLike[str]) -> NoReturn:
        """Raise an error: bitgrain bins files instead."""
        raise InputError("save_binary is not supported; use bitgrain.Dataset.from_batches or from_files")

    def add_features_from(self, other: Dataset) -> NoReturn:
        """Raise an error: features are joined before binning."""
        raise InputError("add_features_from is not supported; join the features with numpy.hstack or pandas.concat")


def checked_rows(data: Any) -> Any:
    """Return features, or raise an error for a path; a list of arrays is joined."""
    if isinstance(data, str | os.PathLike):
        raise InputError(
            f"data={str(data)!r}: files are not read here; use bitgrain.Dataset.from_files, or read it first"
        )
    if is_frame(data) or is_sparse(data):
        return data
    if isinstance(data, list) and data and all(isinstance(each, np.ndarray) and each.ndim == 2 for each in data):
        return np.vstack(data)
    array = np.asarray(detached(data))
    if array.ndim != 2:
        raise InputError(f"data must have two dimensions, not {array.ndim}; use data.reshape(-1, 1) for one feature")
    return array


def _without_objective(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that may affect binning."""
    own = ("max_bin", "sample_rows", "seed", "n_jobs", "categorical_feature", "data_random_seed")
    return {name: value for name, value in canonical(params).items() if name in own}
