//! Products of planes and tiles: `N` of the sixteen rows of a strip with some rows of a tile at a time.

use crate::generic::registers::{Integers, Registers};
use crate::lanes::Lanes;
use crate::product::{ByteLine, CodeLine, FloatLine, HalfLine, PlaneTile, TileBlocks};
use crate::scalar::elements::TWO_32;

/// Operations on the codes of `N` rows: four columns of each in `4 * N` bytes.
pub(crate) trait Strip<const N: usize>: Registers<N> {
    /// Codes as bytes.
    type Codes: Copy;

    /// Rows of a tile that the registers have room for.
    const ROWS: usize;
    /// Whether bytes above 127 are multiplied as signed numbers, 128 less, because products of unsigned ones overflow.
    const IS_SIGNED: bool;

    /// Columns, in fours, whose products with codes up to `most` can be added before
    /// [`widened`](StripProducts::widened).
    fn run(most: u32) -> usize;
    /// Loads the codes of part `part` of a line.
    fn line(self, line: &CodeLine, part: usize) -> Self::Codes;
    /// Requests the line some blocks after this one from memory, where software has to.
    fn prefetch(self, _line: &CodeLine) {}
    /// Requests the weights some columns after this address from memory, where software has to.
    fn prefetch_bytes(self, _at: *const u8) {}
    /// Returns `(word - zero) * scale`, each rounded in f64, as f32.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
    fn weights_of_words(self, words: &[i32; N], zeros: &[f64; N], scales: &[f64; N]) -> Self::F {
        let mut out = [0.0; N];
        for lane in 0..N {
            out[lane] = ((f64::from(words[lane]) - zeros[lane]) * scales[lane]) as f32;
        }
        self.floats(&out)
    }
    /// Returns `((high - zero) * 2^32 + (low - zero)) * scale`, each rounded in f64, as f32.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
    fn weights_of_pairs(self, words: [&[i32; N]; 2], zeros: [&[f64; N]; 2], scales: &[f64; N]) -> Self::F {
        let mut out = [0.0; N];
        for lane in 0..N {
            let [high, low] = [0, 1].map(|word: usize| f64::from(words[word][lane]) - zeros[word][lane]);
            out[lane] = ((high * TWO_32 + low) * scales[lane]) as f32;
        }
        self.floats(&out)
    }
    /// Rounds to f32.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
    fn weights_of_doubles(self, values: &[f64; N]) -> Self::F {
        let mut out = [0.0; N];
        for lane in 0..N {
            out[lane] = values[lane] as f32;
        }
        self.floats(&out)
    }
    /// Shifts every byte right and keeps the low `bits` bits; both are constants.
    fn field(self, codes: Self::Codes, shift: u32, bits: u32) -> Self::Codes;
    /// Returns `low | high << shift` in every byte; `high` has room for the shift, a constant.
    fn join(self, low: Self::Codes, high: Self::Codes, shift: u32) -> Self::Codes;
    /// Returns a table for [`lookup`](Self::lookup).
    fn table(self, table: &[u8; 16]) -> Self::Codes;
    /// Returns the bytes of the table at codes below 16.
    fn lookup(self, table: Self::Codes, codes: Self::Codes) -> Self::Codes;
    /// Returns `a * b + c` with one rounding.
    fn fused_strip(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
}

/// Products of codes, which CPUs with the same registers compute with different instructions.
pub(crate) trait StripProducts<const N: usize, T: Strip<N>>: Copy {
    /// Sums of products of a few columns.
    type Partial: Copy;

    /// Returns sums of zero.
    fn none(self) -> Self::Partial;
    /// Adds the products of codes up to 127 with four activations.
    fn add(self, sums: Self::Partial, codes: T::Codes, four: i32) -> Self::Partial;
    /// Adds the products of codes up to 255 with four activations.
    fn add_high(self, isa: T, sums: Self::Partial, codes: T::Codes, four: i32) -> Self::Partial;
    /// Returns the sums as 32-bit integers.
    fn widened(self, sums: Self::Partial) -> T::I;
}

/// Encoding of codes.
pub(crate) trait Codec {
    /// Lines per block.
    const LINES: usize;
    /// Largest integer.
    const MOST: u32;

    /// Returns the integers of columns `4 * i..4 * i + 4`.
    fn four<const N: usize, T: Strip<N>>(
        isa: T,
        lines: &[CodeLine],
        part: usize,
        i: usize,
        table: T::Codes,
    ) -> T::Codes;
}

/// Unsigned codes of `BITS` bits.
pub(crate) struct Bits<const BITS: usize>;

/// Codes of 4 bits that index a table of integers up to `MOST`.
pub(crate) struct Table<const MOST: u32>;

impl<const BITS: usize> Codec for Bits<BITS> {
    const LINES: usize = BITS;
    const MOST: u32 = (1 << BITS) - 1;

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a width of at most 8 bits")]
    fn four<const N: usize, T: Strip<N>>(isa: T, lines: &[CodeLine], part: usize, i: usize, _: T::Codes) -> T::Codes {
        let (lower, upper) = match BITS {
            3 => (2, 1),
            5 => (4, 1),
            6 => (4, 2),
            bits => (bits, 0),
        };
        let low = plane::<N, T>(isa, lines, part, i, lower);
        if upper == 0 {
            return low;
        }
        isa.join(low, plane::<N, T>(isa, &lines[lower..], part, i, upper), lower as u32)
    }
}

impl<const MOST: u32> Codec for Table<MOST> {
    const LINES: usize = 4;
    const MOST: u32 = MOST;

    #[inline(always)]
    fn four<const N: usize, T: Strip<N>>(
        isa: T,
        lines: &[CodeLine],
        part: usize,
        i: usize,
        table: T::Codes,
    ) -> T::Codes {
        isa.lookup(table, plane::<N, T>(isa, lines, part, i, 4))
    }
}

/// Returns the bits that a plane holds of columns `4 * i..4 * i + 4`.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "shifts and widths of at most 8 bits")]
fn plane<const N: usize, T: Strip<N>>(isa: T, plane: &[CodeLine], part: usize, i: usize, bits: usize) -> T::Codes {
    let codes = isa.line(&plane[i % bits], part);
    if bits == 8 { codes } else { isa.field(codes, (i / bits * bits) as u32, bits as u32) }
}

/// Encoding of scales.
pub(crate) trait Scales: Copy {
    /// Whether each half of a block has a scale.
    const HALVED: bool;
    /// Whether there are minima.
    const MINS: bool;

    /// Returns the scales and minima of a half of a block, or of the block.
    fn at<const N: usize, T: Strip<N>>(self, isa: T, block: usize, half: usize, part: usize) -> (T::F, T::F);
}

/// Returns the part of a line of sixteen.
#[inline(always)]
pub(crate) fn part_of<E, const N: usize>(line: &[E; 16], part: usize) -> &[E; N] {
    &line.as_chunks().0[part]
}

#[derive(Clone, Copy)]
pub(crate) struct Halves<'a>(pub(crate) &'a [HalfLine]);

impl Scales for Halves<'_> {
    const HALVED: bool = false;
    const MINS: bool = false;

    #[inline(always)]
    fn at<const N: usize, T: Strip<N>>(self, isa: T, block: usize, _: usize, part: usize) -> (T::F, T::F) {
        (isa.halves(part_of(&self.0[block].0, part)), isa.splat(0.0))
    }
}

#[derive(Clone, Copy)]
pub(crate) struct HalvesAndMins<'a>(pub(crate) &'a [[HalfLine; 2]]);

impl Scales for HalvesAndMins<'_> {
    const HALVED: bool = false;
    const MINS: bool = true;

    #[inline(always)]
    fn at<const N: usize, T: Strip<N>>(self, isa: T, block: usize, _: usize, part: usize) -> (T::F, T::F) {
        let [scales, mins] = &self.0[block];
        (isa.halves(part_of(&scales.0, part)), isa.halves(part_of(&mins.0, part)))
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Exponents<'a>(pub(crate) &'a [ByteLine]);

impl Scales for Exponents<'_> {
    const HALVED: bool = false;
    const MINS: bool = false;

    #[inline(always)]
    fn at<const N: usize, T: Strip<N>>(self, isa: T, block: usize, _: usize, part: usize) -> (T::F, T::F) {
        // Only steps of the exponents 0 and 1 are subnormal.
        let exponents = isa.bytes(part_of(&self.0[block].0, part));
        let normal = (exponents - isa.integer(1)).shl(23);
        let subnormal = exponents.shl(21) + isa.integer(0x0020_0000);
        let bits = T::I::select(exponents.gt(isa.integer(1)), normal, subnormal);
        (isa.floats_of_bits(bits), isa.splat(0.0))
    }
}

/// Scales of groups of `.1` blocks.
#[derive(Clone, Copy)]
pub(crate) struct Groups<'a>(pub(crate) &'a [FloatLine], pub(crate) usize);

impl Scales for Groups<'_> {
    const HALVED: bool = false;
    const MINS: bool = false;

    #[inline(always)]
    fn at<const N: usize, T: Strip<N>>(self, isa: T, block: usize, _: usize, part: usize) -> (T::F, T::F) {
        (isa.floats(part_of(&self.0[block / self.1].0, part)), isa.splat(0.0))
    }
}

/// Scales and zero points of groups of `.1` blocks.
#[derive(Clone, Copy)]
pub(crate) struct GroupsAndZeros<'a>(pub(crate) &'a [[FloatLine; 2]], pub(crate) usize);

impl Scales for GroupsAndZeros<'_> {
    const HALVED: bool = false;
    const MINS: bool = true;

    #[inline(always)]
    fn at<const N: usize, T: Strip<N>>(self, isa: T, block: usize, _: usize, part: usize) -> (T::F, T::F) {
        let [scales, zeros] = &self.0[block / self.1];
        let scales = isa.floats(part_of(&scales.0, part));
        (scales, (scales * isa.floats(part_of(&zeros.0, part))).neg())
    }
}

/// Scales of eight blocks, and factors of each block.
#[derive(Clone, Copy)]
pub(crate) struct Affine<'a>(pub(crate) &'a [[HalfLine; 2]], pub(crate) &'a [[ByteLine; 2]]);

impl Scales for Affine<'_> {
    const HALVED: bool = false;
    const MINS: bool = true;

    #[inline(always)]
    fn at<const N: usize, T: Strip<N>>(self, isa: T, block: usize, _: usize, part: usize) -> (T::F, T::F) {
        let [scales, mins] = &self.0[block / 8];
        let [factors, min_factors] = &self.1[block];
        let scales = isa.halves(part_of(&scales.0, part)) * isa.to_floats(isa.bytes(part_of(&factors.0, part)));
        let mins = isa.halves(part_of(&mins.0, part)) * isa.to_floats(isa.bytes(part_of(&min_factors.0, part)));
        (scales, mins.neg())
    }
}

/// Scales of eight blocks, and signed factors of both halves of each block.
#[derive(Clone, Copy)]
pub(crate) struct Signed<'a>(pub(crate) &'a [HalfLine], pub(crate) &'a [[ByteLine; 2]]);

impl Scales for Signed<'_> {
    const HALVED: bool = true;
    const MINS: bool = false;

    #[inline(always)]
    fn at<const N: usize, T: Strip<N>>(self, isa: T, block: usize, half: usize, part: usize) -> (T::F, T::F) {
        let bytes = isa.bytes(part_of(&self.1[block][half].0, part));
        let factors = isa.to_floats(bytes - bytes.and(isa.integer(128)).shl(1));
        (isa.halves(part_of(&self.0[block / 8].0, part)) * factors, isa.splat(0.0))
    }
}

/// Scales of eight blocks, and factors of both halves of each block in nibbles.
#[derive(Clone, Copy)]
pub(crate) struct Nibbles<'a>(pub(crate) &'a [[HalfLine; 2]], pub(crate) &'a [[ByteLine; 2]]);

impl Scales for Nibbles<'_> {
    const HALVED: bool = true;
    const MINS: bool = true;

    #[inline(always)]
    fn at<const N: usize, T: Strip<N>>(self, isa: T, block: usize, half: usize, part: usize) -> (T::F, T::F) {
        let [scales, mins] = &self.0[block / 8];
        let factors = isa.bytes(part_of(&self.1[block][half].0, part));
        let (low, high) = (factors.and(isa.integer(15)), factors.shr(4));
        let mins = isa.halves(part_of(&mins.0, part)) * isa.to_floats(high);
        (isa.halves(part_of(&scales.0, part)) * isa.to_floats(low), mins.neg())
    }
}

/// Multiplies a strip with a tile.
#[inline(always)]
pub(crate) fn multiply<const N: usize, T: Strip<N>, P: StripProducts<N, T>, C: Codec, S: Scales>(
    isa: (T, P),
    (lines, scales, zero, table): (&[CodeLine], S, i32, &[u8; 16]),
    tile: &PlaneTile<'_>,
    out: &mut [FloatLine],
) {
    for part in 0..16 / N {
        match tile.width() {
            1 => rows::<N, T, P, C, S, 1, 1>(isa, (lines, scales, zero, table), tile, (part, 0), out),
            4 => rows::<N, T, P, C, S, 4, 4>(isa, (lines, scales, zero, table), tile, (part, 0), out),
            _ if T::ROWS == 8 => rows::<N, T, P, C, S, 8, 8>(isa, (lines, scales, zero, table), tile, (part, 0), out),
            _ => {
                rows::<N, T, P, C, S, 8, 4>(isa, (lines, scales, zero, table), tile, (part, 0), out);
                rows::<N, T, P, C, S, 8, 4>(isa, (lines, scales, zero, table), tile, (part, 4), out);
            }
        }
    }
}

/// Multiplies a part of a strip with `R` rows of a tile of `W` rows.
#[inline(always)]
fn rows<const N: usize, T: Strip<N>, P: StripProducts<N, T>, C: Codec, S: Scales, const W: usize, const R: usize>(
    (isa, products): (T, P),
    (lines, scales, zero, table): (&[CodeLine], S, i32, &[u8; 16]),
    tile: &PlaneTile<'_>,
    (part, first): (usize, usize),
    out: &mut [FloatLine],
) {
    let (tile, halves) = tile.of::<W>();
    let table = isa.table(table);
    let mut totals = [isa.splat(0.0); R];
    let blocks = lines.len() / C::LINES;
    let halves = &halves[..blocks];
    for (block, halves) in halves.iter().enumerate() {
        let lines = &lines[block * C::LINES..][..C::LINES];
        // Every part and every four rows read the same lines; one prefetch is enough.
        if part == 0 && first == 0 {
            for line in lines {
                isa.prefetch(line);
            }
        }
        for half in 0..if S::HALVED { 2 } else { 1 } {
            let at = (block, half, S::HALVED);
            let sums = sums::<N, T, P, C, W, R>((isa, products), lines, &tile, at, zero, (part, first), table, halves);
            let (weight_scales, mins) = scales.at::<N, T>(isa, block, half, part);
            for row in 0..R {
                let scale = isa.splat(tile.scales[block][first + row]);
                totals[row] = isa.fused_strip(isa.to_floats(sums[row]), weight_scales * scale, totals[row]);
                if S::MINS {
                    let sum = isa.splat(sum_of(halves[first + row], half, S::HALVED) as f32);
                    totals[row] = isa.fused_strip(sum, mins * scale, totals[row]);
                }
            }
        }
    }
    for row in 0..R {
        isa.put_floats(totals[row], &mut out[first + row].0.as_chunks_mut().0[part]);
    }
}

/// Returns the sum of the activations of a half of a block, or of the block.
#[inline(always)]
fn sum_of(halves: [i32; 2], half: usize, halved: bool) -> i32 {
    if halved { halves[half] } else { halves[0] + halves[1] }
}

/// Returns the exact sums of a half of a block, or of the block.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "inlined into one caller")]
fn sums<const N: usize, T: Strip<N>, P: StripProducts<N, T>, C: Codec, const W: usize, const R: usize>(
    (isa, products): (T, P),
    lines: &[CodeLine],
    tile: &TileBlocks<'_, W>,
    (block, half, halved): (usize, usize, bool),
    zero: i32,
    (part, first): (usize, usize),
    table: T::Codes,
    halves: &[[i32; 2]; W],
) -> [T::I; R] {
    let is_high = C::MOST > 127;
    // Removes the product of the integer that stands for 0 with the activations.
    let offset = if is_high && T::IS_SIGNED { 128 - zero } else { -zero };
    let mut sums = [isa.integer(0); R];
    for row in 0..R {
        sums[row] = isa.integer((offset * sum_of(halves[first + row], half, halved)).cast_unsigned());
    }
    let (begin, end) = if halved { (4 * half, 4 * half + 4) } else { (0, 8) };
    let run = T::run(C::MOST);
    let mut at = begin;
    while at < end {
        let mut partial = [products.none(); R];
        let stop = if at + run < end { at + run } else { end };
        for i in at..stop {
            let codes = C::four::<N, T>(isa, lines, part, i, table);
            for (partial, row) in partial.iter_mut().zip(&tile.codes[block][first..]) {
                *partial = if is_high {
                    products.add_high(isa, *partial, codes, row[i])
                } else {
                    products.add(*partial, codes, row[i])
                };
            }
        }
        for row in 0..R {
            sums[row] = sums[row] + products.widened(partial[row]);
        }
        at = stop;
    }
    sums
}

/// Defines `multiply_planes` in the module of an instruction set with registers of `$lanes` lanes, given its attribute
/// in `bitgrain_isa`, its token and that of its products. Each pair of codes and scales that a format uses is a separate function.
macro_rules! plane_kernels {
    ($isa:ident, $token:ty, $products:ty, $lanes:literal) => {
        #[bitgrain_isa::$isa]
        fn strip<C: $crate::generic::planes::Codec, S: $crate::generic::planes::Scales>(
            strip: (&[$crate::product::CodeLine], S, i32, &[u8; 16]),
            tile: &$crate::product::PlaneTile<'_>,
            out: &mut [$crate::product::FloatLine],
        ) {
            let isa = (<$token>::new(), <$products>::new());
            $crate::generic::planes::multiply::<$lanes, _, _, C, S>(isa, strip, tile, out);
        }

        #[bitgrain_isa::$isa]
        pub(crate) fn multiply_planes(
            planes: $crate::product::Planes<'_>,
            tiles: &[$crate::product::PlaneTile<'_>],
            mut out: &mut [$crate::product::FloatLine],
        ) {
            use $crate::generic::planes::{
                Affine, Bits, Exponents, Groups, GroupsAndZeros, Halves, HalvesAndMins, Nibbles, Signed, Table,
            };
            use $crate::product::{PlaneCodes, PlaneScales};
            for at in 0..planes.count() {
                let one = planes.range(at, at + 1);
                let (zero, none) = (i32::from(one.zero), [0; 16]);
                for tile in tiles {
                    let (now, rest) = out.split_at_mut(tile.width());
                    out = rest;
                    let lines = one.lines;
                    macro_rules! go {
                        ($codec:ty, $scales:expr) => {
                            strip::<$codec, _>((lines, $scales, zero, &none), tile, now)
                        };
                        ($codec:ty, $scales:expr, $table:expr) => {
                            strip::<$codec, _>((lines, $scales, zero, $table), tile, now)
                        };
                    }
                    match (one.codes, one.scales) {
                        (PlaneCodes::Bits(5), PlaneScales::Halves(s)) => go!(Bits<5>, Halves(s)),
                        (PlaneCodes::Table(t), PlaneScales::Halves(s)) => go!(Table<255>, Halves(s), &t),
                        (PlaneCodes::Bits(4), PlaneScales::HalvesAndMins(s)) => go!(Bits<4>, HalvesAndMins(s)),
                        (PlaneCodes::Bits(5), PlaneScales::HalvesAndMins(s)) => go!(Bits<5>, HalvesAndMins(s)),
                        (PlaneCodes::Table(t), PlaneScales::Exponents(s)) if $crate::generic::planes::is_low(&t) => {
                            go!(Table<31>, Exponents(s), &t)
                        }
                        (PlaneCodes::Table(t), PlaneScales::Groups { scales, blocks })
                            if $crate::generic::planes::is_low(&t) =>
                        {
                            go!(Table<31>, Groups(scales, blocks), &t)
                        }
                        (PlaneCodes::Bits(2), PlaneScales::Groups { scales, blocks }) => {
                            go!(Bits<2>, Groups(scales, blocks))
                        }
                        (PlaneCodes::Bits(1), PlaneScales::GroupsAndZeros { scales, blocks }) => {
                            go!(Bits<1>, GroupsAndZeros(scales, blocks))
                        }
                        (PlaneCodes::Bits(2), PlaneScales::GroupsAndZeros { scales, blocks }) => {
                            go!(Bits<2>, GroupsAndZeros(scales, blocks))
                        }
                        (PlaneCodes::Bits(4), PlaneScales::GroupsAndZeros { scales, blocks }) => {
                            go!(Bits<4>, GroupsAndZeros(scales, blocks))
                        }
                        (PlaneCodes::Bits(8), PlaneScales::GroupsAndZeros { scales, blocks }) => {
                            go!(Bits<8>, GroupsAndZeros(scales, blocks))
                        }
                        (PlaneCodes::Bits(4), PlaneScales::Affine { supers, factors }) => {
                            go!(Bits<4>, Affine(supers, factors))
                        }
                        (PlaneCodes::Bits(5), PlaneScales::Affine { supers, factors }) => {
                            go!(Bits<5>, Affine(supers, factors))
                        }
                        (PlaneCodes::Bits(3), PlaneScales::Signed { supers, factors }) => {
                            go!(Bits<3>, Signed(supers, factors))
                        }
                        (PlaneCodes::Bits(6), PlaneScales::Signed { supers, factors }) => {
                            go!(Bits<6>, Signed(supers, factors))
                        }
                        (PlaneCodes::Bits(2), PlaneScales::Nibbles { supers, factors }) => {
                            go!(Bits<2>, Nibbles(supers, factors))
                        }
                        // No format combines these.
                        _ => $crate::scalar::multiply_planes(one, core::slice::from_ref(tile), now),
                    }
                }
            }
        }
    };
}

/// Returns whether all integers of a table are below 32.
pub(crate) fn is_low(table: &[u8; 16]) -> bool {
    table.iter().all(|&value| value < 32)
}

pub(crate) use plane_kernels;
