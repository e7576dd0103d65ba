//! Rounding of gradient pairs: all backends agree, no code is out of range, and sums keep their expectation.

use bitgrain_kernels::Backend;
use bitgrain_kernels::gradients::{PairSteps, round_pairs};
use bitgrain_kernels::histograms::Pair8;

use crate::{Bits, for_hostile, lengths};

fn steps(seed: Option<u32>) -> PairSteps {
    PairSteps { grad_codes: 127.0 / 3.0, hess_codes: 255.0 / 2.0, grad_max: 127, hess_max: 255, seed, first_row: 3 }
}

/// Rounds rows from `first` on, modulo 2^32.
fn rounded(backend: Backend, steps: &PairSteps, grads: &[f32], hess: &[f32], first: u32) -> Vec<Pair8> {
    let mut out = vec![Pair8::default(); grads.len()];
    let rows: Vec<u32> = (0..).map(|at: u32| first.wrapping_add(at)).take(grads.len()).collect();
    round_pairs(backend, steps, grads, hess, &rows, &mut out).expect("as many of each");
    out
}

#[test]
fn every_backend_rounds_alike() {
    for_hostile(|backend, values| {
        let hess: Vec<f32> = values.iter().rev().map(|value| value.abs()).collect();
        for seed in [None, Some(0), Some(0xDEAD_BEEF)] {
            let want = rounded(Backend::scalar(), &steps(seed), values, &hess, u32::MAX - 20);
            assert_eq!(rounded(backend, &steps(seed), values, &hess, u32::MAX - 20), want, "{backend}: {seed:?}");
        }
    });
}

#[test]
fn rounding_in_chunks_gives_the_same_codes() {
    let grads = Bits(1).normals(577);
    let hess: Vec<f32> = Bits(2).normals(577).iter().map(|value| value.abs()).collect();
    let whole = rounded(Backend::best(), &steps(Some(7)), &grads, &hess, 100);
    for len in lengths().filter(|&len| len <= 577) {
        let first = 100 + u32::try_from(len).expect("small");
        let rest = rounded(Backend::best(), &steps(Some(7)), &grads[len..], &hess[len..], first);
        assert_eq!(rest, whole[len..], "from {len} on");
    }
}

#[test]
fn a_code_depends_on_its_row_and_not_on_its_position() {
    let grads = Bits(3).normals(577);
    let hess: Vec<f32> = Bits(4).normals(577).iter().map(|value| value.abs()).collect();
    let whole = rounded(Backend::best(), &steps(Some(7)), &grads, &hess, 40);
    for backend in Backend::available() {
        // 5 does not divide the number of rows, so this is a permutation; 40 rows are before those of this process.
        let order: Vec<u32> = (0..577).map(|at| at * 5 % 577).collect();
        let pick = |values: &[f32]| -> Vec<f32> { order.iter().map(|&row| values[row as usize]).collect() };
        let mut out = vec![Pair8::default(); 577];
        let steps = PairSteps { first_row: 43, ..steps(Some(7)) };
        round_pairs(*backend, &steps, &pick(&grads), &pick(&hess), &order, &mut out).expect("as many of each");
        assert!(order.iter().zip(&out).all(|(&row, code)| *code == whole[row as usize]), "{backend}");
    }
}

#[test]
fn the_largest_get_the_largest_code_and_small_hessians_are_not_lost() {
    for seed in [None, Some(3)] {
        let codes = rounded(Backend::best(), &steps(seed), &[3.0, -3.0, 9.0, 0.0], &[2.0, 2.0, 9.0, 0.0], 0);
        let pairs: Vec<(i8, u8)> = codes.iter().map(|pair| (pair.grad, pair.hess)).collect();
        assert_eq!(pairs, [(127, 255), (-127, 255), (127, 255), (0, 0)], "{seed:?}");
    }
    assert_eq!(rounded(Backend::best(), &steps(None), &[0.0], &[1e-9], 0)[0].hess, 1);
}

#[test]
fn stochastic_rounding_preserves_the_expectation() {
    let count = 200_000;
    for value in [0.3_f32, -0.3, 2.9, -1.234] {
        let hess = value.abs() / 2.0;
        let codes = rounded(Backend::best(), &steps(Some(11)), &vec![value; count], &vec![hess; count], 0);
        let mean = |code: fn(&Pair8) -> f64| codes.iter().map(code).sum::<f64>() / count as f64;
        let (grad, hess_mean) = (mean(|pair| pair.grad.into()), mean(|pair| pair.hess.into()));
        // Five standard deviations of a mean of that many values.
        let tolerance = 5.0 * 0.5 / (count as f64).sqrt() + 1e-4;
        assert!((grad - f64::from(value) * 127.0 / 3.0).abs() < tolerance, "{value}: {grad}");
        assert!((hess_mean - f64::from(hess) * 255.0 / 2.0).abs() < tolerance, "{value}: {hess_mean}");
    }
}
