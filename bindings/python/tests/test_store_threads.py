"""Threads share one store, and the store releases the GIL."""

import pathlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import bitgrain
from bitgrain import TensorStore
from bitgrain.store import TierPolicy


def test_puts_gets_appends_and_ticks_at_once(tmp_path: pathlib.Path) -> None:
    rounds, threads = 30, 8
    policy = TierPolicy(absent="never")
    with TensorStore(tmp_path, sync="on_seal", segment_bytes=1 << 17, policy=policy) as store:
        store["shared"] = np.full(500, -1.0)

        def work(thread: int) -> None:
            for round in range(rounds):
                store[f"own/{thread}"] = np.full((5, 100), thread * 100 + round)
                own = store[f"own/{thread}"]
                assert own.shape == (5, 100)
                assert np.allclose(own, thread * 100 + round, rtol=0.01)
                store["shared"] = np.full(500, thread)
                shared = store["shared"]
                # All values come from the thread that put the tensor last.
                assert np.ptp(shared) < 1e-6, shared
                store.append("frames", np.full(20, thread), time=round)
                with store.batch() as batch:
                    batch["left"], batch["right"] = np.full(3, thread), np.full(4, thread)
                store.get("shared", out=np.empty(500, np.float32))

        def look(_: int) -> None:
            for _ in range(rounds):
                with store.snapshot() as snapshot:
                    if "left" in snapshot:
                        assert snapshot["left"][0] == snapshot["right"][0]
                store.tick(datetime.now(UTC) + timedelta(minutes=10))
                store.stats()
                assert [info.id for info in store.scan("own/")] == sorted(info.id for info in store.scan("own/"))  # type: ignore[type-var]
            store.compact()

        with ThreadPoolExecutor(threads + 2) as pool:
            done = [pool.submit(work, thread) for thread in range(threads)]
            done += [pool.submit(look, thread) for thread in range(2)]
            for future in done:
                future.result()
        frames, infos = store.frames("frames", with_provenance=True)
        assert frames.shape == (rounds * threads, 20)
        assert sorted(np.rint(frames[:, 0]).astype(int)) == sorted(list(range(threads)) * rounds)
        assert [info.index for info in infos] == list(range(rounds * threads))
        assert store.verify().is_clean
    with TensorStore(tmp_path, mode="r") as store:
        assert len(store) == threads + 4
        assert store.recovery.is_clean


def test_other_threads_run_while_the_store_works(tmp_path: pathlib.Path) -> None:
    """With the GIL held, the counter could not advance during a put of this size."""
    array = np.random.default_rng(0).standard_normal(4_000_000).astype(np.float32)
    steps: list[float] = []
    over = threading.Event()

    def count() -> None:
        while not over.is_set():
            steps.append(time.perf_counter())
            time.sleep(0.0005)

    counter = threading.Thread(target=count)
    with TensorStore(tmp_path, sync="on_seal") as store:
        counter.start()
        spans = []
        for use in (lambda: store.put("a", array), lambda: store["a"], lambda: store.verify()):
            start = time.perf_counter()
            use()
            spans.append((start, time.perf_counter()))
        over.set()
        counter.join()
    for start, end in spans:
        if end - start < 0.01:
            continue  # too short for another thread to run
        assert sum(start < step < end for step in steps) >= 2, end - start


def test_close_waits_for_running_calls(tmp_path: pathlib.Path) -> None:
    store = TensorStore(tmp_path, sync="on_seal")
    ready = threading.Barrier(5)

    def work(thread: int) -> int:
        ready.wait()
        for round in range(10_000):
            try:
                store[f"{thread}/{round}"] = np.ones(1000)
            except bitgrain.errors.InputError:
                return round
        raise AssertionError("it was never closed")

    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit(work, thread) for thread in range(4)]
        ready.wait()
        time.sleep(0.05)
        store.close()
        # The lock is free immediately, and all acknowledged writes are present.
        with TensorStore(tmp_path) as again:
            rounds = [future.result() for future in done]
            assert again.recovery.is_clean
            assert len(again) == sum(rounds) > 0


@pytest.mark.parametrize("threads", [1, 3])
def test_one_array_can_be_put_by_many_threads_and_filled_by_one(tmp_path: pathlib.Path, threads: int) -> None:
    array = np.arange(100_000, dtype=np.float32)
    with TensorStore(tmp_path, sync="on_seal") as store, ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda number: store.put(number, array), range(20)))
        outs = [np.empty_like(array) for _ in range(20)]
        list(pool.map(lambda number: store.get(number, out=outs[number]), range(20)))
        assert all(np.array_equal(out, outs[0]) for out in outs)
