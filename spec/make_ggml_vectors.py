#!/usr/bin/env python3
"""Create spec/vectors/ggml with the reference implementations (`pip install gguf libgguf`). Run once per format.

values.f32 holds 16 rows of 512 weights, importance.f32 one importance per column. For each format, NAME.bin has the
rows as quantized by the reference, NAME_importance.bin the same with the importances if the format supports them, and
NAME.f32 the dequantized first four rows of NAME.bin. NAME_noise.bin has four blocks of random bytes, NAME_noise.f32
their dequantized values. All files are little-endian. Existing files are never overwritten.
"""

import pathlib

import gguf
import libgguf
import numpy as np

FOLDER = pathlib.Path(__file__).parent / "vectors" / "ggml"
FORMATS = "Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL TQ1_0 TQ2_0 MXFP4".split()
NO_IMPORTANCE = {"Q8_0", "TQ1_0", "TQ2_0", "MXFP4"}
COLUMNS = 512


def rows(random):
    normal = lambda: random.standard_normal(COLUMNS)
    ramp = np.linspace(-1, 1, COLUMNS)
    spike = np.zeros(COLUMNS)
    spike[100], spike[300] = 3.0, -0.5
    return [
        normal() * 0.02,
        random.laplace(size=COLUMNS) * 0.05,
        random.standard_t(2, size=COLUMNS) * 0.1,
        np.where(random.random(COLUMNS) < 0.5, 0, normal()),
        normal(),
        random.uniform(-1, 1, COLUMNS),
        np.zeros(COLUMNS),
        np.ones(COLUMNS),
        np.full(COLUMNS, -0.7),
        spike,
        ramp,
        normal() * 1e-6,
        normal() * 1e3,
        np.where(np.arange(COLUMNS) % 2, 1.0, -1.0) * 0.3,
        np.abs(normal()) * 0.1 + 0.05,
        -np.abs(normal()) * 0.1 - 0.05,
    ]


def keep(name, array):
    path = FOLDER / name
    if not path.exists():
        path.write_bytes(array.tobytes())


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(20261116)
    keep("values.f32", np.array(rows(random), dtype="<f4"))
    keep("importance.f32", (np.where(random.random(COLUMNS) < 0.05, 0, random.standard_normal(COLUMNS) ** 2)).astype("<f4"))
    values = np.frombuffer((FOLDER / "values.f32").read_bytes(), "<f4").reshape(-1, COLUMNS)
    importance = np.frombuffer((FOLDER / "importance.f32").read_bytes(), "<f4")
    for name in FORMATS:
        kind = gguf.GGMLQuantizationType[name]
        codes = libgguf.quantize_rows(values, kind)
        try:
            assert (gguf.quants.quantize(values, kind) == codes).all(), f"the two references disagree on {name}"
        except NotImplementedError:
            pass  # gguf can dequantize K-quants but not quantize to them
        keep(f"{name.lower()}.bin", codes)
        keep(f"{name.lower()}.f32", gguf.quants.dequantize(codes[:4], kind).astype("<f4"))
        noise = np.random.default_rng(kind.value).integers(0, 256, (4, gguf.GGML_QUANT_SIZES[kind][1]), dtype=np.uint8)
        keep(f"{name.lower()}_noise.bin", noise)
        keep(f"{name.lower()}_noise.f32", gguf.quants.dequantize(noise, kind).astype("<f4"))
        if name not in NO_IMPORTANCE:
            keep(f"{name.lower()}_importance.bin", libgguf.quantize_rows(values, kind, importance))


if __name__ == "__main__":
    main()
