//! Products of planes: every backend returns the bits of `scalar`, packed codes are read back, and parts of blocks
//! decode to the weights that dequantization returns.

use bitgrain_kernels::ggml::{BlockJoiner, GgmlBlock, dequantize_ggml};
use bitgrain_kernels::product::{
    ByteLine, CodeLine, FloatLine, HalfLine, PlaneCodes, PlaneScales, PlaneTile, Planes, STRIP_BLOCK, STRIP_ROWS,
    StripBits, Tile, half_sums, multiply_planes, pack_plane_row, quantize_activations,
};
use bitgrain_kernels::{Backend, KernelError};

use crate::Bits;

/// Arrays of a tile.
struct Arrays {
    width: usize,
    codes: Vec<i32>,
    scales: Vec<f32>,
    sums: Vec<i32>,
    halves: Vec<[i32; 2]>,
}

impl Arrays {
    fn new(width: usize, blocks: usize, seed: u64) -> Self {
        let all = blocks * width;
        let mut arrays = Self {
            width,
            codes: vec![0; 8 * all],
            scales: vec![0.0; all],
            sums: vec![0; all],
            halves: vec![[0; 2]; all],
        };
        for slot in 0..width {
            let mut row = Bits(seed + slot as u64).normals(blocks * STRIP_BLOCK);
            match (seed as usize + slot) % 4 {
                0 => row.iter_mut().for_each(|x| *x = x.signum()),
                1 => row.fill(-1.0),
                _ => {}
            }
            let place = (slot, width);
            let (codes, scales, sums) = (&mut arrays.codes, &mut arrays.scales, &mut arrays.sums);
            quantize_activations(Backend::scalar(), StripBits::Eight, &row, place, codes, scales, sums)
                .expect("finite");
        }
        half_sums(&arrays.codes, &mut arrays.halves).expect("a pair per block");
        arrays
    }

    fn tile(&self) -> PlaneTile<'_> {
        let tile = Tile::new(self.width, &self.codes, &self.scales, &self.sums).expect("arrays of a tile");
        PlaneTile::new(tile, &self.halves).expect("sums of a tile")
    }
}

/// Random scales of every kind for some strips of some blocks.
struct AllScales {
    halves: Vec<HalfLine>,
    pairs: Vec<[HalfLine; 2]>,
    bytes: Vec<ByteLine>,
    factors: Vec<[ByteLine; 2]>,
    floats: Vec<FloatLine>,
    grids: Vec<[FloatLine; 2]>,
}

const HOSTILE_HALVES: [u16; 10] = [0, 0x8000, 1, 0x03FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0x7E01, 0xB555];

impl AllScales {
    fn new(all: usize, seed: u64, hostile: bool) -> Self {
        let mut random = Bits(seed);
        let mut at = 0;
        let mut half = || {
            at += 1;
            let bytes = random.bytes(2);
            // 0x3555 is a third; other halves are near it unless hostile ones are wanted.
            if hostile { HOSTILE_HALVES[at % 10] } else { 0x3555 ^ u16::from_le_bytes([bytes[0], bytes[1] & 0x84]) }
        };
        let mut half_line = || HalfLine(core::array::from_fn(|_| half()));
        let halves = (0..all).map(|_| half_line()).collect();
        let pairs = (0..all).map(|_| [half_line(), half_line()]).collect();
        let mut random = Bits(seed + 1);
        let mut byte_line = || ByteLine(random.bytes(16).try_into().expect("16"));
        let bytes = (0..all).map(|_| byte_line()).collect();
        let factors = (0..all).map(|_| [byte_line(), byte_line()]).collect();
        let mut random = Bits(seed + 2);
        let mut float_line = || FloatLine(random.normals(16).try_into().expect("16"));
        let floats = (0..all).map(|_| float_line()).collect();
        let grids = (0..all).map(|_| [float_line(), float_line()]).collect();
        Self { halves, pairs, bytes, factors, floats, grids }
    }

    fn each(&self, all: usize, groups: usize, blocks: usize) -> Vec<PlaneScales<'_>> {
        let supers = all / 8;
        let mut kinds = vec![
            PlaneScales::Halves(&self.halves[..all]),
            PlaneScales::HalvesAndMins(&self.pairs[..all]),
            PlaneScales::Exponents(&self.bytes[..all]),
            PlaneScales::Groups { scales: &self.floats[..groups], blocks },
            PlaneScales::GroupsAndZeros { scales: &self.grids[..groups], blocks },
        ];
        if all.is_multiple_of(8) {
            let factors = &self.factors[..all];
            kinds.push(PlaneScales::Affine { supers: &self.pairs[..supers], factors });
            kinds.push(PlaneScales::Signed { supers: &self.halves[..supers], factors });
            kinds.push(PlaneScales::Nibbles { supers: &self.pairs[..supers], factors });
        }
        kinds
    }
}

fn kinds_of_codes() -> Vec<(PlaneCodes, u8)> {
    let high: [u8; 16] = core::array::from_fn(|i| (17 * i) as u8);
    let low: [u8; 16] = core::array::from_fn(|i| (2 * i) as u8);
    let bits = [(1, 0), (2, 1), (3, 4), (4, 0), (5, 16), (6, 32), (8, 0), (8, 128)];
    let bits = bits.map(|(bits, zero)| (PlaneCodes::Bits(bits), zero));
    bits.into_iter().chain([(PlaneCodes::Table(high), 128), (PlaneCodes::Table(low), 12)]).collect()
}

fn lines(count: usize, seed: u64) -> Vec<CodeLine> {
    let mut random = Bits(seed);
    let mut line = |i: usize| match i % 5 {
        1 => CodeLine([0; 64]),
        3 => CodeLine([0xFF; 64]),
        _ => CodeLine(random.bytes(64).try_into().expect("64")),
    };
    (0..count).map(&mut line).collect()
}

#[test]
fn planes_and_tiles_are_multiplied_the_same_on_every_backend() {
    for (round, (codes, zero)) in kinds_of_codes().into_iter().enumerate() {
        for (strips, blocks, each) in [(1, 1, 1), (2, 8, 3), (1, 16, 8)] {
            for hostile in [false, true] {
                let seed = 10 * round as u64 + blocks as u64;
                let all = strips * blocks;
                let lines = lines(all * codes.bits(), seed);
                let scales = AllScales::new(all, seed, hostile);
                let arrays = [1, 4, 8].map(|width| Arrays::new(width, blocks, seed));
                let tiles = arrays.each_ref().map(Arrays::tile);
                for kind in scales.each(all, strips * blocks.div_ceil(each), each) {
                    let planes = Planes::new(codes, zero, blocks, &lines, kind).expect("matching arrays");
                    let mut want = vec![FloatLine([7.0; 16]); strips * 13];
                    multiply_planes(Backend::scalar(), planes, &tiles, &mut want).expect("matching tiles");
                    for &backend in Backend::available() {
                        let mut got = vec![FloatLine([9.0; 16]); strips * 13];
                        multiply_planes(backend, planes, &tiles, &mut got).expect("matching tiles");
                        let pairs = want.iter().zip(&got).flat_map(|(a, b)| a.0.into_iter().zip(b.0));
                        for (at, (a, b)) in pairs.enumerate() {
                            let same = a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                            assert!(same, "{backend} {codes:?} {kind:?} at {at}: {a} {b}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn codes_are_read_back_as_they_were_packed() {
    for (codes, zero) in kinds_of_codes() {
        let cols = 96;
        let mut strip = vec![CodeLine([0; 64]); cols / STRIP_BLOCK * codes.bits()];
        let mask = u8::MAX >> (8 - codes.bits());
        let mut random = Bits(3);
        let rows: Vec<Vec<u8>> =
            (0..STRIP_ROWS).map(|_| random.bytes(cols).into_iter().map(|byte| byte & mask).collect()).collect();
        for (lane, row) in rows.iter().enumerate() {
            pack_plane_row(codes, lane, row, &mut strip).expect("codes in range");
        }
        let scales = [FloatLine([1.0; 16])];
        let scales = PlaneScales::Groups { scales: &scales, blocks: 3 };
        let planes = Planes::new(codes, zero, cols / STRIP_BLOCK, &strip, scales).expect("one strip");
        for (row, codes_of_row) in rows.iter().enumerate() {
            let mut out = vec![0.0; cols];
            planes.row_into(row, &mut out, None).expect("the row exists");
            for (&code, value) in codes_of_row.iter().zip(out) {
                let integer = match codes {
                    PlaneCodes::Bits(_) => code,
                    PlaneCodes::Table(table) => table[usize::from(code)],
                };
                assert_eq!(value, f32::from(integer) - f32::from(zero), "{codes:?}");
            }
        }
    }
}

#[test]
fn parts_of_blocks_are_those_that_dequantization_uses() {
    for block in GgmlBlock::ALL {
        for seed in 0..20 {
            let mut bytes = Bits(seed).bytes(block.bytes());
            // Finite scales wherever they are: a NaN would compare unequal.
            bytes.iter_mut().for_each(|byte| *byte &= 0xBB);
            let mut want = vec![0.0; block.weights()];
            dequantize_ggml(Backend::scalar(), block, &bytes, &mut want).expect("a block");
            let parts = block.parts(&bytes).expect("a block");
            assert!(block.parts(&bytes[1..]).is_none());
            let half = |bits: u16| half_of(bits);
            for (i, want) in want.into_iter().enumerate() {
                let code = parts.codes[i];
                let integer = block.table().map_or(code, |table| table[usize::from(code)]);
                let steps = f32::from(integer) - f32::from(block.zero_code());
                let [scale, min] = parts.halves.map(half);
                let got = match block {
                    GgmlBlock::Q4_K | GgmlBlock::Q5_K => {
                        scale * f32::from(parts.factors[i / 32]) * steps - min * f32::from(parts.min_factors[i / 32])
                    }
                    GgmlBlock::Q2_K => {
                        let factor = parts.factors[i / 16];
                        scale * f32::from(factor & 15) * steps - min * f32::from(factor >> 4)
                    }
                    GgmlBlock::Q3_K | GgmlBlock::Q6_K => scale * f32::from(parts.factors[i / 16].cast_signed()) * steps,
                    GgmlBlock::Q4_1 | GgmlBlock::Q5_1 => scale * steps + min,
                    GgmlBlock::MXFP4 => 2.0_f32.powi(i32::from(parts.factors[0]) - 64) * 2.0_f32.powi(-64) * steps,
                    _ => scale * steps,
                };
                assert_eq!(got, want, "{block:?} weight {i}");
            }
        }
    }
}

/// Converts a finite half by its definition.
fn half_of(bits: u16) -> f32 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    let magnitude =
        if exponent == 0 { mantissa * 2.0_f32.powi(-24) } else { (1024.0 + mantissa) * 2.0_f32.powi(exponent - 25) };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

#[test]
fn mismatched_arrays_are_refused() {
    let code_lines = lines(8, 1);
    let halves = [HalfLine([0; 16]); 2];
    let new = |codes, blocks, scales| Planes::new(codes, 0, blocks, &code_lines, scales).err();
    let bits = PlaneCodes::Bits;
    assert!(new(bits(4), 2, PlaneScales::Halves(&halves)).is_none());
    assert_eq!(new(bits(7), 2, PlaneScales::Halves(&halves)), Some(KernelError::InvalidBlockLen { len: 7 }));
    assert_eq!(new(bits(4), 0, PlaneScales::Halves(&halves)), Some(KernelError::InvalidBlockLen { len: 0 }));
    assert_eq!(new(bits(4), 2, PlaneScales::Halves(&halves[..1])), Some(KernelError::InputTooSmall { required: 2 }));
    assert!(matches!(new(bits(5), 1, PlaneScales::Halves(&halves)), Some(KernelError::RowCount { .. })));
    let (supers, factors) = ([HalfLine([0; 16])], [[ByteLine([0; 16]); 2]; 2]);
    let signed = PlaneScales::Signed { supers: &supers, factors: &factors };
    assert_eq!(new(bits(4), 2, signed), Some(KernelError::InvalidBlockLen { len: 2 }));
    let mut strip = [CodeLine([0; 64]); 2];
    let too_large = pack_plane_row(bits(2), 0, &[0, 4], &mut strip);
    assert_eq!(too_large, Err(KernelError::CodeOutOfRange { index: 1, code: 4 }));
    assert!(pack_plane_row(bits(2), 16, &[0], &mut strip).is_err());
    assert!(pack_plane_row(bits(2), 0, &[0; 33], &mut strip).is_err());
    let planes = Planes::new(bits(4), 0, 2, &code_lines, PlaneScales::Halves(&halves)).expect("one strip");
    let arrays = Arrays::new(1, 3, 0);
    let mut out = [FloatLine::ZERO; 1];
    assert!(multiply_planes(Backend::best(), planes, &[arrays.tile()], &mut out).is_err());
    let arrays = Arrays::new(4, 2, 0);
    assert!(multiply_planes(Backend::best(), planes, &[arrays.tile()], &mut out).is_err());
    assert!(planes.row_into(16, &mut [0.0; 64], None).is_err());
    assert!(half_sums(&[0; 8], &mut [[0; 2]; 2]).is_err());
}

#[test]
fn parts_are_joined_to_the_blocks_they_came_from() {
    for block in GgmlBlock::ALL {
        let Some(joiner) = BlockJoiner::new(block) else {
            assert_eq!(block, GgmlBlock::TQ1_0);
            continue;
        };
        for seed in 0..50 {
            let bytes = Bits(seed).bytes(block.bytes());
            let parts = block.parts(&bytes).expect("a block");
            let mut joined = vec![0xAA; block.bytes()];
            joiner.join(&parts, &mut joined);
            assert_eq!(joined, bytes, "{block:?}");
        }
    }
}
