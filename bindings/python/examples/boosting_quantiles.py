"""Predict intervals: bin the data once, then train one model per quantile on the same bins."""

import sklearn.datasets
from sklearn.model_selection import train_test_split

import bitgrain


def main() -> None:
    X, y = sklearn.datasets.load_diabetes(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    data = bitgrain.Dataset(X, y)
    print(data)

    settings = bitgrain.boosting.Params(n_estimators=60, num_leaves=7, learning_rate=0.1)
    low, middle, high = (bitgrain.train(data, settings, objective=f"quantile:{share}") for share in (0.1, 0.5, 0.9))
    inside = (low.predict(X_test) <= y_test) & (y_test <= high.predict(X_test))
    print(f"{inside.mean():.0%} of the test rows lie within the 80 % interval")
    for row in range(3):
        one = X_test[row : row + 1]
        between = f"{low.predict(one)[0]:.0f} to {high.predict(one)[0]:.0f}"
        print(f"  {between}, median {middle.predict(one)[0]:.0f}; actual {y_test[row]:.0f}")

    found = bitgrain.boosting.cross_validate(data, settings, metric=["rmse", "mae"])
    print(f"cross-validation of the mean: {found}")


if __name__ == "__main__":
    main()
