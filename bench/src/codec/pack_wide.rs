//! Bit packing of 16-bit codes, in cache.

use bitgrain::kernels::codes::{pack_u16, unpack_u16};
use bitgrain::kernels::{Backend, UnsignedWidth};

use super::progress;
use crate::buffer::Buffer;
use crate::data;
use crate::measure::{Contestant, Effort, race};
use crate::report::{Row, Table, Unit};

/// 16 KiB, two bytes per code.
const CODES: usize = 8 << 10;

struct Wide {
    width: UnsignedWidth,
    codes: Buffer<u16>,
    packed: Buffer<u8>,
    back: Buffer<u16>,
}

/// Returns the tables for packing and for unpacking.
pub(super) fn tables(effort: Effort) -> [Table; 2] {
    let [mut pack, mut unpack] = [Vec::new(), Vec::new()];
    let bytes = CODES * size_of::<u16>();
    for bits in [12, 10] {
        progress(&format!("pack and unpack of u16, {bits} bits"));
        let mut wide = Wide::checked(UnsignedWidth::new(bits).expect("in range"));
        let packers = Contestant::backends(|backend, w: &mut Wide| w.pack(backend));
        pack.push(Row::judged(format!("{bits} bits"), race(effort, &mut wide, bytes, packers)));
        let unpackers = Contestant::backends(|backend, w: &mut Wide| w.unpack(backend));
        unpack.push(Row::judged(format!("{bits} bits"), race(effort, &mut wide, bytes, unpackers)));
    }
    let table = |title, rows| Table {
        title,
        note: "In cache; a code counts as two bytes.".into(),
        unit: Unit::GbPerS("codes"),
        axis: "width",
        figures: vec![],
        rows,
    };
    [table("Pack u16", pack), table("Unpack u16", unpack)]
}

impl Wide {
    /// Panics unless every backend packs to the same bytes as the scalar one and unpacks the original codes.
    fn checked(width: UnsignedWidth) -> Self {
        let mut wide = Self {
            width,
            codes: data::codes(CODES, width.max_code()),
            packed: Buffer::new(width.packed_len(CODES)),
            back: Buffer::new(CODES),
        };
        wide.pack(Backend::scalar());
        let packed = wide.packed.to_vec();
        for &backend in Backend::available() {
            wide.packed.fill(0xA5);
            wide.pack(backend);
            assert!(*wide.packed == *packed, "{backend} {width:?}: bytes differ from scalar");
            wide.back.fill(u16::MAX);
            wide.unpack(backend);
            assert!(*wide.codes == *wide.back, "{backend} {width:?}: unpacked codes differ");
        }
        wide
    }

    fn pack(&mut self, backend: Backend) {
        pack_u16(backend, self.width, &self.codes, &mut self.packed).expect("codes are in range");
    }

    fn unpack(&mut self, backend: Backend) {
        unpack_u16(backend, self.width, &self.packed, &mut self.back).expect("the stream is complete");
    }
}
