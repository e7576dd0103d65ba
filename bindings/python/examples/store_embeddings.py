"""Store the digits dataset of scikit-learn, search nearest neighbors, and measure the cost of fewer bits.

Run it: ``python examples/store_embeddings.py``
"""

import tempfile
from datetime import UTC, datetime, timedelta

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from bitgrain import TensorStore
from bitgrain.store import SimulatedClock, Tier, TierPolicy


def main() -> None:
    digits = load_digits()
    images = digits.data.astype(np.float32)
    train, ask = images[0::2], images[1::2]
    labels, truth = digits.target[0::2], digits.target[1::2]

    with tempfile.TemporaryDirectory() as folder:
        # One tensor per tier, all with the same values.
        with TensorStore(folder, policy=TierPolicy(absent="never")) as store:
            for tier in (Tier.LOSSLESS, Tier.HOT, Tier.WARM, Tier.WARM_AGGRESSIVE, Tier.COLD):
                lossless = tier is Tier.LOSSLESS
                store.put(f"digits/{tier}", train, tier=None if lossless else tier, lossless=lossless)

            print("tier              bits   bytes  largest error  nearest-neighbor accuracy")
            for info in store.scan("digits/"):
                kept = store[info.id]
                near = NearestNeighbors(n_neighbors=1).fit(kept).kneighbors(ask, return_distance=False)[:, 0]
                right = np.mean(labels[near] == truth)
                worst = np.abs(kept - train).max()
                assert worst <= info.provenance.bound
                print(f"{info.tier:16} {info.provenance.bits:5} {info.stored_bytes:7} {worst:14.3f} {right:27.1%}")

            # Only the blocks with these rows are read.
            assert np.array_equal(store.get_rows("digits/hot", 10, 12), store["digits/hot"][10:12])

        # Unused tensors get fewer bits: ticks over the next half day.
        clock = SimulatedClock(datetime.now(UTC))
        with TensorStore(folder, policy=TierPolicy(absent="never"), clock=clock) as store:
            before = store.stats()
            for _ in range(3):
                clock.advance(timedelta(hours=4))
                store.tick()
            store.compact(all=True)
            after = store.stats()
            print(
                f"\n{before.compression:.1f} times smaller than float32, half a day later {after.compression:.1f} times"
            )
            for tier, stats in after.tiers.items():
                if stats.tensors:
                    print(f"{tier:16} {stats.tensors} tensors, error at most {stats.worst_bound:.3f}")


if __name__ == "__main__":
    main()
