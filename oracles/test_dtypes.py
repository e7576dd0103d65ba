"""Number formats without scales, compared with NumPy and ml_dtypes: every code, every tie, one unit to each side."""

import json

import ml_dtypes
import numpy as np
import pytest
import stored
from packing import unpack

COLUMNS = 97  # odd, so that rows of packed codes end within a byte

# Our name, the name in safetensors, the dtype of the oracle, and the limit above which rounding overflows.
HALVES = [
    ("float16", "float16", np.float16, 65520.0),
    ("bfloat16", "bfloat16", ml_dtypes.bfloat16, float.fromhex("0x1.ffp127")),
]
BYTES = [
    ("fp8_e4m3", "float8_e4m3fn", ml_dtypes.float8_e4m3fn, np.nextafter(np.float32(464), np.float32(1e9))),
    ("fp8_e5m2", "float8_e5m2", ml_dtypes.float8_e5m2, 61440.0),
]
FP4 = ("fp4", None, ml_dtypes.float4_e2m1fn, np.inf)
SHORT_INTEGERS = {
    "int4": (ml_dtypes.int4, -8, 7),
    "int2": (ml_dtypes.int2, -2, 1),
    "uint4": (ml_dtypes.uint4, 0, 15),
    "uint2": (ml_dtypes.uint2, 0, 3),
    "int8": (np.int8, -127, 127),
    "uint8": (np.uint8, 0, 255),
}
WIDE_INTEGERS = {"int16": np.int16, "int32": np.int32, "int64": np.int64}
WIDE_UNSIGNED = {"uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64}


def codes(dtype):
    """Returns every code of a float format, in the order of its bits."""
    wide = np.dtype(dtype).itemsize == 2
    count = 1 << 16 if wide else 16 if dtype is ml_dtypes.float4_e2m1fn else 256
    return np.arange(count).astype(np.uint16 if wide else np.uint8).view(dtype)


def matrix(values, fill=0):
    """Arranges values in rows of an odd length, padded at the end."""
    rows = -(-len(values) // COLUMNS)
    return np.concatenate([values, np.full(rows * COLUMNS - len(values), fill, values.dtype)]).reshape(rows, COLUMNS)


def hostile(random, dtype, limit):
    """Values of the format, midpoints between neighbors, one float32 to either side of both, and random values."""
    exact = codes(dtype).astype(np.float32)
    exact = np.unique(exact[np.isfinite(exact)])
    middle = ((exact[1:].astype(np.float64) + exact[:-1]) / 2).astype(np.float32)
    ties = np.concatenate([exact, middle])
    around = [np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, np.float32(-np.inf))]
    spread = random.standard_normal(4000) * 2.0 ** random.integers(-30, 16, 4000)
    subnormal = random.integers(0, 1 << 23, 500, dtype=np.uint32).view(np.float32)
    tiny = np.array([0.0, -0.0, 1e-45, -1e-45, 1e-38, -1e-38], np.float32)
    values = np.concatenate([ties, *around, spread.astype(np.float32), subnormal, -subnormal, tiny])
    return values[np.abs(values) < limit]


@pytest.mark.parametrize("name, foreign, dtype, limit", HALVES + BYTES)
def test_every_value_is_rounded_as_by_the_oracle(bitgrain, random, name, foreign, dtype, limit):
    values = matrix(hostile(random, dtype, limit))
    path = bitgrain.quantize(bitgrain.save({"w": values}), name, ".safetensors", "--scale", "none")
    _, shape, found = stored.load(path)["w"]
    assert shape == list(values.shape)
    width = np.dtype(dtype).itemsize
    ours = np.frombuffer(found, f"<u{width}")
    wanted = values.astype(dtype).reshape(-1).view(f"<u{width}")
    at = np.flatnonzero(ours != wanted)
    assert not len(at), f"{name}: {len(at)} of {len(ours)} differ, first {values.reshape(-1)[at[0]]!r}: {ours[at[0]]:#x}, not {wanted[at[0]]:#x}"


def test_fp4_is_rounded_as_by_the_oracle(bitgrain, random):
    name, _, dtype, limit = FP4
    values = matrix(hostile(random, dtype, limit))
    path = bitgrain.quantize(bitgrain.save({"w": values}), name, ".safetensors", "--scale", "none")
    ours = unpack(np.frombuffer(stored.load(path)["w"][2], np.uint8), name, *values.shape)
    assert np.array_equal(ours, values.astype(dtype).view(np.uint8) & 15)


@pytest.mark.parametrize("name, foreign, dtype, limit", HALVES + BYTES)
def test_every_code_of_a_foreign_file_is_decoded_as_by_the_oracle(bitgrain, name, foreign, dtype, limit):
    """Includes the codes of NaN and infinities, which are decoded as the requested zeros."""
    every = matrix(codes(dtype))
    path = stored.save(bitgrain.path(".safetensors"), {"w": (foreign, every)})
    back = stored.load(bitgrain.quantize(path, "float32", ".safetensors", "--non-finite", "zero"))["w"]
    ours = np.frombuffer(back[2], "<f4").reshape(every.shape)
    wanted = every.astype(np.float32)
    finite = np.isfinite(wanted)
    assert np.array_equal(ours.view(np.uint32)[finite], wanted.view(np.uint32)[finite])
    assert not ours[~finite].any()


@pytest.mark.parametrize("name, foreign, dtype, limit", [*BYTES, FP4])
def test_every_finite_code_round_trips(bitgrain, name, foreign, dtype, limit):
    every = codes(dtype).astype(np.float32)
    every = matrix(every[np.isfinite(every)])
    path = bitgrain.quantize(bitgrain.save({"w": every}), name, ".safetensors", "--scale", "none")
    assert np.array_equal(bitgrain.values(path)["w"].view(np.uint32), every.view(np.uint32))


@pytest.mark.parametrize("name, largest", [("fp8_e4m3", 448.0), ("fp8_e5m2", 57344.0), ("fp4", 6.0)])
def test_values_out_of_range_saturate(bitgrain, name, largest):
    """The oracles return NaN or an infinity there, which weights must not become."""
    beyond = np.array([[largest * 1.2, 1e6, 3e38], [-largest * 1.2, -1e6, -3e38]], np.float32)
    path = bitgrain.quantize(bitgrain.save({"w": beyond}), name, ".safetensors", "--scale", "none")
    assert np.array_equal(bitgrain.values(path)["w"], np.sign(beyond) * np.float32(largest))


@pytest.mark.parametrize("name", ["float16", "q4_0"])
def test_overflow_to_infinity_is_rejected_by_name(bitgrain, name):
    source = bitgrain.save({"too.large": np.full((2, 32), 1e30, np.float32)})
    with pytest.raises(AssertionError, match="too.large"):
        bitgrain.quantize(source, name, ".gguf")


def integers(random, lo, hi):
    """Values around every code and every tie of a short range, or around the ends of a long one."""
    short = np.arange(max(lo, -300) - 2, min(hi, 300) + 3, 0.5)
    long = np.array([lo, hi, lo / 2, hi / 3, lo * 2.0, hi * 2.0, 1e30, -1e30])
    ties = np.concatenate([short, long]).astype(np.float32)
    around = [np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, np.float32(-np.inf))]
    spread = random.standard_normal(2000).astype(np.float32) * np.float32(hi)
    return np.concatenate([ties, *around, spread, np.array([-0.0, 1e-45], np.float32)])


@pytest.mark.parametrize("name", SHORT_INTEGERS)
def test_short_integers_are_rounded_half_to_even_and_clamped(bitgrain, random, name):
    dtype, lo, hi = SHORT_INTEGERS[name]
    values = matrix(integers(random, lo, hi))
    path = bitgrain.quantize(bitgrain.save({"w": values}), name, ".safetensors", "--scale", "none")
    # ml_dtypes wraps around, so its input is clamped.
    wanted = np.clip(np.rint(values), lo, hi).astype(dtype).astype(int)
    ours = unpack(np.frombuffer(stored.load(path)["w"][2], np.uint8), name, *values.shape)
    assert np.array_equal(ours, wanted)
    assert set(wanted.reshape(-1)) == set(range(lo, hi + 1))
    assert np.array_equal(bitgrain.values(path)["w"], wanted.astype(np.float32))


@pytest.mark.parametrize("name", [*WIDE_INTEGERS, *WIDE_UNSIGNED])
def test_wide_integers_are_rounded_half_to_even_and_clamped(bitgrain, random, name):
    dtype = (WIDE_INTEGERS | WIDE_UNSIGNED)[name]
    hi = int(np.iinfo(dtype).max)
    lo = 0 if name in WIDE_UNSIGNED else -hi
    values = matrix(integers(random, lo, hi))
    path = bitgrain.quantize(bitgrain.save({"w": values}), name, ".safetensors", "--scale", "none")
    ours = np.frombuffer(stored.load(path)["w"][2], dtype)
    # Integers of Python are exact where a float32 exceeds 2^53.
    wanted = [min(max(int(np.rint(np.float64(x))), lo), hi) for x in values.reshape(-1)]
    assert ours.tolist() == wanted


@pytest.mark.parametrize("name, rule", [("ternary", lambda x: np.clip(np.rint(x), -1, 1)), ("binary", lambda x: x >= 0)])
def test_ternary_and_binary_codes_follow_their_rule(bitgrain, random, name, rule):
    values = matrix(integers(random, -1, 1))
    path = bitgrain.quantize(bitgrain.save({"w": values}), name, ".safetensors", "--scale", "none")
    ours = unpack(np.frombuffer(stored.load(path)["w"][2], np.uint8), name, *values.shape)
    assert np.array_equal(ours, rule(values).astype(int))


@pytest.mark.parametrize("name", ["fp4", "int4", "uint2", "binary"])
def test_the_note_describes_packed_codes(bitgrain, name):
    path = bitgrain.quantize(bitgrain.save({"w": np.ones((3, 5, 7), np.float32)}), name, ".safetensors", "--scale", "none")
    note = json.loads(stored.metadata(path)["bitgrain"])
    assert note == {"version": 1, "weights": {"w": {"format": f"{name}/none", "shape": [3, 5, 7]}}}
    assert stored.load(path)["w"][0] == "U8"
