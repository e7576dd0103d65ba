#!/usr/bin/env python3
"""Create spec/vectors/containers with reference packages (`pip install gguf safetensors numpy ml_dtypes`); run once.

The files are small samples of all supported containers, written by other libraries. Their expected content is in
crates/bitgrain-formats/tests/golden.rs. Existing files are never overwritten.
"""

import io
import pathlib
import zipfile

import gguf
import ml_dtypes
import numpy as np
from safetensors.numpy import save

FOLDER = pathlib.Path(__file__).parent / "vectors" / "containers"
V = gguf.GGUFValueType


def keep(name, content):
    path = FOLDER / name
    if not path.exists():
        path.write_bytes(content)


def ramp(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) / 8 - 1


def make_gguf(name, alignment=None, endian=gguf.GGUFEndian.LITTLE, tensors=True):
    path = FOLDER / name
    if path.exists():
        return
    writer = gguf.GGUFWriter(path, "llama", endianess=endian)
    if alignment:
        writer.add_custom_alignment(alignment)
    for key, value, kind in [
        ("t.u8", 200, V.UINT8), ("t.i8", -100, V.INT8), ("t.u16", 60000, V.UINT16), ("t.i16", -30000, V.INT16),
        ("t.u32", 4000000000, V.UINT32), ("t.i32", -2000000000, V.INT32), ("t.f32", 0.15625, V.FLOAT32),
        ("t.u64", 2**63 + 1, V.UINT64), ("t.i64", -(2**62), V.INT64), ("t.f64", -1e300, V.FLOAT64),
        ("t.bool", True, V.BOOL), ("t.string", "grün ✓", V.STRING),
    ]:
        writer.add_key_value(key, value, kind)
    for key, values, kind in [
        ("a.u8", [1, 2, 255], V.UINT8), ("a.i8", [-1, 2], V.INT8), ("a.u16", [1, 65535], V.UINT16),
        ("a.i16", [-1, 2], V.INT16), ("a.u32", [1, 2**32 - 1], V.UINT32), ("a.i32", [-1, 2], V.INT32),
        ("a.f32", [0.5, -0.25], V.FLOAT32), ("a.u64", [2**64 - 1], V.UINT64), ("a.i64", [-(2**63)], V.INT64),
        ("a.f64", [1e-300], V.FLOAT64), ("a.bool", [True, False, True], V.BOOL),
        ("a.string", ["<s>", "", "▁the"], V.STRING),
    ]:
        writer.add_key_value(key, values, V.ARRAY, sub_type=kind)
    if tensors:
        writer.add_tensor("plain", ramp(2, 3))
        writer.add_tensor("half", ramp(5).astype(np.float16))
        for kind in [gguf.GGMLQuantizationType.BF16, gguf.GGMLQuantizationType.Q4_0, gguf.GGMLQuantizationType.Q8_0,
                     gguf.GGMLQuantizationType.TQ2_0, gguf.GGMLQuantizationType.MXFP4]:
            rows = gguf.quants.quantize(ramp(2, 1, 256), kind)
            writer.add_tensor(f"blocks.{kind.name.lower()}", rows, raw_dtype=kind)
        writer.add_tensor("ids", np.array([[[[7, -8]]]], dtype=np.int32))
        writer.add_tensor("long", np.array([2**40], dtype=np.int64))
        writer.add_tensor("double", np.array([1e-300], dtype=np.float64))
        writer.add_tensor("small", np.array([3, -4, 5], dtype=np.int8))
        writer.add_tensor("short", np.array([-300], dtype=np.int16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make_safetensors():
    types = {
        "bool": np.bool_, "u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16, "f16": np.float16,
        "bf16": ml_dtypes.bfloat16, "u32": np.uint32, "i32": np.int32, "f32": np.float32, "u64": np.uint64,
        "i64": np.int64, "f64": np.float64, "f8_e4m3": ml_dtypes.float8_e4m3fn, "f8_e5m2": ml_dtypes.float8_e5m2,
        "c64": np.complex64,
    }
    tensors = {name: np.array([[1, 0, 1]], dtype=kind) for name, kind in types.items()}
    tensors["scalar"] = np.array(2.5, dtype=np.float32)
    tensors["empty"] = np.zeros((0, 4), dtype=np.float32)
    tensors["gr\u00fcn \"quoted\""] = np.array([9], dtype=np.uint8)
    keep("many.safetensors", save(tensors, {"format": "np", "note": "line\nbreak"}))
    keep("none.safetensors", save({}))


def npy(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


def make_npy():
    for descr in ["<f2", "<f4", "<f8", ">f4", ">i2", "|b1", "|i1", "|u1", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8", ">u8"]:
        keep(f"{descr[1:]}_{'big' if descr[0] == '>' else 'little'}.npy", npy(np.array([[1, 0], [1, 1], [0, 1]], dtype=descr)))
    array = np.arange(6, dtype="<f4").reshape(2, 3)
    keep("fortran.npy", npy(np.asfortranarray(array)))
    keep("scalar.npy", npy(np.array(2.5, dtype="<f8")))
    keep("empty.npy", npy(np.zeros((0, 3), dtype="<f4")))
    keep("version_2.npy", npy(array, (2, 0)))
    keep("version_3.npy", npy(array, (3, 0)))
    keep("complex.npy", npy(np.array([1j], dtype="<c8")))
    keep("bfloat16.npy", npy(np.array([1, 2], dtype=ml_dtypes.bfloat16)))
    keep("text.npy", npy(np.array(["a"])))
    keep("record.npy", npy(np.zeros(1, dtype=[("a", "<f4"), ("b", "<i2")])))
    out = io.BytesIO()
    np.lib.format.write_array(out, np.array([None, 1], dtype=object), allow_pickle=True)
    keep("object.npy", out.getvalue())


def make_npz():
    arrays = {"weights": np.arange(300, dtype="<f4").reshape(3, 100), "ids": np.array([1, 2, 3], dtype="<i8")}
    for name, save_to in [("stored.npz", np.savez), ("deflated.npz", np.savez_compressed)]:
        out = io.BytesIO()
        save_to(out, **arrays)
        keep(name, out.getvalue())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("x.npy", npy(np.zeros(3)))
    keep("bzip2.npz", out.getvalue())


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    make_gguf("every_type.gguf")
    make_gguf("aligned_64.gguf", alignment=64)
    make_gguf("metadata_only.gguf", tensors=False)
    make_gguf("big_endian.gguf", endian=gguf.GGUFEndian.BIG)
    make_safetensors()
    make_npy()
    make_npz()
