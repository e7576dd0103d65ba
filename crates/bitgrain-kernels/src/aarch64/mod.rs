//! AArch64 backends, one folder per instruction set. NEON is part of every supported target, so nothing is detected.

pub(crate) mod neon;
