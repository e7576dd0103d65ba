"""Quantized weights: tensors, networks and model files.

- :func:`quantize` converts an array to a :class:`QuantizedTensor`; :func:`dtypes` lists the formats.
- :class:`WeightStore` holds weights at float32 together with quantized versions.
- :class:`Network` is built from :mod:`bitgrain.layers`, trains at float32 and runs in any format.
- :func:`open_model` reads GGUF, safetensors, npy and npz files; :func:`save_tensors` writes GGUF and safetensors.
- :func:`quantize_file` and :func:`compare_files` quantize and compare model files, like the command line.
- :class:`SentenceEncoder` computes sentence embeddings.
- :class:`LanguageModel` generates text and measures perplexity.
"""

from bitgrain.weights import layers
from bitgrain.weights.compare import FileComparison, TensorComparison, compare_files
from bitgrain.weights.convert import Conversion, ConvertedTensor, Plan, quantize_file, save_tensors
from bitgrain.weights.dtype import DTypeInfo, dtypes
from bitgrain.weights.encoder import SentenceEncoder
from bitgrain.weights.fidelity import Fidelity
from bitgrain.weights.history import Epoch, History, Score
from bitgrain.weights.language import Estimate, LanguageModel, Perplexity
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
    "Estimate",
    "Fidelity",
    "FileComparison",
    "FileTensor",
    "History",
    "LanguageModel",
    "ModelFile",
    "Network",
    "NetworkComparison",
    "Parameter",
    "Perplexity",
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
