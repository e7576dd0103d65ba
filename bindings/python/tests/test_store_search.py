"""Nearest-neighbor search from Python."""

import pathlib
import threading

import numpy as np
import numpy.typing as npt
import pytest

from bitgrain import TensorStore
from bitgrain.errors import DTypeError, InputError
from bitgrain.store import SearchResult, Tier


@pytest.fixture
def vectors() -> npt.NDArray[np.float32]:
    return np.random.default_rng(1).normal(size=(500, 48)).astype(np.float32)


@pytest.fixture
def store(tmp_path: pathlib.Path, vectors: npt.NDArray[np.float32]) -> TensorStore:
    store = TensorStore(tmp_path / "store", sync="on_seal")
    with store.batch() as batch:
        for i, vector in enumerate(vectors):
            batch.put(i, vector)
    return store


def scores(metric: str, vectors: npt.NDArray[np.float64], query: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if metric == "l2":
        return ((vectors - query) ** 2).sum(axis=1)
    products = vectors @ query
    return products if metric == "ip" else products / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)


@pytest.mark.parametrize("metric", ["ip", "cosine", "l2"])
def test_answers_are_those_of_numpy_on_decoded_values(
    store: TensorStore, vectors: npt.NDArray[np.float32], metric: str
) -> None:
    query = np.random.default_rng(2).normal(size=48).astype(np.float32)
    found = store.search(query, k=12, metric=metric)  # type: ignore[arg-type]
    decoded = np.array([store[i] for i in range(500)], dtype=np.float64)
    expected = scores(metric, decoded, query.astype(np.float64))
    order = np.argsort(expected if metric == "l2" else -expected)[:12]
    assert found.ids == order.tolist()
    assert np.allclose(found.scores, expected[order])
    truth = scores(metric, vectors.astype(np.float64), query.astype(np.float64))[order]
    assert np.all(found.low <= truth + 1e-9)
    assert np.all(truth <= found.high + 1e-9)
    assert isinstance(found, SearchResult)
    assert len(found) == 12
    assert found.certified == found.proven.sum()
    assert found.tiers == [Tier.HOT] * 12
    assert found.skipped == 0


def test_a_batch_gives_the_answers_of_its_queries(store: TensorStore, vectors: npt.NDArray[np.float32]) -> None:
    together = store.search_batch(vectors[:20], 5, metric="cosine")
    for query, result in zip(vectors[:20], together, strict=True):
        alone = store.search(query, 5, metric="cosine")
        assert result.ids == alone.ids
        assert np.array_equal(result.scores, alone.scores)


def test_writes_and_deletions_are_seen_at_once(store: TensorStore, vectors: npt.NDArray[np.float32]) -> None:
    store["new"] = 10 * vectors[3]
    assert store.search(vectors[3], 1).ids == ["new"]
    del store["new"]
    assert store.search(vectors[3], 1).ids != ["new"]


def test_filters_select_before_the_best_are_chosen(store: TensorStore, vectors: npt.NDArray[np.float32]) -> None:
    store.put("a/1", -vectors[0], user={"lang": "de"})
    assert store.search(vectors[0], 3, prefix="a/").ids == ["a/1"]
    assert store.search(vectors[0], 3, filter={"lang": "de"}).ids == ["a/1"]
    assert set(store.search(vectors[0], 3, ids=[4, 5, 99999]).ids) == {4, 5}
    assert store.search(vectors[0], 3, ids=[]).ids == []


def test_rows_of_a_matrix_are_found(store: TensorStore, vectors: npt.NDArray[np.float32]) -> None:
    store.put("matrix", vectors, lossless=True)
    found = store.search(vectors[9], 2, ids=["matrix"], metric="l2", exact=True)
    assert found.rows[0] == 9
    assert found.certified == 2


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"query": [np.nan] * 48}, InputError, "not finite at index 0"),
        ({"query": [1.0] * 47}, InputError, "does not match a query of 47 values"),
        ({"query": []}, InputError, "has 0 values"),
        ({"query": np.zeros((2, 48))}, InputError, "must be a vector"),
        ({"query": [0.0] * 48, "metric": "cosine"}, InputError, "is the zero vector"),
        ({"query": [1.0] * 48, "k": 0}, InputError, "at least 1"),
        ({"query": [1.0] * 48, "k": -1}, InputError, "k is -1"),
        ({"query": [1.0] * 48, "k": 1.5}, DTypeError, "must be an int"),
        ({"query": [1.0] * 48, "metric": "dot"}, InputError, "unknown metric `dot`"),
        ({"query": ["a"] * 48}, DTypeError, "not real numbers"),
        ({"query": [1.0] * 48, "ids": "abc"}, DTypeError, "list of ids"),
        ({"query": [1.0] * 48, "ids": [1.5]}, DTypeError, "str or an int"),
    ],
)
def test_bad_input_is_refused(
    store: TensorStore, arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        store.search(**arguments)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="must be a matrix"):
        store.search_batch(np.ones(48))
    assert store.search_batch(np.ones((0, 48))) == []


def test_an_approximate_search_finds_nearly_all_answers(tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(5)
    vectors = (rng.normal(size=(20, 96))[np.arange(3000) % 20] + rng.normal(size=(3000, 96))).astype(np.float32)
    with TensorStore(tmp_path / "store", sync="on_seal") as store:
        store["matrix"] = vectors
        full = store.search_batch(vectors[:20], 10, metric="cosine")
        found = store.search_batch(vectors[:20], 10, metric="cosine", approximate=True)
        common = [np.intersect1d(a.rows, b.rows).size for a, b in zip(full, found, strict=True)]
        assert np.mean(common) >= 9.8
        assert [result.certified for result in found] == [0] * 20
        assert store.search(vectors[7], 1, metric="cosine", approximate=True).rows.tolist() == [7]
        with pytest.raises(InputError, match="use either `approximate` or `exact`"):
            store.search(vectors[7], approximate=True, exact=True)


def test_searches_release_the_lock(store: TensorStore, vectors: npt.NDArray[np.float32]) -> None:
    found: list[list[SearchResult]] = []
    threads = [threading.Thread(target=lambda: found.append(store.search_batch(vectors, 3))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({tuple(tuple(result.ids) for result in results) for results in found}) == 1
