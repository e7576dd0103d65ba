"""Quantized checkpoints of other programs, schemes of compressed-tensors, and LoRA adapters."""

import json
import pathlib

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import bitgrain

VECTORS = pathlib.Path(__file__).parents[3] / "spec" / "vectors" / "checkpoints"
INPUT = VECTORS / "written" / "input"
LAYER = "model.layers.0.mlp.up_proj.weight"


@pytest.mark.parametrize("case", ["gptq_3bit", "bitsandbytes_nf4_nested", "compressed_tensors_w2a16", "hqq_3bit_axis1"])
def test_checkpoints_decode_to_the_values_of_their_package(case):
    (wanted,) = load_file(VECTORS / case / "expected.safetensors").values()
    model = bitgrain.open_model(VECTORS / case)
    tensor = model["layer.weight"]
    assert tensor.dtype.split()[0] in case.replace("_tensors", "-tensors")
    np.testing.assert_array_equal(np.asarray(tensor.dequantize()), wanted.astype(np.float32))


@pytest.mark.parametrize("scheme", ["W4A16", "W8A8", "FP8_DYNAMIC", "NVFP4A16", "MXFP4A16"])
def test_a_scheme_writes_the_values_that_compressed_tensors_decompresses(tmp_path, scheme):
    done = bitgrain.quantize_file(INPUT, tmp_path / "out", scheme=scheme)
    assert {tensor.name: tensor.target for tensor in done.tensors}[LAYER] == scheme
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["quantization_config"]["quant_method"] == "compressed-tensors"
    model = bitgrain.open_model(tmp_path / "out")
    for name, values in load_file(VECTORS / "written" / scheme / "expected.safetensors").items():
        np.testing.assert_array_equal(np.asarray(model[name].dequantize()), values)


def test_a_scheme_with_contradictory_arguments_is_refused(tmp_path):
    for wrong in [{"to": "q4_k"}, {"budget": 100}, {"scheme": "W3"}, {"group": 32, "scheme": "W8A8"}]:
        with pytest.raises(bitgrain.errors.InputError):
            bitgrain.quantize_file(INPUT, tmp_path / "out", **{"scheme": "W4A16", **wrong})
    with pytest.raises(bitgrain.errors.Error, match=r"config\.json"):
        bitgrain.quantize_file({"a.weight": np.ones((2, 128), np.float32)}, tmp_path / "out", scheme="W4A16")


def test_an_adapter_is_merged(tmp_path):
    random = np.random.default_rng(3)
    a, b = random.normal(size=(4, 256)).astype(np.float32), random.normal(size=(24, 4)).astype(np.float32)
    module = "base_model.model." + LAYER.removesuffix(".weight")
    save_file({f"{module}.lora_A.weight": a, f"{module}.lora_B.weight": b}, tmp_path / "adapter_model.safetensors")
    (tmp_path / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 4, "lora_alpha": 6}))
    bitgrain.quantize_file(INPUT, tmp_path / "out.safetensors", "float32", lora=tmp_path)
    wanted = load_file(INPUT / "model.safetensors")[LAYER] + b @ a * np.float32(1.5)
    np.testing.assert_allclose(load_file(tmp_path / "out.safetensors")[LAYER], wanted, rtol=1e-5, atol=1e-5)
