"""Train a classifier of handwritten digits at float32 and run it with a few bits per weight."""

from sklearn.datasets import load_digits

import bitgrain
from bitgrain import layers


def main() -> None:
    X, y = load_digits(return_X_y=True)
    X = X / 16
    # The images are ordered by writer, so the last images are by writers that the first do not contain.
    known, unknown = slice(0, 1437), slice(1437, None)

    network = bitgrain.Network(64, [layers.Dense(128, activation="relu"), layers.Dense(10)], seed=1)
    history = network.fit(X[known], y[known], epochs=12, learning_rate=3e-3, schedule="cosine")
    print(f"trained for {len(history.epochs)} epochs, loss {history.epochs[-1].loss:.4f}\n")

    print(f"{'format':<10} {'bytes':>7} {'accuracy':>9} {'output error':>15}")
    for name in ("float32", "bfloat16", "fp8_e4m3", "int8", "q4_0", "int4", "int2", "ternary"):
        small = network.copy()
        small.calibrate(X[known])  # weights compensate for each other's errors
        small.morph(name)
        accuracy = small.evaluate(X[unknown], y[unknown]).accuracy
        off = network.compare(small, X[unknown]).outputs
        print(f"{name:<10} {small.nbytes:>7} {accuracy:>8.1%} {off.relative_rmse:>14.2%}")


if __name__ == "__main__":
    main()
