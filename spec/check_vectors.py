#!/usr/bin/env python3
"""A second implementation of spec/blocks.md, in plain Python, that checks the golden vectors in both directions.

It shares no code with the Rust library: it was written from the words of the specification. Run it without
arguments; it needs nothing but Python 3.
"""

import json
import math
import pathlib
import struct
import sys

FORMATS = {f"b{bits}": (bits, False) for bits in range(2, 9)} | {"b3x2": (3, True)}


def f32(x):
    """Rounds to binary32. Through binary64 that is exact for one product or quotient of binary32 numbers."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def from_bits(digits):
    return struct.unpack(">f", bytes.fromhex(digits))[0]


def to_bits(x):
    return struct.pack(">f", x).hex()


def pack(codes, bits, bias):
    stream = sum((code + bias) << (i * bits) for i, code in enumerate(codes))
    return stream.to_bytes(-(-len(codes) * bits // 8), "little")


def unpack(data, count, bits, bias):
    stream = int.from_bytes(data, "little")
    codes = [(stream >> (i * bits)) & ((1 << bits) - 1) for i in range(count)]
    assert bias == 0 or all(code != (1 << bits) - 1 for code in codes), "the pattern no writer makes"
    return [code - bias for code in codes]


def scale_of(max_abs, qmax):
    if max_abs == 0:
        return 0.0
    if max_abs / qmax < 2.0**-126:
        return math.ldexp(-(-int(math.ldexp(max_abs, 149)) // qmax), -149)
    scale = f32(max_abs / qmax)
    if math.isinf(f32(qmax * scale)):
        (bits,) = struct.unpack("<I", struct.pack("<f", scale))
        scale = struct.unpack("<f", struct.pack("<I", bits - 1))[0]
    return scale


def code_of(x, scale, qmax):
    if scale == 0:
        return 0
    quotient = f32(x / scale)
    return max(-qmax, min(qmax, round(quotient))) if math.isfinite(quotient) else int(math.copysign(qmax, quotient))


def encode_block(values, bits, two_level):
    qmax = 2 ** (bits - 1) - 1
    sizes = sorted((abs(x) for x in values), reverse=True)
    if not two_level:
        scale = scale_of(sizes[0], qmax)
        codes = [code_of(x, scale, qmax) for x in values]
        body = bytes(code & 0xFF for code in codes) if bits == 8 else pack(codes, bits, qmax)
        return struct.pack("<f", scale) + body
    n = len(values)
    k = math.ceil(f32(n * f32(0.05)))
    if n < 2 or k == 0 or k >= n or sizes[k] == 0 or sizes[n // 2] == 0:
        primary_max, primary, secondary = sizes[0], scale_of(sizes[0], qmax), 0.0
    else:
        primary_max, primary, secondary = sizes[k], scale_of(sizes[k], qmax), scale_of(sizes[0], qmax)
    flags = [abs(x) > primary_max for x in values]
    codes = [code_of(x, secondary if flag else primary, qmax) for x, flag in zip(values, flags)]
    return struct.pack("<ff", primary, secondary) + pack(map_int(flags), 1, 0) + pack(codes, bits, qmax)


def map_int(flags):
    return [int(flag) for flag in flags]


def decode_block(data, count, bits, two_level):
    qmax = 2 ** (bits - 1) - 1
    scales = list(struct.unpack_from("<ff" if two_level else "<f", data))
    assert all(math.copysign(1, s) > 0 and math.isfinite(f32(s * qmax)) for s in scales), "a scale no writer makes"
    at = 4 * len(scales)
    flags = [0] * count
    if two_level:
        flags = unpack(data[at : at + -(-count // 8)], count, 1, 0)
        at += -(-count // 8)
    if bits == 8:
        codes = list(struct.unpack_from(f"<{count}b", data, at))
        assert -128 not in codes, "the code no writer makes"
    else:
        codes = unpack(data[at:], count, bits, qmax)
    return [f32(code * scales[flag]) for code, flag in zip(codes, flags)]


def block_bytes(n, bits, two_level):
    return (8 + -(-n // 8) if two_level else 4) + -(-n * bits // 8)


def check_blocks(vector, data):
    bits, two_level = FORMATS[vector["format"]]
    step = vector["block_len"]
    values = [from_bits(digits) for digits in vector["values"]]
    blocks = [values[i : i + step] for i in range(0, len(values), step)]
    assert b"".join(encode_block(block, bits, two_level) for block in blocks) == data, "encoding differs"
    decoded, at = [], 0
    for block in blocks:
        size = block_bytes(len(block), bits, two_level)
        decoded += decode_block(data[at : at + size], len(block), bits, two_level)
        at += size
    assert at == len(data), "bytes are left over"
    # A zero decodes to +0 or -0 only through the sign of its code, and a code of 0 has none.
    assert [to_bits(x) for x in decoded] == vector["decoded"], "decoding differs"


def check_packed(vector, data):
    codes, bits, bias = vector["codes"], vector["bits"], vector["bias"]
    assert pack(codes, bits, bias) == data, "packing differs"
    assert unpack(data, len(codes), bits, bias) == codes, "unpacking differs"


def main():
    folder = pathlib.Path(__file__).parent / "vectors"
    paths = sorted(folder.glob("*.json"))
    if not paths:
        sys.exit(f"no vectors in {folder}")
    failed = 0
    for path in paths:
        vector = json.loads(path.read_text())
        try:
            {"blocks": check_blocks, "packed": check_packed}[vector["kind"]](vector, path.with_suffix(".bin").read_bytes())
        except AssertionError as error:
            failed += 1
            print(f"{path.name}: {error}")
    print(f"golden vectors in Python: {len(paths) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
