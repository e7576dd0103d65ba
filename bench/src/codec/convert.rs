//! Conversions between f32 and the short floats, in cache.

use bitgrain::kernels::floats::{
    bf16_from_f32, bf16_to_f32, e2m1_from_f32, e2m1_to_f32, e4m3_from_f32, e4m3_to_f32, e5m2_from_f32, e5m2_to_f32,
    f16_from_f32, f16_to_f32,
};
use bitgrain::kernels::{Backend, KernelError};

use super::{IN_CACHE, progress};
use crate::buffer::Buffer;
use crate::data;
use crate::measure::{Contestant, Effort, race};
use crate::report::{Row, Table, Unit};

type FromF32<T> = fn(Backend, &[f32], &mut [T]) -> Result<usize, KernelError>;
type ToF32<T> = fn(Backend, &[T], &mut [f32]) -> Result<usize, KernelError>;

/// Returns a row for each format and direction.
pub(super) fn table(effort: Effort) -> Table {
    let mut rows = Vec::new();
    rows.extend(both_ways(effort, "f16", f16_from_f32, f16_to_f32));
    rows.extend(both_ways(effort, "bf16", bf16_from_f32, bf16_to_f32));
    rows.extend(both_ways(effort, "e4m3", e4m3_from_f32, e4m3_to_f32));
    rows.extend(both_ways(effort, "e5m2", e5m2_from_f32, e5m2_to_f32));
    rows.extend(both_ways(effort, "e2m1", e2m1_from_f32, e2m1_to_f32));
    Table {
        title: "Float conversions",
        note: "In cache.".into(),
        unit: Unit::GbPerS("f32, input or output"),
        axis: "conversion",
        figures: vec![],
        rows,
    }
}

struct Floats<T> {
    values: Buffer<f32>,
    short: Buffer<T>,
    back: Buffer<f32>,
}

fn both_ways<T: Copy + Default + PartialEq>(effort: Effort, format: &str, from: FromF32<T>, to: ToF32<T>) -> [Row; 2] {
    progress(&format!("conversions of {format}"));
    let shorten = |backend, floats: &mut Floats<T>| {
        from(backend, &floats.values, &mut floats.short).expect("as long as the input");
    };
    let widen = |backend, floats: &mut Floats<T>| {
        to(backend, &floats.short, &mut floats.back).expect("as long as the input");
    };
    let mut floats =
        Floats { values: data::normal(IN_CACHE), short: Buffer::new(IN_CACHE), back: Buffer::new(IN_CACHE) };
    shorten(Backend::scalar(), &mut floats);
    widen(Backend::scalar(), &mut floats);
    let (short, back) = (floats.short.to_vec(), floats.back.to_vec());
    for &backend in Backend::available() {
        floats.short.fill(T::default());
        floats.back.fill(f32::NAN);
        shorten(backend, &mut floats);
        widen(backend, &mut floats);
        assert!(*floats.short == *short && *floats.back == *back, "{backend}: {format} differs from scalar");
    }
    let bytes = size_of_val(&*floats.values);
    let shortened = race(effort, &mut floats, bytes, Contestant::backends(shorten));
    let widened = race(effort, &mut floats, bytes, Contestant::backends(widen));
    [Row::judged(format!("f32 to {format}"), shortened), Row::judged(format!("{format} to f32"), widened)]
}
