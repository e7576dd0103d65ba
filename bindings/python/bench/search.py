"""Search of a store, full and approximate, compared with faiss, usearch, hnswlib and NumPy.

    python bindings/python/bench/search.py --vectors 200000 --threads 1

With `--program target/release/examples/search_speed` the store is measured without the Python package, in a process
that `cargo build --release -p bitgrain-store --example search_speed` makes.

Synthetic unit vectors in clusters of very different sizes, with a decaying spectrum and a few large dimensions.
Requires a release build, an idle machine, and `pip install faiss-cpu usearch hnswlib`. Prints a table; it is not a
test. A time is the mean of 16 queries, one after the other; the table has the best of several runs, alternating between
the libraries. `read only` is libc's `memchr` over the bytes of the 8-bit store: the limit of a scan.
"""

import argparse
import ctypes
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

DIMENSIONS = 384
K = 10
ONE_BY_ONE = 16


def made(count: int, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors and queries of length one."""
    rng = np.random.default_rng(5)
    spectrum = (1 / (1 + np.arange(DIMENSIONS) / 40)).astype(np.float32)
    centers = rng.standard_normal((2000, DIMENSIONS), dtype=np.float32) * spectrum
    weights = 1 / np.arange(1, 2001)
    members = rng.choice(2000, count + queries, p=weights / weights.sum())
    out = rng.standard_normal((count + queries, DIMENSIONS), dtype=np.float32)
    out *= 0.6 * spectrum
    for start in range(0, len(out), 65536):
        out[start : start + 65536] += centers[members[start : start + 65536]]
    out[:, [3, 77, 201, 340]] *= 4
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    return out[:count], out[count:]


@dataclass
class Entry:
    """One way to search."""

    name: str
    bytes_per_vector: float
    build: float
    one: Callable[[np.ndarray], np.ndarray]
    many: Callable[[np.ndarray], np.ndarray]
    close: Callable[[], None] = lambda: None
    timed_one: Callable[[], float] | None = None
    """Seconds per query of the first queries, if the entry measures them itself."""
    timed_many: Callable[[], float] | None = None


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that the work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def stores(vectors: np.ndarray, folder: str, tiers: list[str]) -> list[Entry]:
    """Return a store per tier."""
    import bitgrain

    entries = []
    for tier in tiers:
        store = bitgrain.TensorStore(os.path.join(folder, tier), sync="on_seal", segment_bytes=1 << 30)

        def fill(store: bitgrain.TensorStore = store, tier: str = tier) -> None:
            for start in range(0, len(vectors), 10000):
                with store.batch() as batch:
                    for i in range(start, min(start + 10000, len(vectors))):
                        batch.put(i, vectors[i], tier=tier)

        build = timed(fill)
        build += timed(lambda store=store: store.search(vectors[0], K))
        size = store.stats().live_bytes / len(vectors)
        entries.append(searched(f"bitgrain {tier}", size, build, store, approximate=False))
        if tier == "hot":
            build += timed(lambda store=store: store.search(vectors[0], K, approximate=True))
            # One bit and three floats per vector.
            size += DIMENSIONS / 8 + 12
            entries.append(searched(f"bitgrain {tier}, approximate", size, build, store, approximate=True))
    return entries


def searched(name: str, size: float, build: float, store: object, *, approximate: bool) -> Entry:
    """Return an entry for searches of a store."""

    def one(query: np.ndarray) -> np.ndarray:
        return np.array(store.search(query, K, approximate=approximate).ids)

    def many(queries: np.ndarray) -> np.ndarray:
        return np.array([result.ids for result in store.search_batch(queries, K, approximate=approximate)])

    return Entry(name, size, build, one, many, lambda: None if approximate else store.close())


def programs(vectors: np.ndarray, queries: np.ndarray, folder: str, tiers: list[str], program: str) -> list[Entry]:
    """Return a store per tier, searched by a Rust program that measures the time itself."""
    files = [os.path.join(folder, name) for name in ["vectors", "queries"]]
    for file, values in zip(files, [vectors, queries], strict=True):
        values.tofile(file)
    process = subprocess.Popen(
        [program, "serve", *files, *tiers], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    entries = []
    for _ in tiers:
        tier, size, *times = process.stdout.readline().split()
        put, full, approximate = map(float, times)

        def ask(what: str, tier: str = tier) -> tuple[float, np.ndarray]:
            process.stdin.write(f"{tier} {what}\n")
            process.stdin.flush()
            seconds, *ids = process.stdout.readline().split()
            return float(seconds), np.array([int(id[1:]) for id in ids]).reshape(-1, K)

        for kind in ["full", "approximate"] if tier == "hot" else ["full"]:
            extra = 0 if kind == "full" else DIMENSIONS / 8 + 12
            entries.append(
                Entry(
                    f"bitgrain {tier}" + ("" if kind == "full" else ", approximate"),
                    int(size) / len(vectors) + extra,
                    put + full + (0 if kind == "full" else approximate),
                    lambda query: np.empty(0),
                    lambda queries, ask=ask, kind=kind: ask(f"{kind} many")[1],
                    timed_one=lambda ask=ask, kind=kind: ask(f"{kind} one")[0],
                    timed_many=lambda ask=ask, kind=kind: ask(f"{kind} many")[0],
                )
            )
    entries[0].close = lambda: (process.stdin.close(), process.wait())
    return entries


def read_only(count: int, size: float, threads: int) -> Entry:
    """Return an entry that reads as many bytes as a scan of the 8-bit store and answers nothing."""
    memchr = ctypes.CDLL(None).memchr
    memchr.argtypes, memchr.restype = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t], ctypes.c_void_p
    data = np.full(int(count * size), 2, np.uint8)
    part = len(data) // threads
    pool = ThreadPoolExecutor(threads)

    def one(query: np.ndarray) -> np.ndarray:
        starts = [data.ctypes.data + i * part for i in range(threads)]
        assert not any(pool.map(lambda start: memchr(start, 1, part), starts)), len(query)
        return np.full(K, -1)

    return Entry("read only", size, 0, one, lambda queries: np.array([one(query) for query in queries]), pool.shutdown)


def rivals(vectors: np.ndarray, threads: int) -> list[Entry]:
    """Return the indexes of other libraries."""
    import faiss
    from usearch.index import search as usearch_exact

    faiss.omp_set_num_threads(threads)
    entries = []

    def add(name: str, size: float, index: object, train: bool = True) -> None:
        def fill() -> None:
            if train:
                index.train(vectors[:100_000])
            index.add(vectors)

        build = timed(fill)
        entries.append(
            Entry(
                name,
                size,
                build,
                lambda query: index.search(query[None], K)[1][0],
                lambda queries: index.search(queries, K)[1],
            )
        )

    inner = faiss.METRIC_INNER_PRODUCT
    quantizer = faiss.ScalarQuantizer
    add("faiss Flat", 4 * DIMENSIONS, faiss.IndexFlatIP(DIMENSIONS), train=False)
    for name, kind, size in [
        ("SQ8", quantizer.QT_8bit, 384),
        ("SQ6", quantizer.QT_6bit, 288),
        ("SQ4", quantizer.QT_4bit, 192),
    ]:
        add(f"faiss {name}", size, faiss.IndexScalarQuantizer(DIMENSIONS, kind, inner))
    try:
        index = faiss.index_factory(DIMENSIONS, "RaBitQfs,Refine(SQ8)", inner)
        index.k_factor = 10
        add("faiss RaBitQfs + refine SQ8 x10", 56 + 384, index)
    except RuntimeError as error:
        print(f"faiss RaBitQfs: {str(error).splitlines()[-1]}")
    lists = 512 if len(vectors) < 500_000 else 1024
    index = faiss.index_factory(DIMENSIONS, f"IVF{lists},SQ8", inner)
    index.nprobe = lists // 32
    add(f"faiss IVF{lists},SQ8 nprobe {index.nprobe}", 392, index)
    entries.append(
        Entry(
            "NumPy f32",
            4 * DIMENSIONS,
            0,
            lambda query: np.argpartition(-(vectors @ query), K)[:K],
            lambda queries: np.argpartition(-(queries @ vectors.T), K, axis=1)[:, :K],
        )
    )
    codes = np.clip(np.rint(vectors * 127), -127, 127).astype(np.int8)

    def usearch_one(queries: np.ndarray) -> np.ndarray:
        asked = np.clip(np.rint(queries * 127), -127, 127).astype(np.int8)
        return usearch_exact(codes, asked, K, "ip", exact=True, threads=threads).keys

    entries.append(Entry("usearch exact i8", DIMENSIONS, 0, lambda query: usearch_one(query[None]), usearch_one))
    return entries


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=int, default=200_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tiers", default="hot,warm,b6,warm-aggressive,b4,cold")
    parser.add_argument("--program", help="measure this build of the store instead of the Python package")
    parser.add_argument(
        "--hnsw", action="store_true", help="also build an HNSW index with hnswlib, which takes minutes"
    )
    args = parser.parse_args()
    for name in ["RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"]:
        if os.environ.get(name) != str(args.threads):
            # The thread pools read these when they start.
            os.environ.update(
                {name: str(args.threads) for name in ["RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"]}
            )
            os.execv(os.sys.executable, [os.sys.executable, *os.sys.argv])
    vectors, queries = made(args.vectors, 64)
    truth = np.argpartition(-(queries @ vectors.T), K, axis=1)[:, :K]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        tiers = args.tiers.split(",")
        if args.program:
            entries = programs(vectors, queries, folder, tiers, args.program)
        else:
            entries = stores(vectors, folder, tiers)
        entries += rivals(vectors, args.threads)
        entries.append(read_only(len(vectors), entries[0].bytes_per_vector, args.threads))
        if args.hnsw:
            import hnswlib

            graph = hnswlib.Index("ip", DIMENSIONS)
            graph.init_index(len(vectors), ef_construction=100, M=16)
            graph.set_num_threads(args.threads)
            build = timed(lambda: graph.add_items(vectors))
            graph.set_ef(100)
            entries.append(
                Entry(
                    "hnswlib M16 ef100",
                    1676,
                    build,
                    lambda q: graph.knn_query(q, K)[0][0],
                    lambda q: graph.knn_query(q, K)[0],
                )
            )
        ones = {entry.name: [] for entry in entries}
        batches = {entry.name: [] for entry in entries}
        for run in range(args.runs):
            for entry in entries:

                def sixteen(entry: Entry = entry) -> None:
                    for query in queries[:ONE_BY_ONE]:
                        entry.one(query)

                one = entry.timed_one() if entry.timed_one else timed(sixteen) / ONE_BY_ONE
                ones[entry.name].append(one)
                if run < 2:
                    many = (
                        entry.timed_many()
                        if entry.timed_many
                        else timed(lambda entry=entry: entry.many(queries)) / len(queries)
                    )
                    batches[entry.name].append(many)
        print(f"{args.vectors:,} x {DIMENSIONS}, {args.threads} thread(s), top {K}, best of {args.runs}")
        print("| library | bytes per vector | recall@10 | build s | 1 query ms | GB/s | queries/s, 64 at once |")
        print("|:--|--:|--:|--:|--:|--:|--:|")
        for entry in entries:
            found = entry.many(queries)
            recall = np.mean([len(set(a.tolist()) & set(b.tolist())) / K for a, b in zip(found, truth, strict=True)])
            one, batch = min(ones[entry.name]), 1 / min(batches[entry.name])
            speed = entry.bytes_per_vector * args.vectors / one / 1e9
            print(
                f"| {entry.name} | {entry.bytes_per_vector:.0f} | {recall:.3f} | {entry.build:.1f} | {1000 * one:.2f} "
                f"| {speed:.1f} | {batch:.0f} |"
            )
        for entry in entries:
            entry.close()


if __name__ == "__main__":
    main()
