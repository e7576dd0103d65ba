"""Interfaces of other libraries on bitgrain's engine.

- :mod:`bitgrain.compat.lightgbm`: a script changes ``import lightgbm as lgb`` to
  ``import bitgrain.compat.lightgbm as lgb``
"""
