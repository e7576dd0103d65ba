"""One process writes; forked processes do no harm."""

import multiprocessing
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import bitgrain
from bitgrain import TensorStore

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="requires fork")


def python(code: str, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_second_process_is_rejected_with_the_pid_of_the_owner(tmp_path: pathlib.Path) -> None:
    code = """if True:
        import bitgrain, sys
        try:
            bitgrain.TensorStore(sys.argv[1])
        except bitgrain.errors.LockedError as error:
            print(error.errno is not None, error)
        print(bitgrain.TensorStore(sys.argv[1], mode="r")["a"].tolist())
    """
    with TensorStore(tmp_path) as store:
        store.put("a", [1.0, 2.0], lossless=True)
        done = python(code, tmp_path)
        assert done.returncode == 0, done.stderr
        assert f"True [Errno 11] the store is locked by process {os.getpid()}" in done.stdout
        assert str(tmp_path) in done.stdout
        assert "[1.0, 2.0]" in done.stdout


def test_an_open_store_is_closed_at_exit(tmp_path: pathlib.Path) -> None:
    done = python("import bitgrain, sys; s = bitgrain.TensorStore(sys.argv[1]); s['a'] = [1.0]; print(s)", tmp_path)
    assert done.returncode == 0, done.stderr
    with TensorStore(tmp_path) as store:
        assert "a" in store
        assert store.recovery.is_clean


def test_acknowledged_puts_survive_a_killed_process(tmp_path: pathlib.Path) -> None:
    code = "import bitgrain, os, sys; bitgrain.TensorStore(sys.argv[1])['a'] = [1.0] * 99; os.kill(os.getpid(), 9)"
    assert python(code, tmp_path).returncode != 0
    with TensorStore(tmp_path) as store:
        assert store["a"].shape == (99,)
        assert store.verify().is_clean


@needs_fork
def test_a_fork_does_not_write_to_its_parents_store_nor_keep_its_lock(tmp_path: pathlib.Path) -> None:
    store = TensorStore(tmp_path / "store")
    store["a"] = [1.0]
    said, say = os.pipe()
    waited, go = os.pipe()
    pid = os.fork()
    if pid == 0:  # pragma: no cover
        refused = 0
        for use in (lambda: store["a"], lambda: store.put("b", [1.0])):
            try:
                use()
            except bitgrain.errors.InputError as error:
                refused += "forked" in str(error)
        store.close()
        del store
        os.write(say, b"%d" % refused)
        os.read(waited, 1)  # until the parent is done
        os._exit(0)
    assert os.read(said, 1) == b"2"
    store["c"] = [2.0]  # the log is still the parent's
    store.close()
    with TensorStore(tmp_path / "store") as again:  # although the child still has the file open
        assert list(again) == ["a", "c"]
        assert again.recovery.is_clean
    os.write(go, b"x")
    assert os.waitpid(pid, 0)[1] == 0


def _read(path: str, number: int) -> float:
    with TensorStore(path, mode="r") as store:
        return float(store[number].sum())


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_workers_open_and_read_the_store_of_a_threaded_parent(tmp_path: pathlib.Path) -> None:
    array = np.ones(3_000_000, np.float32)  # large enough for several threads
    with TensorStore(tmp_path, sync="on_seal") as store:
        for number in range(4):
            store.put(number, array * number, lossless=number == 3)
        assert store[1].sum() > 0
        store.flush()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            jobs = [pool.apply_async(_read, (str(tmp_path), number)) for number in range(4)]
            sums = [job.get(timeout=60) for job in jobs]
    assert np.allclose(sums, np.arange(4) * 3_000_000, rtol=0.01)


_opened: TensorStore | None = None


def _read_opened(number: int) -> float:
    assert _opened is not None
    return float(_opened[number].sum())


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_read_only_store_can_be_used_in_forked_workers(tmp_path: pathlib.Path) -> None:
    global _opened
    with TensorStore(tmp_path, sync="on_seal") as store:
        for number in range(8):
            store[number] = np.full(1_000_000, number)
    with TensorStore(tmp_path, mode="r") as _opened:
        assert _read_opened(1) > 0
        with multiprocessing.get_context("fork").Pool(3) as pool:
            sums = pool.map_async(_read_opened, range(8)).get(timeout=60)
    _opened = None
    assert np.allclose(sums, np.arange(8) * 1_000_000, rtol=0.01)


def test_spawned_workers_take_the_path(tmp_path: pathlib.Path) -> None:
    code = """if True:
        import bitgrain, concurrent.futures as c, multiprocessing as m, sys
        if __name__ == "__main__":
            store = bitgrain.TensorStore(sys.argv[1], mode="r")
            with c.ProcessPoolExecutor(1, m.get_context("spawn")) as pool:
                try:
                    pool.submit(len, store).result()
                except TypeError as error:
                    print(error)
    """
    TensorStore(tmp_path).close()
    done = python(code, tmp_path)
    assert "hand over the path" in done.stdout, done.stderr
