"""Tensors at rest, with bits where the reads are."""

__all__: list[str] = []
