//! Binning compared with `partition_point`: every number of cuts around the table sizes, every neighbor of every cut.

use bitgrain_kernels::Backend;
use bitgrain_kernels::bins::{BinCode, bin_f32};

use crate::{Bits, HOSTILE, lengths, ramp, ramp_with};

/// Numbers of cuts around every table size, and beyond the largest table.
const COUNTS: [usize; 22] =
    [0, 1, 2, 7, 14, 15, 16, 17, 30, 31, 32, 33, 63, 64, 127, 128, 254, 255, 256, 257, 1000, 70_000];

/// Ascending cuts with gaps of one f32 step and of many, on both sides of zero.
fn cuts(count: usize) -> Vec<f32> {
    let middle = count / 2;
    (0..count)
        .map(|i| match i.cmp(&middle) {
            std::cmp::Ordering::Less => -((middle - i) as f32 * 0.25),
            std::cmp::Ordering::Equal => 0.0,
            std::cmp::Ordering::Greater => f32::from_bits(0x3E00_0000 + (i - middle) as u32),
        })
        .collect()
}

/// The rule as documented.
fn naive<C: BinCode>(cuts: &[f32], values: &[f32], nan: C) -> Vec<C> {
    let bin = |value: &f32| C::of_bin(cuts.partition_point(|cut| cut < value));
    values.iter().map(|value| if value.is_nan() { nan } else { bin(value) }).collect()
}

fn assert_same<C: BinCode + Default + PartialEq + std::fmt::Debug>(cuts: &[f32], values: &[f32], nan: C) {
    if cuts.len() > C::MAX_CUTS {
        return;
    }
    let want = naive(cuts, values, nan);
    for &backend in Backend::available() {
        // Longer than needed: the codes after the result must not change.
        let mut got = vec![C::of_bin(77); values.len() + 20];
        assert_eq!(bin_f32(backend, cuts, values, nan, &mut got), Ok(values.len()));
        assert!(got[values.len()..].iter().all(|&code| code == C::of_bin(77)), "{backend} wrote past its output");
        if let Some(at) = want.iter().zip(&got).position(|(want, got)| want != got) {
            let (cuts, value) = (cuts.len(), values[at]);
            panic!("{backend}: {value:e} at {at} is in bin {:?} of {cuts} cuts, not {:?}", got[at], want[at]);
        }
    }
}

fn assert_same_codes(cuts: &[f32], values: &[f32]) {
    assert_same(cuts, values, 255_u8);
    assert_same(cuts, values, 65_535_u16);
    assert_same(cuts, values, 123_456_789_u32);
}

#[test]
fn hostile_values_in_every_lane_are_binned_by_the_rule() {
    for count in [0, 3, 31, 255, 300] {
        let cuts = cuts(count);
        for len in lengths() {
            for (at, odd) in (0..=len.min(80)).flat_map(|at| HOSTILE.map(|odd| (at, odd))) {
                assert_same(&cuts, &ramp_with(odd, at, len), 9_u16);
            }
        }
        assert_same_codes(&cuts, &ramp(577));
    }
}

#[test]
fn every_cut_and_its_neighbors_are_binned_by_the_rule() {
    for count in COUNTS {
        let cuts = cuts(count);
        let near = |cut: &f32| [cut.next_down(), *cut, cut.next_up(), -cut];
        let mut values: Vec<f32> = cuts.iter().flat_map(near).chain(HOSTILE).collect();
        values.resize(values.len().max(200), 0.125);
        assert_same_codes(&cuts, &values);
        // The neighbors in other lanes.
        assert_same_codes(&cuts, &values[1..]);
        assert_same_codes(&cuts, &values[7..]);
    }
}

#[test]
fn infinite_cuts_are_cuts() {
    let mut cuts = vec![f32::NEG_INFINITY, -1.0, 1.0, f32::INFINITY];
    let values: Vec<f32> = HOSTILE.iter().copied().cycle().take(200).collect();
    assert_same_codes(&cuts, &values);
    cuts.splice(1..3, (0..253).map(|i| i as f32));
    assert_eq!(cuts.len(), 255);
    assert_same_codes(&cuts, &values);
}

#[test]
fn any_bits_are_binned_by_the_rule() {
    let mut random = Bits(11);
    for count in COUNTS {
        let mut cuts: Vec<f32> = (0..count).map(|_| f32::from_bits(random.next() as u32)).collect();
        cuts.retain(|cut| !cut.is_nan());
        cuts.sort_by(f32::total_cmp);
        cuts.dedup_by(|a, b| a == b);
        let values: Vec<f32> = (0..3000).map(|_| f32::from_bits(random.next() as u32)).collect();
        assert_same_codes(&cuts, &values);
    }
}
