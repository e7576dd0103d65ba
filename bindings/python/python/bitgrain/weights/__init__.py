"""Weights as small numbers: tensors, networks, model files.

- :func:`quantize` makes a :class:`QuantizedTensor` of an array; :func:`dtypes` lists what it can be.
- :class:`WeightStore` keeps weights at float32 with quantized versions of them.
- :class:`Network` is made of :mod:`bitgrain.layers`, trains at float32 and runs in any format.
- :func:`open_model` reads GGUF, safetensors, npy and npz; :func:`save_tensors` writes the first two.
- :func:`quantize_file` and :func:`compare_files` work on files as the command line does.
- :class:`SentenceEncoder` turns sentences into vectors.
"""

from bitgrain.weights import layers
from bitgrain.weights.compare import FileComparison, TensorComparison, compare_files
from bitgrain.weights.convert import Conversion, ConvertedTensor, Plan, quantize_file, save_tensors
from bitgrain.weights.dtype import DTypeInfo, dtypes
from bitgrain.weights.encoder import SentenceEncoder
from bitgrain.weights.fidelity import Fidelity
from bitgrain.weights.history import Epoch, History, Score
from bitgrain.weights.model import FileTensor, ModelFile, open_model
from bitgrain.weights.network import Network
from bitgrain.weights.network_comparison import NetworkComparison
from bitgrain.weights.parameter import Parameter
from bitgrain.weights.state_dict import quantize_state_dict
from bitgrain.weights.tensor import QuantizedTensor, quantize
from bitgrain.weights.versions import WeightStore

__all__ = [
    "Conversion",
    "ConvertedTensor",
    "DTypeInfo",
    "Epoch",
    "Fidelity",
    "FileComparison",
    "FileTensor",
    "History",
    "ModelFile",
    "Network",
    "NetworkComparison",
    "Parameter",
    "Plan",
    "QuantizedTensor",
    "Score",
    "SentenceEncoder",
    "TensorComparison",
    "WeightStore",
    "compare_files",
    "dtypes",
    "layers",
    "open_model",
    "quantize",
    "quantize_file",
    "quantize_state_dict",
    "save_tensors",
]
