"""Unpacks codes: least significant bits first, every row starting on a byte boundary. Spec: `spec/weights.md`."""

import numpy as np

BITS = {"int8": 8, "uint8": 8, "int4": 4, "uint4": 4, "fp4": 4, "int2": 2, "uint2": 2, "ternary": 2, "binary": 1}


def unpack(stored, name, rows, cols):
    """Returns codes as a matrix of integers; two's complement for the signed names."""
    bits = BITS[name]
    packed = np.ascontiguousarray(stored).view(np.uint8).reshape(rows, -1)
    assert packed.shape[1] == -(-cols * bits // 8), f"{packed.shape[1]} bytes hold {cols} codes of {bits} bits"
    each = np.unpackbits(packed, axis=1, bitorder="little")
    assert not each[:, cols * bits :].any(), "the bits after a row's last code are 0"
    codes = each[:, : cols * bits].reshape(rows, cols, bits) @ (1 << np.arange(bits))
    if name.startswith("int") or name == "ternary":
        codes = np.where(codes >= 1 << (bits - 1), codes - (1 << bits), codes)
    return codes
