//! From rows to predictions.
