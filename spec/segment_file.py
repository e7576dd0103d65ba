"""A second reader of spec/segment.md in plain Python, written from the specification alone.

`check_vectors.py` runs it on the golden vectors and compares the result with their JSON.
"""

import math
import struct

from model_file import Reader as Numbers
from model_file import Refused

CHUNK = 16384
FORMS = {0: "none", 1: "frames", 9: "b3x2", 10: "f32", 11: "f16"} | {bits: f"b{bits}" for bits in range(2, 9)}
KINDS = ["tensor", "frame", "deletion", "usage", "hole"]


def refuse_if(condition, reason):
    if condition:
        raise Refused(reason)


def sum_of(data, before=0):
    crc = before ^ 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
    return crc ^ 0xFFFFFFFF


class Reader(Numbers):
    def left(self):
        return len(self.data) - self.at

    def varint(self):
        start = self.at
        value = super().varint()
        refuse_if(self.at - start != max(1, -(-value.bit_length() // 7)), "a number longer than it need be")
        return value

    def distance(self, base, may_be_zero=False):
        folded = self.varint()
        refuse_if(folded == 0 and not may_be_zero, "a distance of zero")
        return (base + (-(folded + 1) // 2 if folded & 1 else folded // 2)) % 2**64

    def text(self):
        try:
            return super().text()
        except UnicodeDecodeError as error:
            raise Refused("not UTF-8") from error

    def id(self):
        length = self.varint()
        refuse_if(length > 65536, "a long id")
        if length:
            return key_to_id(b"\0" + self.take(length))
        number = self.take(self.number("B"))
        refuse_if(len(number) > 16 or number[:1] == b"\0", "a number longer than it need be")
        return key_to_id(b"\1" + number.rjust(16, b"\0"))

    def f32(self):
        bits = self.number("I")
        return bits, struct.unpack("<f", struct.pack("<I", bits))[0]

    def bound(self):
        bits, value = self.f32()
        refuse_if(not math.isfinite(value) or bits >> 31, "a bound")
        return f"{bits:08x}"

    def shape(self):
        axes = self.varint()
        refuse_if(axes > 64, "too many axes")
        shape = [self.varint() for _ in range(axes)]
        refuse_if(4 * math.prod(axis for axis in shape if axis) >= 2**63, "too many values")
        return shape

    def tier(self):
        tier = self.number("B")
        refuse_if(tier > 8, "a tier")
        return tier

    def tier_and_form(self):
        byte = self.number("B")
        tier, form = byte & 7 | byte >> 7 << 3, byte >> 3 & 15
        refuse_if(tier > 8 or form not in FORMS, "tier and form")
        return tier, FORMS[form]

    def block_len(self):
        eights = self.varint()
        refuse_if(not 1 <= eights <= 8192, "a block length")
        return eights * 8


def key_to_id(key):
    refuse_if(not key or key[0] > 1, "a key")
    if key[0] == 1:
        refuse_if(len(key) != 17, "a number")
        return {"number": key[1:].hex()}
    refuse_if(not 1 <= len(key) - 1 <= 65536, "the length of an id")
    try:
        return key[1:].decode()
    except UnicodeDecodeError as error:
        raise Refused("not UTF-8") from error


def next_key(reader, key):
    """Decode a key: a prefix of the previous key plus added bytes."""
    halves = reader.number("B")
    kept, added = halves >> 4, halves & 15
    kept += reader.varint() if kept == 15 else 0
    added += reader.varint() if added == 15 else 0
    refuse_if(kept > len(key), "more is kept than there is")
    return key[:kept] + reader.take(added)


def blocks_bytes(form, block_len, count):
    def block(n):
        return 8 + -(-n // 8) + -(-n * 3 // 8) if form == "b3x2" else 4 + -(-n * int(form[1]) // 8)

    return count // block_len * block(block_len) + (block(count % block_len) if count % block_len else 0)


def read_tensor(reader, time):
    flags = reader.number("B")
    refuse_if(flags >> 6, "flags of a tensor")
    tier, form = reader.tier_and_form()
    tensor = {"tier": tier, "form": form}
    tensor["block_len"] = reader.block_len() if form.startswith("b") else None
    tensor["shape"] = reader.shape()
    tensor["bound"], tensor["measured"] = reader.bound(), reader.number("B")
    refuse_if(tensor["bound"] == "00000000" and tensor["measured"], "an error without a bound")
    tensor["created"] = reader.distance(time) if flags & 1 else time
    tensor["updated"] = reader.distance(time) if flags & 2 else time
    tensor["pinned"] = reader.tier() if flags & 4 else None
    tensor["max_error"] = reader.bound() if flags & 8 else None
    pairs = reader.varint() if flags & 16 else 0
    refuse_if(bool(flags & 16) != bool(pairs), "no pairs")
    tensor["user"] = [[reader.text(), reader.text()] for _ in range(pairs)]
    count = math.prod(tensor["shape"])
    size = {"none": 0, "frames": 0, "f32": 4 * count, "f16": 2 * count}.get(form)
    size = blocks_bytes(form, tensor["block_len"], count) if size is None else size
    tensor["reconstruct"], more = read_reconstruction(reader, count) if flags & 32 else (None, 0)
    return tensor, size + more


def read_reconstruction(reader, count):
    kind = reader.number("B")
    if kind == 0:
        base, form, block_len = reader.id(), reader.number("B"), reader.block_len()
        refuse_if(not 2 <= form <= 9, "the form of a delta")
        policy = {"kind": "delta", "base": base, "form": FORMS[form], "block_len": block_len}
        return policy, blocks_bytes(FORMS[form], block_len, count)
    refuse_if(kind not in (1, 3, 5, 7), "a kind of reconstruction")
    source, (bits, scale) = reader.id(), reader.f32()
    refuse_if(not math.isfinite(scale), "a scale")
    permutation = reader.varint() if kind & 2 else None
    projection = [reader.varint(), reader.varint()] if kind & 4 else None
    policy = {"kind": "factor", "source": source, "scale": f"{bits:08x}"}
    policy |= {"permutation": permutation, "projection": projection}
    return policy, 4 * (permutation or 0) + 4 * math.prod(projection or [0])


def read_frame(reader, sequence, time):
    index, flags = reader.varint(), reader.number("B")
    refuse_if(flags >> 5, "flags of a frame")
    tier, form = reader.tier_and_form()
    floats = form in ("f32", "f16", "none")
    refuse_if(not floats and form not in [f"b{bits}" for bits in range(2, 9)], "the form of a frame")
    refuse_if(floats and flags & 7, "a frame of floats that needs another one or has scales")
    frame = {"index": index, "scales": "f32" if flags & 4 else "f16", "tier": tier, "form": form}
    frame["block_len"] = None if floats else reader.block_len()
    frame["shape"] = reader.shape()
    for bit, key in [(1, "scales_of"), (2, "difference_to")]:
        back = reader.varint() if flags & bit else None
        refuse_if(back is not None and not 1 <= back <= index, "a frame that is not earlier")
        frame[key] = None if back is None else index - back
    frame["bound"], frame["measured"] = reader.bound(), reader.number("B")
    refuse_if(frame["bound"] == "00000000" and frame["measured"], "an error without a bound")
    frame["time"] = reader.distance(time) if flags & 8 else time
    if flags & 16:
        frame["rewritten"] = read_rewritten(reader, sequence)
    count = math.prod(frame["shape"])
    if floats:
        return frame, {"f32": 4, "f16": 2, "none": 0}[form] * count
    scales = 0 if flags & 1 else -(-count // frame["block_len"]) * (4 if flags & 4 else 2)
    codes = blocks_bytes(form, frame["block_len"], count) - 4 * -(-count // frame["block_len"])
    return frame, scales + codes


def read_rewritten(reader, sequence):
    """Read the sequence number of the first record of frame 0."""
    back = reader.varint()
    refuse_if(not 1 <= back <= sequence, "a first frame that is not earlier")
    return sequence - back


def read_uses(body):
    reader, uses, key, last = Reader(body), [], b"", 0
    while reader.left() and body[reader.at] != 0:
        key = next_key(reader, key)
        uses.append({"id": key_to_id(key), **read_use(reader, last)})
        last = uses[-1]["last"]
    return {"uses": uses, **read_wanted_tiers(reader)} if reader.left() else uses


def read_use(reader, last):
    """Read the fields of an entry after its id."""
    accesses, last = reader.varint(), reader.distance(last, may_be_zero=True)
    window, average = reader.varint(), reader.number("H")
    refuse_if(average > 32768, "an average")
    return {"accesses": accesses, "last": last, "window": window, "average": average}


def read_frame_uses(reader):
    """Read the reads of groups of frames."""
    groups, key, last, count = [], b"", 0, reader.varint()
    refuse_if(count == 0, "an empty list of groups")
    for _ in range(count):
        key = next_key(reader, key)
        group = reader.varint()
        groups.append({"id": key_to_id(key), "group": group, **read_use(reader, last)})
        last = groups[-1]["last"]
    return groups


def read_wanted_tiers(reader):
    """Read the state of the policy, which follows the list of uses."""
    refuse_if(reader.number("B") != 0, "the zero before the state of the policy")
    flags, wanted, key = reader.number("B"), [], b""
    refuse_if(flags > 3, "flags of the policy")
    last_downgrade = reader.varint() if flags & 1 else None
    frames = read_frame_uses(reader) if flags & 2 else []
    while reader.left():
        key = next_key(reader, key)
        wanted.append({"id": key_to_id(key), "tier": reader.tier()})
    refuse_if(last_downgrade is None and not wanted and not frames, "a state that says nothing")
    state = {"last_downgrade": last_downgrade, "wishes": wanted}
    return {**state, "frames": frames} if frames else state


def read_record(data, offset, header):
    reader = Reader(data)
    reader.at = offset
    stored, head_len, body_len = reader.number("I"), reader.varint(), reader.varint()
    refuse_if(not 1 <= head_len <= 2**20, "the length of a head")
    head = Reader(reader.take(head_len))
    sums = [struct.unpack("<I", reader.take(4))[0] for _ in range(-(-min(body_len, len(data)) // CHUNK))]
    refuse_if(sum_of(data[offset + 4 : reader.at], header["salt"]) != stored, "the sum of a head")
    body = reader.take(body_len)
    chunks = [body[at : at + CHUNK] for at in range(0, body_len, CHUNK)]
    refuse_if([sum_of(chunk) for chunk in chunks] != sums, "the sum of a chunk")
    flags = head.number("B")
    refuse_if(flags & 7 > 3 or flags >> 5, "the kind of a record")
    record = {"offset": offset, "kind": KINDS[flags & 7], "body": body.hex()}
    record["sequence"] = (header["base_sequence"] + head.varint()) % 2**64
    record["time"] = (header["base_time"] + head.varint()) % 2**64
    record["batch_left"] = head.varint() if flags & 8 else 0
    refuse_if(flags & 8 and not 1 <= record["batch_left"] < 2**32, "the rest of a batch")
    record["pending"] = head.varint() if flags & 16 else None
    record["id"] = None if record["kind"] == "usage" else head.id()
    record["content"], size = None, 0
    if record["kind"] == "tensor":
        record["content"], size = read_tensor(head, record["time"])
    elif record["kind"] == "frame":
        record["content"], size = read_frame(head, record["sequence"], record["time"])
    elif record["kind"] == "usage":
        record["content"], size = read_uses(body), body_len
    refuse_if(head.left(), "the end of a head")
    refuse_if(size != body_len, "the length of a body")
    return record, reader.at


def read_header(data):
    refuse_if(data[:8] != b"BGSEGMT\0", "the magic of a segment")
    refuse_if(len(data) < 64, "a short header")
    reader = Reader(data)
    reader.take(8)
    version, kind, zero = reader.number("H"), reader.number("B"), reader.number("B")
    header = {"kind": ["log", "compacted"][kind & 1], "store": reader.take(16).hex()}
    for key in ["number", "previous", "base_sequence", "base_time"]:
        header[key] = reader.number("Q")
    salt = reader.number("I")
    refuse_if(sum_of(data[:60]) != salt, "the sum of a header")
    refuse_if(version != 1 or kind > 1 or zero, "version or kind")
    return header | {"salt": salt}


def read_trailer(data, salt):
    """Verify the trailer and return the offset of the index, or None if the segment is not sealed."""
    tail = data[-32:]
    offset, length, index_sum, stored = struct.unpack("<QQII", tail[:24])
    magic, fits = tail[24:] == b"BGSEGEND", sum_of(tail[:20], salt) == stored
    refuse_if(magic != fits, "half a trailer")
    if not magic:
        return None
    refuse_if(offset < 64 or offset + length != len(data) - 32, "the place of the index")
    refuse_if(sum_of(data[offset:-32], salt) != index_sum, "the sum of the index")
    return offset


def read_index(data, header):
    """Read the index: an entry for each record, without the holes."""
    reader, entries, key, place = Reader(data), [], b"", 64
    sequence, time = header["base_sequence"] - 1, header["base_time"]
    while reader.left():
        flags, length = reader.number("B"), reader.varint()
        refuse_if(flags & 7 > 4 or flags & [0, 0xC0, 0xE0, 0xE0, 0xF8][flags & 7], "an entry")
        kind = KINDS[flags & 7]
        entry = {"kind": kind, "offset": place, "length": length}
        place += length
        if kind == "hole":
            continue
        sequence += 1
        sequence = reader.distance(sequence) if flags & 8 else sequence
        time = reader.distance(time) if flags & 16 else time
        entry |= {"sequence": sequence, "time": time}
        if kind in ("tensor", "frame"):
            entry["tier"], entry["form"] = reader.tier_and_form()
        if kind == "frame":
            entry["index"] = reader.varint()
            entry["rewritten"] = read_rewritten(reader, sequence) if flags & 32 else None
        if kind == "tensor":
            entry["pinned"] = reader.tier() if flags & 32 else None
            entry["max_error"] = reader.bound() if flags & 64 else None
            entry["needs"] = reader.id() if flags & 128 else None
        entry["id"] = None
        if kind != "usage":
            key = next_key(reader, key)
            entry["id"] = key_to_id(key)
        entries.append(entry)
    return entries, place


def entry_of(record, length):
    """Return the expected index entry of a record."""
    entry = {key: record[key] for key in ("kind", "offset", "sequence", "time", "id")} | {"length": length}
    content = record["content"]
    if record["kind"] in ("tensor", "frame"):
        entry |= {key: content[key] for key in ("tier", "form")}
    if record["kind"] == "frame":
        entry["index"], entry["rewritten"] = content["index"], content.get("rewritten")
    if record["kind"] == "tensor":
        policy = content["reconstruct"] or {}
        entry |= {key: content[key] for key in ("pinned", "max_error")}
        entry["needs"] = policy.get("base", policy.get("source"))
    return entry


def read(data):
    """Read a segment. A sealed segment must be intact; any other is read up to its first broken record."""
    header = read_header(data)
    end = read_trailer(data, header["salt"])
    sealed, records, entries, at = end is not None, [], [], 64
    end = end if sealed else len(data)
    while at < end:
        try:
            record, after = read_record(data[:end], at, header)
        except Refused:
            if sealed:
                raise
            break
        records.append(record)
        entries.append(entry_of(record, after - at))
        at = after
    if sealed:
        refuse_if(read_index(data[end:-32], header) != (entries, end), "index and records differ")
    del header["salt"]
    return {"kind": "segment", "header": header, "records": records, "sealed": sealed, "torn": end - at}


def read_sealed(reader):
    segment = {"number": reader.number("Q"), "len": reader.number("Q")}
    return segment | {"index_sum": f"{reader.number('I'):08x}"}


def read_name(reader):
    name = reader.take(reader.number("B"))
    refuse_if(not name or not all(33 <= byte <= 126 and byte != 47 for byte in name), "the name of a file")
    return name.decode()


def read_catalog(data):
    """Read a catalog of spec/objects.md."""
    refuse_if(data[:8] != b"BGCATLG\0", "the magic of a catalog")
    refuse_if(len(data) < 68 or sum_of(data[:-4]) != struct.unpack("<I", data[-4:])[0], "the sum of a catalog")
    reader = Reader(data[:-4])
    reader.take(8)
    refuse_if((reader.number("H"), reader.number("H")) != (1, 0), "version or flags")
    files, dead, fences = (reader.number("I") for _ in range(3))
    writer, number, epoch, time = reader.take(16).hex(), *(reader.number("Q") for _ in range(3))
    catalog = {"number": number, "epoch": epoch, "writer": writer, "time": time, "files": [], "dead": [], "fences": []}
    for _ in range(files):
        name, sealed, parts, tail = read_name(reader), reader.number("B"), reader.number("I"), reader.number("I")
        refuse_if(sealed > 1, "the state of a file")
        parts = [
            {"writer": reader.take(16).hex(), "count": reader.number("Q"), "len": reader.number("Q")}
            for _ in range(parts)
        ]
        catalog["files"].append({"name": name, "sealed": bool(sealed), "parts": parts, "tail": reader.take(tail).hex()})
    names = [file["name"] for file in catalog["files"]]
    refuse_if(names != sorted(set(names)), "the order of the files")
    for _ in range(dead):
        entry = {"name": read_name(reader), "writer": reader.take(16).hex(), "count": reader.number("Q")}
        catalog["dead"].append(entry | {"since": reader.number("Q")})
    for _ in range(fences):
        catalog["fences"].append({"number": reader.number("Q"), "time": reader.number("Q")})
    refuse_if(reader.left(), "bytes after the end")
    return {"kind": "catalog", "catalog": catalog}


def read_manifest(data):
    refuse_if(data[:8] != b"BGMANIF\0", "the magic of a manifest")
    refuse_if(len(data) < 72 or sum_of(data[:-4]) != struct.unpack("<I", data[-4:])[0], "the sum of a manifest")
    reader = Reader(data)
    reader.take(8)
    version, closed, count = reader.number("H"), reader.number("H"), reader.number("I")
    refuse_if(version != 1 or closed > 1, "version or end of the log")
    refuse_if(len(data) != 72 + 20 * count, "the length of a manifest")
    manifest = {"store": reader.take(16).hex(), "number": reader.number("Q"), "log_from": reader.number("Q")}
    last, *compacted = [read_sealed(reader) for _ in range(1 + count)]
    none = last == {"number": 0, "len": 0, "index_sum": "00000000"}
    refuse_if(not none and not (closed and last["number"] >= max(1, manifest["log_from"])), "the last log segment")
    manifest |= {"closed": bool(closed), "last": None if none else last, "compacted": compacted}
    return {"kind": "manifest", "manifest": manifest}
