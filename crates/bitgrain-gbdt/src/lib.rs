//! Gradient-boosted trees on quantized numbers.
//!
//! | module | what it does |
//! |---|---|
//! | [`feature`] | from raw columns to matrices of bins: cuts, the rule of the bins, four layouts |
//!
//! Threads are those of the rayon pool it is called in. Results do not depend on how many there are.

pub mod feature;
