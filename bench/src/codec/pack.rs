//! Bit packing of byte codes, in cache, compared with `bitpacking` and `fastlanes`.

use bitgrain::kernels::codes::{pack_i8, pack_u8, unpack_i8, unpack_u8};
use bitgrain::kernels::{Backend, BitWidth, KernelError, UnsignedWidth};
use bitpacking::{BitPacker4x, BitPacker8x};

use super::{best, progress};
use crate::buffer::Buffer;
use crate::data;
use crate::measure::{Contestant, Effort, race};
use crate::report::{Figure, Row, Table, Unit};
use crate::rival::bitpacking::Packing;
use crate::rival::fastlanes::FastLanes;

/// 16 KiB, one byte per code.
const CODES: usize = 16 << 10;

/// Widths with targets first, then the others.
const WIDTHS: [(u8, bool); 7] = [(7, true), (5, true), (3, true), (6, false), (4, false), (2, false), (1, false)];

const NOTE: &str = "In cache; a code counts as one byte in every library. Ours removes the sign, checks the range \
    and keeps the codes in order; fastlanes and bitpacking use their own layouts and do not check the \
    range. bitpacking packs u32 (16 KiB, to stay in L1). fastlanes is vectorized by the compiler, for the default target. \
    Targets apply to 7, 5 and 3 bits; 1 bit is `pack_u8`.";

/// Buffers of all contenders, filled with the same codes.
struct Lot {
    ours: Ours,
    four: Packing<BitPacker4x>,
    eight: Packing<BitPacker8x>,
    lanes: FastLanes,
}

/// Returns the tables for packing and for unpacking.
pub(super) fn tables(effort: Effort) -> [Table; 2] {
    let [mut pack, mut unpack] = [Vec::new(), Vec::new()];
    for (bits, judged) in WIDTHS {
        progress(&format!("pack and unpack, {bits} bits"));
        let mut lot = Lot::new(bits);
        let label = if bits == 1 { "1 bit".into() } else { format!("{bits} bits") };
        pack.push(Row { label: label.clone(), judged, timings: race(effort, &mut lot, CODES, packers()) });
        unpack.push(Row { label, judged, timings: race(effort, &mut lot, CODES, unpackers()) });
    }
    let table = |title, note: &str, rows| Table {
        title,
        note: note.into(),
        unit: Unit::GbPerS("codes"),
        axis: "width",
        figures: vec![
            Figure::ratio(best(), "bitpacking 8x").at_least(1.0),
            Figure::ratio(best(), "bitpacking 4x").at_least(1.0),
            Figure::ratio(best(), "fastlanes").at_least(0.8),
            Figure::speed("scalar").at_least(4.0),
            Figure::speed("avx2").at_least(20.0),
            Figure::speed("avx512").at_least(27.0),
        ],
        rows,
    };
    [table("Pack", NOTE, pack), table("Unpack", "As for packing.", unpack)]
}

impl Lot {
    fn new(bits: u8) -> Self {
        let ours = Ours::checked(bits);
        let codes = ours.unsigned.to_vec();
        let wide: Vec<u16> = codes.iter().map(|&code| u16::from(code)).collect();
        Self {
            ours,
            four: Packing::new(bits, &wide),
            eight: Packing::new(bits, &wide),
            lanes: FastLanes::new(bits, &codes),
        }
    }
}

fn packers() -> Vec<Contestant<'static, Lot>> {
    let mut list = Contestant::backends(|backend, lot: &mut Lot| lot.ours.pack(backend).expect("codes are in range"));
    list.push(Contestant::new("bitpacking 4x", |lot: &mut Lot| lot.four.pack()));
    list.push(Contestant::new("bitpacking 8x", |lot: &mut Lot| lot.eight.pack()));
    list.push(Contestant::new("fastlanes", |lot: &mut Lot| lot.lanes.pack()));
    list
}

fn unpackers() -> Vec<Contestant<'static, Lot>> {
    let mut list = Contestant::backends(|backend, lot: &mut Lot| lot.ours.unpack(backend).expect("codes are good"));
    list.push(Contestant::new("bitpacking 4x", |lot: &mut Lot| lot.four.unpack()));
    list.push(Contestant::new("bitpacking 8x", |lot: &mut Lot| lot.eight.unpack()));
    list.push(Contestant::new("fastlanes", |lot: &mut Lot| lot.lanes.unpack()));
    list
}

/// Our buffers: signed codes for 2 bits or more, unsigned codes for 1 bit.
struct Ours {
    bits: u8,
    signed: Buffer<i8>,
    unsigned: Buffer<u8>,
    packed: Buffer<u8>,
    signed_back: Buffer<i8>,
    unsigned_back: Buffer<u8>,
}

impl Ours {
    /// Panics unless every backend packs to the same bytes as the scalar one and unpacks the original codes.
    fn checked(bits: u8) -> Self {
        // The pattern with all bits set is not a valid signed code.
        let qmax = BitWidth::new(bits).map_or(0, BitWidth::qmax);
        let largest = if qmax == 0 { 1 } else { 2 * qmax };
        let codes = data::codes(CODES, largest.into());
        let byte = |&code: &u16| u8::try_from(code).expect("a code is a byte");
        let mut ours = Self {
            bits,
            signed: Buffer::from_values(codes.iter().map(|c| byte(c).wrapping_sub(qmax).cast_signed())),
            unsigned: Buffer::from_values(codes.iter().map(byte)),
            packed: Buffer::new(CODES * usize::from(bits) / 8),
            signed_back: Buffer::new(CODES),
            unsigned_back: Buffer::new(CODES),
        };
        ours.pack(Backend::scalar()).expect("codes are in range");
        let packed = ours.packed.to_vec();
        for &backend in Backend::available() {
            ours.packed.fill(0xA5);
            ours.pack(backend).expect("codes are in range");
            assert!(*ours.packed == *packed, "{backend} at {bits} bits: bytes differ from scalar");
            ours.signed_back.fill(99);
            ours.unsigned_back.fill(99);
            ours.unpack(backend).expect("codes are good");
            let same =
                if bits == 1 { *ours.unsigned == *ours.unsigned_back } else { *ours.signed == *ours.signed_back };
            assert!(same, "{backend} at {bits} bits: unpacked codes differ");
        }
        ours
    }

    fn pack(&mut self, backend: Backend) -> Result<(), KernelError> {
        match BitWidth::new(self.bits) {
            Ok(width) => pack_i8(backend, width, &self.signed, &mut self.packed)?,
            Err(_) => pack_u8(backend, UnsignedWidth::new(self.bits)?, &self.unsigned, &mut self.packed)?,
        };
        Ok(())
    }

    fn unpack(&mut self, backend: Backend) -> Result<(), KernelError> {
        match BitWidth::new(self.bits) {
            Ok(width) => unpack_i8(backend, width, &self.packed, &mut self.signed_back)?,
            Err(_) => unpack_u8(backend, UnsignedWidth::new(self.bits)?, &self.packed, &mut self.unsigned_back)?,
        };
        Ok(())
    }
}
