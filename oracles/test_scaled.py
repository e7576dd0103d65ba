"""Integers with scales, compared with the definition in a few lines of NumPy: codes and scales agree exactly."""

import numpy as np
import pytest
from packing import unpack

SIGNED = {"int8": (-127, 127), "int4": (-8, 7)}
UNSIGNED = {"uint8": 255, "uint4": 15}
SCALINGS = [("tensor", None), ("channel", None), ("group", 32), ("group", 64), ("group", 128)]
COLUMNS = 200  # the last group of a row is a short one


def grouped(rows, scaling, group):
    """Returns groups of weights that share a scale, and the shape of the scales."""
    if scaling == "tensor":
        return [rows.reshape(-1)]
    step = rows.shape[1] if scaling == "channel" else group
    return [row[at : at + step] for row in rows for at in range(0, rows.shape[1], step)]


def symmetric(values, lowest, highest):
    """scale = largest magnitude / highest code; code = value / scale, rounded half to even."""
    scale = np.float32(np.abs(values).max()) / np.float32(highest)
    if scale == 0:
        return np.zeros(len(values), int), scale
    return np.clip(np.rint(values / scale), lowest, highest).astype(int), scale


def affine(values, highest):
    """The range always includes 0, whose code is the zero point."""
    low, high = float(min(values.min(), 0)), float(max(values.max(), 0))
    scale = np.float32((high - low) / highest)
    if scale == 0:
        return np.zeros(len(values), int), scale, 0
    zero = min(int(np.rint(-low / float(scale))), highest)
    return np.clip(np.rint(values / scale) + zero, 0, highest).astype(int), scale, zero


def weights(random):
    normal = random.standard_normal((24, COLUMNS))
    normal[0] = 0
    normal[1] = 0.25
    normal[2] = np.abs(normal[2]) + 1
    normal[3] = -np.abs(normal[3]) - 1
    normal[4] = np.round(normal[4] * 2) / 2
    normal[5] *= 1e-20
    normal[6] *= 1e20
    normal[7, 17] = 50
    return {
        "rows": normal.astype(np.float32),
        "plain": random.standard_normal((33, COLUMNS)).astype(np.float32),
        "one_row": random.laplace(size=(1, COLUMNS)).astype(np.float32),
        "halves": (random.integers(-16, 17, (8, COLUMNS)) / 2).astype(np.float32),
    }


def options(scaling, group):
    return ["--scale", scaling, *(["--group", group] if group else [])]


@pytest.mark.parametrize("scaling, group", SCALINGS)
@pytest.mark.parametrize("name", SIGNED)
def test_signed_codes_and_scales_follow_the_definition(bitgrain, random, name, scaling, group):
    given = weights(random)
    found, _ = bitgrain.safetensors(given, name, *options(scaling, group))
    for key, rows in given.items():
        wanted = [symmetric(run, *SIGNED[name]) for run in grouped(rows, scaling, group)]
        codes = unpack(found[key], name, *rows.shape)
        assert np.array_equal(codes.reshape(-1), np.concatenate([codes for codes, _ in wanted])), f"{name} {key}: codes"
        scales = np.array([scale for _, scale in wanted])
        assert np.array_equal(found[f"{key}.scales"].reshape(-1), scales), f"{name} {key}: scales"


@pytest.mark.parametrize("scaling, group", SCALINGS)
@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_codes_scales_and_zero_points_follow_the_definition(bitgrain, random, name, scaling, group):
    given = weights(random)
    found, _ = bitgrain.safetensors(given, name, *options(scaling, group))
    for key, rows in given.items():
        wanted = [affine(run, UNSIGNED[name]) for run in grouped(rows, scaling, group)]
        codes = unpack(found[key], name, *rows.shape)
        assert np.array_equal(codes.reshape(-1), np.concatenate([codes for codes, *_ in wanted])), f"{name} {key}: codes"
        scales = np.array([scale for _, scale, _ in wanted])
        assert np.array_equal(found[f"{key}.scales"].reshape(-1), scales), f"{name} {key}: scales"
        zero_rows = 1 if scaling == "tensor" else len(rows)
        zeros = unpack(found[f"{key}.zeros"], name, zero_rows, len(wanted) // zero_rows)
        assert zeros.reshape(-1).tolist() == [zero for *_, zero in wanted], f"{name} {key}: zero points"


@pytest.mark.parametrize("scaling, group", SCALINGS)
@pytest.mark.parametrize("name", [*SIGNED, *UNSIGNED])
def test_values_are_codes_less_zero_points_times_scales(bitgrain, random, name, scaling, group):
    given = weights(random)
    found, path = bitgrain.safetensors(given, name, *options(scaling, group))
    back = bitgrain.values(path)
    for key, rows in given.items():
        codes = unpack(found[key], name, *rows.shape)
        scales, zeros = found[f"{key}.scales"].reshape(-1), np.zeros(found[f"{key}.scales"].size, int)
        if name in UNSIGNED:
            zero_rows = 1 if scaling == "tensor" else len(rows)
            zeros = unpack(found[f"{key}.zeros"], name, zero_rows, zeros.size // zero_rows).reshape(-1)
        runs = zip(grouped(codes, scaling, group), scales, zeros)
        wanted = np.concatenate([(run - zero).astype(np.float32) * scale for run, scale, zero in runs])
        # A zero code with a negative factor may give -0.
        assert np.array_equal(back[key].reshape(-1), wanted), f"{name} {key}"


@pytest.mark.parametrize("name", SIGNED)
def test_one_scale_covers_a_tensor_of_many_pieces(bitgrain, random, name):
    """The largest weight is in the last row, which is read last."""
    rows = random.standard_normal((700, 1001)).astype(np.float32)
    rows[-1, -1] = -9
    found, _ = bitgrain.safetensors({"w": rows}, name, "--scale", "tensor")
    codes, scale = symmetric(rows.reshape(-1), *SIGNED[name])
    assert found["w.scales"].tolist() == [scale]
    assert np.array_equal(unpack(found["w"], name, *rows.shape).reshape(-1), codes)


@pytest.mark.parametrize("name", ["int4", "int8", "uint4", "fp8_e4m3", "fp4"])
def test_a_searched_scale_never_has_a_larger_error_than_absmax(bitgrain, random, name):
    given = {"w": random.standard_t(3, (32, 256)).astype(np.float32)}
    errors = {}
    for how in ["absmax", "mse"]:
        _, path = bitgrain.safetensors(given, name, "--calibrate", how)
        errors[how] = float(np.square(bitgrain.values(path)["w"].astype(float) - given["w"]).sum())
    assert errors["mse"] <= errors["absmax"]
