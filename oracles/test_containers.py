"""Files: the reference readers load our files, we load theirs, and no metadata is lost."""

import json

import gguf
import ml_dtypes
import numpy as np
import pytest
import stored
from gguf import GGUFEndian, GGUFReader, GGUFValueType, GGUFWriter
from safetensors.numpy import load_file, save_file

SCALARS = {
    GGUFValueType.UINT8: 255,
    GGUFValueType.INT8: -128,
    GGUFValueType.UINT16: 65535,
    GGUFValueType.INT16: -32768,
    GGUFValueType.UINT32: 4294967295,
    GGUFValueType.INT32: -2147483648,
    GGUFValueType.UINT64: 18446744073709551615,
    GGUFValueType.INT64: -9223372036854775808,
    GGUFValueType.FLOAT32: 1.5e-39,
    GGUFValueType.FLOAT64: 5e-324,
    GGUFValueType.BOOL: True,
    GGUFValueType.STRING: "grüße \u4e16\u754c \U0001f980\n",
}


def written(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def said(path):
    """Returns the keys of a GGUF file in order, with types and values."""
    fields = GGUFReader(path).fields.items()
    return {key: (field.types, field.contents()) for key, field in fields if not key.startswith("GGUF.")}


def full_gguf(bitgrain, random, endianess=GGUFEndian.LITTLE):
    """Writes a file with a key of every type, lists of every type, and tensors of several types."""
    path = bitgrain.path(".gguf")
    writer = GGUFWriter(path, "llama", endianess=endianess)
    writer.add_custom_alignment(64)
    for kind, value in SCALARS.items():
        writer.add_key_value(f"test.{kind.name.lower()}", value, kind)
        writer.add_key_value(f"list.{kind.name.lower()}", [value] * 3, GGUFValueType.ARRAY, sub_type=kind)
    writer.add_array("tokenizer.ggml.tokens", ["<s>", "", "\u2581the", "a\x00b"])
    writer.add_string("nobody.knows.this.key", "")
    writer.add_tensor("blk.0.attn_q.weight", random.standard_normal((64, 256)).astype(np.float32))
    writer.add_tensor("blk.0.attn_norm.weight", random.standard_normal(256).astype(np.float32))
    writer.add_tensor("positions", np.arange(7, dtype=np.int32))
    writer.add_tensor("blk.0.experts.weight", random.standard_normal((2, 3, 4, 32)).astype(np.float16))
    written(writer)
    return path


def test_every_kind_of_metadata_survives_from_gguf_to_gguf(bitgrain, random):
    source = full_gguf(bitgrain, random)
    before, after = said(source), said(bitgrain.quantize(source, "q8_0", ".gguf"))
    changed = {"general.file_type", "general.quantization_version"}
    assert [key for key in after if key not in changed] == [key for key in before if key not in changed]
    assert {key: after[key] for key in before if key not in changed} == before
    assert after["general.file_type"][1] == 7 and after["general.quantization_version"][1] == 2


def test_gguf_files_have_the_layout_of_the_reference(bitgrain, random):
    source = full_gguf(bitgrain, random)
    path = bitgrain.quantize(source, "q4_0", ".gguf")
    reader = GGUFReader(path)
    assert reader.alignment == 64
    end = reader.data_offset
    for tensor, original in zip(reader.tensors, GGUFReader(source).tensors, strict=True):
        assert (tensor.name, list(tensor.shape)) == (original.name, list(original.shape))
        assert tensor.data_offset == end, f"{tensor.name} follows the one before, padded"
        end = tensor.data_offset + -(-int(tensor.n_bytes) // 64) * 64
    assert path.stat().st_size == end


def test_vectors_and_integers_are_kept_bit_for_bit(bitgrain, random):
    source = full_gguf(bitgrain, random)
    before = {t.name: t for t in GGUFReader(source).tensors}
    after = {t.name: t for t in GGUFReader(bitgrain.quantize(source, "q4_0", ".gguf")).tensors}
    for name in ["blk.0.attn_norm.weight", "positions"]:
        assert after[name].tensor_type == before[name].tensor_type
        assert np.array_equal(after[name].data, before[name].data)
    assert after["blk.0.experts.weight"].tensor_type == gguf.GGMLQuantizationType.Q4_0


def test_version_2_is_read_like_version_3(bitgrain, random):
    source = full_gguf(bitgrain, random)
    old = bitgrain.path(".gguf")
    data = bytearray(source.read_bytes())
    assert data[4:8] == b"\3\0\0\0"
    data[4] = 2
    old.write_bytes(data)
    ours, theirs = bitgrain.values(old), bitgrain.values(source)
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)


def test_the_other_byte_order_is_rejected_with_a_clear_message(bitgrain, random):
    source = full_gguf(bitgrain, random, GGUFEndian.BIG)
    with pytest.raises(AssertionError, match="(?i)endian|byte order"):
        bitgrain.quantize(source, "q8_0", ".gguf")


def test_strings_survive_conversion_between_the_containers(bitgrain, random):
    source = bitgrain.path(".safetensors")
    strings = {"format": "pt", "note": "grüße \"quoted\" \\ \n\t\u0001", "empty": "", "gguf": "not ours"}
    save_file({"w": random.standard_normal((4, 32)).astype(np.float32)}, source, metadata=strings)
    same = bitgrain.quantize(source, "float16", ".safetensors")
    assert stored.metadata(same) == strings
    there = bitgrain.quantize(source, "q8_0", ".gguf")
    assert {key: said(there)[f"safetensors.{key}"][1] for key in strings} == strings
    back = stored.metadata(bitgrain.quantize(there, "float32", ".safetensors"))
    assert {key: back[key] for key in strings} == strings


def test_gguf_keys_are_kept_in_safetensors(bitgrain, random):
    path = bitgrain.quantize(full_gguf(bitgrain, random), "float32", ".safetensors")
    strings = stored.metadata(path)
    for kind, value in SCALARS.items():
        found, many = (json.loads(strings[f"gguf.{group}.{kind.name.lower()}"]) for group in ["test", "list"])
        # Each with its type, as in {"u8": 255} and {"array": {"u8": [255, 255, 255]}}.
        [(name, one)], [(same, all_three)] = found.items(), many["array"].items()
        wanted = float(np.float32(value)) if kind == GGUFValueType.FLOAT32 else value
        assert (name, one, all_three) == (same, wanted, [wanted] * 3), kind


@pytest.mark.parametrize("to", ["float16", "int8", "int4", "q4_0", "q6_k", "ternary", "fp8_e4m3"])
def test_safetensors_files_load_in_the_reference_reader(bitgrain, random, to):
    source = bitgrain.path(".safetensors")
    tensors = {
        "b.weight": random.standard_normal((5, 512)).astype(np.float32),
        "a.bias": random.standard_normal(5).astype(np.float32),
        "steps": np.array([1, 2, 3], np.int64),
        "mask": np.array([True, False]),
        "scalar": np.array(2.5, np.float32),
    }
    save_file(tensors, source)
    path = bitgrain.quantize(source, to, ".safetensors")
    found = stored.load(path)
    assert {"b.weight", "a.bias", "steps", "mask", "scalar"} <= found.keys()
    assert found["steps"] == ("I64", [3], tensors["steps"].tobytes())
    assert found["mask"] == ("BOOL", [2], tensors["mask"].tobytes())
    assert found["scalar"] == ("F32", [], tensors["scalar"].tobytes())
    assert found["a.bias"] == ("F32", [5], tensors["a.bias"].tobytes())
    back = bitgrain.values(path)
    assert back["b.weight"].shape == (5, 512)
    assert np.corrcoef(back["b.weight"].reshape(-1), tensors["b.weight"].reshape(-1))[0, 1] > 0.85


def test_bytes_are_the_same_in_both_containers(bitgrain, random):
    source = bitgrain.save({"w": random.standard_normal((8, 512)).astype(np.float32)})
    for to in ["q4_0", "q8_0", "q4_k", "tq2_0"]:
        tensor = GGUFReader(bitgrain.quantize(source, to, ".gguf")).tensors[0]
        other = load_file(bitgrain.quantize(source, to, ".safetensors"))["w"]
        assert other.tobytes() == tensor.data.tobytes(), to


def sharded(folder, random):
    """A model in two files with an index, as written by `save_pretrained`."""
    tensors = {f"layers.{i}.weight": random.standard_normal((16, 64)).astype(np.float32) for i in range(4)}
    names = list(tensors)
    files = {"model-00001-of-00002.safetensors": names[:3], "model-00002-of-00002.safetensors": names[3:]}
    for file, held in files.items():
        save_file({name: tensors[name] for name in held}, folder / file, metadata={"format": "pt"})
    index = {"metadata": {"total_size": 4 * 4096}, "weight_map": {n: f for f, held in files.items() for n in held}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return tensors


@pytest.mark.parametrize("name", ["", "model.safetensors.index.json"])
def test_a_sharded_model_opens_by_its_folder_or_its_index(bitgrain, random, tmp_path, name):
    folder = tmp_path / "sharded"
    folder.mkdir()
    tensors = sharded(folder, random)
    found = bitgrain.values(folder / name)
    assert found.keys() == tensors.keys()
    assert all(np.array_equal(found[key], tensors[key]) for key in tensors)


def test_a_shard_that_lacks_a_tensor_is_rejected_by_name(bitgrain, random, tmp_path):
    tensors = sharded(tmp_path, random)
    save_file({"other": tensors["layers.3.weight"]}, tmp_path / "model-00002-of-00002.safetensors")
    with pytest.raises(AssertionError, match=r"layers\.3\.weight"):
        bitgrain.values(tmp_path)


def test_a_language_model_without_its_hyperparameters_is_rejected_by_name(bitgrain, random, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    weights = {"w": random.standard_normal((4, 32)).astype(np.float32)}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", "hidden_size": 32}))
    with pytest.raises(AssertionError, match="missing `num_hidden_layers`"):
        bitgrain.quantize(folder, "float32", ".gguf")


def test_rules_decide_per_tensor_and_the_first_that_matches_wins(bitgrain, random):
    names = ["token_embd.weight", "blk.0.ffn.weight", "blk.1.ffn.weight", "output.weight"]
    source = bitgrain.save({name: random.standard_normal((8, 256)).astype(np.float32) for name in names})
    rules = ["--keep", "output*=q6_k", "--keep", "blk.1.*", "--keep", "*=q8_0"]
    found = {t.name: t.tensor_type.name for t in GGUFReader(bitgrain.quantize(source, "q4_0", ".gguf", *rules)).tensors}
    assert [found[name] for name in names] == ["Q8_0", "Q8_0", "F32", "Q6_K"]


def test_rows_that_are_not_whole_blocks_get_a_reported_fallback(bitgrain, random):
    source = bitgrain.save({"w": random.standard_normal((8, 96)).astype(np.float32)})
    path = bitgrain.path(".gguf")
    report = json.loads(bitgrain.run("quantize", source, path, "--to", "q4_k", "--json"))
    tensor = GGUFReader(path).tensors[0]
    assert report["tensors"][0]["to"] == tensor.tensor_type.name.lower() != "q4_k"
    assert "256" in report["tensors"][0]["remark"]
    assert int(tensor.n_bytes) <= 8 * 96 * 4.5 / 8, "not larger than requested"


def test_bfloat16_models_are_converted_without_loss(bitgrain, random):
    values = random.standard_normal((16, 64)).astype(ml_dtypes.bfloat16)
    source = stored.save(bitgrain.path(".safetensors"), {"w": ("bfloat16", values)})
    path = bitgrain.quantize(source, "bfloat16", ".gguf")
    tensor = GGUFReader(path).tensors[0]
    assert tensor.tensor_type == gguf.GGMLQuantizationType.BF16
    assert tensor.data.tobytes() == values.tobytes()
