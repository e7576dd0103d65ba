"""Quantize the weights of a scikit-learn network to GGUF and safetensors files, and measure the error."""

import pathlib
import tempfile

from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import bitgrain


def main() -> None:
    X, y = load_digits(return_X_y=True)
    model = MLPClassifier(hidden_layer_sizes=(256,), tol=0.02, random_state=0, early_stopping=True).fit(X / 16, y)
    # Formats group weights along the last axis, so each output is a row.
    state = {f"layer{i}.weight": coefs.T.astype("float32") for i, coefs in enumerate(model.coefs_)}
    state |= {f"layer{i}.bias": bias.astype("float32") for i, bias in enumerate(model.intercepts_)}

    with tempfile.TemporaryDirectory() as folder:
        full = pathlib.Path(folder, "full.safetensors")
        bitgrain.weights.save_tensors(full, state, metadata={"trained on": "digits"})
        print(bitgrain.open_model(full), "\n")
        for name, settings in [
            ("int8.safetensors", {"to": "int8"}),
            ("int4.safetensors", {"to": "int4", "group": 32, "calibrate": "mse"}),
            ("q8_0.gguf", {"to": "q8_0"}),
            ("budget.safetensors", {"budget": "16kB"}),
        ]:
            small = pathlib.Path(folder, name)
            done = bitgrain.quantize_file(full, small, **settings)
            compared = bitgrain.compare_files(full, small)
            print(f"{name:<20} {done.bytes_before:>7} -> {done.bytes_after:>6} bytes, {compared.overall}")
            for row in done.tensors:
                print(f"    {row.name:<15} {row.source} -> {row.target}")


if __name__ == "__main__":
    main()
