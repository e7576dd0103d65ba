//! CPU detection with CPUID and XCR0, because `is_x86_feature_detected!` needs std; a test compares the two.

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};

/// Instruction sets of the running CPU whose registers the operating system saves on a context switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cpu {
    pub(crate) avx2: bool,
    pub(crate) avx512: bool,
    /// AMX byte tiles and GFNI.
    pub(crate) amx: bool,
}

impl Cpu {
    pub(crate) fn read() -> Self {
        let none = Self { avx2: false, avx512: false, amx: false };
        if __cpuid(0).eax < 7 {
            return none;
        }
        let leaf1 = __cpuid(1);
        const OSXSAVE: u32 = 1 << 27;
        // PCLMULQDQ is three generations older, so that requiring it excludes no processor.
        const PCLMUL_FMA_AVX_F16C: u32 = 1 << 1 | 1 << 12 | 1 << 28 | 1 << 29;
        if leaf1.ecx & OSXSAVE == 0 {
            return none;
        }
        // SAFETY: OSXSAVE is set, so XGETBV exists and user code may run it.
        let xcr0 = unsafe { read_xcr0() };
        let leaf7 = __cpuid_count(7, 0);
        const XMM_YMM: u64 = 0b110;
        const XMM_YMM_ZMM: u64 = 0b1110_0110;
        const AVX2: u32 = 1 << 5;
        // F, DQ, BW, VL in EBX; VBMI, VBMI2, VNNI in ECX.
        const AVX512_EBX: u32 = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;
        const AVX512_ECX: u32 = 1 << 1 | 1 << 6 | 1 << 11;
        const TILES: u64 = 0b11 << 17;
        const GFNI: u32 = 1 << 8;
        const AMX_TILE_INT8: u32 = 1 << 24 | 1 << 25;
        let all = |word: u32, bits: u32| word & bits == bits;
        Self {
            avx2: xcr0 & XMM_YMM == XMM_YMM && all(leaf1.ecx, PCLMUL_FMA_AVX_F16C) && all(leaf7.ebx, AVX2),
            avx512: xcr0 & XMM_YMM_ZMM == XMM_YMM_ZMM && all(leaf7.ebx, AVX512_EBX) && all(leaf7.ecx, AVX512_ECX),
            amx: xcr0 & TILES == TILES && all(leaf7.ecx, GFNI) && all(leaf7.edx, AMX_TILE_INT8),
        }
    }
}

/// # Safety
/// CPUID must have reported OSXSAVE.
#[target_feature(enable = "xsave")]
unsafe fn read_xcr0() -> u64 {
    // SAFETY: the caller checked OSXSAVE; register 0 always exists.
    unsafe { _xgetbv(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library() {
        extern crate std;
        use std::is_x86_feature_detected as has;
        let avx2 = has!("avx2") && has!("fma") && has!("f16c") && has!("pclmulqdq");
        let avx512 = has!("avx512f")
            && has!("avx512dq")
            && has!("avx512bw")
            && has!("avx512vl")
            && has!("avx512vbmi")
            && has!("avx512vbmi2")
            && has!("avx512vnni");
        let cpu = Cpu::read();
        assert_eq!((cpu.avx2, cpu.avx512), (avx2, avx512));
        // std does not detect AMX yet.
        assert!(!cpu.amx || has!("gfni"));
    }
}
