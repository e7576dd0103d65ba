"""Synthetic data for several tests."""

import os
import signal

# A process that a script starts in the background ignores Ctrl-C, which its children inherit.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Before SciPy is imported: without this setting, scikit-learn skips its checks of array types.
os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as np
import pytest


@pytest.fixture(scope="session")
def table() -> tuple[np.ndarray, np.ndarray]:
    """Return rows of four features, and a target that depends on three of them."""
    rng = np.random.default_rng(3)
    X = rng.random((2000, 4), dtype=np.float32)
    X[rng.random(2000) < 0.1, 1] = np.nan
    y = np.sin(5 * X[:, 0]) + np.nan_to_num(X[:, 1], nan=2.0) + X[:, 2] ** 2
    return X, y.astype(np.float32)
