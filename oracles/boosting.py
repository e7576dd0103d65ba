"""Shared by the oracles of boosted trees: training rows, and rows that reveal careless tree evaluation."""

import numpy as np

NAMES = ["a", "b", "c", "d"]
ROWS = 600


def numbers(random, missing=0.0):
    """Rows of four numbers: smooth, with many zeros, with few values, and large. `missing` is the share of NaN."""
    rows = np.column_stack(
        [
            random.standard_normal(ROWS),
            random.standard_normal(ROWS) * random.integers(0, 2, ROWS),
            random.integers(-3, 4, ROWS),
            np.exp(8 * random.standard_normal(ROWS)),
        ]
    )
    rows[random.random(rows.shape) < missing] = np.nan
    return rows


def signal(rows):
    """Targets of the rows; missing values count as one half."""
    x = np.where(np.isnan(rows), 0.5, rows)
    return x[:, 0] - np.abs(x[:, 1]) + (x[:, 2] > 0) * x[:, 0] + 0.2 * np.log1p(x[:, 3])


def hard(rows, thresholds):
    """The rows, and in each column every threshold with its neighbors, zeros, NaN and extreme values."""
    found = [rows]
    for column in range(rows.shape[1]):
        values = [0.0, -0.0, 1e-36, -1e-36, 1e-30, -1e-30, np.nan, 3e38, -3e38]
        for threshold in thresholds:
            values += [threshold, np.nextafter(threshold, np.inf), np.nextafter(threshold, -np.inf)]
        some = rows[np.arange(len(values)) % len(rows)].copy()
        some[:, column] = values
        found.append(some)
    return np.vstack(found)


def columns(rows, names=NAMES):
    return dict(zip(names, rows.T, strict=True))


def categories(random):
    """A numeric column and two of codes, and targets that depend on the codes: few, and more than a word has bits."""
    few, many = random.integers(0, 5, ROWS), random.integers(0, 90, ROWS)
    x = random.standard_normal(ROWS)
    few_effect, many_effect = random.standard_normal(5), random.standard_normal(90)
    rows = np.column_stack([x, few, many]).astype(float)
    rows[random.random(rows.shape) < 0.05] = np.nan
    return rows, x + 2 * few_effect[few] + 2 * many_effect[many]


def odd_categories(rows):
    """The rows, and in the columns of codes unseen codes, missing values and invalid codes."""
    found = [rows]
    odd = np.array([-1.0, 5.0, 89.0, 90.0, 127.0, 128.0, 1e6, 1e9, 0.4, 1.5, 2.999, -0.5, -0.0, -7.3, np.nan])
    for column in [1, 2]:
        some = rows[: len(odd)].copy()
        some[:, column] = odd
        found.append(some)
    return np.vstack(found)
