"""Comparison of two model files."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

from bitgrain import _native
from bitgrain.progress import Progress
from bitgrain.weights.convert import percent
from bitgrain.weights.fidelity import Fidelity
from bitgrain.weights.model import ModelFile, open_model

__all__ = ["FileComparison", "TensorComparison", "compare_files"]


@dataclass(frozen=True)
class TensorComparison:
    """A tensor in two models.

    Attributes
    ----------
    name : str
        Name of the tensor.
    shape : tuple of int
        Shape of the tensor.
    first, second : str
        Format in each model.
    first_bytes, second_bytes : int
        Size in each model in bytes.
    error : Fidelity
        Error of the second model relative to the first.
    optimum_db : float or None
        Signal-to-noise ratio of the optimal scalar quantizer with as many levels for normally distributed weights; None
        if the second model stores floats.
    limit_db : float
        Upper limit of the signal-to-noise ratio at this number of bits per weight, for normally distributed weights.
    histograms : tuple of list of int
        Histograms of both tensors, with bins of equal width over `range`.
    range : tuple of float
        Range of the histograms.
    """

    name: str
    shape: tuple[int, ...]
    first: str
    second: str
    first_bytes: int
    second_bytes: int
    error: Fidelity
    optimum_db: float | None
    limit_db: float
    histograms: tuple[list[int], list[int]]
    range: tuple[float, float]

    def __repr__(self) -> str:
        return f"TensorComparison({self.name!r}, {self.first} > {self.second}, {self.error})"


class FileComparison:
    """Comparison of two models; created by :func:`compare_files`.

    Attributes
    ----------
    tensors : list of TensorComparison
        Tensors in both models, in the order of the first.
    overall : Fidelity
        Error over all weights, each weighted equally.
    only_in_first, only_in_second : list of str
        Names of tensors in only one of the models.
    skipped : dict of str to str
        Names of tensors that could not be compared, with the reason.
    first_bytes, second_bytes : int
        Total size of the tensors in bytes.
    """

    def __init__(self, native: _native.WeightComparison, names: tuple[str, str]) -> None:
        self._native = native
        self._names = names
        found = native.as_dict()
        self.tensors = [
            TensorComparison(
                **{
                    **row,
                    "shape": tuple(row["shape"]),
                    "error": Fidelity(**row["error"]),
                    "histograms": tuple(row["histograms"]),
                }
            )
            for row in found["tensors"]
        ]
        self.overall = Fidelity(**found["overall"])
        self.only_in_first: list[str] = found["only_in_first"]
        self.only_in_second: list[str] = found["only_in_second"]
        self.skipped: dict[str, str] = dict(found["skipped"])
        self.first_bytes: int = found["first_bytes"]
        self.second_bytes: int = found["second_bytes"]

    def worst(self, count: int = 10) -> list[TensorComparison]:
        """Return the tensors with the largest relative error.

        Parameters
        ----------
        count : int, optional
            Maximum number of tensors.

        Returns
        -------
        list of TensorComparison
        """
        return sorted(self.tensors, key=lambda row: -row.error.relative_rmse)[:count]

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary of plain values; its ``tensors`` can be passed to a data frame.

        Returns
        -------
        dict
        """
        return {
            "tensors": [asdict(row) for row in self.tensors],
            "overall": asdict(self.overall),
            "only_in_first": self.only_in_first,
            "only_in_second": self.only_in_second,
            "skipped": self.skipped,
            "first_bytes": self.first_bytes,
            "second_bytes": self.second_bytes,
        }

    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, trade_off: bool = False, progress: bool | None = None
    ) -> str:
        """Render a self-contained HTML page.

        Parameters
        ----------
        path : path-like, optional
            File to write the page to.
        trade_off : bool, optional
            Whether to measure and plot the error of the first model at other sizes; takes as long as a dozen
            conversions.
        progress : bool, optional
            Whether to show a progress bar; by default only in terminals and notebooks.

        Returns
        -------
        str
            HTML page.
        """
        first, second = self._names
        with Progress(total=100, label="measuring", show=progress if trade_off else False) as bar:
            page = self._native.html(first, second, trade_off, percent(bar))
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def _repr_html_(self) -> str:
        # An iframe, because the styles of the page would change the notebook around it.
        from html import escape

        return f'<iframe srcdoc="{escape(self.to_html())}" width="100%" height="600"></iframe>'

    def __repr__(self) -> str:
        return (
            f"FileComparison({len(self.tensors)} tensors, {self.first_bytes} and {self.second_bytes} bytes, "
            f"{self.overall})"
        )


def compare_files(
    first: str | os.PathLike[str] | ModelFile,
    second: str | os.PathLike[str] | ModelFile,
    *,
    progress: bool | None = None,
) -> FileComparison:
    """Compare the tensors that two models have in common.

    Parameters
    ----------
    first, second : path-like or ModelFile
        Models in any format that :func:`open_model` reads.
    progress : bool, optional
        Whether to show a progress bar; by default only in terminals and notebooks.

    Returns
    -------
    FileComparison

    Raises
    ------
    InputError
        If the models have no tensor in common.
    FileError, FormatError
        As :func:`open_model`.

    Examples
    --------
    >>> import bitgrain, numpy as np, os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> first, second = os.path.join(folder, "first.safetensors"), os.path.join(folder, "second.gguf")
    >>> state = {"w": np.sin(np.arange(4096, dtype=np.float32)).reshape(16, 256)}
    >>> _ = bitgrain.weights.save_tensors(first, state)
    >>> _ = bitgrain.quantize_file(first, second, "q8_0")
    >>> compared = bitgrain.compare_files(first, second)
    >>> compared.tensors[0].second, compared.overall.relative_rmse < 0.01
    ('q8_0', True)
    """
    models = [one if isinstance(one, ModelFile) else open_model(one) for one in (first, second)]
    with Progress(total=100, label="comparing", show=progress) as bar:
        native = models[0]._native.compare(models[1]._native, percent(bar))
    names = [os.path.basename(model.path) for model in models]
    if names[0] == names[1]:
        names = [model.path for model in models]
    return FileComparison(native, (names[0], names[1]))
