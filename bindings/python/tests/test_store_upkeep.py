"""Tiers, statistics, verification, compaction and backups."""

import dataclasses
import pathlib
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

import bitgrain
from bitgrain import TensorStore, _native
from bitgrain.store import SimulatedClock, Tier, TierPolicy

HOUR = timedelta(hours=1)
START = datetime(2030, 1, 7, 9, tzinfo=UTC)


def test_policy_defaults_match_the_engine() -> None:
    python, engine = dataclasses.asdict(TierPolicy()), _native.named_policy("careful")
    near = {name: pytest.approx(value) for name, value in engine.items() if isinstance(value, float)}
    assert python == engine | near


def test_every_field_of_the_policy_reaches_the_store(tmp_path: pathlib.Path) -> None:
    for field in dataclasses.fields(TierPolicy):
        wrongs = {float: -1.0, timedelta: timedelta(days=100_000), int: -1, type(None): -1}
        wrong = wrongs.get(type(field.default), "absent ")
        with pytest.raises(ValueError, match=field.name) as caught:
            TensorStore(tmp_path / field.name, policy=TierPolicy(**{field.name: wrong}))
        assert isinstance(caught.value, bitgrain.errors.InputError)
    for wrong in ({"period": 600}, {"hot_min": "high"}, {"warm_byte_cap": 1.5}, {"first_tier": 8}, {"budget": 1.5}):
        with pytest.raises(bitgrain.errors.DTypeError):
            TierPolicy(**wrong)  # type: ignore[arg-type]
    with TensorStore(tmp_path / "fine", policy=TierPolicy(first_tier="cold")) as store:
        assert store.put("a", [1.0]).tier is Tier.COLD


def test_idle_tensors_get_fewer_bits_and_are_finally_evicted(tmp_path: pathlib.Path) -> None:
    policy = TierPolicy(absent="any", least_tier="cold")
    settings = {"policy": policy, "absent_reads": "zeros", "clock": SimulatedClock(START)}
    with TensorStore(tmp_path, sync="on_seal", **settings) as store:
        array = np.random.default_rng(0).standard_normal(10_000)
        store["other"], store["left"] = array, array
        store.put("held", array, pin="hot")
        store.put("limited", array, max_error=3.0)
        assert store.tick().moves == []
        plan = store.plan(START + 3 * HOUR)
        assert {move.id for move in plan.moves} == {"other", "left", "limited"}
        assert store.stat("left").tier is Tier.HOT
        moved = store.tick(START + 3 * HOUR)
        assert {(move.id, move.before, move.after) for move in moved.moves} == {
            (id, Tier.HOT, Tier.WARM) for id in ("other", "left", "limited")
        }
        assert moved.bytes_after < moved.bytes_before
        for hours in (6, 9, 48):
            store.tick(START + hours * HOUR)
        tiers = {info.id: info.tier for info in store.scan()}
        assert tiers["left"] is Tier.ABSENT
        assert tiers["held"] is Tier.HOT
        assert tiers["limited"] is Tier.COLD
        values, provenance = store.get("left", with_provenance=True)
        assert not values.any()
        assert values.shape == (10_000,)
        assert provenance.bound == np.inf
        stats = store.stats()
        assert stats.tiers[Tier.ABSENT].tensors == 2
        assert stats.tiers[Tier.COLD].tensors == 1
        assert stats.tiers[Tier.COLD].compression > 8
    with TensorStore(tmp_path, mode="r", mapped=False) as reader:
        for read in (
            lambda: reader["left"],
            lambda: reader.get("left", 1),
            lambda: reader.get_rows("left", 0, 1),
            lambda: reader.get("left", with_provenance=True),
        ):
            with pytest.raises(KeyError, match="no data"):
                read()
        assert reader.get("missing", 1) == 1


def test_idle_data_stays_by_default(tmp_path: pathlib.Path) -> None:
    with TensorStore(tmp_path, sync="on_seal", clock=SimulatedClock(START)) as store:
        store["a"] = [1.0, 2.0]
        for day in range(1, 10):
            store.tick(START + day * 24 * HOUR)
        assert store.stat("a").tier is Tier.B6
        values, provenance = store.get("a", with_provenance=True)
        assert np.abs(values - [1.0, 2.0]).max() <= provenance.bound < 1


def test_pins_hold_for_every_write_and_frames_report_the_lowest_tier(tmp_path: pathlib.Path) -> None:
    frame = np.random.default_rng(0).standard_normal(100).astype(np.float32)
    with TensorStore(tmp_path) as store:
        assert store.put("a", frame, tier="cold", pin="warm").tier is Tier.WARM
        store.append("frames", frame)
        store.pin("frames", "lossless")
        store.append("frames", frame + 1)
        assert np.array_equal(store["frames"], frame + 1)
        assert store.stat("frames").tier is Tier.HOT
        store.pin("frames", "cold")
        store.append("frames", frame)
        store.pin("frames", "hot")
        store.append("frames", frame)
        assert store.stat("frames").tier is Tier.COLD
        assert store.stats().tiers[Tier.COLD].tensors == 1


@pytest.mark.parametrize("wrong", [{"now": datetime(1960, 1, 1, tzinfo=UTC)}, {"now_ms": -1}, {"now_ms": 1 << 70}])
def test_invalid_times_are_rejected(tmp_path: pathlib.Path, wrong: dict[str, Any]) -> None:
    with TensorStore(tmp_path) as store, pytest.raises(bitgrain.errors.InputError, match="now"):
        store.tick(**wrong)


def test_metadata_of_a_tensor(tmp_path: pathlib.Path) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    with TensorStore(tmp_path) as store:
        store["a"] = np.ones((3, 4))
        store["a"], _ = np.ones((3, 4)), store["a"]
        info = store.stat("a")
        assert info.id == "a"
        assert info.shape == (3, 4)
        assert info.tier is Tier.HOT
        assert info.wanted is Tier.HOT
        assert before < info.created <= info.updated <= info.accessed < datetime.now(UTC) + timedelta(seconds=1)
        assert info.accesses == 3
        assert 0 < info.score <= 1024
        assert info.stored_bytes > 12
        assert info.pinned is None
        assert info.max_error is None
        assert info.frames is None
        assert not info.reconstructable
        with pytest.raises(dataclasses.FrozenInstanceError):
            info.score = 0.0  # type: ignore[misc]


def test_a_scan_is_sorted_and_filtered_by_prefix(tmp_path: pathlib.Path) -> None:
    with TensorStore(tmp_path, sync="on_seal") as store:
        for id in ("layer/1", "layer/0", "mean", 3):
            store[id] = [1.0]
        assert [info.id for info in store.scan()] == ["layer/0", "layer/1", "mean", 3]
        scan = store.scan("layer/")
        del store["layer/0"]
        assert [info.id for info in scan] == ["layer/1"]
        assert list(store.scan("x")) == []


def test_statistics_add_up(tmp_path: pathlib.Path) -> None:
    with TensorStore(tmp_path, sync="on_seal") as store:
        assert store.stats().tensors == 0
        assert store.stats().compression == 0
        for number in range(10):
            store[number] = np.random.default_rng(number).standard_normal(10_000)
        store.put("exact", np.ones(100, np.float32), lossless=True)
        for _ in range(4):
            store.append("frames", np.ones(50))
        stats = store.stats()
        assert (stats.tensors, stats.temporal, stats.frames) == (12, 1, 4)
        assert list(stats.tiers) == list(Tier)
        assert stats.tiers[Tier.HOT].f32_bytes == 10 * 40_000 + 4 * 200
        assert stats.tiers[Tier.LOSSLESS].f32_bytes == 400
        assert stats.tiers[Tier.LOSSLESS].worst_bound == 0
        assert 3.5 < stats.compression < 4
        assert stats.live_bytes <= stats.file_bytes
        assert stats.garbage_bytes == 0
        assert max(info.provenance.bound for info in store.scan()) == stats.tiers[Tier.HOT].worst_bound


def test_compaction_frees_space(tmp_path: pathlib.Path) -> None:
    with TensorStore(tmp_path, sync="on_seal", segment_bytes=1 << 16) as store:
        for number in range(200):
            store[number % 20] = np.random.default_rng(number).standard_normal(2000)
        before = dict(store.items())
        stats = store.stats()
        assert stats.segments > 3
        assert stats.garbage_bytes > stats.live_bytes
        report = store.compact()
        assert report.segments_removed > report.segments_written
        assert report.bytes_removed > report.bytes_written
        assert store.stats().file_bytes < stats.file_bytes
        store.compact(all=True)
        assert all(np.array_equal(store[id], array) for id, array in before.items())
        assert store.verify().is_clean
        assert store.verify().records >= 20
    with TensorStore(tmp_path, mode="r") as store:
        assert len(store) == 20


def test_a_backup_is_an_independent_store(tmp_path: pathlib.Path) -> None:
    with TensorStore(tmp_path / "store") as store:
        store["a"] = np.arange(100.0)
        store.backup(tmp_path / "copy")
        store["b"] = [1.0]
        with TensorStore(tmp_path / "copy") as copy:
            assert list(copy) == ["a"]
            assert np.array_equal(copy["a"], store["a"])
        with pytest.raises(OSError, match="not empty") as caught:
            store.backup(tmp_path / "copy")
        assert isinstance(caught.value, bitgrain.errors.FileError)


def test_named_policies_decide_how_far_idle_tensors_step_down(tmp_path: pathlib.Path) -> None:
    array = np.random.default_rng(0).standard_normal(10_000)
    for policy, tier in [(None, "b6"), ("careful", "b6"), ("adr019", "cold"), ("budget:1000000", "hot")]:
        settings = {"policy": policy, "clock": SimulatedClock(START)}
        with TensorStore(tmp_path / str(policy), sync="on_seal", **settings) as store:
            store["a"] = array
            for hours in (3, 9, 15):
                report = store.tick(START + hours * HOUR)
            assert (store.stat("a").tier, report.over_budget) == (tier, 0)
    with TensorStore(tmp_path / "small", policy="budget:1", clock=SimulatedClock(START)) as store:
        store["a"] = array
        assert list(store.tick(START + 23 * HOUR).moves) == []  # new data is left alone for a day
        report = store.tick(START + 25 * HOUR)
        assert [(move.after, move.reason, move.frames) for move in report.moves] == [("cold", "budget", None)]
        assert report.over_budget > store.plan(START + 25 * HOUR).over_budget - 10 > 3_000  # an estimate and the size
    with pytest.raises(bitgrain.errors.InputError, match="unknown policy `frugal`"):
        TensorStore(tmp_path / "wrong", policy="frugal")


def test_every_tier_can_be_put_and_read(tmp_path: pathlib.Path) -> None:
    array = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    with TensorStore(tmp_path) as store:
        for tier in [tier for tier in Tier if tier is not Tier.ABSENT]:
            cost = store.put(tier.value, array, tier=tier)
            assert (cost.tier, cost.bits) == (tier, tier.bits)
            assert np.abs(store[tier.value] - array).max() <= cost.bound
