#!/usr/bin/env python3
"""Add llama.cpp's codebook formats to spec/vectors/ggml. Run once per format, after make_ggml_vectors.py.

    pip install gguf libgguf numpy
    npm pack @node-llama-cpp/linux-x64      # holds libggml-base.so
    make_codebook_vectors.py libggml-base.so

NAME_noise.bin has eight blocks of random bytes and NAME_noise.f32 their values, by llama.cpp's own code and, where they
know the format, equally by the packages gguf and libgguf. NAME.bin and NAME_importance.bin have the rows of values.f32 as
llama.cpp quantizes them without and with importance.f32. All files are little-endian. Existing files are never overwritten.
"""

import ctypes
import pathlib
import sys

import gguf
import libgguf
import numpy as np

FOLDER = pathlib.Path(__file__).parent / "vectors" / "ggml"
COLUMNS = 512
# Weights, bytes, and llama.cpp's number of the type.
FORMATS = {
    "iq1_s": (256, 50, 19),
    "iq1_m": (256, 56, 29),
    "iq2_xxs": (256, 66, 16),
    "iq2_xs": (256, 74, 17),
    "iq2_s": (256, 82, 22),
    "iq3_xxs": (256, 98, 18),
    "iq3_s": (256, 110, 21),
    "iq4_xs": (256, 136, 23),
    "nvfp4": (64, 36, 40),
    "q1_0": (128, 18, 41),
    "q2_0": (64, 18, 42),
}
ENCODED = {"iq4_xs": True, "iq3_s": True, "iq2_xs": False}  # whether importances are optional


def keep(name, array):
    path = FOLDER / name
    if not path.exists():
        path.write_bytes(np.ascontiguousarray(array).tobytes())


def main():
    library = ctypes.CDLL(sys.argv[1])
    for name, (weights, size, number) in FORMATS.items():
        noise = np.random.default_rng(number).integers(0, 256, (8, size), dtype=np.uint8)
        values = np.empty((8, weights), np.float32)
        decode = getattr(library, f"dequantize_row_{name}")
        pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
        decode(pointer(noise), pointer(values), ctypes.c_int64(values.size))
        kind = next((kind for kind in gguf.GGMLQuantizationType if kind == number), None)
        others = []
        for package in (gguf.quants.dequantize, libgguf.dequantize_rows):
            try:
                others.append(np.asarray(package(noise, kind)).reshape(8, weights))
            except (NotImplementedError, KeyError, AttributeError, TypeError, ValueError) as error:
                print(name, package.__module__, error)
        for other in others:
            assert np.array_equal(other, values, equal_nan=True), name
        keep(f"{name}_noise.bin", noise)
        keep(f"{name}_noise.f32", values.astype("<f4"))
    rows = np.frombuffer((FOLDER / "values.f32").read_bytes(), "<f4").reshape(-1, COLUMNS)
    importance = np.frombuffer((FOLDER / "importance.f32").read_bytes(), "<f4")
    for name, optional in ENCODED.items():
        _, size, number = FORMATS[name]
        library.ggml_quantize_init(number)
        for ending, given in (("", None), ("_importance", importance)):
            if given is None and not optional:
                continue
            out = np.empty((len(rows), COLUMNS // 256 * size), np.uint8)
            count = getattr(library, f"quantize_{name}")(
                pointer(rows),
                pointer(out),
                ctypes.c_int64(len(rows)),
                ctypes.c_int64(COLUMNS),
                None if given is None else pointer(given),
            )
            assert count == out.size
            twin = libgguf.quantize_rows(rows, gguf.GGMLQuantizationType(number), given)
            assert np.array_equal(np.asarray(twin).reshape(out.shape), out), f"the references disagree on {name}{ending}"
            keep(f"{name}{ending}.bin", out)


if __name__ == "__main__":
    main()
