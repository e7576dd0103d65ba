"""Networks: building, training, formats, files."""

import _thread
import contextlib
import copy
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import bitgrain
from bitgrain import layers


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return (X / 16).astype(np.float32), y


@pytest.fixture(scope="module")
def trained(digits: tuple[np.ndarray, np.ndarray]) -> bitgrain.Network:
    X, y = digits
    network = bitgrain.Network(64, [layers.Dense(64, activation="relu"), layers.Dense(10)], seed=1)
    network.fit(X[:1437], y[:1437], epochs=6, learning_rate=3e-3)
    return network


def test_a_network_learns_and_stays_accurate_in_few_bits(
    trained: bitgrain.Network, digits: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = digits[0][1437:], digits[1][1437:]
    full = trained.evaluate(X, y).accuracy
    assert full > 0.87
    small = trained.copy()
    for name in ("int8", "int4", "fp8_e4m3", "q4_0", "bfloat16"):
        small.morph(name)
        assert small.evaluate(X, y).accuracy > full - 0.05
        np.testing.assert_array_equal(small.predict(X), trained.predict(X, dtype=name))
    small.morph("int4")
    assert small.nbytes * 6 < trained.nbytes
    compared = trained.compare(small, X)
    assert compared.mean_cosine > 0.99
    assert compared.same_choice > 0.95
    assert compared.parameters["0.bias"].exact
    assert compared.parameters["0.weight"].relative_rmse > 0.01
    assert {one.dtype for one in trained.parameters} == {"float32"}


def test_predictions_match_the_formulas(trained: bitgrain.Network, digits: tuple[np.ndarray, np.ndarray]) -> None:
    X = digits[0][:300]
    hidden = np.maximum(X @ trained.weights("0.weight").T + trained.weights("0.bias"), 0)
    wanted = hidden @ trained.weights("2.weight").T + trained.weights("2.bias")
    np.testing.assert_allclose(trained.predict(X), wanted, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(trained.predict(X[:1])[0], trained.predict(X)[0])


def test_the_same_seed_gives_the_same_network(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits

    def made(seed: int) -> np.ndarray:
        network = bitgrain.Network(64, [layers.Dense(10)], seed=seed)
        network.fit(X[:200], y[:200], epochs=2, seed=seed)
        return network.weights("0.weight")

    np.testing.assert_array_equal(made(5), made(5))
    assert (made(5) != made(6)).any()


def test_history_has_the_metrics_of_every_round(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    network = bitgrain.Network(64, [layers.Dense(10)])
    seen = []
    history = network.fit(
        X[:400],
        y[:400],
        epochs=50,
        learning_rate=0.05,
        validation_data=(X[400:600], y[400:600]),
        patience=3,
        schedule="cosine",
        clip=5.0,
        callback=lambda epoch: seen.append(epoch),
    )
    assert seen == history.epochs
    assert history.stopped_early
    assert len(history.epochs) < 50
    best = min(history.epochs, key=lambda epoch: epoch.held_back_loss)
    assert history.chosen == best.number
    score = network.evaluate(X[400:600], y[400:600])
    assert score.loss == pytest.approx(best.held_back_loss)
    assert score.accuracy == best.held_back_accuracy
    assert history.epochs[-1].rate < history.epochs[0].rate
    ended = network.fit(X[:400], y[:400], epochs=50, optimizer="sgd", callback=lambda epoch: epoch.number == 2)
    assert (len(ended.epochs), ended.stopped_early, ended.interrupted) == (2, False, False)


def test_regression_targets_use_mean_squared_error() -> None:
    x = np.linspace(-1, 1, 64)[:, None]
    network = bitgrain.Network((1,), [layers.Dense(16, activation="tanh"), layers.Dense(1)])
    network.fit(x, x**2, epochs=300, batch_size=16, learning_rate=0.02)
    assert network.evaluate(x, x**2).loss < 0.005
    assert network.evaluate(x, x**2).accuracy is None


def test_ctrl_c_keeps_the_trained_rounds(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    network = bitgrain.Network(64, [layers.Dense(10)])
    before = network.weights("0.weight")

    def stop(epoch: bitgrain.weights.Epoch) -> None:
        if epoch.number == 3:
            threading.Thread(target=_thread.interrupt_main).run()

    with pytest.warns(bitgrain.errors.TrainingInterrupted, match="of 10000 epochs"):
        history = network.fit(X[:200], y[:200], epochs=10_000, callback=stop)
    assert history.interrupted
    assert 3 <= len(history.epochs) < 10
    assert (network.weights("0.weight") != before).any()


def test_a_callback_that_raises_leaves_the_network_as_it_was(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    network = bitgrain.Network(64, [layers.Dense(10)])
    before = network.weights("0.weight")

    def fail(epoch: bitgrain.weights.Epoch) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        network.fit(X, y, callback=fail)
    with pytest.raises(bitgrain.errors.InputError, match="being trained"):
        network.fit(X, y, callback=lambda epoch: network.morph("int8"))
    np.testing.assert_array_equal(network.weights("0.weight"), before)


def test_a_recipe_chooses_by_name(trained: bitgrain.Network) -> None:
    network = trained.copy()
    network.morph({"2.*": "int8", "*.weight": "int4/32"})
    assert [one.dtype for one in network.parameters] == ["int4/32", "float32", "int8", "int8"]
    assert network.memory()["2.weight"]["int8"] > 0
    assert "int4/32" in network.summary()
    assert "int4/32, int8" in repr(network)


def test_calibration_reduces_the_error(trained: bitgrain.Network, digits: tuple[np.ndarray, np.ndarray]) -> None:
    X = digits[0]

    def off(method: str | None) -> float:
        network = trained.copy()
        if method:
            network.calibrate(X[:1000], method=method)
        network.morph("int2")
        return trained.compare(network, X[1437:]).outputs.relative_rmse

    assert off("feedback") < 0.5 * off(None)
    with pytest.raises(bitgrain.errors.InputError, match="feedback or importance"):
        off("luck")


@pytest.mark.parametrize("ending", ["json", "safetensors"])
def test_networks_round_trip_through_files(ending: str, trained: bitgrain.Network, digits, tmp_path: Path) -> None:
    X = digits[0][:50]
    network = trained.copy()
    network.morph("int4")
    for contents in ("all", "active"):
        path = tmp_path / f"{contents}.{ending}"
        network.save(path, contents=contents)
        again = bitgrain.Network.load(path)
        np.testing.assert_array_equal(again.predict(X), network.predict(X))
        assert again.layers == network.layers
    np.testing.assert_array_equal(
        bitgrain.Network.load(tmp_path / f"all.{ending}").weights("0.weight", master=True),
        trained.weights("0.weight"),
    )
    whole = (tmp_path / f"all.{ending}").read_bytes()
    broken = tmp_path / "broken"
    broken.write_bytes(whole[:-50])
    with pytest.raises(bitgrain.errors.FormatError):
        bitgrain.Network.load(broken)
    broken.write_bytes(whole.replace(b"dense", b"dents"))
    with pytest.raises(bitgrain.errors.FormatError):
        bitgrain.Network.load(broken)


def test_networks_can_be_copied_and_pickled(trained: bitgrain.Network, digits: tuple[np.ndarray, np.ndarray]) -> None:
    network = trained.copy()
    network.morph("q4_0")
    for other in (pickle.loads(pickle.dumps(network)), copy.copy(network), copy.deepcopy(network)):
        np.testing.assert_array_equal(other.predict(digits[0][:9]), network.predict(digits[0][:9]))


def test_every_kind_of_layer_can_be_built_and_round_trips() -> None:
    cases = [
        ((2, 9), [layers.Conv1d(4, 3, activation="relu"), layers.Flatten(), layers.Dense(2)]),
        ((1, 8, 8), [layers.Conv2d(4, (3, 3), stride=2, padding=(1, 1)), layers.Flatten(), layers.Dense(2)]),
        ((1, 4, 4, 4), [layers.Conv3d(2, padding=0), layers.Flatten(), layers.Dense(2)]),
        ((None, 6), [layers.Rnn(5, output="sequence"), layers.Lstm(4), layers.Dense(2)]),
        (
            (None,),
            [
                layers.Embedding(11, 8),
                layers.Positions(12),
                layers.Residual([layers.LayerNorm(), layers.Attention(2, causal=True, bias=False, rope=1e4)]),
                layers.Residual([layers.RmsNorm(), layers.SwiGlu(16)]),
                layers.Sequential([layers.Activation("gelu"), layers.Pool()]),
                layers.Dense(2),
                layers.Softmax(),
            ],
        ),
    ]
    for shape, made in cases:
        network = bitgrain.Network(shape, made, seed=4)
        x = np.ones((3, *(7 if dim is None else dim for dim in shape)))
        out = network.predict(x)
        assert out.shape == (3, *network.output_shape)
        again = bitgrain.Network(shape, network.layers, seed=4)
        np.testing.assert_array_equal(again.predict(x), out)
        network.morph("int8")
        assert np.isfinite(network.predict(x)).all()


def test_masked_positions_do_not_count() -> None:
    network = bitgrain.Network((None, 3), [layers.Attention(1), layers.Pool()])
    x = np.random.default_rng(0).normal(size=(2, 5, 3))
    mask = np.array([[1, 1, 1, 0, 0]] * 2, bool)
    np.testing.assert_allclose(network.predict(x, mask=mask), network.predict(x[:, :3]), rtol=1e-5, atol=1e-6)
    with pytest.raises(bitgrain.errors.InputError, match="mask"):
        network.predict(x, mask=mask[:, :4])


def test_bad_input_is_rejected_with_the_layer_or_the_shape(trained: bitgrain.Network) -> None:
    with pytest.raises(bitgrain.errors.InputError, match="layer 1"):
        bitgrain.Network((4,), [layers.Dense(3), layers.Conv2d(2)])
    with pytest.raises(bitgrain.errors.InputError, match="unknown variant"):
        bitgrain.Network((4,), [layers.Activation("bent")])
    with pytest.raises(bitgrain.errors.InputError, match="at least one layer"):
        bitgrain.Network((4,), [])
    with pytest.raises(bitgrain.errors.InputError, match="layer 0"):
        bitgrain.Network((4,), ["dense"])
    with pytest.raises(bitgrain.errors.InputError, match="2 numbers"):
        bitgrain.Network((1, 4, 4), [layers.Conv2d(2, kernel=(1, 2, 3))])
    with pytest.raises(bitgrain.errors.InputError):
        bitgrain.Network((4,), [layers.Dense(-1)])
    with pytest.raises(bitgrain.errors.InputError, match="first dimension"):
        bitgrain.Network((4, None), [layers.Dense(1)])
    X, y = np.zeros((5, 64), np.float32), np.zeros(5, int)
    with pytest.raises(bitgrain.errors.InputError, match=r"\(5, 63\)|63"):
        trained.predict(X[:, :63])
    with pytest.raises(bitgrain.errors.InputError, match="reshape"):
        trained.predict(X[0])
    with pytest.raises(bitgrain.errors.InputError, match="empty"):
        trained.predict(X[:0])
    with pytest.raises(bitgrain.errors.InputError, match="sample 2"):
        trained.predict(np.where(np.arange(5)[:, None] == 2, np.nan, X))
    with pytest.raises(bitgrain.errors.DTypeError):
        trained.predict(X.astype(object))
    with pytest.raises(bitgrain.errors.DTypeError):
        trained.predict(X.astype(complex))
    for bad in (y - 1, y + 10, y[:4]):
        with pytest.raises(bitgrain.errors.InputError):
            trained.fit(X, bad)
    with pytest.raises(bitgrain.errors.DTypeError, match="astype"):
        trained.fit(X, y.astype(float), loss="cross_entropy")
    for settings in ({"epochs": 0}, {"epochs": -1}, {"batch_size": 0}, {"learning_rate": 0.0}, {"loss": "hinge"}):
        with pytest.raises(bitgrain.errors.InputError):
            trained.fit(X, y, **settings)
    for settings in (
        {"optimizer": "adam"},
        {"schedule": "linear"},
        {"clip": -1.0},
        {"momentum": 2, "optimizer": "sgd"},
    ):
        with pytest.raises(bitgrain.errors.InputError):
            trained.fit(X, y, **settings)
    for settings in ({"learning_rate": "fast"}, {"epochs": 1.5}, {"clip": []}):
        with pytest.raises(bitgrain.errors.DTypeError, match=r"must be a number|must be an integer"):
            trained.fit(X, y, **settings)
    with pytest.raises(bitgrain.errors.DTypeError, match="must be an integer"):
        bitgrain.Network("64", [layers.Dense(1)])
    with pytest.raises(bitgrain.errors.NotFoundError, match=r"9\.weight"):
        trained.weights("9.weight")
    with pytest.raises(bitgrain.errors.InputError, match="shape"):
        trained.set_weights("0.bias", np.zeros(3))
    with pytest.raises(bitgrain.errors.InputError, match="weight format"):
        trained.morph("int3")
    with pytest.raises(bitgrain.errors.InputError, match="differ"):
        trained.compare(bitgrain.Network(64, [layers.Dense(10)]))
    with pytest.raises(bitgrain.errors.InputError, match="json"):
        trained.save("network.pickle")
    with pytest.raises(FileNotFoundError):
        bitgrain.Network.load("nowhere.json")


def test_threads_predict_while_another_changes_the_format(
    trained: bitgrain.Network, digits: tuple[np.ndarray, np.ndarray]
) -> None:
    X = digits[0][:64]
    network = trained.copy()
    names = ["float32", "int8", "int4"]
    wanted = [network.predict(X, dtype=name) for name in names]

    def work(number: int) -> bool:
        if number % 10 == 0:
            with contextlib.suppress(bitgrain.errors.InputError):  # another thread may be changing it
                network.morph(names[number // 10 % 3])
        found = network.predict(X)
        return any(np.array_equal(found, one) for one in wanted)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(120)))


def test_ctrl_c_does_not_wait_for_the_end_of_an_epoch() -> None:
    program = """
import os, signal, threading, time, warnings
import numpy as np
import bitgrain
from bitgrain import layers

X = np.random.default_rng(0).random((200_000, 64), dtype=np.float32)
y = np.arange(200_000) % 10
network = bitgrain.Network(64, [layers.Dense(512, activation="relu"), layers.Dense(10)])
before = network.weights("0.weight")
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    history = network.fit(X, y, epochs=1000, batch_size=16)
seconds = time.monotonic() - start
assert history.interrupted and history.epochs == [] and history.chosen == 0, history
assert [each.category for each in caught] == [bitgrain.errors.TrainingInterrupted], caught
assert (network.weights("0.weight") != before).any()
assert network.predict(X[:3]).shape == (3, 10)
print("done", seconds)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.startswith("done"), done.stderr
    assert float(done.stdout.split()[1]) < 20


@pytest.mark.parametrize("shape", [(50, 4), (2, 100), (200,), (100,), (100, 2, 2)])
def test_targets_of_another_shape_are_rejected(shape: tuple[int, ...]) -> None:
    X = np.zeros((100, 3))
    network = bitgrain.Network(3, [layers.Dense(2)])
    for call in (network.fit, network.evaluate):
        with pytest.raises(bitgrain.errors.InputError, match=r"y has shape .*numbers of shape \(100, 2\) are required"):
            call(X, np.zeros(shape))
    with pytest.raises(bitgrain.errors.InputError, match=r"classes of shape \(100\) are required"):
        network.fit(X, np.zeros((100, 2), dtype=int))
    with pytest.raises(bitgrain.errors.InputError, match=r"y has shape \(5, 2\)"):
        network.fit(X, np.zeros((100, 2)), validation_data=(X, np.zeros((5, 2))))
    network.fit(X, np.zeros((100, 2)), epochs=1, progress=False)
    network.fit(X, np.zeros((100, 1), dtype=int), epochs=1, progress=False)


def test_integer_targets_for_one_output_are_ambiguous() -> None:
    network = bitgrain.Network(3, [layers.Dense(1)])
    with pytest.raises(bitgrain.errors.InputError, match=r"y\.astype\(float\) or loss='mean_square'"):
        network.fit(np.zeros((4, 3)), [1, 2, 3, 4])
    network.fit(np.zeros((4, 3)), [1, 2, 3, 4], loss="mean_square", epochs=1, progress=False)


def test_arguments_of_the_wrong_type_are_named() -> None:
    network, X, y = bitgrain.Network(3, [layers.Dense(2)]), np.zeros((4, 3)), [0, 1, 0, 1]
    for settings, kind, message in (
        ({"loss": 5}, TypeError, "loss = 5"),
        ({"optimizer": None}, TypeError, "optimizer = None"),
        ({"seed": 2**64}, ValueError, "seed cannot be"),
        ({"validation_data": (X,)}, ValueError, "must be a pair"),
        ({"validation_data": 5}, ValueError, "must be a pair"),
    ):
        with pytest.raises(kind, match=message) as caught:
            network.fit(X, y, **settings)
        assert isinstance(caught.value, bitgrain.Error)
    for wrong in (None, layers.Dense(2)):
        with pytest.raises(bitgrain.errors.InputError, match="layers must be a list"):
            bitgrain.Network(3, wrong)
    with pytest.raises(bitgrain.errors.DTypeError, match="other must be a Network"):
        network.compare(5)
    with pytest.raises(KeyError, match="'typo' matches no parameter"):
        network.morph({"typo": "int8"})


def test_masks_are_flags_per_position() -> None:
    network = bitgrain.Network((None, 8), [layers.Attention(2)])
    X = np.zeros((2, 5, 8))
    for mask in (np.ones((5, 2), bool), np.ones(10, bool)):
        with pytest.raises(bitgrain.errors.InputError, match="the mask has shape"):
            network.predict(X, mask=mask)
    for mask in (np.full((2, 5), 0.5), np.full((2, 5), 2)):
        with pytest.raises(bitgrain.errors.DTypeError, match="must be booleans"):
            network.predict(X, mask=mask)
    assert network.predict(X, mask=np.ones((2, 5), int)).shape == (2, 5, 8)
