//! Scores of encoded rows: exact integer sums per block, a fixed order of float sums.

use bitgrain_kernels::blocks::{blocks_len, encode_blocks};
use bitgrain_kernels::search::{QueryLine, RowLayout, RowQuery, StartLine, score_f32_rows, score_rows};
use bitgrain_kernels::{Backend, BitWidth, BlockLen, KernelError};

use crate::{Bits, for_hostile, lengths};

/// Queries in memory.
struct Planes {
    lines: Vec<QueryLine>,
    starts: Vec<StartLine>,
    scales: Vec<f32>,
    codes: Vec<Vec<i8>>,
}

impl Planes {
    fn new(layout: RowLayout, planes: usize, bits: &mut Bits) -> Self {
        let codes = |byte: u8| (byte as i8).max(-127);
        Self {
            lines: vec![QueryLine::ZERO; layout.lines() * planes],
            starts: vec![StartLine::ZERO; layout.blocks() * planes],
            scales: bits.normals(layout.blocks() * planes),
            codes: (0..planes).map(|_| bits.bytes(layout.columns).into_iter().map(codes).collect()).collect(),
        }
    }

    fn query(&mut self, layout: RowLayout) -> RowQuery<'_> {
        let codes: Vec<&[i8]> = self.codes.iter().map(|codes| &codes[..]).collect();
        RowQuery::lay_out(layout, &codes, &mut self.lines, &mut self.starts, &self.scales).expect("good sizes")
    }
}

fn scores(backend: Backend, query: &RowQuery<'_>, bytes: &[u8], rows: &[usize]) -> Vec<u32> {
    let mut out = vec![f32::NAN; rows.len() * query.planes()];
    score_rows(backend, query, bytes, rows, &mut out).expect("good sizes");
    // The payload of a NaN is unspecified.
    out.into_iter().map(|score| if score.is_nan() { f32::NAN } else { score }.to_bits()).collect()
}

#[test]
fn scores_are_the_same_on_every_backend_for_any_bytes() {
    let mut bits = Bits(11);
    for width in BitWidth::ALL {
        for len in [8, 24, 64, 128, 200] {
            for columns in lengths().chain([128, 384, 1024]) {
                let block = BlockLen::new(len).expect("a multiple of eight");
                let layout = RowLayout { width, block, columns };
                // Any bytes, also codes and scales that no encoder writes; rows overlap and the last one ends with the
                // slice, so that kernels may not read beyond it.
                let bytes = bits.bytes(layout.row_bytes() + 77);
                let rows = [0, 77, 5, 5, 64, 1, 2, 3, 4, 76, 77];
                for planes in [1, 2, 4, 8] {
                    let mut planes = Planes::new(layout, planes, &mut bits);
                    let query = planes.query(layout);
                    let want = scores(Backend::scalar(), &query, &bytes, &rows);
                    for &backend in &Backend::available()[1..] {
                        let got = scores(backend, &query, &bytes, &rows);
                        assert_eq!(got, want, "{backend} {width:?}, {columns} columns in blocks of {len}");
                    }
                }
            }
        }
    }
}

#[test]
fn scores_are_dot_products_with_decoded_rows() {
    let mut bits = Bits(12);
    for width in BitWidth::ALL {
        for (len, columns) in [(64, 384), (128, 384), (128, 100), (8, 20), (65_536, 70_000)] {
            let layout = RowLayout { width, block: BlockLen::new(len).expect("in range"), columns };
            let values = bits.normals(3 * columns);
            let mut bytes = Vec::new();
            let mut decoded = Vec::new();
            for row in values.chunks(columns) {
                let mut one = vec![0; blocks_len(width, layout.block, columns)];
                encode_blocks(Backend::best(), width, layout.block, row, &mut one).expect("finite");
                let mut back = vec![0.0; columns];
                bitgrain_kernels::blocks::decode_blocks(Backend::best(), width, layout.block, &one, &mut back)
                    .expect("good blocks");
                bytes.extend(one);
                decoded.push(back);
            }
            let mut planes = Planes::new(layout, 2, &mut bits);
            let (codes, scales) = (planes.codes.clone(), planes.scales.clone());
            let rows: Vec<usize> = (0..3).map(|i| i * layout.row_bytes()).collect();
            let mut out = [0.0; 6];
            score_rows(Backend::best(), &planes.query(layout), &bytes, &rows, &mut out).expect("good sizes");
            for (i, (&score, decoded)) in out.iter().zip(decoded.iter().chain(&decoded)).enumerate() {
                let query = |column: usize| {
                    let scale = scales[column / len * 2 + i / 3];
                    f64::from(codes[i / 3][column]) * f64::from(scale)
                };
                let terms = decoded.iter().enumerate().map(|(column, &value)| query(column) * f64::from(value));
                let (want, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
                assert!((f64::from(score) - want).abs() <= 1e-5 * size, "{width:?} {len} {columns}: {score} {want}");
            }
        }
    }
}

#[test]
fn scores_of_float_rows_are_the_same_on_every_backend() {
    let values = Bits(13).normals(700);
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    for_hostile(|backend, query| {
        let score = |backend| {
            let mut out = [0.0; 2];
            score_f32_rows(backend, query, &bytes, &[4, 17], &mut out).expect("good sizes");
            out.map(|score| if score.is_nan() { f32::NAN } else { score }.to_bits())
        };
        assert_eq!(score(backend), score(Backend::scalar()), "{backend} {query:?}");
    });
}

#[test]
fn wrong_sizes_are_errors() {
    let layout = RowLayout { width: BitWidth::W4, block: BlockLen::DEFAULT, columns: 100 };
    let mut planes = Planes::new(layout, 2, &mut Bits(14));
    let size = layout.row_bytes();
    for &backend in Backend::available() {
        let query = planes.query(layout);
        let score = |bytes: &[u8], rows: &[usize], out: &mut [f32]| score_rows(backend, &query, bytes, rows, out);
        assert_eq!(score(&vec![0; size], &[0], &mut [0.0; 2]), Ok(()));
        assert_eq!(score(&vec![0; size], &[], &mut []), Ok(()));
        let small = |required| Err(KernelError::InputTooSmall { required });
        assert_eq!(score(&vec![0; size], &[0, 1], &mut [0.0; 4]), small(size + 1));
        assert_eq!(score(&vec![0; size], &[usize::MAX], &mut [0.0; 2]), small(usize::MAX));
        assert_eq!(score(&vec![0; size], &[0], &mut [0.0]), Err(KernelError::OutputTooSmall { required: 2 }));
        assert_eq!(score_f32_rows(backend, &[0.0; 4], &[0; 16], &[1], &mut [0.0]), small(17));
        let short = score_f32_rows(backend, &[0.0; 4], &[0; 16], &[0], &mut []);
        assert_eq!(short, Err(KernelError::OutputTooSmall { required: 1 }));
    }
    let three = [&planes.codes[0][..]; 3];
    assert!(RowQuery::lay_out(layout, &three, &mut [], &mut [], &[]).is_err());
    let minimum = [i8::MIN; 100];
    let (mut lines, mut starts) = ([QueryLine::ZERO; 2], [StartLine::ZERO; 2]);
    let laid = RowQuery::lay_out(layout, &[&minimum], &mut lines, &mut starts, &[1.0; 2]);
    assert!(matches!(laid, Err(KernelError::CodeOutOfRange { index: 0, code: -128 })), "{laid:?}");
}
