//! AArch64: one folder per instruction set. NEON is part of every target that this is compiled for, so nothing is detected.

pub(crate) mod neon;
