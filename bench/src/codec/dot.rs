//! Dot products on codes, in cache.

use bitgrain::kernels::blocks::{blocks_len, dot_blocks, encode_blocks};
use bitgrain::kernels::codes::dot_i8;
use bitgrain::kernels::{Backend, BitWidth};

use super::{BLOCK, IN_CACHE, progress};
use crate::buffer::Buffer;
use crate::data;
use crate::measure::{Contestant, Effort, Timing, race};
use crate::report::{Row, Table, Unit};

/// Returns the tables of `dot_i8` and `dot_blocks`.
pub(super) fn tables(effort: Effort) -> [Table; 2] {
    let table = |title, note: &str, counted, axis, rows| Table {
        title,
        note: note.into(),
        unit: Unit::GbPerS(counted),
        axis,
        figures: vec![],
        rows,
    };
    let widths = [BitWidth::W8, BitWidth::W5, BitWidth::W3];
    let bytes = Row::judged(format!("2 × {IN_CACHE} codes"), of_bytes(effort));
    let blocks = widths.map(|width| Row::judged(format!("{} bits", width.bits()), of_blocks(effort, width)));
    [
        table("dot_i8", "In cache; both inputs count.", "codes", "input", vec![bytes]),
        table("dot_blocks", "In cache; the codes are read too but do not count.", "f32 input", "width", blocks.into()),
    ]
}

fn of_bytes(effort: Effort) -> Vec<Timing> {
    progress("dot_i8");
    let signed = |&code: &u16| i8::try_from(i32::from(code) - 127).expect("a code is a byte");
    let codes = data::codes(2 * IN_CACHE, 254);
    let (left, right) = codes.split_at(IN_CACHE);
    let mut pair = [left, right].map(|half| Buffer::from_values(half.iter().map(signed)));
    let want: i64 = pair[0].iter().zip(&*pair[1]).map(|(&a, &b)| i64::from(a) * i64::from(b)).sum();
    for &backend in Backend::available() {
        assert_eq!(dot_i8(backend, &pair[0], &pair[1]), Ok(want), "{backend}");
    }
    let list = Contestant::backends(|backend, pair: &mut [Buffer<i8>; 2]| dot_i8(backend, &pair[0], &pair[1]));
    race(effort, &mut pair, 2 * IN_CACHE, list)
}

fn of_blocks(effort: Effort, width: BitWidth) -> Vec<Timing> {
    progress(&format!("dot_blocks, {} bits", width.bits()));
    let values = data::normal(IN_CACHE);
    let mut blocks = Buffer::new(blocks_len(width, BLOCK, IN_CACHE));
    encode_blocks(Backend::scalar(), width, BLOCK, &values, &mut blocks).expect("values are finite, blocks fit");
    let want = dot_blocks(Backend::scalar(), width, BLOCK, &values, &blocks);
    for &backend in Backend::available() {
        assert_eq!(dot_blocks(backend, width, BLOCK, &values, &blocks), want, "{backend}");
    }
    let list = Contestant::backends(|backend, both: &mut (Buffer<f32>, Buffer<u8>)| {
        dot_blocks(backend, width, BLOCK, &both.0, &both.1)
    });
    race(effort, &mut (values, blocks), IN_CACHE * size_of::<f32>(), list)
}
