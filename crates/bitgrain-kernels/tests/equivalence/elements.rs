//! Products of elements: every backend returns the bits of `scalar`, and `scalar` those of a product in f32.

use bitgrain_kernels::product::{
    ByteLine, DoubleLine, ElementGrids, ElementLines, Elements, FloatLine, FloatTile, HalfLine, STRIP_ROWS, WideGrid,
    WordLine, multiply_elements, multiply_floats, pack_floats,
};
use bitgrain_kernels::{Backend, KernelError};

use crate::Bits;

fn half_lines(count: usize, seed: u64) -> Vec<HalfLine> {
    let bytes = Bits(seed).bytes(32 * count);
    let line = |bytes: &[u8]| HalfLine(core::array::from_fn(|i| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]])));
    bytes.chunks(32).map(line).collect()
}

fn byte_lines(count: usize, seed: u64) -> Vec<ByteLine> {
    Bits(seed).bytes(16 * count).chunks(16).map(|line| ByteLine(line.try_into().expect("16"))).collect()
}

fn word_lines(count: usize, seed: u64) -> Vec<WordLine> {
    let bytes = Bits(seed).bytes(64 * count);
    let line = |bytes: &[u8]| {
        WordLine(core::array::from_fn(|i| i32::from_le_bytes(bytes[4 * i..][..4].try_into().expect("4"))))
    };
    bytes.chunks(64).map(line).collect()
}

/// Doubles of every magnitude, with the extremes of both precisions in some lanes.
fn double_lines(count: usize, seed: u64) -> Vec<DoubleLine> {
    const HOSTILE: [f64; 10] = [
        -0.0,
        f64::MAX,
        -1e39,
        f64::INFINITY,
        f64::NAN,
        1e-45,
        7e-46,
        5e-324,
        // Between two f32: a tie, and slightly more.
        1.000_000_059_604_644_8,
        1.000_000_059_604_645,
    ];
    let mut random = Bits(seed);
    let mut lines: Vec<_> = (0..count)
        .map(|_| {
            let values = random.normals(16);
            DoubleLine(core::array::from_fn(|i| f64::from(values[i]) * 1.000_000_1))
        })
        .collect();
    for (at, line) in lines.iter_mut().enumerate() {
        line.0[at % 16] = HOSTILE[at % HOSTILE.len()];
    }
    lines
}

/// Grids of integers, with extreme zero points.
fn wide_grids(count: usize) -> Vec<WideGrid> {
    let (zeros, mut random) = (word_lines(2 * count, 11), Bits(12));
    let words = |line: &WordLine| DoubleLine(line.0.map(f64::from));
    let mut grids: Vec<_> = zeros
        .chunks(2)
        .map(|zeros| {
            let scales = random.normals(16);
            let scales = DoubleLine(core::array::from_fn(|i| f64::from(scales[i])));
            WideGrid { scales, zeros: [words(&zeros[0]), words(&zeros[1])] }
        })
        .collect();
    grids[0].zeros[0].0[0] = f64::from(i32::MIN);
    grids[0].zeros[1].0[1] = f64::from(i32::MAX);
    grids[0].scales.0[2] = f64::from(f32::MIN_POSITIVE);
    grids
}

#[test]
fn elements_are_multiplied_the_same_on_every_backend_and_as_f32() {
    for (strips, cols, group) in [(1, 1, 1), (2, 37, 16), (3, 96, 32), (1, 64, 64)] {
        let (halves, bytes) = (half_lines(strips * cols, 5), byte_lines(strips * cols, 6));
        let mut random = Bits(7);
        let mut grid = || [(); 2].map(|()| FloatLine(random.normals(16).try_into().expect("16")));
        let grids: Vec<[FloatLine; 2]> = (0..strips * cols.div_ceil(group)).map(|_| grid()).collect();
        let values: Vec<Vec<f32>> = [1, 4, 8].map(|width| Bits(8).normals(width * cols)).to_vec();
        let tiles: Vec<FloatTile<'_>> = [1, 4, 8]
            .into_iter()
            .zip(&values)
            .map(|(width, x)| FloatTile::new(width, x).expect("whole columns"))
            .collect();
        let kinds = [
            ElementLines::F16(&halves),
            ElementLines::BF16(&halves),
            ElementLines::U16(&halves),
            ElementLines::E4M3(&bytes),
            ElementLines::E5M2(&bytes),
        ];
        let (mut words, doubles) = (word_lines(2 * strips * cols, 9), double_lines(strips * cols, 10));
        words[0].0[..3].copy_from_slice(&[i32::MIN, i32::MAX, 0]);
        let (pairs, wide) = (words.as_chunks::<2>().0, wide_grids(grids.len()));
        let plain =
            kinds.into_iter().flat_map(|lines| [(lines, ElementGrids::Floats(&grids)), (lines, ElementGrids::None)]);
        let wide = [
            (ElementLines::I32(&words[..strips * cols]), ElementGrids::Wide(&wide)),
            (ElementLines::I64(pairs), ElementGrids::Wide(&wide)),
            (ElementLines::F64(&doubles), ElementGrids::None),
        ];
        for (lines, grids) in plain.chain(wide) {
            let elements = Elements::new(lines, cols, grids, group).expect("whole strips");
            let mut want = vec![FloatLine([3.0; 16]); strips * 13];
            multiply_elements(Backend::scalar(), elements, &tiles, &mut want).expect("matching tiles");
            for &backend in Backend::available() {
                let mut got = vec![FloatLine([9.0; 16]); strips * 13];
                multiply_elements(backend, elements, &tiles, &mut got).expect("matching tiles");
                assert!(same(&want, &got), "{backend} {lines:?}");
            }
            let mut floats = vec![FloatLine::ZERO; strips * cols];
            for (strip, out) in floats.chunks_mut(cols).enumerate() {
                let mut rows = vec![0.0; STRIP_ROWS * cols];
                for (row, out) in rows.chunks_mut(cols).enumerate() {
                    elements.row_into(strip * STRIP_ROWS + row, out).expect("the row exists");
                }
                pack_floats(Backend::best(), &rows, cols, STRIP_ROWS, out).expect("whole rows");
            }
            let mut out = vec![FloatLine::ZERO; strips * 13];
            multiply_floats(Backend::best(), cols, &floats, &tiles, &mut out).expect("matching tiles");
            assert!(same(&want, &out), "{lines:?}");
        }
    }
}

fn same(a: &[FloatLine], b: &[FloatLine]) -> bool {
    let pairs = a.iter().zip(b).flat_map(|(a, b)| a.0.into_iter().zip(b.0));
    pairs.into_iter().all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
}

#[test]
fn mismatched_elements_are_refused() {
    let halves = half_lines(6, 1);
    let lines = ElementLines::F16(&halves);
    assert!(!lines.is_empty());
    let none = ElementGrids::None;
    assert_eq!(Elements::new(lines, 0, none, 1).err(), Some(KernelError::InvalidBlockLen { len: 0 }));
    assert_eq!(Elements::new(lines, 4, none, 4).err(), Some(KernelError::InputTooSmall { required: 1 }));
    let grids = [[FloatLine::ZERO; 2]; 3];
    let floats = ElementGrids::Floats(&grids);
    assert_eq!(Elements::new(lines, 3, floats, 2).err(), Some(KernelError::InputTooSmall { required: 4 }));
    // Grids of the wrong kind.
    let (words, doubles) = ([WordLine::ZERO; 3], [DoubleLine::ZERO; 3]);
    let wide = [WideGrid::ZERO; 2];
    for (lines, grids) in [
        (ElementLines::I32(&words), none),
        (ElementLines::I32(&words), ElementGrids::Floats(&grids[..1])),
        (ElementLines::F64(&doubles), ElementGrids::Wide(&wide[..1])),
        (lines, ElementGrids::Wide(&wide)),
    ] {
        assert_eq!(Elements::new(lines, 3, grids, 3).err(), Some(KernelError::InvalidBlockLen { len: 0 }));
    }
    let elements = Elements::new(lines, 3, none, 3).expect("two strips");
    let mut out = [FloatLine::ZERO; 2];
    let tile = FloatTile::new(1, &[1.0; 4]).expect("four columns");
    assert!(multiply_elements(Backend::best(), elements, &[tile], &mut out).is_err());
    let tile = FloatTile::new(4, &[1.0; 12]).expect("three columns");
    assert!(multiply_elements(Backend::best(), elements, &[tile], &mut out).is_err());
    assert!(elements.row_into(32, &mut [0.0; 3]).is_err());
}
