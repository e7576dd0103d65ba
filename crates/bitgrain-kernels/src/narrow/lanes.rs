//! `four_lanes!`: the lanes of an instruction set with 128-bit registers.

/// Defines lanes for the token `$token` over its registers of four f32, four u32, two f64 and 16 bytes, with functions on
/// bare registers that are in scope under the names used here and in `registers!`, `doubles!` and `bytes!`.
macro_rules! four_lanes {
    ($token:ident, $f32:ident, $u32:ident, $f64:ident, $u8:ident) => {
        /// Four f32. Only a token creates one, so it is the same proof, as are the types below.
        #[derive(Clone, Copy)]
        pub(crate) struct Four(pub(crate) $f32);

        /// Four 32-bit integers.
        #[derive(Clone, Copy)]
        pub(crate) struct FourIntegers(pub(crate) $u32);

        /// One boolean per lane.
        #[derive(Clone, Copy)]
        pub(crate) struct FourBools(pub(crate) $u32);

        /// Two f64.
        #[derive(Clone, Copy)]
        pub(crate) struct Part($f64);

        impl $token {
            #[inline(always)]
            pub(crate) fn new() -> Self {
                Self(())
            }
        }

        impl Isa for $token {
            type F = Four;

            #[inline(always)]
            fn splat(self, value: f32) -> Four {
                Four(proven!(splat_f32(value)))
            }

            #[inline(always)]
            fn load(self, values: &[f32]) -> Four {
                self.floats(values.first_chunk().unwrap_or(&[0.0; 4]))
            }

            #[inline(always)]
            fn columns(self, rows: &[&[f32]], at: usize, out: &mut [Four]) {
                for (step, out) in out.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                    let mut square = [self.splat(0.0).0; 4];
                    for (line, row) in square.iter_mut().zip(rows) {
                        *line = self.load(&row[at + 4 * step..]).0;
                    }
                    for (out, column) in out.iter_mut().zip(proven!(transpose(square))) {
                        *out = Four(column);
                    }
                }
            }

            #[inline(always)]
            fn codes(self, values: &[f32; 16], plus: f32, step: f32, low: i32, high: i32) -> [u8; 16] {
                proven!(codes(values, plus, step, low, high))
            }
        }

        impl Lanes for Four {
            type Mask = FourBools;

            const LANES: usize = 4;

            calls!(Self:
                min(other) min, max(other) max, abs() abs, neg() neg, sqrt() sqrt, nearest() nearest,
                low_byte() low_byte, nearest_level() nearest_level);
            calls!(FourBools: gt(other) gt, le(other) le, ne(other) ne);

            #[inline(always)]
            fn select(mask: FourBools, yes: Self, no: Self) -> Self {
                Self(proven!(select_f32(mask.0, yes.0, no.0)))
            }

            #[inline(always)]
            fn store(self, out: &mut [f32]) {
                if let Some(out) = out.first_chunk_mut() {
                    proven!(store_f32(out, self.0));
                }
            }
        }

        impl Mask for FourBools {
            calls!(Self: and(other) and, or(other) or, not() not);

            #[inline(always)]
            fn any(self) -> bool {
                proven!(any(self.0))
            }
        }

        operators!(Four: Add add add_f32, Sub sub sub_f32, Mul mul mul_f32, Div div div_f32);
        operators!(FourIntegers: Add add add_u32, Sub sub sub_u32);
        operators!(Part: Add add add_f64, Sub sub sub_f64, Mul mul mul_f64);

        registers!($token, 4, Four, FourIntegers, FourBools);
        doubles!($token, Part, 4, 2);
        bytes!($token, 16, $u8, $u8);
    };
}

/// Defines methods of a token by their bodies, which are compiled for an instruction set:
/// `methods! { #[neon] add8(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = vaddq_u8(a, b); }`
macro_rules! methods {
    (#[$isa:ident] $($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $body:expr;)*) => {$(
        #[inline(always)]
        fn $name(self, $($argument: $type),*) -> $result {
            #[inline]
            #[$isa]
            fn run($($argument: $type),*) -> $result {
                $body
            }
            $crate::generic::registers::proven!(run($($argument),*))
        }
    )*};
}

pub(crate) use {four_lanes, methods};
