"""The native half of bitgrain. What users call is in the modules beside it."""

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["__version__", "command"]
__version__: str

def command(words: Sequence[str]) -> int: ...

# ---------------------------------------------------------------------------------------------------------- boosting

__all__ += ["BinnedData", "Booster", "Columns", "cross_validate", "train"]

#: A 2-D array of float32 or float64, Columns, or sparse rows: where each begins, columns, values, number of features.
_Features: TypeAlias = NDArray[Any] | Columns | tuple[NDArray[np.uintp], NDArray[np.uint32], NDArray[np.float32], int]

@final
class Columns:
    @property
    def names(self) -> list[str]: ...
    @property
    def categories(self) -> list[list[str] | None]: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @staticmethod
    def read(
        table: Any,
        *,
        names: list[str] | None = None,
        categories: list[list[str] | None] | None = None,
        wide: bool = False,
        n_jobs: int | None = None,
    ) -> Columns: ...

@final
class BinnedData:
    def __new__(
        cls,
        features: _Features,
        targets: NDArray[np.float32],
        weights: NDArray[np.float32] | None = None,
        *,
        names: list[str] | None = None,
        categories: list[list[str] | None] | None = None,
        class_weights: str | Sequence[float] | None = None,
        max_bin: int = 256,
        sample_rows: int = 200_000,
        seed: int = 0,
        like: BinnedData | None = None,
        base: Booster | None = None,
        n_jobs: int | None = None,
    ) -> BinnedData: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def categories(self) -> list[list[str] | None]: ...
    @property
    def bytes_per_row(self) -> int: ...
    @property
    def n_bins(self) -> int: ...
    @property
    def targets(self) -> NDArray[np.float32]: ...
    def cuts(self, feature: int) -> NDArray[np.float32]: ...

@final
class Booster:
    @staticmethod
    def from_bytes(bytes: bytes) -> Booster: ...
    @staticmethod
    def load(path: str | os.PathLike[str]) -> Booster: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def to_bytes(self) -> bytes: ...
    def to_json(self) -> str: ...
    def predict(
        self, features: _Features, kind: str = "prediction", *, rounds: int | None = None, n_jobs: int | None = None
    ) -> NDArray[Any]: ...
    def importance(self, kind: str) -> NDArray[np.float64]: ...
    def truncated(self, rounds: int) -> Booster: ...
    def annotated(self, classes: list[str] | None = None, metadata: dict[str, str] | None = None) -> Booster: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def categories(self) -> list[list[str] | None]: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def objective(self) -> str: ...
    @property
    def link(self) -> str: ...
    @property
    def base_scores(self) -> list[float]: ...
    @property
    def metadata(self) -> dict[str, str]: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_groups(self) -> int: ...
    @property
    def n_rounds(self) -> int: ...
    @property
    def n_trees(self) -> int: ...
    @property
    def wide(self) -> bool: ...

def train(
    data: BinnedData,
    settings: dict[str, Any],
    objective: Any,
    metrics: Sequence[Any] | None,
    *,
    valid: BinnedData | None = None,
    watch_train: bool = False,
    on_round: Callable[[int, int, list[tuple[str, str, float]]], bool] | None = None,
    classes: list[str] | None = None,
    metadata: dict[str, str] | None = None,
    keep: bool = True,
    n_jobs: int | None = None,
) -> tuple[Booster, list[tuple[str, str, list[float]]], int | None, str, bool]: ...
def cross_validate(
    data: BinnedData,
    settings: dict[str, Any],
    objective: Any,
    metrics: Sequence[Any] | None,
    *,
    folds: int,
    stratified: bool,
    seed: int,
    n_jobs: int | None = None,
) -> tuple[list[tuple[str, list[float]]], list[int]]: ...

# ----------------------------------------------------------------------------------------------------------- weights

# ------------------------------------------------------------------------------------------------------------- store
