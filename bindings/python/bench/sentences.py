"""Bytes and recall of sentence embeddings per tier of a store.

    python bindings/python/bench/sentences.py all-MiniLM-L6-v2/ stsb-en-dev.csv

The model is a sentence encoder in a Hugging Face folder; the text file has a sentence in each of the first two columns
of a row. The queries are the sentences of the second column, the stored vectors those of the first. Recall@10 compares
with the largest cosines of the f32 vectors. Prints a table; it is not a test.
"""

import argparse
import csv
import tempfile
import time

import numpy as np

import bitgrain

K = 10
TIERS = ["lossless", "f16", "hot", "warm", "b6", "warm-aggressive", "b4", "cold"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("text")
    args = parser.parse_args()
    with open(args.text, newline="") as file:
        rows = [row for row in csv.reader(file) if len(row) >= 2]
    stored, asked = (list(dict.fromkeys(row[column] for row in rows)) for column in range(2))
    encoder = bitgrain.weights.SentenceEncoder(args.model)
    start = time.perf_counter()
    vectors, queries = encoder.encode(stored), encoder.encode(asked)
    print(f"{len(stored)} sentences and {len(asked)} queries embedded in {time.perf_counter() - start:.0f} s")
    truth = np.argpartition(-(queries @ vectors.T), K, axis=1)[:, :K]
    print("| tier | bits | bytes per vector | recall@10 | proven of 10 |\n|:--|--:|--:|--:|--:|")
    for tier in TIERS:
        with tempfile.TemporaryDirectory() as folder, bitgrain.TensorStore(folder, sync="on_seal") as store:
            with store.batch() as batch:
                for i, vector in enumerate(vectors):
                    batch.put(i, vector, tier=tier)
            found = store.search_batch(queries, K, metric="cosine")
            hits = [len(set(result.ids) & set(row.tolist())) for result, row in zip(found, truth, strict=True)]
            proven = np.mean([result.certified for result in found])
            stat = store.stat(0)
            print(
                f"| {tier} | {stat.bits} | {store.stats().live_bytes / len(vectors):.0f} "
                f"| {np.mean(hits) / K:.3f} | {proven:.1f} |"
            )


if __name__ == "__main__":
    main()
