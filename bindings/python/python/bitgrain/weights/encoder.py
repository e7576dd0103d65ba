"""Sentences to vectors."""

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
    """A BERT that turns sentences into vectors of length one, such that like sentences have a large scalar product.

    Parameters
    ----------
    path : path-like
        A Hugging Face folder with a BERT that was trained for sentences, such as ``all-MiniLM-L6-v2``: ``config.json``,
        ``model.safetensors``, and ``tokenizer.json`` or ``vocab.txt``.
    dtype : str or DTypeInfo, optional
        The format of every weight matrix, as for :func:`bitgrain.quantize`.

    Raises
    ------
    FileError
        If a file is missing.
    FormatError
        If a file is broken, or of another kind of model.
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
        """The format of every weight matrix."""
        return self._dtype

    @property
    def dims(self) -> int:
        """Numbers of a vector."""
        return self._native.about()[0]

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that are looked at, with those at its ends."""
        return self._native.about()[1]

    @property
    def nbytes(self) -> int:
        """Bytes of the weights that it runs on."""
        return self._native.about()[2]

    def morph(self, dtype: str | DTypeInfo) -> None:
        """Run every weight matrix in another format.

        Parameters
        ----------
        dtype : str or DTypeInfo
            As for :func:`bitgrain.quantize`.
        """
        name = format_name(dtype)
        self._native.morph(name)
        self._dtype = name

    def calibrate(self, texts: Sequence[str], *, method: str = "feedback") -> None:
        """Quantize every weight matrix anew for inputs like those of some texts.

        The calibration applies to the current format and to later ones. A copy by pickle is not calibrated.

        Parameters
        ----------
        texts : sequence of str
            At least one text, like those to be encoded.
        method : {"feedback", "importance"}, optional
            ``"feedback"`` rounds weights so that they compensate for each other's errors, which takes seconds and, for
            each matrix, memory in proportion to its columns squared. ``"importance"`` weighs the errors of each column
            by the size of its inputs.

        Raises
        ------
        InputError
            Without texts, or for an unknown method.
        """
        if method not in ("feedback", "importance"):
            raise InputError(f'method cannot be "{method}"; choose feedback or importance')
        self._native.calibrate(_listed(texts), method == "feedback")

    def tokens(self, text: str) -> list[int]:
        """Give the tokens of a text, cut where it is too long.

        Parameters
        ----------
        text : str
            A text.

        Returns
        -------
        list of int
        """
        return self._native.tokens(text)

    def encode(self, texts: str | Sequence[str], *, progress: bool | None = None) -> Floats:
        """Turn texts into vectors.

        Parameters
        ----------
        texts : str or sequence of str
            One text, or several. Texts beyond :attr:`max_tokens` are cut.
        progress : bool, optional
            Whether to show a bar; unless told, in terminals and notebooks.

        Returns
        -------
        numpy.ndarray
            A float32 vector of length one for one text; a row of it for each of several.

        Raises
        ------
        DTypeError
            For something else than texts.
        """
        if isinstance(texts, str):
            return self._native.encode([texts])
        listed = _listed(texts)
        with Progress(total=len(listed), label="texts", show=progress) as bar:
            vectors = self._native.encode(listed, bar.update)
        return vectors.reshape(len(listed), self.dims)

    def __reduce__(self) -> tuple[type[SentenceEncoder], tuple[str, str]]:
        return (SentenceEncoder, (self._path, self._dtype))

    def __repr__(self) -> str:
        return f"SentenceEncoder({self._path!r}, {self._dtype}, {self.dims} numbers, {self.nbytes} bytes)"


def _listed(texts: Sequence[str]) -> list[str]:
    """Check that every text is a string."""
    listed = [texts] if isinstance(texts, str) else list(texts)
    for place, text in enumerate(listed):
        if not isinstance(text, str):
            raise DTypeError(f"texts[{place}] is {type(text).__name__}, not str")
    return listed
