//! Encoding to blocks and decoding them, at every width, compared with `memcpy` and ruvector.

use bitgrain::kernels::BitWidth;

use super::memory::Memory;
use super::{best, progress};
use crate::measure::{Contestant, Effort, race};
use crate::report::{Figure, Row, Table, Unit};
use crate::rival::ruvector::Ruvector;

/// Location of the data, with the targets for it.
pub(super) struct Place {
    titles: [&'static str; 2],
    encode_to_memcpy: Option<f64>,
    encode_to_ruvector: Option<f64>,
    decode_to_memcpy: Option<f64>,
    decode_speed: Option<f64>,
}

pub(super) const IN_MEMORY: Place = Place {
    titles: ["Encode", "Decode"],
    encode_to_memcpy: Some(0.7),
    encode_to_ruvector: Some(6.0),
    decode_to_memcpy: Some(1.3),
    decode_speed: None,
};

pub(super) const IN_CACHE: Place = Place {
    titles: ["Encode in cache", "Decode in cache"],
    encode_to_memcpy: None,
    encode_to_ruvector: None,
    decode_to_memcpy: None,
    decode_speed: Some(40.0),
};

/// Returns the tables for encoding and for decoding.
pub(super) fn tables(effort: Effort, memory: &mut Memory, place: &Place) -> [Table; 2] {
    let [mut encode, mut decode] = [Vec::new(), Vec::new()];
    for width in BitWidth::ALL.into_iter().rev() {
        let bits = width.bits();
        progress(&format!("{} and {}, {bits} bits", place.titles[0], place.titles[1]));
        memory.check(width);
        if Ruvector::supports(bits) {
            memory.ruvector.check(bits, &memory.values);
        }
        let bytes = memory.bytes();
        encode.push(Row::judged(format!("{bits} bits"), race(effort, memory, bytes, encoders(width))));
        decode.push(Row::judged(format!("{bits} bits"), race(effort, memory, bytes, decoders(width))));
    }
    let figure = |to, bar| Figure { at_least: bar, ..Figure::ratio(best(), to) };
    [
        Table {
            title: place.titles[0],
            note: "ruvector stores f16 scales and does not support 6, 4 and 2 bits.".into(),
            unit: Unit::GbPerS("f32 input"),
            axis: "width",
            figures: vec![figure("memcpy", place.encode_to_memcpy), figure("ruvector", place.encode_to_ruvector)],
            rows: encode,
        },
        Table {
            title: place.titles[1],
            note: "ruvector receives its scales as f32, and its output vector is not cleared between calls.".into(),
            unit: Unit::GbPerS("f32 output"),
            axis: "width",
            figures: vec![
                figure("memcpy", place.decode_to_memcpy),
                figure("ruvector", None),
                Figure { at_least: place.decode_speed, ..Figure::speed(best()) },
            ],
            rows: decode,
        },
    ]
}

fn encoders(width: BitWidth) -> Vec<Contestant<'static, Memory>> {
    let mut list = vec![Contestant::new("memcpy", Memory::copy)];
    list.extend(Contestant::backends(move |backend, m: &mut Memory| m.encode(backend, width)));
    if Ruvector::supports(width.bits()) {
        list.push(Contestant::new("ruvector", move |m: &mut Memory| m.ruvector.encode(width.bits(), &m.values)));
    }
    list
}

fn decoders(width: BitWidth) -> Vec<Contestant<'static, Memory>> {
    let mut list = vec![Contestant::new("memcpy", Memory::copy)];
    list.extend(Contestant::backends(move |backend, m: &mut Memory| m.decode(backend, width)));
    if Ruvector::supports(width.bits()) {
        let decode = move |m: &mut Memory| m.ruvector.decode(width.bits(), m.values.len());
        list.push(Contestant::new("ruvector", decode));
    }
    list
}
