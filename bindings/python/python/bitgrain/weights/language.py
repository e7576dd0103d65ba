"""Language models."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bitgrain import _native
from bitgrain.weights.array import Floats

__all__ = ["Estimate", "LanguageModel", "Perplexity"]


@dataclass(frozen=True)
class Estimate:
    """A mean and its standard error."""

    mean: float
    """Mean."""
    standard_error: float
    """Standard error of the mean, assuming independent terms."""


@dataclass(frozen=True)
class Perplexity:
    """Result of :meth:`LanguageModel.perplexity`."""

    perplexity: Estimate
    """Exponential of the loss."""
    loss: Estimate
    """Negative log-likelihood per token in nats."""
    chunks: int
    """Number of chunks."""
    predictions: int
    """Number of predictions that were scored."""
    reference_perplexity: Estimate | None = None
    """Perplexity of the reference, if given."""
    loss_difference: Estimate | None = None
    """Loss of the model minus loss of the reference."""
    kl_divergence: Estimate | None = None
    """Kullback-Leibler divergence from the reference in nats."""
    same_top: Estimate | None = None
    """Share of predictions with the same most likely token as the reference."""


class LanguageModel:
    """A language model from a GGUF file, which runs on its quantized weights.

    Parameters
    ----------
    path : path-like
        GGUF file with a tokenizer. Architectures: llama, qwen2, qwen3, qwen3moe, gemma3, phi3, smollm3.
    context : int, optional
        Maximum number of tokens of a text; by default the context length of the model.

    Raises
    ------
    FileError
        If the file cannot be read.
    FormatError
        If the file is malformed, or does not contain a supported language model.
    """

    def __init__(self, path: str | os.PathLike[str], *, context: int | None = None) -> None:
        self._path = os.fspath(path)
        self._native = _native.WeightLanguageModel.open(self._path, context)

    @property
    def architecture(self) -> str:
        """Architecture, such as ``"llama"``."""
        return self._native.about()[0]

    @property
    def context(self) -> int:
        """Maximum number of tokens of a text."""
        return self._native.about()[1]

    @property
    def vocabulary_size(self) -> int:
        """Number of tokens in the vocabulary."""
        return self._native.about()[2]

    @property
    def nbytes(self) -> int:
        """Size in bytes of the weights in memory."""
        return self._native.about()[3]

    def encode(self, text: str, *, control: bool = False) -> list[int]:
        """Tokenize a string.

        Parameters
        ----------
        text : str
            String to tokenize.
        control : bool, optional
            Whether names of control tokens in the string, such as ``<|im_end|>``, become those tokens.

        Returns
        -------
        list of int
        """
        return self._native.encode(text, control)

    def decode(self, tokens: Sequence[int]) -> str:
        """Convert tokens to a string, without control tokens.

        Parameters
        ----------
        tokens : sequence of int
            Tokens.

        Returns
        -------
        str
        """
        return self._native.decode(list(tokens))

    def generate(
        self,
        prompt: str | Sequence[int],
        *,
        max_tokens: int = 128,
        chat: bool = False,
        system: str | None = None,
        temperature: float = 0.8,
        top_k: int = 40,
        top_p: float = 0.95,
        min_p: float = 0.05,
        repeat_penalty: float = 1.0,
        seed: int = 0,
        cache: str = "f16",
        on_text: Callable[[str], object] | None = None,
    ) -> str:
        """Continue a text.

        Parameters
        ----------
        prompt : str or sequence of int
            Text or tokens to continue.
        max_tokens : int, optional
            Maximum number of generated tokens.
        chat : bool, optional
            Whether to apply the chat template of the model to a string.
        system : str, optional
            System message; requires ``chat``.
        temperature : float, optional
            Divisor of the logits; 0 always chooses the most likely token.
        top_k : int, optional
            Number of most likely tokens to sample from; 0 means all.
        top_p : float, optional
            Sample from the most likely tokens whose probabilities reach this sum.
        min_p : float, optional
            Minimum probability of a token, relative to the most likely one.
        repeat_penalty : float, optional
            Penalty on repeating one of the last 64 tokens; 1 disables it.
        seed : int, optional
            Random seed.
        cache : {"f32", "f16", "q8_0", "iq4_nl", "q4_0"}, optional
            Format of cached keys and values.
        on_text : callable, optional
            Function that is called with each piece of the text as it is generated.

        Returns
        -------
        str
            The continuation.

        Raises
        ------
        InputError
            If an argument is out of range, or the text does not fit into the context.
        """
        if not isinstance(prompt, str):
            tokens = list(prompt)
        elif chat:
            tokens = self._native.chat(prompt, system)
        else:
            tokens = self._native.encode(prompt, False)
        sampling = (temperature, top_k, top_p, min_p, repeat_penalty, seed)
        return self._native.generate(tokens, max_tokens, sampling, cache, on_text)[0]

    def logits(self, prompt: str | Sequence[int]) -> Floats:
        """Compute the logits after each token.

        Parameters
        ----------
        prompt : str or sequence of int
            Text or tokens.

        Returns
        -------
        numpy.ndarray
            One row per token, one column per token of the vocabulary.
        """
        tokens = self._native.encode(prompt, False) if isinstance(prompt, str) else list(prompt)
        return self._native.logits(tokens)

    def perplexity(
        self,
        text: str,
        *,
        reference: LanguageModel | None = None,
        chunk: int = 512,
        chunks: int | None = None,
        cache: str = "f16",
    ) -> Perplexity:
        """Measure how well the model predicts a text.

        The second half of each chunk of tokens is scored.

        Parameters
        ----------
        text : str
            Text of at least one chunk.
        reference : LanguageModel, optional
            Model with the same tokenizer to compare the predictions with.
        chunk : int, optional
            Number of tokens per chunk.
        chunks : int, optional
            Maximum number of chunks.
        cache : str, optional
            Format of the model's cached keys and values, as for :meth:`generate`.

        Returns
        -------
        Perplexity

        Raises
        ------
        InputError
            If the text is shorter than a chunk, or the reference has a different tokenizer.
        """
        native = None if reference is None else reference._native
        found = self._native.perplexity(text, native, chunk, chunks, cache)
        estimates = {name: Estimate(*pair) for name, pair in found.items() if isinstance(pair, tuple)}
        return Perplexity(chunks=int(found["chunks"]), predictions=int(found["predictions"]), **estimates)

    def save_importances(
        self,
        text: str,
        path: str | os.PathLike[str],
        *,
        chunk: int = 512,
        chunks: int | None = None,
        process_output: bool = False,
    ) -> int:
        """Compute an importance matrix on a text and write it as a GGUF file.

        :func:`bitgrain.weights.quantize_file` and llama.cpp read the file.

        Parameters
        ----------
        text : str
            Text of at least one chunk.
        path : path-like
            Output file.
        chunk : int, optional
            Number of tokens per chunk.
        chunks : int, optional
            Maximum number of chunks.
        process_output : bool, optional
            Whether to include the output matrix.

        Returns
        -------
        int
            Number of tensors in the file.
        """
        return self._native.importances(text, os.fspath(path), chunk, chunks, process_output)

    def __reduce__(self) -> tuple[type[LanguageModel], tuple[str]]:
        return (LanguageModel, (self._path,))

    def __repr__(self) -> str:
        return f"LanguageModel({self._path!r}, {self.architecture}, {self.nbytes} bytes)"
