"""A second reader and writer of spec/model.md in plain Python, written from the specification alone.

`check_vectors.py` runs it on the golden vectors. Models have the same structure as the library's JSON.
"""

import bisect
import math
import struct

LINKS = ["identity", "logistic", "softmax", "exponential", "softplus", "signed_square", "step"]
RULES = ["at_most", "in", "not_in"]
MISSING = ["nan", "nan_or_zero", "nothing"]
ZERO = struct.unpack("<f", struct.pack("<f", 1e-35))[0]


class Refused(Exception):
    """Raised for bytes that a reader must reject; the message is the reason."""


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
    return crc ^ 0xFFFFFFFF


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise Refused("truncated")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, code):
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))[0]

    def varint(self):
        value, shift = 0, 0
        while True:
            byte = self.number("B")
            value |= (byte & 0x7F) << shift
            if value >= 1 << 64:
                raise Refused("number")
            if byte < 0x80:
                return value
            shift += 7

    def text(self):
        return self.take(self.varint()).decode()

    def list(self, read):
        return [read() for _ in range(self.varint())]


def varint(value):
    more = b""
    while value >= 0x80:
        more += bytes([value & 0x7F | 0x80])
        value >>= 7
    return more + bytes([value])


def text(value):
    data = value.encode()
    return varint(len(data)) + data


def listed(values, write):
    return varint(len(values)) + b"".join(map(write, values))


def sections(data):
    if data[:8] != b"BGMODEL\0":
        raise Refused("magic")
    version, count, length = struct.unpack_from("<IIQ", data, 8)
    if version != 1:
        raise Refused("version")
    if length != len(data):
        raise Refused("length")
    if crc32c(data[:-4]) != struct.unpack("<I", data[-4:])[0]:
        raise Refused("checksum")
    found, reader = {}, Reader(data[24:-4])
    for _ in range(count):
        name, flags, size = reader.take(4).decode(), reader.number("I"), reader.number("Q")
        if name not in ("inpt", "outp", "tree", "meta") and flags & 1:
            raise Refused("unknown section")
        found[name] = Reader(reader.take(size))
    return found


def read(data):
    """Parse a file into the object that the library writes as JSON."""
    found = sections(data)
    inputs, output, trees = found["inpt"], found["outp"], found["tree"]
    comparison = ["f32", "f64"][inputs.number("B")]
    features = inputs.list(lambda: read_feature(inputs))
    model = {"bitgrain_model": 1, "comparison": comparison, "features": features}
    model["objective"] = output.text()
    model["link"] = LINKS[output.number("B")]
    model["slope"] = output.number("d") if model["link"] == "logistic" else None
    model["average"] = bool(output.number("B"))
    model["base_scores"] = output.list(lambda: output.number("d"))
    model["classes"] = output.list(output.text)
    names = [feature["name"] for feature in features]
    model["trees"] = trees.list(lambda: read_tree(trees, names, comparison))
    meta = found.get("meta")
    model["metadata"] = dict(meta.list(lambda: (meta.text(), meta.text()))) if meta else {}
    assert all(reader.at == len(reader.data) for reader in found.values()), "bytes are left over"
    return model


def read_feature(reader):
    name, kind = reader.text(), reader.number("B")
    if kind == 0:
        return {"name": name, "kind": "numeric"}
    known = None
    if kind == 2:
        known = []
        for step in reader.list(reader.varint):
            known.append(step if not known else known[-1] + 1 + step)
    return {"name": name, "kind": "categorical", "known": known, "labels": reader.list(reader.text)}


def read_tree(reader, names, comparison):
    count = reader.varint()
    splits = [read_split(reader, names, comparison) for _ in range(count)]
    leaves = [(reader.number("d"), reader.number("d"), reader.varint()) for _ in range(count + 1)]
    return {"splits": splits, "leaves": [dict(zip(("value", "weight", "count"), leaf)) for leaf in leaves]}


def read_split(reader, names, comparison):
    flags, feature, left, right = reader.number("B"), reader.varint(), reader.varint(), reader.varint()
    split = {"feature": names[feature]}
    rule = RULES[flags & 3]
    if rule == "at_most":
        threshold = reader.number("f" if comparison == "f32" else "d")
        split[rule] = str(threshold) if math.isinf(threshold) else threshold
    else:
        data = reader.take(reader.varint())
        split[rule] = [code for code in range(8 * len(data)) if data[code // 8] >> code % 8 & 1]
    split["missing"], split["missing_left"] = MISSING[flags >> 2 & 3], bool(flags >> 4 & 1)
    split["left"] = {"leaf" if flags >> 5 & 1 else "split": left}
    split["right"] = {"leaf" if flags >> 6 & 1 else "split": right}
    split["gain"], split["value"], split["weight"] = (reader.number(code) for code in "fdd")
    split["count"] = reader.varint()
    return split


def write(model):
    """Serialize a model."""
    wide, names = model["comparison"] == "f64", [feature["name"] for feature in model["features"]]
    slope = struct.pack("<d", model["slope"]) if model["link"] == "logistic" else b""
    link = bytes([LINKS.index(model["link"])]) + slope + bytes([model["average"]])
    scores = listed(model["base_scores"], lambda score: struct.pack("<d", score))
    contents = [
        (b"inpt", 1, bytes([wide]) + listed(model["features"], write_feature)),
        (b"outp", 1, text(model["objective"]) + link + scores + listed(model["classes"], text)),
        (b"tree", 1, listed(model["trees"], lambda tree: write_tree(tree, names, wide))),
    ]
    if model["metadata"]:
        pairs = sorted(model["metadata"].items(), key=lambda pair: pair[0].encode())
        contents.append((b"meta", 0, listed(pairs, lambda pair: text(pair[0]) + text(pair[1]))))
    body = b"".join(name + struct.pack("<IQ", flags, len(data)) + data for name, flags, data in contents)
    data = b"BGMODEL\0" + struct.pack("<IIQ", 1, len(contents), 28 + len(body)) + body
    return data + struct.pack("<I", crc32c(data))


def write_feature(feature):
    if feature["kind"] == "numeric":
        return text(feature["name"]) + b"\0"
    known = feature["known"]
    codes = b""
    if known is not None:
        steps = [code - before - 1 for before, code in zip([-1, *known], known)]
        codes = listed(steps, varint)
    return text(feature["name"]) + bytes([1 if known is None else 2]) + codes + listed(feature["labels"], text)


def write_tree(tree, names, wide):
    leaves = (struct.pack("<dd", leaf["value"], leaf["weight"]) + varint(leaf["count"]) for leaf in tree["leaves"])
    return listed(tree["splits"], lambda split: write_split(split, names, wide)) + b"".join(leaves)


def write_split(split, names, wide):
    [rule] = [rule for rule in RULES if rule in split]
    sides = [split["left"], split["right"]]
    flags = RULES.index(rule) | MISSING.index(split["missing"]) << 2 | split["missing_left"] << 4
    flags |= ("leaf" in sides[0]) << 5 | ("leaf" in sides[1]) << 6
    children = b"".join(varint(index) for side in sides for index in side.values())
    if rule == "at_most":
        asked = struct.pack("<d" if wide else "<f", float(split[rule]))
    else:
        bits = sum(1 << code for code in split[rule])
        data = bits.to_bytes(-(-bits.bit_length() // 8), "little")
        asked = varint(len(data)) + data
    numbers = struct.pack("<fdd", split["gain"], split["value"], split["weight"])
    return bytes([flags]) + varint(names.index(split["feature"])) + children + asked + numbers + varint(split["count"])


def seen(feature, value, wide):
    """Convert a value to the form that splits compare: None for missing, -1 for an unknown category."""
    if value is None:
        return None
    listed = feature["kind"] != "numeric" and feature["known"] is not None
    if not wide or (listed and abs(value) < 1 << 24):
        try:
            value = struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:
            value = math.copysign(math.inf, value)
    if feature["kind"] == "numeric":
        return value
    fits = value < 1 << 31 and (value > -1 if wide else value >= 0)
    code = math.trunc(value) if fits else -1
    known = feature["known"]
    if known is not None and (code != value or known[bisect.bisect_left(known, code) :][:1] != [code]):
        return None
    return code


def goes_left(split, value):
    if value is None and split["missing"] == "nothing":
        value = 0.0
    if value is None or (split["missing"] == "nan_or_zero" and abs(value) <= ZERO):
        return split["missing_left"]
    if "at_most" in split:
        return value <= float(split["at_most"])
    return value in split["in"] if "in" in split else value not in split["not_in"]


def scores(model, row):
    wide = model["comparison"] == "f64"
    values = {f["name"]: seen(f, value, wide) for f, value in zip(model["features"], row, strict=True)}
    sums = [0.0] * len(model["base_scores"])
    for index, tree in enumerate(model["trees"]):
        at = {"split": 0} if tree["splits"] else {"leaf": 0}
        while "split" in at:
            split = tree["splits"][at["split"]]
            at = split["left" if goes_left(split, values[split["feature"]]) else "right"]
        sums[index % len(sums)] += tree["leaves"][at["leaf"]]["value"]
    share = 1 / max(1, len(model["trees"]) // len(sums)) if model["average"] else 1.0
    return [base + total * share for base, total in zip(model["base_scores"], sums)]
