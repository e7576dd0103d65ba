//! Operations that generic kernels need beyond the arithmetic of [`Lanes`]: loads, stores, integers, bytes, f64.
//!
//! A kernel takes a token and is `#[inline(always)]`, so that it is compiled with the target features of the function
//! it is inlined into; `generic_kernels!` defines those functions. Kernels must not call these methods inside closures:
//! a closure is a separate function without the target features, and the optimizer may not inline it.

use core::ops::{Add, Mul, Sub};

use crate::lanes::{Isa, Lanes};

/// Registers of `N` lanes: loads, stores and 32-bit integers, for kernels that walk along a slice.
///
/// `N` is a parameter instead of an associated constant, because only parameters can be array lengths.
pub(crate) trait Registers<const N: usize>: Isa {
    /// One 32-bit integer per lane.
    type I: Integers<Mask = <Self::F as Lanes>::Mask>;

    /// Loads `N` floats.
    fn floats(self, values: &[f32; N]) -> Self::F;

    /// Loads fewer than `N` floats, followed by zeros.
    fn floats_then_zeros(self, values: &[f32]) -> Self::F;

    /// Stores `N` floats.
    fn put_floats(self, values: Self::F, out: &mut [f32; N]);

    /// Returns `value` in every lane.
    fn integer(self, value: u32) -> Self::I;

    /// Returns the bits of each float.
    fn bits(self, values: Self::F) -> Self::I;

    /// Returns the floats with these bits.
    fn floats_of_bits(self, bits: Self::I) -> Self::F;

    /// Converts signed integers to floats.
    fn to_floats(self, values: Self::I) -> Self::F;

    /// Loads `N` bytes, zero-extended.
    fn bytes(self, values: &[u8; N]) -> Self::I;

    /// Stores integers below 2^8 as bytes.
    fn put_bytes(self, values: Self::I, out: &mut [u8; N]);

    /// Loads `N` 16-bit words, zero-extended.
    fn words(self, values: &[u16; N]) -> Self::I;

    /// Stores integers below 2^16 as words.
    fn put_words(self, values: Self::I, out: &mut [u16; N]);

    /// Converts from half precision, exactly.
    fn halves(self, values: &[u16; N]) -> Self::F;

    /// Converts to half precision, ties to even.
    fn put_halves(self, values: Self::F, out: &mut [u16; N]);
}

/// One 32-bit integer per lane; addition and subtraction wrap around.
pub(crate) trait Integers: Copy + Add<Output = Self> + Sub<Output = Self> {
    /// One boolean per lane.
    type Mask;

    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    /// Shifts left; `bits` is a constant below 32.
    fn shl(self, bits: u32) -> Self;
    /// Shifts right and fills with zeros; `bits` is a constant below 32.
    fn shr(self, bits: u32) -> Self;
    /// Returns the unsigned maximum.
    fn max(self, other: Self) -> Self;
    /// Compares signed integers.
    fn gt(self, other: Self) -> Self::Mask;
    fn eq(self, other: Self) -> Self::Mask;
    /// Returns `yes` where the mask is set, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// Returns the largest lane, unsigned.
    fn largest(self) -> u32;
}

/// Eight f64 in [`PARTS`](Doubles::PARTS) registers; the number eight is part of the definition of a sum.
pub(crate) trait Doubles: Isa {
    /// One register of f64.
    type D: Copy + Add<Output = Self::D> + Sub<Output = Self::D> + Mul<Output = Self::D>;

    /// Number of registers for eight f64, at most [`MOST_PARTS`].
    const PARTS: usize;

    /// Loads part `part` of eight f64.
    fn doubles(self, values: &[f64; 8], part: usize) -> Self::D;
    /// Stores part `part` of eight f64.
    fn put_doubles(self, values: Self::D, out: &mut [f64; 8], part: usize);
    /// Converts part `part` of eight f32, exactly.
    fn widened(self, values: &[f32; 8], part: usize) -> Self::D;
    /// Returns `a * b + c` with one rounding, if the product is exact. Otherwise it may be rounded twice.
    fn mul_add(self, a: Self::D, b: Self::D, c: Self::D) -> Self::D;
    /// Returns the magnitudes.
    fn magnitudes(self, values: Self::D) -> Self::D;
    /// Returns the greater of two numbers that are not NaN.
    fn greater(self, a: Self::D, b: Self::D) -> Self::D;
    /// Returns whether all sixteen values are finite.
    fn all_finite(self, a: &[f32; 8], b: &[f32; 8]) -> bool;
}

/// Largest number of registers for eight f64.
pub(crate) const MOST_PARTS: usize = 4;

/// Registers of `B` bytes, for kernels on byte codes.
pub(crate) trait Bytes<const B: usize>: Isa {
    /// `B` bytes.
    type B: Copy;
    /// One boolean per byte.
    type Flags: Copy;

    /// Loads `B` bytes.
    fn codes8(self, values: &[u8; B]) -> Self::B;
    /// Stores `B` bytes.
    fn put_codes8(self, values: Self::B, out: &mut [u8; B]);
    /// Returns `value` in every lane.
    fn code8(self, value: u8) -> Self::B;
    /// Compares unsigned bytes: true where `values` is at most `limits`.
    fn at_most(self, values: Self::B, limits: Self::B) -> Self::Flags;
    /// Returns `yes` where the flag is set, else `no`.
    fn choose(self, flags: Self::Flags, yes: Self::B, no: Self::B) -> Self::B;
    /// Adds `more` where the flag is not set; the sum wraps around.
    fn add_unless(self, flags: Self::Flags, sums: Self::B, more: Self::B) -> Self::B;
}

/// Defines methods that are a single call on registers, in a trait implementation of a register newtype:
/// `calls!(Eight: min(other) _mm256_min_ps, abs() abs);`
macro_rules! calls {
    ($result:ident: $($method:ident($($other:ident)?) $call:path),* $(,)?) => {$(
        #[inline(always)]
        fn $method(self $(, $other: Self)?) -> $result {
            $result($crate::generic::registers::proven!($call(self.0 $(, $other.0)?)))
        }
    )*};
}

/// Implements operators that are one instruction each: `operators!(Eight: Add add _mm256_add_ps);`
macro_rules! operators {
    ($lanes:ident: $($trait:ident $method:ident $call:path),* $(,)?) => {$(
        impl core::ops::$trait for $lanes {
            type Output = Self;

            $crate::generic::registers::calls!(Self: $method(other) $call);
        }
    )*};
}

/// Calls a function that needs target features from a function that cannot declare them, because it must be inlined
/// into any caller.
#[cfg(not(target_arch = "wasm32"))]
macro_rules! proven {
    ($call:expr) => {
        // SAFETY: `self`, or an argument, is only created from a token of the instruction set, so the CPU has the
        // features.
        unsafe { $call }
    };
}

/// Calls a function that needs target features. Always safe in WebAssembly: a module with unknown instructions is rejected
/// before it runs.
#[cfg(target_arch = "wasm32")]
macro_rules! proven {
    ($call:expr) => {
        $call
    };
}

/// Implements [`Registers`] and [`Integers`] with functions on bare registers that are in scope under these names:
/// `registers!(Avx2, 8, Eight, EightIntegers, EightBools);`
macro_rules! registers {
    ($token:ident, $lanes:literal, $floats:ident, $integers:ident, $mask:ident) => {
        impl Registers<$lanes> for $token {
            type I = $integers;

            #[inline(always)]
            fn floats(self, values: &[f32; $lanes]) -> $floats {
                $floats(proven!(load_f32(values)))
            }

            #[inline(always)]
            fn floats_then_zeros(self, values: &[f32]) -> $floats {
                $floats(proven!(load_prefix_f32(values)))
            }

            #[inline(always)]
            fn put_floats(self, values: $floats, out: &mut [f32; $lanes]) {
                proven!(store_f32(out, values.0));
            }

            #[inline(always)]
            fn integer(self, value: u32) -> $integers {
                $integers(proven!(splat_integer(value.cast_signed())))
            }

            #[inline(always)]
            fn bits(self, values: $floats) -> $integers {
                $integers(proven!(bits(values.0)))
            }

            #[inline(always)]
            fn floats_of_bits(self, bits: $integers) -> $floats {
                $floats(proven!(from_bits(bits.0)))
            }

            #[inline(always)]
            fn to_floats(self, values: $integers) -> $floats {
                $floats(proven!(to_floats(values.0)))
            }

            #[inline(always)]
            fn bytes(self, values: &[u8; $lanes]) -> $integers {
                $integers(proven!(widened_bytes(values)))
            }

            #[inline(always)]
            fn put_bytes(self, values: $integers, out: &mut [u8; $lanes]) {
                proven!(put_bytes(values.0, out));
            }

            #[inline(always)]
            fn words(self, values: &[u16; $lanes]) -> $integers {
                $integers(proven!(widened_words(values)))
            }

            #[inline(always)]
            fn put_words(self, values: $integers, out: &mut [u16; $lanes]) {
                proven!(put_words(values.0, out));
            }

            #[inline(always)]
            fn halves(self, values: &[u16; $lanes]) -> $floats {
                $floats(proven!(halves(values)))
            }

            #[inline(always)]
            fn put_halves(self, values: $floats, out: &mut [u16; $lanes]) {
                proven!(put_halves(values.0, out));
            }
        }

        impl Integers for $integers {
            type Mask = $mask;

            calls!(Self: and(other) and, or(other) or, max(other) max_unsigned);
            calls!($mask: gt(other) greater, eq(other) equal);

            #[inline(always)]
            fn shl(self, bits: u32) -> Self {
                Self(proven!(shl(self.0, bits)))
            }

            #[inline(always)]
            fn shr(self, bits: u32) -> Self {
                Self(proven!(shr(self.0, bits)))
            }

            #[inline(always)]
            fn select(mask: $mask, yes: Self, no: Self) -> Self {
                Self(proven!(select(mask.0, yes.0, no.0)))
            }

            #[inline(always)]
            fn largest(self) -> u32 {
                proven!(largest(self.0))
            }
        }
    };
}

/// Implements [`Doubles`] in the same way, with eight f64 in `$parts` registers of `$each`: `doubles!(Avx2, Part, 2,
/// 4);`
macro_rules! doubles {
    ($token:ident, $register:ident, $parts:literal, $each:literal) => {
        impl Doubles for $token {
            type D = $register;

            const PARTS: usize = $parts;

            #[inline(always)]
            fn doubles(self, values: &[f64; 8], part: usize) -> $register {
                $register(proven!(load_f64(&values.as_chunks::<$each>().0[part])))
            }

            #[inline(always)]
            fn put_doubles(self, values: $register, out: &mut [f64; 8], part: usize) {
                proven!(store_f64(&mut out.as_chunks_mut::<$each>().0[part], values.0));
            }

            #[inline(always)]
            fn widened(self, values: &[f32; 8], part: usize) -> $register {
                $register(proven!(widened(&values.as_chunks::<$each>().0[part])))
            }

            #[inline(always)]
            fn mul_add(self, a: $register, b: $register, c: $register) -> $register {
                $register(proven!(mul_add(a.0, b.0, c.0)))
            }

            #[inline(always)]
            fn magnitudes(self, values: $register) -> $register {
                $register(proven!(magnitudes(values.0)))
            }

            #[inline(always)]
            fn greater(self, a: $register, b: $register) -> $register {
                $register(proven!(greater_f64(a.0, b.0)))
            }

            #[inline(always)]
            fn all_finite(self, a: &[f32; 8], b: &[f32; 8]) -> bool {
                proven!(all_finite(a, b))
            }
        }
    };
}

/// Implements [`Bytes`] in the same way: `bytes!(Avx2, 32, __m256i, __m256i);`
macro_rules! bytes {
    ($token:ident, $lanes:literal, $register:ident, $flags:ident) => {
        impl Bytes<$lanes> for $token {
            type B = $register;
            type Flags = $flags;

            #[inline(always)]
            fn codes8(self, values: &[u8; $lanes]) -> $register {
                proven!(load_bytes(values))
            }

            #[inline(always)]
            fn put_codes8(self, values: $register, out: &mut [u8; $lanes]) {
                proven!(store_bytes(out, values));
            }

            #[inline(always)]
            fn code8(self, value: u8) -> $register {
                proven!(splat_byte(value.cast_signed()))
            }

            #[inline(always)]
            fn at_most(self, values: $register, limits: $register) -> $flags {
                proven!(at_most(values, limits))
            }

            #[inline(always)]
            fn choose(self, flags: $flags, yes: $register, no: $register) -> $register {
                proven!(choose(flags, yes, no))
            }

            #[inline(always)]
            fn add_unless(self, flags: $flags, sums: $register, more: $register) -> $register {
                proven!(add_unless(flags, sums, more))
            }
        }
    };
}

pub(crate) use {bytes, calls, doubles, operators, proven, registers};
