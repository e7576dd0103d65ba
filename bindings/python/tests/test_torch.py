"""Torch tensors are accepted wherever arrays are. Skipped if torch is not installed."""

import numpy as np
import pytest

import bitgrain

torch = pytest.importorskip("torch")


@pytest.fixture
def weights():
    return torch.randn(16, 64, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "bfloat16", "int8", "int64", "bool", "float8_e4m3fn"]
)
def test_every_real_type_is_accepted(weights, dtype):
    tensor = (4 * weights).to(getattr(torch, dtype))
    want = bitgrain.quantize(tensor.float().numpy(), "int8")
    assert bitgrain.quantize(tensor, "int8") == want


def test_views_and_gradients_change_nothing(weights):
    views = {
        "transposed": weights.t(),
        "strided": weights[::2, ::3],
        "expanded": weights[:1].expand(8, 64),
        "parameter": torch.nn.Parameter(weights),
        "no leaf": torch.nn.Parameter(weights) * 2,
        "negated": torch.complex(weights, weights).conj().imag,
        "scalar": torch.tensor(2.5),
        "empty": weights[:0],
    }
    for name, view in views.items():
        values = view.detach().resolve_neg().numpy().copy()
        assert np.array_equal(bitgrain.quantize(view, "float32").dequantize(), values), name


def test_tensors_without_real_values_are_rejected(weights):
    for tensor in (torch.empty(4, 32, device="meta"), weights.to_sparse(), weights.to(torch.complex64)):
        with pytest.raises(bitgrain.errors.DTypeError):
            bitgrain.quantize(tensor, "int8")
        with pytest.raises(bitgrain.errors.DTypeError, match="`w`"):
            bitgrain.weights.quantize_state_dict({"w": tensor}, "int8")


def test_a_state_dict_with_buffers_and_tied_weights(tmp_path):
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(16, 32)
            self.norm = torch.nn.BatchNorm1d(32)
            self.out = torch.nn.Linear(32, 16, bias=False)
            self.out.weight = self.embedding.weight

    state = Tied().state_dict()
    small = bitgrain.weights.quantize_state_dict(state, "int8")
    assert small["embedding.weight"] == small["out.weight"]
    assert small["norm.num_batches_tracked"].dtype == np.int64
    assert bitgrain.weights.quantize_state_dict(dict(Tied().named_parameters()), "int8").keys() < small.keys()
    path = tmp_path / "state.safetensors"
    bitgrain.weights.save_tensors(path, state)
    model = bitgrain.open_model(path)
    for name, tensor in state.items():
        assert np.array_equal(model[name].dequantize(), tensor.numpy()), name


def test_short_floats_are_written_unchanged(tmp_path, weights):
    load_file = pytest.importorskip("safetensors.torch").load_file
    state = {name: weights.to(getattr(torch, name)) for name in ("float32", "float16", "bfloat16")}
    state["turned"] = state["bfloat16"].t()
    path = tmp_path / "short.safetensors"
    bitgrain.weights.save_tensors(path, state)
    for name, tensor in load_file(path).items():
        assert tensor.dtype == state[name].dtype
        assert torch.equal(tensor, state[name]), name


def test_networks_stores_and_trees_accept_torch_tensors(tmp_path, weights):
    parameter = torch.nn.Parameter(weights)
    network = bitgrain.Network(64, [bitgrain.layers.Dense(3)])
    network.set_weights("0.weight", parameter[:3])
    assert np.array_equal(network.weights("0.weight"), weights[:3].numpy())
    assert network.predict(parameter).shape == (16, 3)
    network.fit(parameter, torch.arange(16) % 3, epochs=1, progress=False)
    with bitgrain.TensorStore(tmp_path) as store:
        store.put("a", parameter, lossless=True)
        store["b"] = weights.to(torch.bfloat16)
        assert np.array_equal(store["a"], weights.numpy())
        assert np.abs(store["b"] - weights.numpy()).max() < 0.1
    data = bitgrain.Dataset(parameter, weights[:, 0].requires_grad_())
    assert (data.n_rows, data.n_features) == (16, 64)
    assert bitgrain.Dataset(weights.to(torch.bfloat16), weights[:, 0]).n_rows == 16
    model = bitgrain.BitgrainRegressor(n_estimators=2, min_child_samples=1).fit(parameter, weights[:, 0])
    assert np.array_equal(model.predict(parameter), model.predict(weights.numpy()))
