"""Quantization and dequantization, compared with llama.cpp's Python package and ml_dtypes."""

import copy
import os
import pathlib
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import gguf
import ml_dtypes
import numpy as np
import pytest
from gguf.quants import dequantize as ggml_dequantize

import bitgrain

FORMATS = [dtype.name for dtype in bitgrain.weights.dtypes()]
BLOCKS = [dtype.name for dtype in bitgrain.weights.dtypes() if dtype.kind == "block" and dtype.name != "q4f32"]


@pytest.fixture(scope="module")
def weights() -> np.ndarray:
    return np.random.default_rng(1).normal(0, 0.1, (12, 512)).astype(np.float32)


def test_21_dtypes_and_blocks_are_listed() -> None:
    kinds = [dtype.kind for dtype in bitgrain.weights.dtypes()]
    assert len([kind for kind in kinds if kind != "block"]) == 21
    assert {"q4_0", "q4_k", "q8_0", "iq4_nl", "mxfp4", "q4f32"} <= set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_round_trips_approximately(name: str, weights: np.ndarray) -> None:
    tensor = bitgrain.quantize(weights, name)
    back = tensor.dequantize()
    assert back.shape == weights.shape
    assert back.dtype == np.float32
    assert back.flags.c_contiguous
    assert tensor.dtype == name
    error = tensor.error
    assert error is not None
    off = np.float64(weights) - back
    assert error.max_error == pytest.approx(np.abs(off).max(), rel=1e-6)
    assert error.rmse == pytest.approx(np.sqrt((off**2).mean()), rel=1e-6)
    assert error.relative_rmse == pytest.approx(np.sqrt((off**2).mean() / np.float64(weights**2).mean()), rel=1e-5)
    assert tensor.compare(weights) == error
    bits = next(dtype.bits for dtype in bitgrain.weights.dtypes() if dtype.name == name)
    assert bits <= tensor.bits_per_weight <= bits + 32 / 64 + 4 / 64 + 1
    assert tensor.nbytes == tensor.codes.nbytes + tensor.scales.nbytes + tensor.zeros.nbytes


@pytest.mark.parametrize("name", BLOCKS)
def test_llama_cpp_reads_the_blocks(name: str, weights: np.ndarray) -> None:
    codes = bitgrain.quantize(weights, name).codes
    kind = gguf.GGMLQuantizationType[name.upper()]
    np.testing.assert_array_equal(ggml_dequantize(codes, kind), bitgrain.quantize(weights, name).dequantize())


@pytest.mark.parametrize("name", ["q4_0", "q5_0", "q8_0", "q4_1", "q5_1"])
def test_blocks_equal_those_of_llama_cpp(name: str, weights: np.ndarray) -> None:
    theirs = gguf.quants.quantize(weights, gguf.GGMLQuantizationType[name.upper()])
    np.testing.assert_array_equal(bitgrain.quantize(weights, name).codes, theirs)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("float16", np.float16),
        ("bfloat16", ml_dtypes.bfloat16),
        ("fp8_e4m3/none", ml_dtypes.float8_e4m3fn),
        ("fp8_e5m2/none", ml_dtypes.float8_e5m2),
    ],
)
def test_short_floats_round_as_ml_dtypes_does(name: str, theirs: type, weights: np.ndarray) -> None:
    tensor = bitgrain.quantize(weights, name)
    cast = weights.astype(theirs)
    np.testing.assert_array_equal(tensor.codes, cast.view(tensor.codes.dtype))
    assert tensor.codes.dtype in (np.float16, np.uint16, np.uint8)
    np.testing.assert_array_equal(tensor.dequantize(), cast.astype(np.float32))


def test_codes_times_scales_are_the_weights(weights: np.ndarray) -> None:
    tensor = bitgrain.quantize(weights, "int8")
    assert (tensor.codes.dtype, tensor.codes.shape, tensor.scales.shape) == (np.int8, weights.shape, (12, 1))
    np.testing.assert_array_equal(tensor.codes * tensor.scales, tensor.dequantize())
    affine = bitgrain.quantize(weights, "uint8", group=128)
    assert (affine.scales.shape, affine.zeros.shape, affine.zeros.dtype) == ((12, 4), (12, 4), np.uint8)
    codes = affine.codes.astype(np.float32) - np.repeat(affine.zeros, 128, axis=1)
    np.testing.assert_array_equal(codes * np.repeat(affine.scales, 128, axis=1), affine.dequantize())
    whole = bitgrain.quantize(weights, "int16", scale="tensor")
    assert whole.scales.shape == (1,)
    np.testing.assert_allclose(whole.codes * np.float64(whole.scales), whole.dequantize(), rtol=1e-6)


def test_codes_below_a_byte_are_packed_low_bits_first(weights: np.ndarray) -> None:
    tensor = bitgrain.quantize(weights, "int4", group=32)
    assert (tensor.codes.shape, tensor.scales.shape) == ((12, 256), (12, 16))
    low, high = tensor.codes & 15, tensor.codes >> 4
    codes = np.stack([low, high], axis=-1).reshape(12, 512).astype(np.int8)
    codes = np.where(codes > 7, codes - 16, codes)
    np.testing.assert_array_equal(codes * np.repeat(tensor.scales, 32, axis=1), tensor.dequantize())


def test_every_setting_has_an_effect(weights: np.ndarray) -> None:
    def lost(**settings: object) -> float:
        error = bitgrain.quantize(weights, "int4", **settings).error
        assert error is not None
        return error.relative_rmse

    assert lost(group=32) < lost(group=128) < lost(scale="channel") < lost(scale="tensor")
    assert lost(calibrate="mse") < lost()
    assert bitgrain.quantize(weights, "int4/32") == bitgrain.quantize(weights, "int4", group=32)
    assert bitgrain.quantize(weights, "int4/32", scale="group") == bitgrain.quantize(weights, "int4/32")
    assert bitgrain.quantize(weights, "int4", group=24).scales.shape == (12, 22)  # the last group is shorter
    importance = np.ones(512)
    importance[:32] = 1000
    first, plain = bitgrain.quantize(weights, "q4_0", importance=importance), bitgrain.quantize(weights, "q4_0")
    assert first != plain or bitgrain.quantize(weights, "q4_k", importance=importance) != bitgrain.quantize(
        weights, "q4_k"
    )


@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3, 5), (0,), (0, 4), (4, 0), (2, 0, 3)])
def test_arrays_of_any_shape(shape: tuple[int, ...]) -> None:
    array = np.ones(shape, np.float32)
    for name in ("float16", "int8", "int4", "uint4", "binary"):
        tensor = bitgrain.quantize(array, name)
        assert tensor.shape == shape
        assert tensor.dequantize().shape == shape
        np.testing.assert_allclose(tensor.dequantize(), array, rtol=0.2)
        assert tensor == pickle.loads(pickle.dumps(tensor))


def test_views_and_other_dtypes_are_converted_to_float32(weights: np.ndarray) -> None:
    for view in (weights.T, weights[::2, ::-1], np.asfortranarray(weights), weights.astype(np.float64)):
        assert bitgrain.quantize(view, "int8") == bitgrain.quantize(np.ascontiguousarray(view, np.float32), "int8")
    whole = np.arange(-8, 8).reshape(2, 8)
    np.testing.assert_array_equal(bitgrain.quantize(whole, "float32").dequantize(), whole)
    short = weights.astype(ml_dtypes.bfloat16)
    assert bitgrain.quantize(short, "int8") == bitgrain.quantize(short.astype(np.float32), "int8")
    assert bitgrain.quantize([[1.0, 2.0]], "int8").shape == (1, 2)


def test_numpy_dtypes_name_formats(weights: np.ndarray) -> None:
    assert bitgrain.quantize(weights, np.float16).dtype == "float16"
    assert bitgrain.quantize(weights, np.int8).dtype == "int8"
    assert bitgrain.quantize(weights, ml_dtypes.bfloat16).dtype == "bfloat16"
    assert bitgrain.quantize(weights, ml_dtypes.float8_e4m3fn).dtype == "fp8_e4m3"
    assert bitgrain.quantize(weights, bitgrain.weights.dtypes()[10]).dtype == bitgrain.weights.dtypes()[10].name


def test_float32_in_c_order_is_neither_modified_nor_retained(weights: np.ndarray) -> None:
    given = weights.copy()
    tensor = bitgrain.quantize(given, "int8")
    before = tensor.dequantize()
    given[:] = 0
    np.testing.assert_array_equal(tensor.dequantize(), before)
    codes = tensor.codes
    codes[:] = 0
    np.testing.assert_array_equal(tensor.dequantize(), before)


def test_tensors_are_values(weights: np.ndarray) -> None:
    tensor = bitgrain.quantize(weights, "uint4", group=32, calibrate="hqq")
    for other in (pickle.loads(pickle.dumps(tensor)), copy.copy(tensor), copy.deepcopy(tensor)):
        assert other == tensor
        assert other.error == tensor.error
        assert other.dtype == "uint4/32"
    assert tensor != bitgrain.quantize(weights, "uint4")
    assert repr(tensor) == "QuantizedTensor(uint4/32, shape=(12, 512), 3936 bytes)"
    np.testing.assert_array_equal(np.asarray(tensor), tensor.dequantize())
    assert np.asarray(tensor, dtype=np.float64).dtype == np.float64
    assert len(tensor) == 12


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_non_finite_values_are_named_or_replaced(odd: float, weights: np.ndarray) -> None:
    broken = weights.copy()
    broken[3, 7] = odd
    for name in ("int8", "int8/tensor", "q8_0", "fp8_e4m3", "ternary"):
        with pytest.raises(bitgrain.errors.InputError, match=r"index \(3, 7\)"):
            bitgrain.quantize(broken, name)
        assert np.isfinite(bitgrain.quantize(broken, name, non_finite="zero").dequantize()).all()
        assert np.isfinite(bitgrain.quantize(broken, name, non_finite="clamp").dequantize()).all()
    np.testing.assert_array_equal(bitgrain.quantize(broken, "float32").dequantize(), broken)
    with pytest.raises(bitgrain.errors.InputError, match="index 2 "):
        bitgrain.quantize([1.0, 2.0, odd], "int8")


def test_bad_arrays_are_rejected_with_a_fix() -> None:
    for array in (np.array(["a"]), np.array([None]), np.array([1j]), np.array([object()])):
        with pytest.raises(bitgrain.errors.DTypeError, match="astype") as caught:
            bitgrain.quantize(array, "int8")
        assert isinstance(caught.value, TypeError)
    with pytest.raises(bitgrain.errors.InputError, match="not an array"):
        bitgrain.quantize([[1.0, 2.0], [3.0]], "int8")
    with pytest.raises(bitgrain.errors.InputError, match="beyond float32"):
        bitgrain.quantize(np.array([1e300]), "int8")
    with pytest.raises(bitgrain.errors.InputError, match=r"(?s)float16.*infinite"):
        bitgrain.quantize(np.array([1.0, 1e6], np.float32), "float16")


def test_bad_settings_are_rejected_with_the_valid_choices(weights: np.ndarray) -> None:
    with pytest.raises(bitgrain.errors.InputError, match=r'"int3".*float64, .*q4_k.*q4f32') as caught:
        bitgrain.quantize(weights, "int3")
    assert isinstance(caught.value, ValueError)
    with pytest.raises(bitgrain.errors.InputError, match="multiple of 8"):
        bitgrain.quantize(weights, "int4", group=20)
    with pytest.raises(bitgrain.errors.InputError, match="group cannot be -8"):
        bitgrain.quantize(weights, "int4", group=-8)
    with pytest.raises(bitgrain.errors.DTypeError, match="an integer"):
        bitgrain.quantize(weights, "int4", group="32")
    with pytest.raises(bitgrain.errors.InputError, match="weight format"):
        bitgrain.quantize(weights, None)
    with pytest.raises(bitgrain.errors.InputError, match="block length 256"):
        bitgrain.quantize(weights[:, :500], "q4_k")
    with pytest.raises(bitgrain.errors.InputError, match="no scales"):
        bitgrain.quantize(weights, "float16", group=32)
    with pytest.raises(bitgrain.errors.InputError, match="their own scales"):
        bitgrain.quantize(weights, "q4_0", calibrate="mse")
    with pytest.raises(bitgrain.errors.InputError, match="group=64 contradicts"):
        bitgrain.quantize(weights, "int4/32", group=64)
    with pytest.raises(bitgrain.errors.InputError, match="scale=channel contradicts"):
        bitgrain.quantize(weights, "int4/64", scale="channel")
    with pytest.raises(bitgrain.errors.InputError, match="calibrate=mse has no effect on int16"):
        bitgrain.quantize(weights, "int16", calibrate="mse")
    with pytest.raises(bitgrain.errors.InputError, match="channel or group"):
        bitgrain.quantize(weights, "int8", scale="row")
    with pytest.raises(bitgrain.errors.InputError, match="absmax"):
        bitgrain.quantize(weights, "int8", calibrate="best")
    with pytest.raises(bitgrain.errors.InputError, match="clamp"):
        bitgrain.quantize(weights, "int8", non_finite="drop")
    with pytest.raises(bitgrain.errors.InputError, match="512"):
        bitgrain.quantize(weights, "q4_0", importance=[1.0, 2.0])
    with pytest.raises(bitgrain.errors.InputError, match=r"dtypes\(\)"):
        bitgrain.quantize(weights, object())
    with pytest.raises(bitgrain.errors.InputError, match="shape"):
        bitgrain.quantize(weights, "int8").compare(weights[0])


def test_concurrent_calls_give_the_same_bytes(weights: np.ndarray) -> None:
    names = FORMATS * 3
    alone = {name: bitgrain.quantize(weights, name) for name in FORMATS}
    with ThreadPoolExecutor(8) as pool:
        tensors = list(pool.map(lambda name: bitgrain.quantize(weights, name), names))
        backs = list(pool.map(lambda tensor: tensor.dequantize(), tensors))
    for name, tensor, back in zip(names, tensors, backs, strict=True):
        assert tensor == alone[name]
        np.testing.assert_array_equal(back, alone[name].dequantize())


def test_a_state_dict_is_quantized_and_keeps_its_vectors(weights: np.ndarray) -> None:
    state = {"w": weights, "out.weight": weights * 2, "b": weights[0], "ids": np.arange(6).reshape(2, 3)}
    small = bitgrain.weights.quantize_state_dict(
        state, "int4", group=32, keep={"out.*": "int8", "b": "float16", "o*": "keep"}
    )
    assert {name: getattr(one, "dtype", None) for name, one in small.items()} == {
        "w": "int4/32",
        "out.weight": "int8/32",
        "b": "float16",
        "ids": np.dtype(int),
    }
    broken = {"w": np.full((2, 2), np.nan)}
    with pytest.raises(bitgrain.errors.InputError, match=r"`w`.*index"):
        bitgrain.weights.quantize_state_dict(broken, "int8")


def test_torch_tensors_are_accepted() -> None:
    torch = pytest.importorskip("torch")
    layer = torch.nn.Linear(64, 8)
    small = bitgrain.weights.quantize_state_dict(layer.state_dict(), "int8")
    assert small["weight"] == bitgrain.quantize(layer.weight.detach().numpy(), "int8")
    assert bitgrain.quantize(layer.weight, "int8") == small["weight"]
    half = layer.weight.to(torch.bfloat16)
    assert bitgrain.quantize(half, "int8") == bitgrain.quantize(half.detach().float().numpy(), "int8")


def test_masked_and_unaligned_arrays(weights: np.ndarray) -> None:
    with pytest.raises(bitgrain.errors.InputError, match="masked values"):
        bitgrain.quantize(np.ma.masked_greater(weights, 0), "int8")
    unaligned = np.ndarray((8,), "f4", bytearray(33), offset=1)
    assert bitgrain.quantize(unaligned, "int8").shape == (8,)


def test_patterns_follow_the_rules_of_quantize_file(weights: np.ndarray) -> None:
    state = {"l[0].w": weights, "l0.w": weights}
    small = bitgrain.weights.quantize_state_dict(state, "int8", keep={"l[0].*": "keep"})
    assert isinstance(small["l[0].w"], np.ndarray)
    assert small["l0.w"].dtype == "int8"
    with pytest.raises(KeyError, match="'typo' matches no tensor"):
        bitgrain.weights.quantize_state_dict(state, "int8", keep={"typo": "keep"})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="requires fork")
def test_a_forked_process_starts_its_own_threads(tmp_path: pathlib.Path) -> None:
    program = """
import os, sys, threading, numpy as np, bitgrain
from bitgrain import layers
V = np.random.default_rng(0).standard_normal((20000, 128), dtype=np.float32)
network = bitgrain.Network(128, [layers.Dense(64), layers.Dense(2)])
path = sys.argv[1] + "/model.safetensors"

def work():
    small = bitgrain.quantize(V, "q8_0")
    network.morph("int8")
    again = lambda epoch: network.predict(V).size < 0
    network.fit(V[:500], np.arange(500) % 2, epochs=2, progress=False, callback=again)
    store = bitgrain.weights.WeightStore(V)
    done = bitgrain.quantize_file({"v": V}, f"{path}.{os.getpid()}.safetensors", "int8", progress=False)
    return small.dequantize().sum() + network.predict(V).sum() + store.multiply(V[:10], "int8").sum()

work()
child = os.fork()
if child == 0:
    threads = [threading.Thread(target=lambda: bitgrain.quantize(V, "int4")) for _ in range(3)]
    [thread.start() for thread in threads]
    work()
    [thread.join() for thread in threads]
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print("done")
"""
    words = [sys.executable, "-W", "ignore", "-c", program, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "done\n", done.stderr


def test_llama_cpp_format_mixtures_are_distinguished(weights: np.ndarray) -> None:
    for name in ("Q4_K_M", "q3_k_s"):
        with pytest.raises(bitgrain.errors.InputError, match=r"is a mixture of llama\.cpp formats"):
            bitgrain.quantize(weights, name)
