"""Clocks, locks, live stores, frames and long lists."""

import os
import pathlib
import pickle
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import bitgrain
from bitgrain import TensorStore
from bitgrain.store import SimulatedClock, Tier, TierPolicy

START = datetime(2030, 1, 7, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_times_far_from_the_clock_are_rejected_unless_simulated(tmp_path: pathlib.Path) -> None:
    now = datetime.now(UTC)
    with TensorStore(tmp_path / "real") as store:
        store["a"] = [1.0, 2.0]
        milliseconds = int(now.timestamp() * 1000)
        for wrong in (milliseconds * 1000, milliseconds // 1000, milliseconds + 48 * 3_600_000):
            with pytest.raises(bitgrain.errors.InputError, match="time out of range"):
                store.tick(now_ms=wrong)
        with pytest.raises(bitgrain.errors.InputError, match="SimulatedClock"):
            store.tick(now + timedelta(days=2))
        for number in (time.time(), time.time() * 1000, 3):
            with pytest.raises(bitgrain.errors.DTypeError, match="now_ms"):
                store.tick(number)  # type: ignore[arg-type]
        with pytest.raises(bitgrain.errors.InputError, match="one of them"):
            store.tick(now, now_ms=milliseconds)
        store.tick(now + 20 * HOUR)
        store.tick(now_ms=milliseconds)
        store.plan(now + timedelta(days=30))
    with TensorStore(tmp_path / "simulated", clock=SimulatedClock(START)) as store:
        store["a"] = [1.0, 2.0]
        assert store.stat("a").created == START
        store.tick(START + timedelta(days=400))


def test_a_store_recovers_from_a_clock_that_was_ahead(tmp_path: pathlib.Path) -> None:
    clock = SimulatedClock(START + timedelta(days=365))
    policy = TierPolicy(absent="never")
    with TensorStore(tmp_path, clock=clock, policy=policy) as store:
        store["ahead"] = np.arange(100.0)
    clock.set(START)
    for _ in range(48):
        with TensorStore(tmp_path, clock=clock, policy=policy) as store:
            store.put("new", np.arange(100.0))
            assert store.stat("new").updated == clock.now
            clock.advance(HOUR)
            store.tick()
    with TensorStore(tmp_path, mode="r") as store:
        assert store.stat("ahead").provenance.bits < 8
        assert store.stat("new").provenance.bits == 8


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not delete open files")
def test_deleting_the_lock_file_does_not_admit_a_second_writer(tmp_path: pathlib.Path) -> None:
    code = "import bitgrain, sys; bitgrain.TensorStore(sys.argv[1])['intruder'] = [1.0]"
    with TensorStore(tmp_path) as store:
        for number in range(3):
            (tmp_path / "LOCK").unlink()
            command = [sys.executable, "-c", code, str(tmp_path)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            assert "LockedError" in done.stderr
            store[number] = [1.0]
            (tmp_path / "LOCK").touch()
    with TensorStore(tmp_path) as store:
        assert list(store) == [0, 1, 2]
        assert store.recovery.is_clean


def test_readers_of_a_live_store_find_it_clean(tmp_path: pathlib.Path) -> None:
    code = """if True:
        import bitgrain, numpy, sys
        rounds = 0
        while True:
            with bitgrain.TensorStore(sys.argv[1], sync="on_seal", segment_bytes=20_000) as store:
                for number in range(40):
                    store[number % 8] = numpy.full(2000, number)
                store.compact(all=rounds % 2 == 0)
            rounds += 1
            print(rounds, flush=True)
    """
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        try:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "1\n"
            for _ in range(40):
                with TensorStore(tmp_path, mode="r") as reader:
                    assert reader.recovery.is_clean, reader.recovery
                    report = reader.verify()
                    assert report.is_clean, report
                    assert len(reader) == 8
        finally:
            writer.kill()
    with TensorStore(tmp_path) as store:  # killed at an arbitrary point
        assert sorted(map(int, store)) == list(range(8))
        assert store.verify().is_clean


def test_a_long_list_of_moves_does_not_stop_other_threads(tmp_path: pathlib.Path) -> None:
    count = 100_000
    clock = SimulatedClock(START)
    with TensorStore(tmp_path, sync="on_seal", clock=clock, policy=TierPolicy(absent="never")) as store:
        with store.batch() as batch:
            for number in range(count):
                batch[number] = [1.0]
        clock.advance(3 * HOUR)
        waits, over = [], threading.Event()

        def beat() -> None:
            while not over.is_set():
                start = time.perf_counter()
                time.sleep(0.001)
                waits.append(time.perf_counter() - start)

        thread = threading.Thread(target=beat)
        plan = store.plan()
        thread.start()
        report = store.tick()
        over.set()
        thread.join()
        assert len(report.moves) == count
        assert report.moves.totals() == {(Tier.HOT, Tier.WARM): count}
        first, last = report.moves[0], report.moves[-1]
        assert (first.id, last.id, first.after) == (0, count - 1, Tier.WARM)
        assert [move.id for move in report.moves[10:13]] == [10, 11, 12]
        assert sum(1 for _ in report.moves) == count
        assert report.moves == plan.moves == pickle.loads(pickle.dumps(report)).moves
        with pytest.raises(IndexError):
            report.moves[count]
        # Creating the objects eagerly took 0.5 s, all of it with the GIL held.
        assert max(waits) < 0.25, f"a thread waited {max(waits):.2f} s"


def test_frames_are_not_dropped_by_an_assignment(tmp_path: pathlib.Path) -> None:
    with TensorStore(tmp_path) as store:
        for number in range(5):
            store.append("room", np.full(4, number))
        for put in (
            lambda: store.__setitem__("room", [1.0]),
            lambda: store.put("room", [1.0], tier="hot"),
            lambda: store.update({"room": np.ones(1)}),
        ):
            with pytest.raises(bitgrain.errors.InputError, match=r"5 frames.*replace=True"):
                put()
        with pytest.raises(bitgrain.errors.InputError, match="5 frames"), store.batch() as batch:
            batch["room"] = [1.0]
        assert store.stat("room").frames == 5
        store.put("room", [1.0], replace=True)
        assert store.stat("room").frames is None
        store["room"] = [2.0]


def test_append_explains_errors_and_keeps_the_error_limit(tmp_path: pathlib.Path) -> None:
    with TensorStore(tmp_path) as store:
        store["whole"] = np.ones((3, 2))
        for frame in (np.ones(2), np.ones((3, 2))):
            with pytest.raises(bitgrain.errors.InputError, match="put as one tensor"):
                store.append("whole", frame)
        store.append("room", np.ones(4))
        with pytest.raises(bitgrain.errors.InputError, match=r"shape \(3,\), but earlier frames have \(4,\)"):
            store.append("room", np.ones(3))
        frame = np.random.default_rng(0).standard_normal(100)
        info = store.append("limited", frame, max_error=0.02)
        assert info.provenance.bound <= 0.02
        assert store.stat("limited").max_error == pytest.approx(0.02)
        with pytest.raises(bitgrain.errors.InputError, match="above the limit"):
            store.append("limited", frame * 1e3)
        with pytest.raises(bitgrain.errors.InputError, match="above the limit"):
            store.append("new", frame, max_error=1e-12)
        assert "new" not in store
        assert store.stat("limited").frames == 1


def test_invalid_folders_and_settings_are_rejected(tmp_path: pathlib.Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "thesis.tex").write_text("x")
    with pytest.raises(bitgrain.errors.FileError, match=r"thesis\.tex"):
        TensorStore(tmp_path / "papers")
    assert os.listdir(tmp_path / "papers") == ["thesis.tex"]
    with pytest.raises(bitgrain.errors.InputError, match="segment_bytes 0 is too small"):
        TensorStore(tmp_path / "s", segment_bytes=0)
    with TensorStore(tmp_path / "s") as store:
        store["a"] = [1.0]
        with pytest.raises(bitgrain.errors.InputError, match="inside the store"):
            store.backup(tmp_path / "s" / "copy")
        assert not (tmp_path / "s" / "copy").exists()
        store.backup(tmp_path / "copy")


def test_weeks_of_use_with_clocks_that_jump_keep_every_tensor(tmp_path: pathlib.Path) -> None:
    random = np.random.default_rng(7)
    clock = SimulatedClock(START)
    kept: dict[str, tuple[np.ndarray, float]] = {}
    policy = TierPolicy(absent="never")
    for day in range(28):
        with TensorStore(tmp_path, sync="on_seal", clock=clock, segment_bytes=1 << 16, policy=policy) as store:
            name = f"day/{day}"
            array = random.standard_normal(500).astype(np.float32)
            store.put(name, array, max_error=0.5)
            kept[name] = (array, 0.5)
            store.append("series", array[:10], time=day)
            for id in random.choice(sorted(kept), 3):
                values, provenance = store.get(str(id), with_provenance=True)
                original, most = kept[str(id)]
                assert np.abs(values - original).max() <= provenance.bound <= most
            if day % 5 == 4:
                gone = str(random.choice(sorted(kept)))
                del store[gone], kept[gone]
            jump = random.choice([24, 24, 24, -200, 9000])
            clock.advance(timedelta(hours=int(jump)))
            store.tick()
            if jump == 9000:
                clock.advance(timedelta(hours=-9000))
            if day % 7 == 6:
                store.compact(all=True)
    with TensorStore(tmp_path, mode="r") as store:
        assert set(store) == {*kept, "series"}
        assert store.frames("series").shape == (28, 10)
        assert store.verify().is_clean
        for id, (original, most) in kept.items():
            assert np.abs(store[id] - original).max() <= most
