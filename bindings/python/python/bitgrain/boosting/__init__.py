"""Gradient-boosted trees on bins and quantized gradients."""

__all__: list[str] = []
