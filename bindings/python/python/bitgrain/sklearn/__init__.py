"""Gradient-boosted trees as scikit-learn estimators."""

from bitgrain.sklearn.classifier import BitgrainClassifier
from bitgrain.sklearn.ranker import BitgrainRanker
from bitgrain.sklearn.regressor import BitgrainRegressor

__all__ = ["BitgrainClassifier", "BitgrainRanker", "BitgrainRegressor"]
