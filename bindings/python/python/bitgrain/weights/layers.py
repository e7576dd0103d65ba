"""What networks are made of.

How many inputs a layer has follows from what comes before it. Parameters are named after the place of their layer: the
weights of the first are ``0.weight``. An ``activation`` of a layer is a layer of its own behind it, and is counted.

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
    """One layer of a network. It says what it is to do; its weights are the network's."""

    kind: ClassVar[str]

    def described(self) -> list[dict[str, Any]]:
        """Give it as files of networks have it: one entry, or two with an activation."""
        entry: dict[str, Any] = {"kind": self.kind}
        entry |= {field.name: getattr(self, field.name) for field in fields(self) if field.name != "activation"}
        activation = getattr(self, "activation", None)
        return [entry] if activation is None else [entry, {"kind": "activation", "curve": activation}]


@dataclass(frozen=True)
class Dense(Layer):
    """A matrix over the last dimension: ``y = W x + b``.

    Parameters
    ----------
    outputs : int
        How many outputs there are.
    bias : bool, optional
        Whether something is added to each.
    activation : str, optional
        A curve behind it, as for :class:`Activation`.
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
                raise InputError(f'padding must be "same" or numbers, not "{self.padding}"; 0 is none at all')
            padding = [size // 2 for size in kernel]
        else:
            padding = self._each("padding", self.padding)
        stride = self._each("stride", self.stride)
        return [{**entry, "kernel": kernel, "stride": stride, "padding": padding}, *behind]

    def _each(self, what: str, size: int | Sequence[int]) -> list[int]:
        sizes = list(size) if isinstance(size, Iterable) else [size] * self.dims
        if len(sizes) != self.dims:
            raise InputError(f"{what} needs {self.dims} numbers, not {len(sizes)}")
        return sizes


@dataclass(frozen=True)
class Conv1d(_Conv):
    """Windows of a signal of the shape ``(channels, length)``.

    Parameters
    ----------
    channels : int
        Channels that come out.
    kernel, stride : int or sequence of int, optional
        The size of a window, and how far apart windows are.
    padding : int, sequence of int or "same", optional
        Zeros before and behind; ``"same"`` is half the kernel, with which an odd one leaves the size as it is.
    bias : bool, optional
        Whether something is added to each channel.
    activation : str, optional
        A curve behind it, as for :class:`Activation`.
    """

    kind: ClassVar[str] = "conv1d"
    dims: ClassVar[int] = 1


@dataclass(frozen=True)
class Conv2d(_Conv):
    """Windows of an image of the shape ``(channels, height, width)``; settings as for :class:`Conv1d`."""

    kind: ClassVar[str] = "conv2d"
    dims: ClassVar[int] = 2


@dataclass(frozen=True)
class Conv3d(_Conv):
    """Windows of a volume of the shape ``(channels, depth, height, width)``; settings as for :class:`Conv1d`."""

    kind: ClassVar[str] = "conv3d"
    dims: ClassVar[int] = 3


@dataclass(frozen=True)
class Rnn(Layer):
    """A state over a sequence: ``h = tanh(W x + U h' + b)``.

    Parameters
    ----------
    hidden : int
        Numbers of the state.
    output : {"last", "sequence"}, optional
        The state at the end, or at every place.
    """

    hidden: int
    output: str = "last"
    kind: ClassVar[str] = "rnn"


@dataclass(frozen=True)
class Lstm(Layer):
    """A state with a memory over a sequence; settings as for :class:`Rnn`."""

    hidden: int
    output: str = "last"
    kind: ClassVar[str] = "lstm"


@dataclass(frozen=True)
class Embedding(Layer):
    """Each number, which must be whole, becomes a row of a table.

    Parameters
    ----------
    tokens : int
        Rows of the table: numbers from 0 to one less.
    outputs : int
        Numbers of a row.
    """

    tokens: int
    outputs: int
    kind: ClassVar[str] = "embedding"


@dataclass(frozen=True)
class Positions(Layer):
    """Learned vectors for positions and types, added to those of a sequence.

    Parameters
    ----------
    length : int
        The longest sequence.
    types : int, optional
        How many types of places there are; 0 for none.
    """

    length: int
    types: int = 0
    kind: ClassVar[str] = "positions"


@dataclass(frozen=True)
class Attention(Layer):
    """Multi-head attention over sequences of vectors.

    Parameters
    ----------
    heads : int
        Into how many parts the vectors are divided.
    causal : bool, optional
        Whether each place sees only itself and those before.
    bias : bool, optional
        Whether the four matrices have biases.
    rope : float, optional
        Positions as angles, with this base, usually 10000; None for none.
    pairs : {"neighbours", "halves"}, optional
        Which numbers of a head are turned together: as in Llama's weights, or as in Hugging Face's.
    """

    heads: int
    causal: bool = False
    bias: bool = True
    rope: float | None = None
    pairs: str = "neighbours"
    kind: ClassVar[str] = "attention"

    def described(self) -> list[dict[str, Any]]:
        """Give it as files of networks have it."""
        entry: dict[str, Any] = {"kind": self.kind, "heads": self.heads, "causal": self.causal, "bias": self.bias}
        if self.rope is not None:
            entry["rope"] = {"base": self.rope, "pairs": self.pairs}
        return [entry]


@dataclass(frozen=True)
class LayerNorm(Layer):
    """Vectors to mean 0 and variance 1, then a factor and an offset for each place."""

    epsilon: float = 1e-5
    kind: ClassVar[str] = "layer_norm"


@dataclass(frozen=True)
class RmsNorm(Layer):
    """Vectors to mean square 1, then a factor for each place."""

    epsilon: float = 1e-5
    kind: ClassVar[str] = "rms_norm"


@dataclass(frozen=True)
class SwiGlu(Layer):
    """A gated block: ``down(silu(gate(x)) * up(x))``, with ``hidden`` numbers between."""

    hidden: int
    kind: ClassVar[str] = "swiglu"


@dataclass(frozen=True)
class Activation(Layer):
    """A curve that every number goes through.

    Parameters
    ----------
    curve : {"relu", "leaky_relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid"}
        Which.
    """

    curve: str
    kind: ClassVar[str] = "activation"


@dataclass(frozen=True)
class Softmax(Layer):
    """Shares of one along the last dimension. Not before the loss of a classifier, which takes care of it."""

    kind: ClassVar[str] = "softmax"


@dataclass(frozen=True)
class Flatten(Layer):
    """One dimension instead of several."""

    kind: ClassVar[str] = "flatten"


@dataclass(frozen=True)
class Pool(Layer):
    """A sequence of vectors to one: their ``"mean"``, or the ``"first"``."""

    pooling: str = "mean"
    kind: ClassVar[str] = "pool"


@dataclass(frozen=True)
class _Nested(Layer):
    layers: Sequence[Layer]

    def described(self) -> list[dict[str, Any]]:
        return [{"kind": self.kind, "layers": described(self.layers)}]


@dataclass(frozen=True)
class Residual(_Nested):
    """Layers whose result is added to what goes in."""

    kind: ClassVar[str] = "residual"


@dataclass(frozen=True)
class Sequential(_Nested):
    """Layers one after another."""

    kind: ClassVar[str] = "sequential"


_KINDS: dict[str, type[Layer]] = {layer.kind: layer for name in __all__ if (layer := globals()[name]) is not Layer}


def described(layers: Iterable[Layer]) -> list[dict[str, Any]]:
    """Layers as files of networks have them."""
    if not isinstance(layers, Iterable):
        raise InputError(f"layers must be a list of layers, not {layers!r}")
    out: list[dict[str, Any]] = []
    for place, layer in enumerate(layers):
        if not isinstance(layer, Layer):
            raise InputError(f"layer {place} is {layer!r}, not one of bitgrain.layers")
        out += layer.described()
    return out


def to_json(layers: Iterable[Layer]) -> str:
    """Layers as a JSON list."""
    try:
        # NumPy's whole numbers are numbers, too.
        return json.dumps(described(layers), allow_nan=False, default=operator.index)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"a layer has a setting that is no number: {error}") from error


def from_json(text: str) -> list[Layer]:
    """The layers that a JSON list describes."""
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
