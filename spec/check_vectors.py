#!/usr/bin/env python3
"""Checks the golden vectors with a second implementation of spec/blocks.md, spec/model.md and spec/segment.md in plain
Python. Blocks and models are read and written, segments only read.

The implementation shares no code with the Rust library: it was written from the specification alone. Run it without
arguments; it needs only Python 3.
"""

import json
import math
import pathlib
import struct
import sys

import model_file
import segment_file

FORMATS = {f"b{bits}": (bits, False) for bits in range(2, 9)} | {"b3x2": (3, True)}


class Refused(Exception):
    """Raised for bytes that a reader must reject; the message is the reason."""


def refuse_if(condition, reason):
    if condition:
        raise Refused(reason)


def f32(x):
    """Round to binary32, exactly as if one product or quotient of binary32 numbers had not been computed in binary64."""
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
    # Unsigned codes, whose bias is 0, use all bit patterns.
    refuse_if(bias != 0 and (1 << bits) - 1 in codes, "code")
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
    return struct.pack("<ff", primary, secondary) + pack([int(flag) for flag in flags], 1, 0) + pack(codes, bits, qmax)


def decode_block(data, count, bits, two_level):
    qmax = 2 ** (bits - 1) - 1
    refuse_if(len(data) < block_bytes(count, bits, two_level), "truncated")
    scales = list(struct.unpack_from("<ff" if two_level else "<f", data))
    usable = all(math.copysign(1, s) > 0 and math.isfinite(s) and math.isfinite(f32(s * qmax)) for s in scales)
    refuse_if(not usable, "scale")
    at = 4 * len(scales)
    flags = [0] * count
    if two_level:
        flags = unpack(data[at : at + -(-count // 8)], count, 1, 0)
        at += -(-count // 8)
    if bits == 8:
        codes = list(struct.unpack_from(f"<{count}b", data, at))
        refuse_if(-128 in codes, "code")
    else:
        codes = unpack(data[at:], count, bits, qmax)
    return [f32(code * scales[flag]) for code, flag in zip(codes, flags)]


def block_bytes(n, bits, two_level):
    return (8 + -(-n // 8) if two_level else 4) + -(-n * bits // 8)


def decode(data, count, step, bits, two_level):
    """Return all values and the number of bytes they take."""
    decoded, at = [], 0
    while len(decoded) < count:
        length = min(step, count - len(decoded))
        size = block_bytes(length, bits, two_level)
        decoded += decode_block(data[at : at + size], length, bits, two_level)
        at += size
    return decoded, at


def check_refused(vector, data):
    bits, two_level = FORMATS[vector["format"]]
    try:
        decode(data, vector["count"], vector["block_len"], bits, two_level)
    except Refused as refused:
        assert str(refused) == vector["reason"], f"rejected with the wrong reason: {refused}"
    else:
        raise AssertionError("accepted, but must be rejected")


def check_blocks(vector, data):
    bits, two_level = FORMATS[vector["format"]]
    step = vector["block_len"]
    values = [from_bits(digits) for digits in vector["values"]]
    blocks = [values[i : i + step] for i in range(0, len(values), step)]
    assert b"".join(encode_block(block, bits, two_level) for block in blocks) == data, "encoding differs"
    decoded, used = decode(data, len(values), step, bits, two_level)
    assert used == len(data), "bytes are left over"
    assert [to_bits(x) for x in decoded] == vector["decoded"], "decoding differs"


def check_packed(vector, data):
    codes, bits, bias = vector["codes"], vector["bits"], vector["bias"]
    assert pack(codes, bits, bias) == data, "packing differs"
    assert unpack(data, len(codes), bits, bias) == codes, "unpacking differs"


def check_model(vector, data):
    """Check reading, writing, the scores of all rows, and that flipped bits are detected."""
    assert model_file.read(data) == vector["model"], "reading differs"
    assert model_file.write(vector["model"]) == data, "writing differs"
    for row, wanted in zip(vector["rows"], vector["scores"], strict=True):
        row = [float(value) if isinstance(value, str) else value for value in row]
        assert model_file.scores(vector["model"], row) == wanted, f"scores of {row} differ"
    for at in range(len(data)):
        broken = data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]
        try:
            model_file.read(broken)
        except model_file.Refused:
            continue
        raise AssertionError(f"flipped bit in byte {at} not detected")


def check_segment(vector, data):
    """Check all content, and that flipped bits are detected."""
    assert segment_file.read(data) == vector, "reading differs"
    for at in range(len(data)):
        broken = data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]
        try:
            read = segment_file.read(broken)
        except segment_file.Refused:
            continue
        # An unsealed segment is read up to its first broken record; the torn tail after it is ignored.
        assert not vector["sealed"], f"flipped bit in byte {at} not detected"
        count = len(read["records"])
        hit = [record["offset"] for record in vector["records"] if record["offset"] <= at]
        torn = at >= len(data) - vector["torn"]
        assert read["records"] == vector["records"][:count] and count == len(hit) - (not torn), f"byte {at}"


def check_manifest(vector, data):
    check_short(vector, data, segment_file.read_manifest)


def check_catalog(vector, data):
    check_short(vector, data, segment_file.read_catalog)


def check_short(vector, data, read):
    """Check the content, and that every flipped bit is detected."""
    assert read(data) == vector, "reading differs"
    for bit in range(len(data) * 8):
        broken = data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :]
        try:
            read(broken)
        except segment_file.Refused:
            continue
        raise AssertionError(f"flipped bit {bit} not detected")


CHECKS = {"model": check_model, "blocks": check_blocks, "packed": check_packed, "refused": check_refused}
CHECKS |= {"segment": check_segment, "manifest": check_manifest, "catalog": check_catalog}
ENDINGS = {"model": ".bitgrain"}


def main():
    folder = pathlib.Path(__file__).parent / "vectors"
    paths = sorted(folder.glob("*.json")) + sorted(folder.glob("models/*.json"))
    paths += sorted(folder.glob("segments/*.json"))
    if not paths:
        sys.exit(f"no vectors in {folder}")
    failed = 0
    for path in paths:
        vector = json.loads(path.read_text())
        try:
            CHECKS[vector["kind"]](vector, path.with_suffix(ENDINGS.get(vector["kind"], ".bin")).read_bytes())
        except (AssertionError, Refused, model_file.Refused) as error:
            failed += 1
            print(f"{path.name}: {error}")
    print(f"golden vectors in Python: {len(paths) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
