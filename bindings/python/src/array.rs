//! NumPy arrays on their way in and out.
