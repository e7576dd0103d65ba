"""Use a custom loss and metric, and run a grid search over a pipeline."""

import numpy as np
import sklearn.datasets
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bitgrain


def log_cosh(y_true: np.ndarray, raw_score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    slope = np.tanh((raw_score - y_true) / 50)
    return slope, (1 - slope**2) / 50


def within_50(y_true: np.ndarray, y_pred: np.ndarray) -> tuple[str, float, bool]:
    return "within 50", float(np.mean(np.abs(y_true - y_pred) <= 50)), True


def main() -> None:
    X, y = sklearn.datasets.load_diabetes(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)

    model = bitgrain.BitgrainRegressor(objective=log_cosh, n_estimators=150, num_leaves=7)
    model.fit(X, y, eval_set=(X_test, y_test), eval_metric=within_50)
    print(f"{model.evals_result_['valid']['within 50'][-1]:.0%} of the test rows are predicted within 50")

    steps = make_pipeline(StandardScaler(), bitgrain.BitgrainRegressor(n_estimators=50))
    search = GridSearchCV(steps, {"bitgrainregressor__num_leaves": [4, 8, 16]}, cv=3)
    search.fit(X, y)
    print(f"best: {search.best_params_}, R² {search.score(X_test, y_test):.3f} on test rows")


if __name__ == "__main__":
    main()
