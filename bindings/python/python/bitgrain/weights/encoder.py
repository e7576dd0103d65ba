"""Sentence embeddings."""

from __future__ import annotations

import os
from collections.abc import Sequence

from bitgrain import _native
from bitgrain.errors import DTypeError, InputError
from bitgrain.progress import Progress
from bitgrain.weights.array import Floats
from bitgrain.weights.dtype import DTypeInfo, format_name

__all__ = ["SentenceEncoder"]


class SentenceEncoder:
    """A BERT model that computes sentence embeddings: unit vectors whose dot product measures similarity.

    Parameters
    ----------
    path : path-like
        Hugging Face directory with a BERT model trained for sentence embeddings, such as ``all-MiniLM-L6-v2``:
        ``config.json``, ``model.safetensors``, and ``tokenizer.json`` or ``vocab.txt``.
    dtype : str or DTypeInfo, optional
        Format of every weight matrix, as for :func:`bitgrain.quantize`.

    Raises
    ------
    FileError
        If a file is missing.
    FormatError
        If a file is malformed, or the model is of another kind.
    """

    def __init__(self, path: str | os.PathLike[str], dtype: str | DTypeInfo = "float32") -> None:
        name = format_name(dtype)
        self._path = os.fspath(path)
        self._dtype = name
        self._native = _native.WeightEncoder.open(self._path)
        if name != "float32":
            self._native.morph(name)

    @property
    def dtype(self) -> str:
        """Format of every weight matrix."""
        return self._dtype

    @property
    def dims(self) -> int:
        """Embedding dimension."""
        return self._native.about()[0]

    @property
    def max_tokens(self) -> int:
        """Maximum number of tokens per string, including the special tokens at both ends."""
        return self._native.about()[1]

    @property
    def nbytes(self) -> int:
        """Size in bytes of the weights in their current format."""
        return self._native.about()[2]

    def morph(self, dtype: str | DTypeInfo) -> None:
        """Convert every weight matrix to another format.

        Parameters
        ----------
        dtype : str or DTypeInfo
            Format, as for :func:`bitgrain.quantize`.
        """
        name = format_name(dtype)
        self._native.morph(name)
        self._dtype = name

    def calibrate(self, sentences: Sequence[str], *, method: str = "feedback") -> None:
        """Quantize every weight matrix again, for inputs like the given strings.

        The calibration applies to the current and all later formats. Pickled copies are not calibrated.

        Parameters
        ----------
        sentences : sequence of str
            At least one string, similar to the strings to encode.
        method : {"feedback", "importance"}, optional
            ``"feedback"`` rounds weights so that they compensate for each other's errors; it takes seconds and, for
            each matrix, memory quadratic in the number of columns. ``"importance"`` weights the errors of each column
            by the magnitude of its inputs.

        Raises
        ------
        InputError
            If ``sentences`` is empty, or the method is unknown.
        """
        if method not in ("feedback", "importance"):
            raise InputError(f'method cannot be "{method}"; choose feedback or importance')
        self._native.calibrate(_listed(sentences), method == "feedback")

    def tokens(self, text: str) -> list[int]:
        """Tokenize a string, truncating it if it is too long.

        Parameters
        ----------
        text : str
            String to tokenize.

        Returns
        -------
        list of int
        """
        return self._native.tokens(text)

    def encode(self, sentences: str | Sequence[str], *, progress: bool | None = None) -> Floats:
        """Compute sentence embeddings.

        Parameters
        ----------
        sentences : str or sequence of str
            One string, or several. Strings longer than :attr:`max_tokens` are truncated.
        progress : bool, optional
            Whether to show a progress bar; by default only in terminals and notebooks.

        Returns
        -------
        numpy.ndarray
            A float32 unit vector for a single string; one row per string for several.

        Raises
        ------
        DTypeError
            If an input is not a string.
        """
        if isinstance(sentences, str):
            return self._native.encode([sentences])
        listed = _listed(sentences)
        with Progress(total=len(listed), label="sentences", show=progress) as bar:
            vectors = self._native.encode(listed, bar.update)
        return vectors.reshape(len(listed), self.dims)

    def __reduce__(self) -> tuple[type[SentenceEncoder], tuple[str, str]]:
        return (SentenceEncoder, (self._path, self._dtype))

    def __repr__(self) -> str:
        return f"SentenceEncoder({self._path!r}, {self._dtype}, {self.dims} numbers, {self.nbytes} bytes)"


def _listed(sentences: Sequence[str]) -> list[str]:
    """Return the strings as a list after checking their types."""
    listed = [sentences] if isinstance(sentences, str) else list(sentences)
    for place, text in enumerate(listed):
        if not isinstance(text, str):
            raise DTypeError(f"sentences[{place}] is {type(text).__name__}, not str")
    return listed
