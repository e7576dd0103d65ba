"""Store checkpoints of a model as frames and as differences to a base, with atomic batches.

Run it: ``python examples/store_checkpoints.py``
"""

import tempfile
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from bitgrain import TensorStore
from bitgrain.store import Delta


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    digits = load_digits()
    model = MLPClassifier((64,), random_state=0)
    with tempfile.TemporaryDirectory() as folder, TensorStore(folder) as store:
        for step in range(12):
            model.partial_fit(digits.data, digits.target, classes=range(10))
            # The weights and biases of a step are written atomically: a crash leaves all of them or none.
            with store.batch() as batch:
                for layer, (weights, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
                    batch.append(f"layer/{layer}/weights", weights, time=step)
                    batch.append(f"layer/{layer}/bias", bias, time=step)
        for info in store.scan():
            assert info.frames is not None
            raw = 4 * info.frames * int(np.prod(info.shape))
            print(f"{info.id}: {info.frames} frames, {raw / info.stored_bytes:.1f} times smaller than float32")

        # Every step can be read back, and with it the model.
        score = model.score(digits.data, digits.target)
        for layer in range(2):
            model.coefs_[layer] = store.frames(f"layer/{layer}/weights")[-1]
            model.intercepts_[layer] = store.frames(f"layer/{layer}/bias")[-1]
        again = model.score(digits.data, digits.target)
        print(f"accuracy {score:.3f}, from the store {again:.3f}")
        assert abs(score - again) < 0.02

        # A fine-tuned model is stored as a difference to its base.
        base = model.coefs_[0].copy()
        store["base"] = base
        for _ in range(3):
            model.partial_fit(digits.data, digits.target)
        store.put_absent("tuned", Delta("base", wanted=model.coefs_[0]))
        tuned, provenance = store.get("tuned", with_provenance=True)
        worst = np.abs(tuned - model.coefs_[0]).max()
        print(f"fine-tuned weights are reconstructed within {worst:.5f}; bound {provenance.bound:.5f}")


if __name__ == "__main__":
    main()
