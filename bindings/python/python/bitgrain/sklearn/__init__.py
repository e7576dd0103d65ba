"""Gradient-boosted trees as estimators of scikit-learn."""

from bitgrain.sklearn.classifier import BitgrainClassifier
from bitgrain.sklearn.regressor import BitgrainRegressor

__all__ = ["BitgrainClassifier", "BitgrainRegressor"]
