//! Model weights on disk: open, inspect, quantize, plan mixed precision and compare.
