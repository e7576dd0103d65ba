//! Products of elements and tiles: `N` of the sixteen rows of a strip with some rows of a tile at a time.

use crate::generic::planes::{Strip, part_of};
use crate::generic::registers::Integers;
use crate::product::{
    ByteLine, DoubleLine, ElementGrids, Elements, FloatLine, FloatTile, HalfLine, WideGrid, WordLine,
};

/// Encoding of a weight.
pub(crate) trait Element {
    /// Sixteen weights.
    type Line;
    /// Whether groups have zero points.
    const HAS_ZEROS: bool = false;
    /// Whether weights are converted by [`wide`](Self::wide).
    const IS_WIDE: bool = false;

    /// Converts part `part` of a line.
    fn floats<const N: usize, T: Strip<N>>(isa: T, line: &Self::Line, part: usize) -> T::F;

    /// Dequantizes part `part` of a line.
    #[inline(always)]
    fn wide<const N: usize, T: Strip<N>>(isa: T, line: &Self::Line, _: &WideGrid, part: usize) -> T::F {
        Self::floats::<N, T>(isa, line, part)
    }
}

pub(crate) struct F16;
pub(crate) struct BF16;
pub(crate) struct U16;
pub(crate) struct E4M3;
pub(crate) struct E5M2;

impl Element for F16 {
    type Line = HalfLine;

    #[inline(always)]
    fn floats<const N: usize, T: Strip<N>>(isa: T, line: &HalfLine, part: usize) -> T::F {
        isa.halves(&line.0.as_chunks().0[part])
    }
}

impl Element for BF16 {
    type Line = HalfLine;

    #[inline(always)]
    fn floats<const N: usize, T: Strip<N>>(isa: T, line: &HalfLine, part: usize) -> T::F {
        isa.floats_of_bits(isa.words(&line.0.as_chunks().0[part]).shl(16))
    }
}

impl Element for U16 {
    type Line = HalfLine;
    const HAS_ZEROS: bool = true;

    #[inline(always)]
    fn floats<const N: usize, T: Strip<N>>(isa: T, line: &HalfLine, part: usize) -> T::F {
        isa.to_floats(isa.words(&line.0.as_chunks().0[part]))
    }
}

impl Element for E4M3 {
    type Line = ByteLine;

    /// In half precision, the exponent bits stand for 2^-8 of the value: exact in both, subnormals included.
    #[inline(always)]
    fn floats<const N: usize, T: Strip<N>>(isa: T, line: &ByteLine, part: usize) -> T::F {
        let codes: &[u8; N] = part_of(&line.0, part);
        let mut halves = [0; N];
        for lane in 0..N {
            let code = u16::from(codes[lane]);
            let half = (code & 0x80) << 8 | (code & 0x7F) << 7;
            halves[lane] = if code & 0x7F == 0x7F { HALF_NAN } else { half };
        }
        isa.halves(&halves) * isa.splat(256.0)
    }
}

impl Element for E5M2 {
    type Line = ByteLine;

    /// The upper bytes of half precision.
    #[inline(always)]
    fn floats<const N: usize, T: Strip<N>>(isa: T, line: &ByteLine, part: usize) -> T::F {
        let codes: &[u8; N] = part_of(&line.0, part);
        let mut halves = [0; N];
        for lane in 0..N {
            halves[lane] = u16::from(codes[lane]) << 8;
        }
        isa.halves(&halves)
    }
}

/// A NaN in half precision.
const HALF_NAN: u16 = 0x7E00;

pub(crate) struct I32;
pub(crate) struct I64;
pub(crate) struct F64;

impl Element for I32 {
    type Line = WordLine;
    const IS_WIDE: bool = true;

    #[inline(always)]
    fn floats<const N: usize, T: Strip<N>>(isa: T, _: &WordLine, _: usize) -> T::F {
        isa.splat(0.0)
    }

    #[inline(always)]
    fn wide<const N: usize, T: Strip<N>>(isa: T, line: &WordLine, grid: &WideGrid, part: usize) -> T::F {
        let scales = part_of(&grid.scales.0, part);
        isa.weights_of_words(part_of(&line.0, part), part_of(&grid.zeros[1].0, part), scales)
    }
}

impl Element for I64 {
    type Line = [WordLine; 2];
    const IS_WIDE: bool = true;

    #[inline(always)]
    fn floats<const N: usize, T: Strip<N>>(isa: T, _: &[WordLine; 2], _: usize) -> T::F {
        isa.splat(0.0)
    }

    #[inline(always)]
    fn wide<const N: usize, T: Strip<N>>(isa: T, line: &[WordLine; 2], grid: &WideGrid, part: usize) -> T::F {
        let words = [part_of(&line[0].0, part), part_of(&line[1].0, part)];
        let zeros = [part_of(&grid.zeros[0].0, part), part_of(&grid.zeros[1].0, part)];
        isa.weights_of_pairs(words, zeros, part_of(&grid.scales.0, part))
    }
}

impl Element for F64 {
    type Line = DoubleLine;

    #[inline(always)]
    fn floats<const N: usize, T: Strip<N>>(isa: T, line: &DoubleLine, part: usize) -> T::F {
        isa.weights_of_doubles(part_of(&line.0, part))
    }
}

/// Multiplies `S` strips with a tile.
///
/// Each output is a chain of additions, whose latency limits a core to one addition in about four cycles. Independent
/// chains hide it: eight rows, four rows of two strips, or a single row of two strips and up to two parts of each.
#[inline(always)]
pub(crate) fn multiply<const N: usize, T: Strip<N>, E: Element, const S: usize>(
    isa: T,
    strips: [(&[E::Line], &Elements<'_>); S],
    tile: &FloatTile<'_>,
    out: &mut [&mut [FloatLine]; S],
) {
    match tile.width() {
        1 if N < 16 => {
            for pair in 0..8 / N {
                rows::<N, T, E, S, 2, 1>(isa, strips, tile, 2 * pair, out);
            }
        }
        1 => rows::<N, T, E, S, 1, 1>(isa, strips, tile, 0, out),
        4 => {
            for part in 0..16 / N {
                rows::<N, T, E, S, 1, 4>(isa, strips, tile, part, out);
            }
        }
        // Eight rows are enough chains, so there is one strip at a time.
        _ if S > 1 => {}
        _ => {
            for part in 0..16 / N {
                rows::<N, T, E, S, 1, 8>(isa, strips, tile, part, out);
            }
        }
    }
}

/// Multiplies `P` parts of `S` strips, from part `first` on, with a tile of `W` rows.
#[inline(always)]
fn rows<const N: usize, T: Strip<N>, E: Element, const S: usize, const P: usize, const W: usize>(
    isa: T,
    strips: [(&[E::Line], &Elements<'_>); S],
    tile: &FloatTile<'_>,
    first: usize,
    out: &mut [&mut [FloatLine]; S],
) {
    let mut totals = [[[isa.splat(0.0); W]; P]; S];
    let tile = tile.cols_of::<W>();
    let has_grids = matches!(strips[0].1.grids, ElementGrids::Floats(_));
    let cols = strips[0].1.cols;
    let group = if has_grids || E::IS_WIDE { strips[0].1.group } else { cols };
    let mut from = 0;
    while from < cols {
        let to = if from + group < cols { from + group } else { cols };
        let mut scales = [[isa.splat(1.0); P]; S];
        let mut zeros = [[isa.splat(0.0); P]; S];
        let mut wide = [&WideGrid::ZERO; S];
        for strip in 0..S {
            match strips[strip].1.grids {
                ElementGrids::None => {}
                ElementGrids::Floats(grids) => {
                    let [scale, zero] = &grids[from / group];
                    for part in 0..P {
                        scales[strip][part] = isa.floats(part_of(&scale.0, first + part));
                        zeros[strip][part] = isa.floats(part_of(&zero.0, first + part));
                    }
                }
                ElementGrids::Wide(grids) => wide[strip] = &grids[from / group],
            }
        }
        let mut lines = [&strips[0].0[from..to]; S];
        for strip in 0..S {
            lines[strip] = &strips[strip].0[from..to];
        }
        for (at, values) in tile[from..to].iter().enumerate() {
            for strip in 0..S {
                let line = &lines[strip][at];
                // Later parts read the same lines.
                if first == 0 {
                    let bytes: *const u8 = core::ptr::from_ref(line).cast();
                    isa.prefetch_bytes(bytes);
                    if size_of::<E::Line>() > 64 {
                        isa.prefetch_bytes(bytes.wrapping_add(64));
                    }
                }
                for part in 0..P {
                    let mut weights = if E::IS_WIDE {
                        E::wide::<N, T>(isa, line, wide[strip], first + part)
                    } else {
                        E::floats::<N, T>(isa, line, first + part)
                    };
                    if E::HAS_ZEROS {
                        weights = weights - zeros[strip][part];
                    }
                    if has_grids {
                        weights = weights * scales[strip][part];
                    }
                    for row in 0..W {
                        let value = isa.splat(values[row]);
                        totals[strip][part][row] = isa.fused_strip(weights, value, totals[strip][part][row]);
                    }
                }
            }
        }
        from = to;
    }
    for (totals, out) in totals.iter().zip(out) {
        for (part, totals) in totals.iter().enumerate() {
            for (total, line) in totals.iter().zip(out.iter_mut()) {
                isa.put_floats(*total, &mut line.0.as_chunks_mut().0[first + part]);
            }
        }
    }
}

/// Defines `multiply_elements` in the module of an instruction set with registers of `$lanes` lanes.
macro_rules! element_kernels {
    ($isa:ident, $token:ty, $lanes:literal) => {
        #[bitgrain_isa::$isa]
        fn element_strips<E: $crate::generic::elements::Element, const S: usize>(
            strips: [(&[E::Line], &$crate::product::Elements<'_>); S],
            tile: &$crate::product::FloatTile<'_>,
            mut out: [&mut [$crate::product::FloatLine]; S],
        ) {
            $crate::generic::elements::multiply::<$lanes, _, E, S>(<$token>::new(), strips, tile, &mut out);
        }

        #[bitgrain_isa::$isa]
        pub(crate) fn multiply_elements(
            elements: $crate::product::Elements<'_>,
            tiles: &[$crate::product::FloatTile<'_>],
            out: &mut [$crate::product::FloatLine],
        ) {
            use $crate::generic::elements::{BF16, E4M3, E5M2, F16, F64, I32, I64, U16};
            use $crate::product::ElementLines;
            let lines = tiles.iter().map(|tile| tile.width()).sum::<usize>();
            // Two strips at a time for few rows; `multiply` states why.
            for (pair, out) in out.chunks_mut((2 * lines).max(1)).enumerate() {
                let one = elements.range(2 * pair, 2 * pair + 1);
                let (mut out, mut other_out) = out.split_at_mut(lines);
                let other = (!other_out.is_empty()).then(|| elements.range(2 * pair + 1, 2 * pair + 2));
                for tile in tiles {
                    let (now, rest) = out.split_at_mut(tile.width());
                    out = rest;
                    let (other_now, rest) = other_out.split_at_mut(if other.is_some() { tile.width() } else { 0 });
                    other_out = rest;
                    macro_rules! go {
                        ($element:ty, $lines:ident, $kind:ident) => {
                            match &other {
                                Some(other) if tile.width() <= 4 => {
                                    if let ElementLines::$kind(more) = other.lines {
                                        element_strips::<$element, 2>(
                                            [($lines, &one), (more, other)],
                                            tile,
                                            [now, other_now],
                                        );
                                    }
                                }
                                other => {
                                    element_strips::<$element, 1>([($lines, &one)], tile, [now]);
                                    if let Some(other) = other
                                        && let ElementLines::$kind(more) = other.lines
                                    {
                                        element_strips::<$element, 1>([(more, other)], tile, [other_now]);
                                    }
                                }
                            }
                        };
                    }
                    match one.lines {
                        ElementLines::F16(lines) => go!(F16, lines, F16),
                        ElementLines::BF16(lines) => go!(BF16, lines, BF16),
                        ElementLines::U16(lines) => go!(U16, lines, U16),
                        ElementLines::E4M3(lines) => go!(E4M3, lines, E4M3),
                        ElementLines::E5M2(lines) => go!(E5M2, lines, E5M2),
                        ElementLines::I32(lines) => go!(I32, lines, I32),
                        ElementLines::I64(lines) => go!(I64, lines, I64),
                        ElementLines::F64(lines) => go!(F64, lines, F64),
                    }
                }
            }
        }
    };
}

pub(crate) use element_kernels;
