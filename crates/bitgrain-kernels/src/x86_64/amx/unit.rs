//! `TileUnit`: the tile registers, configured for blocks of 32 columns.
//!
//! The instructions are inline assembly, because their intrinsics are not in stable Rust. The compiler never uses tile
//! registers itself, and no value stays in one between two `asm!` blocks.

use core::arch::asm;

use crate::product::CodeLine;

/// Sixteen sums of products of codes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct SumLine(pub(super) [i32; 16]);

/// Number of blocks whose sums are kept.
pub(super) const SUMS: usize = 4;

/// Configured tile registers and space for their results. A value proves that they are configured on this thread.
pub(super) struct TileUnit {
    sums: [[SumLine; 16]; SUMS],
    /// Earlier configuration of the registers. Some libraries, such as llama.cpp, set it once per thread and rely on
    /// it.
    before: Config,
    /// The configuration belongs to a thread.
    _not_send: core::marker::PhantomData<*const ()>,
}

/// Operand of `ldtilecfg`: a palette, then the bytes per row and the rows of each register.
#[repr(C, align(64))]
struct Config {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

const _: () = assert!(size_of::<Config>() == 64);

impl Config {
    /// Configuration of unused registers.
    const NONE: Self = Self { palette: 0, start_row: 0, reserved: [0; 14], row_bytes: [0; 16], rows: [0; 16] };

    /// Register 0: sums, sixteen lines. Register 1: activations, 32 codes of sixteen rows. Register 2: weights, eight
    /// lines of four columns of sixteen rows.
    const BLOCKS: Self = Self {
        palette: 1,
        start_row: 0,
        reserved: [0; 14],
        row_bytes: [64, 32, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        rows: [16, 16, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    };
}

impl TileUnit {
    /// Configures the registers.
    ///
    /// # Safety
    /// The CPU must have AMX with byte tiles, and the system must have granted permission to use them.
    pub(super) unsafe fn new() -> Self {
        let mut before = Config::NONE;
        // SAFETY: the caller guarantees the instruction; it writes the 64 bytes of a configuration.
        unsafe { asm!("sttilecfg [{}]", in(reg) &mut before, options(nostack)) };
        // SAFETY: the caller guarantees the instruction; it reads the 64 bytes of a valid configuration.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &Config::BLOCKS, options(nostack, readonly)) };
        Self { sums: [[SumLine([0; 16]); 16]; SUMS], before, _not_send: core::marker::PhantomData }
    }

    /// Multiplies block number `block` with signed weights.
    #[inline(always)]
    pub(super) fn multiply(&mut self, activations: &[[i32; 8]; 16], weights: &[CodeLine; 8], block: usize) {
        let out = &mut self.sums[block % SUMS];
        // SAFETY: `self` proves that the registers are configured. They read 16 times 32 and 8 times 64 contiguous
        // bytes and write 16 times 64, which are the sizes of the referenced arrays.
        unsafe {
            asm!(
                "tilezero tmm0",
                "tileloadd tmm1, [{activations} + {row}*1]",
                "tileloadd tmm2, [{weights} + {line}*1]",
                "tdpbssd tmm0, tmm1, tmm2",
                "tilestored [{out} + {line}*1], tmm0",
                activations = in(reg) activations,
                weights = in(reg) weights,
                out = in(reg) out,
                row = in(reg) 32_usize,
                line = in(reg) 64_usize,
                out("tmm0") _,
                out("tmm1") _,
                out("tmm2") _,
                options(nostack),
            );
        }
    }

    /// Returns the sums of one of the last [`SUMS`] blocks: a line per row of activations, with the sums for sixteen
    /// rows of weights.
    #[inline(always)]
    pub(super) fn sums(&self, block: usize) -> &[SumLine; 16] {
        &self.sums[block % SUMS]
    }
}

impl Drop for TileUnit {
    /// Restores the earlier configuration. If the registers were unused, this releases them, and the system saves less
    /// state.
    fn drop(&mut self) {
        // SAFETY: the creator of `self` guaranteed the instruction; it reads 64 bytes that the CPU wrote.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &self.before, options(nostack, readonly)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Backend;

    fn current() -> [u8; 64] {
        let mut config = [0; 64];
        // SAFETY: only called if there are tile registers; the instruction writes the 64 bytes of a configuration.
        unsafe { asm!("sttilecfg [{}]", in(reg) &mut config, options(nostack)) };
        config
    }

    #[test]
    fn registers_are_left_as_they_were_found() {
        if Backend::with_tiles().is_none() {
            return;
        }
        assert_eq!(current(), [0; 64]);
        // SAFETY: the backend proves both conditions.
        let outer = unsafe { TileUnit::new() };
        let mine = current();
        assert_eq!((mine[0], mine[16], mine[48]), (1, 64, 16));
        // SAFETY: the backend proves both conditions.
        drop(unsafe { TileUnit::new() });
        assert_eq!(current(), mine);
        drop(outer);
        assert_eq!(current(), [0; 64]);
    }
}
