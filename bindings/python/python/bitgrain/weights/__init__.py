"""Weights as small numbers: tensors, networks, model files."""

__all__: list[str] = []
