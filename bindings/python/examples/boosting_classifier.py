"""Classify tumors: early stopping, probabilities, model files and feature importances."""

import sklearn.datasets
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import bitgrain


def main() -> None:
    data = sklearn.datasets.load_breast_cancer(as_frame=True)
    X, X_test, y, y_test = train_test_split(data.data, data.target, test_size=0.3, random_state=0, stratify=data.target)
    X, X_valid, y, y_valid = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)

    model = bitgrain.BitgrainClassifier(
        n_estimators=500, learning_rate=0.05, num_leaves=15, early_stopping_rounds=30, gradient_precision="pair8"
    )
    model.fit(X, y, eval_set=(X_valid, y_valid), eval_metric="auc")
    auc = max(model.evals_result_["valid"]["auc"])
    print(f"stopped after {model.booster_.n_rounds} rounds, AUC {auc:.4f} on validation rows")

    model.save("tumors.bitgrain")
    again = bitgrain.BitgrainClassifier.load("tumors.bitgrain")
    print(f"AUC {roc_auc_score(y_test, again.predict_proba(X_test)[:, 1]):.4f} on test rows with the loaded model")

    print("most important features:")
    shares = sorted(zip(again.feature_importances_, again.feature_names_in_, strict=True), reverse=True)
    for share, name in shares[:5]:
        print(f"  {share:6.1%}  {name}")


if __name__ == "__main__":
    main()
