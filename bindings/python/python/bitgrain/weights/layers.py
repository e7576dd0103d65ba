"""Layers of networks.

The number of inputs of a layer follows from the layer before it. Parameters are named after the index of their layer:
the weights of the first layer are ``0.weight``. An ``activation`` counts as a separate layer after its layer.

Examples
--------
>>> import bitgrain
>>> from bitgrain import layers
>>> network = bitgrain.Network((4,), [layers.Dense(8, activation="relu"), layers.Dense(3)])
>>> [parameter.name for parameter in network.parameters]
['0.weight', '0.bias', '2.weight', '2.bias']
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from bitgrain.errors import InputError

__all__ = [
    "Activation",
    "Attention",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "Dense",
    "Embedding",
    "Flatten",
    "Layer",
    "LayerNorm",
    "Lstm",
    "Pool",
    "Positions",
    "Residual",
    "RmsNorm",
    "Rnn",
    "Sequential",
    "Softmax",
    "SwiGlu",
]


@dataclass(frozen=True)
class Layer:
    """Base class of the layers: a description without weights, which belong to the network."""

    kind: ClassVar[str]

    def described(self) -> list[dict[str, Any]]:
        """Return the entries of this layer in a network file: one, or two with an activation."""
        entry: dict[str, Any] = {"kind": self.kind}
        entry |= {field.name: getattr(self, field.name) for field in fields(self) if field.name != "activation"}
        activation = getattr(self, "activation", None)
        return [entry] if activation is None else [entry, {"kind": "activation", "function": activation}]


@dataclass(frozen=True)
class Dense(Layer):
    """Fully connected layer over the last dimension: ``y = W x + b``.

    Parameters
    ----------
    outputs : int
        Number of outputs.
    bias : bool, optional
        Whether to add a bias to each output.
    activation : str, optional
        Activation function after the layer, as for :class:`Activation`.
    """

    outputs: int
    bias: bool = True
    activation: str | None = None
    kind: ClassVar[str] = "dense"


@dataclass(frozen=True)
class _Conv(Layer):
    channels: int
    kernel: int | Sequence[int] = 3
    stride: int | Sequence[int] = 1
    padding: int | Sequence[int] | str = "same"
    bias: bool = True
    activation: str | None = None
    dims: ClassVar[int]

    def described(self) -> list[dict[str, Any]]:
        entry, *behind = super().described()
        kernel = self._each("kernel", self.kernel)
        if isinstance(self.padding, str):
            if self.padding != "same":
                raise InputError(f'padding must be "same" or integers, not "{self.padding}"')
            padding = [size // 2 for size in kernel]
        else:
            padding = self._each("padding", self.padding)
        stride = self._each("stride", self.stride)
        return [{**entry, "kernel": kernel, "stride": stride, "padding": padding}, *behind]

    def _each(self, what: str, size: int | Sequence[int]) -> list[int]:
        sizes = list(size) if isinstance(size, Iterable) else [size] * self.dims
        if len(sizes) != self.dims:
            raise InputError(f"{what} must have {self.dims} numbers, not {len(sizes)}")
        return sizes


@dataclass(frozen=True)
class Conv1d(_Conv):
    """Convolution over a signal of shape ``(channels, length)``.

    Parameters
    ----------
    channels : int
        Number of output channels.
    kernel, stride : int or sequence of int, optional
        Kernel size and stride.
    padding : int, sequence of int or "same", optional
        Zero padding on both sides; ``"same"`` is half the kernel size, which preserves the size if the kernel size is
        odd.
    bias : bool, optional
        Whether to add a bias to each channel.
    activation : str, optional
        Activation function after the layer, as for :class:`Activation`.
    """

    kind: ClassVar[str] = "conv1d"
    dims: ClassVar[int] = 1


@dataclass(frozen=True)
class Conv2d(_Conv):
    """Convolution over an image of shape ``(channels, height, width)``; parameters as for :class:`Conv1d`."""

    kind: ClassVar[str] = "conv2d"
    dims: ClassVar[int] = 2


@dataclass(frozen=True)
class Conv3d(_Conv):
    """Convolution over a volume of shape ``(channels, depth, height, width)``; parameters as for :class:`Conv1d`."""

    kind: ClassVar[str] = "conv3d"
    dims: ClassVar[int] = 3


@dataclass(frozen=True)
class Rnn(Layer):
    """Recurrent layer: ``h = tanh(W x + U h' + b)``.

    Parameters
    ----------
    hidden : int
        Size of the hidden state.
    output : {"last", "sequence"}, optional
        Return the last hidden state, or the state at every position.
    """

    hidden: int
    output: str = "last"
    kind: ClassVar[str] = "rnn"


@dataclass(frozen=True)
class Lstm(Layer):
    """Long short-term memory (LSTM) layer; parameters as for :class:`Rnn`."""

    hidden: int
    output: str = "last"
    kind: ClassVar[str] = "lstm"


@dataclass(frozen=True)
class Embedding(Layer):
    """Lookup table of vectors, indexed by integers.

    Parameters
    ----------
    tokens : int
        Number of rows: indices range from 0 to ``tokens - 1``.
    outputs : int
        Length of a vector.
    """

    tokens: int
    outputs: int
    kind: ClassVar[str] = "embedding"


@dataclass(frozen=True)
class Positions(Layer):
    """Learned position and type embeddings, added to the vectors of a sequence.

    Parameters
    ----------
    length : int
        Maximum sequence length.
    types : int, optional
        Number of token types; 0 for no type embeddings.
    """

    length: int
    types: int = 0
    kind: ClassVar[str] = "positions"


@dataclass(frozen=True)
class Attention(Layer):
    """Multi-head self-attention.

    Parameters
    ----------
    heads : int
        Number of heads.
    causal : bool, optional
        Whether each position attends only to itself and earlier positions.
    bias : bool, optional
        Whether the four projections have biases.
    rope : float, optional
        Base of rotary position embeddings, usually 10000; None disables them.
    pairs : {"neighbors", "halves"}, optional
        Dimensions that are rotated together: adjacent ones as in Llama's weights, or the two halves as in Hugging
        Face's.
    """

    heads: int
    causal: bool = False
    bias: bool = True
    rope: float | None = None
    pairs: str = "neighbors"
    kind: ClassVar[str] = "attention"

    def described(self) -> list[dict[str, Any]]:
        """Return the entries of this layer in a network file."""
        entry: dict[str, Any] = {"kind": self.kind, "heads": self.heads, "causal": self.causal, "bias": self.bias}
        if self.rope is not None:
            entry["rope"] = {"base": self.rope, "pairs": self.pairs}
        return [entry]


@dataclass(frozen=True)
class LayerNorm(Layer):
    """Layer normalization: mean 0 and variance 1, then a learned scale and offset per dimension."""

    epsilon: float = 1e-5
    kind: ClassVar[str] = "layer_norm"


@dataclass(frozen=True)
class RmsNorm(Layer):
    """RMS normalization: mean square 1, then a learned scale per dimension."""

    epsilon: float = 1e-5
    kind: ClassVar[str] = "rms_norm"


@dataclass(frozen=True)
class SwiGlu(Layer):
    """SwiGLU block: ``down(silu(gate(x)) * up(x))``, with ``hidden`` intermediate dimensions."""

    hidden: int
    kind: ClassVar[str] = "swiglu"


@dataclass(frozen=True)
class Activation(Layer):
    """Element-wise activation function.

    Parameters
    ----------
    function : {"relu", "leaky_relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid"}
        Name of the function.
    """

    function: str
    kind: ClassVar[str] = "activation"


@dataclass(frozen=True)
class Softmax(Layer):
    """Softmax over the last dimension. Omit it before a cross-entropy loss, which includes it."""

    kind: ClassVar[str] = "softmax"


@dataclass(frozen=True)
class Flatten(Layer):
    """Flatten each sample to one dimension."""

    kind: ClassVar[str] = "flatten"


@dataclass(frozen=True)
class Pool(Layer):
    """Reduce a sequence of vectors to one: their ``"mean"``, or the ``"first"``."""

    pooling: str = "mean"
    kind: ClassVar[str] = "pool"


@dataclass(frozen=True)
class _Nested(Layer):
    layers: Sequence[Layer]

    def described(self) -> list[dict[str, Any]]:
        return [{"kind": self.kind, "layers": described(self.layers)}]


@dataclass(frozen=True)
class Residual(_Nested):
    """Layers with a residual connection: their output is added to their input."""

    kind: ClassVar[str] = "residual"


@dataclass(frozen=True)
class Sequential(_Nested):
    """Layers applied in sequence."""

    kind: ClassVar[str] = "sequential"


_KINDS: dict[str, type[Layer]] = {layer.kind: layer for name in __all__ if (layer := globals()[name]) is not Layer}


def described(layers: Iterable[Layer]) -> list[dict[str, Any]]:
    """Return the entries of layers in a network file."""
    if not isinstance(layers, Iterable):
        raise InputError(f"layers must be a list of layers, not {layers!r}")
    out: list[dict[str, Any]] = []
    for place, layer in enumerate(layers):
        if not isinstance(layer, Layer):
            raise InputError(f"layer {place} is {layer!r}, which is not one of bitgrain.layers")
        out += layer.described()
    return out


def to_json(layers: Iterable[Layer]) -> str:
    """Encode layers as a JSON list."""
    try:
        # Convert NumPy integers, which the JSON encoder rejects.
        return json.dumps(described(layers), allow_nan=False, default=operator.index)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"a layer has an invalid setting: {error}") from error


def from_json(text: str) -> list[Layer]:
    """Decode layers from a JSON list."""
    return [_made(entry) for entry in json.loads(text)]


def _made(entry: dict[str, Any]) -> Layer:
    settings = {key: value for key, value in entry.items() if key != "kind"}
    if "layers" in settings:
        settings["layers"] = [_made(inner) for inner in settings["layers"]]
    if settings.get("rope") is not None:
        rope = settings.pop("rope")
        settings |= {"rope": rope["base"], "pairs": rope["pairs"]}
    for what in ("kernel", "stride", "padding"):
        if what in settings:
            settings[what] = tuple(settings[what])
    return _KINDS[entry["kind"]](**settings)
