//! `Backend`: proof that the running CPU has an instruction set. Detection happens once per process.

use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};

/// An instruction set that the running CPU supports. Without a public constructor, a value is the proof of support.
///
/// ```
/// use bitgrain_kernels::{Backend, max_abs};
/// for &backend in Backend::available() {
///     assert_eq!(max_abs(backend, &[1.0, -3.0, 2.0]), 3.0); // every backend gives the same answer
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Backend(Isa);

/// Instruction sets with kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Isa {
    Scalar,
    /// AVX2, FMA, F16C and PCLMULQDQ: Haswell, Zen and later.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, DQ, VL, VBMI, VBMI2 and VNNI: Ice Lake, Zen 4 and later. CPUs with an older AVX-512 use AVX2,
    /// because the kernels depend on the byte permutes of VBMI.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AVX-512 plus AMX byte tiles and GFNI: Sapphire Rapids and later. Only products of many rows have separate
    /// kernels; all others are those of AVX-512.
    #[cfg(target_arch = "x86_64")]
    Amx,
    /// NEON, which every AArch64 target with floating point has. Little-endian only: the lane order of big-endian
    /// registers is untested.
    #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
    Neon,
    /// NEON plus sums of four products of bytes and CRC-32C. Only products, scores and checksums have separate kernels.
    #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
    Dotprod,
    /// `Dotprod` plus products of matrices of bytes, for products of several rows.
    #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
    I8mm,
    /// The fixed-width SIMD instructions of WebAssembly, known at compile time.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128,
}

/// Number of backends that [`Backend::limit`] leaves available.
static LIMIT: AtomicU8 = AtomicU8::new(u8::MAX);

/// All backends of this build, slowest first. Each one implies the ones before it.
const LADDER: &[Backend] = &[
    Backend(Isa::Scalar),
    #[cfg(target_arch = "x86_64")]
    Backend(Isa::Avx2),
    #[cfg(target_arch = "x86_64")]
    Backend(Isa::Avx512),
    #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
    Backend(Isa::Neon),
    #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
    Backend(Isa::Dotprod),
    #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
    Backend(Isa::I8mm),
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Backend(Isa::Simd128),
];

impl Backend {
    /// Returns the portable backend, which defines every result and is always available.
    #[must_use]
    pub const fn scalar() -> Self {
        Self(Isa::Scalar)
    }

    /// Returns the fastest backend of this CPU.
    #[must_use]
    pub fn best() -> Self {
        Self::available().last().copied().unwrap_or(Self::scalar())
    }

    /// Returns all backends of this CPU, slowest first.
    #[must_use]
    pub fn available() -> &'static [Self] {
        // 0 means not detected yet. Racing threads store the same number.
        static RUNGS: AtomicU8 = AtomicU8::new(0);
        let mut rungs = RUNGS.load(Ordering::Relaxed);
        if rungs == 0 {
            rungs = detect();
            RUNGS.store(rungs, Ordering::Relaxed);
        }
        &LADDER[..usize::from(rungs.min(LIMIT.load(Ordering::Relaxed)))]
    }

    /// Removes the backends that are faster than this one from [`available`](Self::available) for the rest of the
    /// process: for benchmarks of the code that other CPUs run. Results do not change. A second call cannot undo it.
    ///
    /// ```standalone_crate
    /// use bitgrain_kernels::Backend;
    /// Backend::scalar().limit();
    /// assert_eq!((Backend::best(), Backend::with_tiles()), (Backend::scalar(), None));
    /// ```
    pub fn limit(self) {
        for (rungs, &backend) in (1..).zip(LADDER) {
            if backend == self {
                LIMIT.fetch_min(rungs, Ordering::Relaxed);
            }
        }
    }

    /// Returns the fastest backend with tile registers, if this CPU has them: for products of many rows. Everything
    /// else runs as fast as on [`best`](Self::best).
    ///
    /// Tile registers need permission from the operating system: the first call requests it from Linux for the whole
    /// process, whose signal frames then grow by the 8 KiB of tile data. This backend is therefore not part of
    /// [`available`](Self::available), and permission is requested only when it is needed.
    #[must_use]
    pub fn with_tiles() -> Option<Self> {
        // 0 means not requested yet. Racing threads get the same answer.
        static ANSWER: AtomicU8 = AtomicU8::new(0);
        let mut answer = ANSWER.load(Ordering::Relaxed);
        if answer == 0 {
            answer = 1 + u8::from(request_tiles());
            ANSWER.store(answer, Ordering::Relaxed);
        }
        #[cfg(target_arch = "x86_64")]
        return (answer == 2 && Self::best() == Self(Isa::Avx512)).then_some(Self(Isa::Amx));
        #[cfg(not(target_arch = "x86_64"))]
        None
    }

    /// Returns a short name: `scalar`, `avx2`, `avx512`, `amx`, `neon`, `dotprod`, `i8mm` or
    /// `simd128`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Isa::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Isa::Amx => "amx",
            #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
            Isa::Neon => "neon",
            #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
            Isa::Dotprod => "dotprod",
            #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
            Isa::I8mm => "i8mm",
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Isa::Simd128 => "simd128",
        }
    }

    pub(crate) const fn isa(self) -> Isa {
        self.0
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(target_arch = "x86_64")]
fn detect() -> u8 {
    let cpu = crate::x86_64::detect::Cpu::read();
    1 + u8::from(cpu.avx2) + u8::from(cpu.avx2 && cpu.avx512)
}

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
fn detect() -> u8 {
    let cpu = crate::aarch64::detect::Cpu::read();
    2 + u8::from(cpu.dotprod) + u8::from(cpu.dotprod && cpu.i8mm)
}

/// On these targets the instruction sets are known at compile time, so every backend is available.
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
)))]
fn detect() -> u8 {
    const ALL: usize = LADDER.len();
    const { assert!(ALL < 256) };
    ALL.to_le_bytes()[0]
}

#[cfg(target_arch = "x86_64")]
fn request_tiles() -> bool {
    let cpu = crate::x86_64::detect::Cpu::read();
    cpu.avx2 && cpu.avx512 && cpu.amx && crate::x86_64::amx::request()
}

#[cfg(not(target_arch = "x86_64"))]
fn request_tiles() -> bool {
    false
}

/// Calls one primitive on a backend: `on!(backend, max_abs(values))`.
macro_rules! on {
    ($backend:expr, $kernel:ident $(::<$format:ty>)? ($($argument:expr),* $(,)?)) => {
        match $backend.isa() {
            $crate::backend::Isa::Scalar => $crate::scalar::$kernel$(::<$format>)?($($argument),*),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Isa::Avx2` is only handed out by `Backend::available` after CPU detection.
            $crate::backend::Isa::Avx2 => unsafe { $crate::x86_64::avx2::$kernel$(::<$format>)?($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Isa::Avx512` and `Isa::Amx` are only handed out by `Backend` after CPU detection.
            $crate::backend::Isa::Avx512 | $crate::backend::Isa::Amx => unsafe {
                $crate::x86_64::avx512::$kernel$(::<$format>)?($($argument),*)
            },
            #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
            $crate::backend::Isa::Neon | $crate::backend::Isa::Dotprod | $crate::backend::Isa::I8mm => {
                $crate::aarch64::neon::$kernel$(::<$format>)?($($argument),*)
            }
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            $crate::backend::Isa::Simd128 => $crate::wasm32::simd128::$kernel$(::<$format>)?($($argument),*),
        }
    };
}

/// Calls a kernel that is instantiated per width: `for_width!([2 3 4], bits, pack(codes, out))`.
macro_rules! for_width {
    ([$($width:literal)*], $bits:expr, $kernel:ident $arguments:tt) => {
        match $bits {
            $($width => $kernel::<$width> $arguments,)*
            other => unreachable!("the constructor rejects width {other}"),
        }
    };
}

pub(crate) use {for_width, on};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalar_comes_first_and_best_last() {
        assert_eq!(Backend::available().first(), Some(&Backend::scalar()));
        assert_eq!(Backend::available().last(), Some(&Backend::best()));
    }

    #[test]
    fn tile_registers_imply_avx512_and_detection_is_stable() {
        let tiles = Backend::with_tiles();
        assert_eq!(tiles, Backend::with_tiles());
        assert!(tiles.is_none() || Backend::best().name() == "avx512");
    }
}
