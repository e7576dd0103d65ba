//! Products of codes and of floats: every backend returns the bits of `scalar`, and `scalar` the exact sums.

use bitgrain_kernels::floats::f16_to_f32;
use bitgrain_kernels::product::{
    CodeLine, FloatLine, FloatTile, HalfLine, STRIP_BLOCK, STRIP_ROWS, StripBits, StripScales, Strips, Tile,
    multiply_floats, multiply_strips, pack_floats, pack_strip_row, quantize_activations,
};
use bitgrain_kernels::{Backend, KernelError};

use crate::{Bits, HOSTILE, for_hostile, lengths, ramp};

const BITS: [StripBits; 2] = [StripBits::Four, StripBits::Eight];
const WIDTHS: [usize; 4] = [1, 4, 8, 16];
/// Lines of a tile of each width.
const LINES: usize = 1 + 4 + 8 + 16;

/// Backends with product kernels.
fn backends() -> impl Iterator<Item = Backend> {
    Backend::available().iter().copied().chain(Backend::with_tiles())
}

/// Arrays of a tile.
#[derive(Debug, Clone, PartialEq)]
struct Arrays {
    width: usize,
    codes: Vec<i32>,
    scales: Vec<f32>,
    sums: Vec<i32>,
}

impl Arrays {
    fn new(width: usize, cols: usize) -> Self {
        let blocks = cols.div_ceil(STRIP_BLOCK) * width;
        Self { width, codes: vec![-1; 8 * blocks], scales: vec![-1.0; blocks], sums: vec![-1; blocks] }
    }

    fn quantize(&mut self, backend: Backend, bits: StripBits, row: &[f32], slot: usize) -> Result<(), KernelError> {
        let place = (slot, self.width);
        quantize_activations(backend, bits, row, place, &mut self.codes, &mut self.scales, &mut self.sums)
    }

    fn tile(&self) -> Tile<'_> {
        Tile::new(self.width, &self.codes, &self.scales, &self.sums).expect("arrays of a tile")
    }

    /// Code of an activation, as specified.
    fn code(&self, slot: usize, col: usize) -> i8 {
        self.codes[(col / 32 * self.width + slot) * 8 + col % 32 / 4].to_le_bytes()[col % 4] as i8
    }
}

/// Returns a tile whose rows all have the largest possible codes, or random ones.
fn activations(bits: StripBits, width: usize, cols: usize, seed: u64) -> Arrays {
    let mut arrays = Arrays::new(width, cols);
    for slot in 0..width {
        let mut row = Bits(seed + slot as u64).normals(cols);
        match (seed as usize + slot) % 4 {
            0 => row.iter_mut().for_each(|x| *x = x.signum()),
            1 => row.fill(-1.0),
            _ => {}
        }
        arrays.quantize(Backend::scalar(), bits, &row, slot).expect("finite");
    }
    arrays
}

fn same_bits(a: &[FloatLine], b: &[FloatLine]) -> bool {
    let (a, b) = (a.iter().flat_map(|line| line.0), b.iter().flat_map(|line| line.0));
    a.zip(b).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
}

/// Returns lines of random bytes, among them lines of the smallest and largest codes.
fn code_lines(count: usize, seed: u64) -> Vec<CodeLine> {
    let mut random = Bits(seed);
    let mut line = |i: usize| match i % 5 {
        1 => CodeLine([0; 64]),
        3 => CodeLine([0xFF; 64]),
        _ => CodeLine(random.bytes(64).try_into().expect("64")),
    };
    (0..count).map(&mut line).collect()
}

#[test]
fn activations_are_quantized_the_same_on_every_backend() {
    let mut turns = BITS.into_iter().flat_map(|bits| WIDTHS.map(|width| (bits, width))).cycle();
    for_hostile(|backend, values| {
        let (bits, width) = turns.next().expect("endless");
        let slot = values.len() % width;
        let (mut want, mut got) = (Arrays::new(width, values.len()), Arrays::new(width, values.len()));
        let refused = want.quantize(Backend::scalar(), bits, values, slot);
        assert_eq!(got.quantize(backend, bits, values, slot), refused, "{backend}: {values:?}");
        assert!(refused.is_err() || got == want, "{backend} {width} {slot}: {values:?}");
        let bad = values.iter().position(|x| !x.is_finite());
        assert_eq!(refused.err(), bad.map(|index| KernelError::NonFinite { index }));
    });
}

#[test]
fn blocks_of_tiny_activations_count_as_zeros_everywhere() {
    for exponent in 0..=12 {
        // From subnormals to slightly above the limit of 2^-120.
        let scale = f32::from_bits(exponent << 23 | 1);
        let row: Vec<f32> = Bits(12).normals(96).into_iter().map(|x| x / 4.0 * scale).collect();
        let [mut want, mut got] = [Arrays::new(1, 96), Arrays::new(1, 96)];
        want.quantize(Backend::scalar(), StripBits::Eight, &row, 0).expect("finite");
        for (block, row) in row.chunks(STRIP_BLOCK).enumerate() {
            let largest = row.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
            assert_eq!(want.scales[block] == 0.0, largest < 2.0_f32.powi(-120), "{largest:e}");
        }
        for &backend in Backend::available() {
            got.quantize(backend, StripBits::Eight, &row, 0).expect("finite");
            assert!(got == want, "{backend} {exponent}");
        }
    }
}

#[test]
fn activation_codes_are_within_half_a_step_and_their_sums_match() {
    for len in lengths() {
        let row = ramp(len);
        let mut arrays = Arrays::new(4, len);
        arrays.quantize(Backend::best(), StripBits::Four, &row, 2).expect("finite");
        for (block, values) in row.chunks(STRIP_BLOCK).enumerate() {
            let scale = arrays.scales[4 * block + 2];
            let codes: Vec<i8> = (0..STRIP_BLOCK).map(|i| arrays.code(2, block * STRIP_BLOCK + i)).collect();
            for (x, &code) in values.iter().zip(&codes) {
                assert!((x - f32::from(code) * scale).abs() <= 0.5001 * scale, "{x} {code} {scale}");
            }
            assert!(codes[values.len()..].iter().all(|&code| code == 0));
            let sum: i32 = codes.iter().map(|&code| i32::from(code)).sum();
            assert_eq!(arrays.sums[4 * block + 2], -8 * sum);
        }
    }
}

#[test]
fn strips_and_tiles_are_multiplied_the_same_on_every_backend() {
    let halves = [0x0000, 0x8000, 0x0001, 0x03FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E01, 0x3555, 0xB555];
    for (round, bits) in BITS.into_iter().cycle().take(4).enumerate() {
        for blocks in 1..=5 {
            for count in 0..=3 {
                let seed = (100 * round + 10 * blocks + count) as u64;
                let lines = code_lines(count * blocks * bits.lines(), seed);
                let mut random = Bits(seed);
                let half = |_| HalfLine(std::array::from_fn(|_| halves[random.next() as usize % halves.len()]));
                let halves: Vec<_> = (0..count * blocks).map(half).collect();
                let each = 1 + (round + count) % 3;
                let float = |i: usize| FloatLine(std::array::from_fn(|lane| [0.1, HOSTILE[(i + lane) % 12]][lane % 2]));
                let floats: Vec<_> = (0..count * blocks.div_ceil(each)).map(float).collect();
                let arrays: Vec<_> = WIDTHS.iter().map(|&width| activations(bits, width, 32 * blocks, seed)).collect();
                let tiles: Vec<_> = arrays.iter().map(Arrays::tile).collect();
                for scales in [StripScales::Halves(&halves), StripScales::Groups { scales: &floats, blocks: each }] {
                    let strips = Strips::new(bits, blocks, &lines, scales).expect("whole strips");
                    let mut want = vec![FloatLine([-7.0; 16]); count * LINES];
                    multiply_strips(Backend::scalar(), strips, &tiles, &mut want).expect("room");
                    for backend in backends().skip(1) {
                        let mut got = vec![FloatLine([7.0; 16]); count * LINES];
                        multiply_strips(backend, strips, &tiles, &mut got).expect("room");
                        assert!(same_bits(&want, &got), "{backend} {bits:?} {blocks} {count}: {want:?} and {got:?}");
                    }
                }
            }
        }
    }
}

/// Long rows in runs of tiles of sixteen, with groups that end within a run, at its end and after it.
#[test]
fn tiles_of_sixteen_are_multiplied_the_same_on_every_backend() {
    for (bits, blocks) in BITS.into_iter().flat_map(|bits| [1, 2, 3, 15, 16, 17, 33, 50].map(|blocks| (bits, blocks))) {
        let lines = code_lines(2 * blocks * bits.lines(), blocks as u64);
        let mut random = Bits(blocks as u64);
        let halves: Vec<_> = (0..2 * blocks)
            .map(|_| HalfLine(std::array::from_fn(|_| 0x2000 | (random.next() & 0x8FFF) as u16)))
            .collect();
        for widths in [&[16][..], &[16, 16], &[16, 16, 16, 16, 16, 4], &[8, 16, 1, 16]] {
            let arrays: Vec<_> =
                widths.iter().zip(20..).map(|(&width, seed)| activations(bits, width, 32 * blocks, seed)).collect();
            let tiles: Vec<_> = arrays.iter().map(Arrays::tile).collect();
            for each in [0, 1, 2, 5, 16, 20, 64] {
                let floats: Vec<_> = (0..2 * blocks.div_ceil(each.max(1)))
                    .map(|i| FloatLine(std::array::from_fn(|lane| 0.01 * (i * 16 + lane) as f32 - 0.3)))
                    .collect();
                let scales = match each {
                    0 => StripScales::Halves(&halves),
                    blocks => StripScales::Groups { scales: &floats, blocks },
                };
                let strips = Strips::new(bits, blocks, &lines, scales).expect("whole strips");
                let count = 2 * widths.iter().sum::<usize>();
                let mut want = vec![FloatLine([-7.0; 16]); count];
                multiply_strips(Backend::scalar(), strips, &tiles, &mut want).expect("room");
                for backend in backends().skip(1) {
                    let mut got = vec![FloatLine([7.0; 16]); count];
                    multiply_strips(backend, strips, &tiles, &mut got).expect("room");
                    assert!(same_bits(&want, &got), "{backend} {bits:?} {blocks} {each} {widths:?}");
                }
            }
        }
    }
}

#[test]
fn products_of_codes_are_exact_in_a_block() {
    for bits in BITS {
        let (low, high) = if bits == StripBits::Four { (-8, 7) } else { (-128, 127) };
        let mut random = Bits(5);
        let mut code = |i: usize| [low, high, (low as i64 + (random.next() % 16) as i64) as i8][i % 3];
        let rows: Vec<Vec<i8>> = (0..2 * STRIP_ROWS).map(|r| (0..64).map(|i| code(i + r)).collect()).collect();
        let mut lines = vec![bits.empty_line(); 4 * bits.lines()];
        for (at, row) in rows.iter().enumerate() {
            let strip = &mut lines[at / STRIP_ROWS * 2 * bits.lines()..];
            pack_strip_row(bits, at % STRIP_ROWS, row, strip).expect("room");
        }
        // A scale of 1 for the first block and of 0 for the second.
        let halves = [HalfLine([0x3C00; 16]), HalfLine([0; 16])].repeat(2);
        let strips = Strips::new(bits, 2, &lines, StripScales::Halves(&halves)).expect("two strips");
        let arrays = WIDTHS.map(|width| activations(bits, width, 64, 6));
        for (backend, arrays) in backends().flat_map(|backend| arrays.iter().map(move |arrays| (backend, arrays))) {
            let mut out = vec![FloatLine::ZERO; 2 * arrays.width];
            multiply_strips(backend, strips, &[arrays.tile()], &mut out).expect("room");
            for (at, row) in rows.iter().enumerate() {
                for slot in 0..arrays.width {
                    let sum: i32 = (0..32).map(|c| i32::from(row[c]) * i32::from(arrays.code(slot, c))).sum();
                    let got = out[at / STRIP_ROWS * arrays.width + slot].0[at % STRIP_ROWS];
                    assert_eq!(got, sum as f32 * arrays.scales[slot], "{backend} {bits:?}");
                }
            }
        }
    }
}

#[test]
fn unpacking_a_strip_returns_the_packed_rows() {
    for bits in BITS {
        for cols in lengths().filter(|&cols| cols > 0) {
            let blocks = cols.div_ceil(STRIP_BLOCK);
            let mut lines = vec![bits.empty_line(); blocks * bits.lines()];
            let shift = if bits == StripBits::Four { 4 } else { 0 };
            let rows: Vec<Vec<i8>> =
                (0..16).map(|r| Bits(r).bytes(cols).into_iter().map(|b| b as i8 >> shift).collect()).collect();
            for (lane, row) in rows.iter().enumerate().rev() {
                pack_strip_row(bits, lane, row, &mut lines).expect("room");
            }
            let halves: Vec<_> = (0..blocks).map(|b| HalfLine([0x3C00 + b as u16; 16])).collect();
            let strips = Strips::new(bits, blocks, &lines, StripScales::Halves(&halves)).expect("a strip");
            for (lane, row) in rows.iter().enumerate() {
                let mut out = vec![0.0; cols];
                strips.row_into(lane, &mut out).expect("there");
                for (at, (out, &code)) in out.into_iter().zip(row).enumerate() {
                    let mut scale = [0.0];
                    f16_to_f32(Backend::scalar(), &[0x3C00 + (at / 32) as u16], &mut scale).expect("room");
                    assert_eq!(out, f32::from(code) * scale[0], "{bits:?} {lane} {at}");
                }
            }
        }
    }
}

#[test]
fn floats_are_multiplied_the_same_on_every_backend() {
    let mut random = Bits(7);
    for cols in (1..=20).chain([33, 70]) {
        for count in 0..=3 {
            for odd in HOSTILE {
                let mut line = |i: usize| {
                    let mut line = FloatLine(random.normals(16).try_into().expect("16"));
                    line.0[i % 16] = if i.is_multiple_of(3) { odd } else { line.0[i % 16] };
                    line
                };
                let strips: Vec<_> = (0..count * cols).map(&mut line).collect();
                let start: Vec<_> = (0..count * 13).map(&mut line).collect();
                let values: Vec<_> = WIDTHS[..3].iter().map(|width| Bits(8).normals(width * cols)).collect();
                let tiles = WIDTHS[..3].iter().zip(&values);
                let tiles: Vec<_> = tiles.map(|(&w, values)| FloatTile::new(w, values).expect("whole")).collect();
                let mut want = start.clone();
                multiply_floats(Backend::scalar(), cols, &strips, &tiles, &mut want).expect("room");
                for &backend in &Backend::available()[1..] {
                    let mut got = start.clone();
                    multiply_floats(backend, cols, &strips, &tiles, &mut got).expect("room");
                    assert!(same_bits(&want, &got), "{backend} {cols} {count} {odd}");
                }
            }
        }
    }
}

#[test]
fn floats_are_multiplied_as_a_chain_of_fused_multiply_adds() {
    let strip: Vec<_> = Bits(9).normals(16 * 40).as_chunks().0.iter().map(|&line| FloatLine(line)).collect();
    let values = Bits(10).normals(4 * 40);
    let tile = FloatTile::new(4, &values).expect("whole columns");
    for &backend in Backend::available() {
        // In two calls, which must not affect the result.
        let halves = [(&strip[..13], &values[..52]), (&strip[13..], &values[52..])];
        let mut out = [FloatLine([0.5; 16]); 4];
        for (strip, values) in halves {
            let tile = FloatTile::new(4, values).expect("whole columns");
            multiply_floats(backend, strip.len(), strip, &[tile], &mut out).expect("room");
        }
        for (row, out) in out.iter().enumerate() {
            for (lane, &got) in out.0.iter().enumerate() {
                let want = (0..40).fold(0.5_f32, |sum, k| strip[k].0[lane].mul_add(values[4 * k + row], sum));
                assert_eq!(want.to_bits(), got.to_bits(), "{backend} {row} {lane} {:?}", tile.cols());
            }
        }
    }
}

#[test]
fn rows_of_floats_become_strips_the_same_on_every_backend() {
    let values = Bits(11).normals(16 * 90);
    for cols in (0..=40).chain([70]) {
        for rows in 0..=16 {
            let mut want = vec![FloatLine::ZERO; cols];
            for (col, line) in want.iter_mut().enumerate() {
                line.0[..rows].iter_mut().enumerate().for_each(|(row, x)| *x = values[row * 85 + col]);
            }
            for &backend in Backend::available() {
                let mut got = vec![FloatLine([9.0; 16]); cols];
                pack_floats(backend, &values, 85, rows, &mut got).expect("there");
                assert!(want == got, "{backend} {rows} {cols}");
            }
        }
    }
}

#[test]
fn mismatched_lengths_are_rejected() {
    let b = Backend::best();
    let (lines, floats) = ([CodeLine([0; 64]); 8], [FloatLine::ZERO; 2]);
    let strips = |blocks, each, scales| {
        Strips::new(StripBits::Four, blocks, &lines, StripScales::Groups { scales, blocks: each }).map(|s| s.count())
    };
    assert_eq!(strips(1, 1, &floats), Ok(2));
    assert_eq!(strips(2, 1, &floats), Ok(1));
    assert_eq!(strips(0, 1, &floats), Err(KernelError::InvalidBlockLen { len: 0 }));
    assert_eq!(strips(1, 0, &floats), Err(KernelError::InvalidBlockLen { len: 0 }));
    assert_eq!(strips(3, 1, &floats), Err(KernelError::RowCount { bytes: 512, expected: 0 }));
    assert!(strips(usize::MAX, 1, &floats).is_err());
    assert_eq!(strips(1, 1, &floats[1..]), Err(KernelError::InputTooSmall { required: 2 }));
    assert_eq!(Tile::new(3, &[0; 24], &[0.0; 3], &[0; 3]).map(|_| ()), Err(KernelError::InvalidBlockLen { len: 3 }));
    assert!(Tile::new(4, &[0; 24], &[0.0; 4], &[0; 4]).is_err() && Tile::new(4, &[0; 24], &[0.0; 3], &[0; 3]).is_err());
    let arrays = Arrays::new(4, 64);
    let scales = StripScales::Groups { scales: &floats, blocks: 1 };
    let one = Strips::new(StripBits::Four, 1, &lines, scales).expect("two strips");
    let two = Strips::new(StripBits::Four, 2, &lines, scales).expect("a strip");
    let mut out = [FloatLine::ZERO; 3];
    assert!(multiply_strips(b, one, &[arrays.tile()], &mut out).is_err());
    let short = Err(KernelError::OutputTooSmall { required: 4 });
    assert_eq!(multiply_strips(b, two, &[arrays.tile()], &mut out), short);
    assert_eq!(two.row_into(16, &mut []), Err(KernelError::InputTooSmall { required: 0 }));
    assert!(two.row_into(15, &mut [0.0; 65]).is_err());
    let mut strip = [StripBits::Four.empty_line(); 4];
    let wide = Err(KernelError::CodeOutOfRange { index: 1, code: 8 });
    assert_eq!(pack_strip_row(StripBits::Four, 0, &[7, 8], &mut strip), wide);
    assert!(pack_strip_row(StripBits::Four, 16, &[7], &mut strip).is_err());
    assert!(pack_strip_row(StripBits::Four, 0, &[7; 33], &mut strip).is_err());
    assert!(FloatTile::new(2, &[0.0; 4]).is_err() && FloatTile::new(4, &[0.0; 5]).is_err());
    let tile = FloatTile::new(1, &[0.0; 2]).expect("two columns");
    assert!(multiply_floats(b, 1, &floats, &[tile], &mut out).is_err());
    assert_eq!(multiply_floats(b, 2, &floats, &[tile], &mut []), Err(KernelError::OutputTooSmall { required: 1 }));
    assert_eq!(
        pack_floats(b, &[0.0; 9], 5, 2, &mut [FloatLine::ZERO; 5]),
        Err(KernelError::InputTooSmall { required: 10 })
    );
    assert!(pack_floats(b, &[0.0; 100], 1, 17, &mut out).is_err());
    let (mut codes, mut scales, mut sums) = ([0; 8], [0.0; 1], [0; 1]);
    let mut quantize = |values: &[f32], place| {
        quantize_activations(b, StripBits::Four, values, place, &mut codes, &mut scales, &mut sums)
    };
    assert_eq!(quantize(&[1.0; 32], (0, 1)), Ok(()));
    assert!(quantize(&[1.0; 33], (0, 1)).is_err() && quantize(&[1.0; 32], (1, 1)).is_err());
    assert!(quantize(&[1.0; 32], (0, 4)).is_err() && quantize(&[], (0, 1)).is_err());
}
