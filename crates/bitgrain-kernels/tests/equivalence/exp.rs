//! Exponentials and functions built on them: the same bits on every backend, within the documented error.

use bitgrain_kernels::floats::{exp, sigmoid};
use bitgrain_kernels::gradients::{logistic_gradients, softmax_gradients};
use bitgrain_kernels::{Backend, KernelError};

use crate::for_hostile;

type Map = fn(Backend, &[f32], &mut [f32]) -> Result<usize, KernelError>;

fn mapped(map: Map, backend: Backend, values: &[f32]) -> Vec<f32> {
    let mut out = vec![7.0; values.len()];
    map(backend, values, &mut out).expect("room");
    out
}

fn bits(values: &[f32]) -> Vec<u32> {
    // The payload of a NaN is unspecified.
    values.iter().map(|v| if v.is_nan() { f32::NAN.to_bits() } else { v.to_bits() }).collect()
}

#[test]
fn exponentials_are_the_same_on_every_backend() {
    for_hostile(|backend, values| {
        for map in [exp as Map, sigmoid] {
            let (want, got) = (mapped(map, Backend::scalar(), values), mapped(map, backend, values));
            assert_eq!(bits(&want), bits(&got), "{backend}: {values:?}");
        }
    });
}

#[test]
fn logistic_gradients_are_the_same_on_every_backend() {
    for_hostile(|backend, values| {
        let targets: Vec<f32> = (0..values.len()).map(|i| f32::from(u8::from(i % 3 == 0))).collect();
        let [want, got] = [Backend::scalar(), backend].map(|backend| {
            let (mut grads, mut hess) = (vec![7.0; values.len()], vec![7.0; values.len()]);
            logistic_gradients(backend, values, &targets, &mut grads, &mut hess).expect("room");
            (bits(&grads), bits(&hess))
        });
        assert_eq!(want, got, "{backend}: {values:?}");
    });
}

#[test]
fn softmax_gradients_are_the_same_on_every_backend() {
    for_hostile(|backend, values| {
        let rows = values.len();
        let targets: Vec<f32> = (0..rows).map(|i| [0.0, 2.0, 1.0, 7.0][i % 4]).collect();
        let turned: Vec<f32> = values.iter().rev().copied().collect();
        let scores = [values, &turned, &targets];
        let [want, got] = [Backend::scalar(), backend].map(|backend| {
            let mut out = vec![7.0; 6 * rows];
            let mut classes: Vec<&mut [f32]> = out.chunks_mut(rows.max(1)).collect();
            classes.resize_with(6, || &mut []);
            let (grads, hess) = classes.split_at_mut(3);
            softmax_gradients(backend, &scores, &targets, 1.5, grads, hess).expect("room");
            bits(&out)
        });
        assert_eq!(want, got, "{backend}: {values:?}");
    });
}

/// One f32 in a thousand, of both signs and all magnitudes, and then the range of finite results of `exp` more densely.
fn sweep() -> Vec<f32> {
    let coarse = (0..=u32::MAX / 1009).map(|i| f32::from_bits(i * 1009)).filter(|v| v.is_finite());
    coarse.chain((0..1_000_000).map(|i| i as f32 * 2e-4 - 105.0)).collect()
}

/// Distance from the exact result in units of the last place of an f32, including subnormals.
fn ulps(got: f32, truth: f64) -> f64 {
    let unit = (truth.abs().log2().floor().max(-126.0) - 23.0).exp2();
    (f64::from(got) - truth).abs() / unit
}

#[test]
fn the_exponential_is_within_its_bound() {
    let values = sweep();
    for &backend in Backend::available() {
        let mut worst = (0.0, 0.0);
        for (&value, got) in values.iter().zip(mapped(exp, backend, &values)) {
            let truth = f64::from(value).exp();
            if truth > f64::from(f32::MAX) {
                assert_eq!(got, f32::INFINITY, "{value}");
            } else {
                worst = if ulps(got, truth) > worst.0 { (ulps(got, truth), value) } else { worst };
            }
        }
        assert!(worst.0 <= 1.1, "{backend}: {worst:?}");
    }
}

#[test]
fn the_sigmoid_is_within_its_bound() {
    let values = sweep();
    let mut worst = (0.0, 0.0);
    for (&value, got) in values.iter().zip(mapped(sigmoid, Backend::best(), &values)) {
        let truth = 1.0 / (1.0 + (-f64::from(value).max(-87.0)).exp());
        worst = if ulps(got, truth) > worst.0 { (ulps(got, truth), value) } else { worst };
    }
    assert!(worst.0 <= 2.5, "{worst:?}");
}

#[test]
fn logistic_gradients_keep_their_precision_on_both_sides() {
    let scores: Vec<f32> = (0..200_000).map(|i| i as f32 * 1e-3 - 100.0).collect();
    for target in [0.0_f32, 1.0] {
        let (mut grads, mut hess) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
        let targets = vec![target; scores.len()];
        logistic_gradients(Backend::best(), &scores, &targets, &mut grads, &mut hess).expect("room");
        for ((&score, grad), hess) in scores.iter().zip(grads).zip(hess) {
            let score = f64::from(score.clamp(-87.0, 87.0));
            let against = if target > 0.5 { -score } else { score };
            let truth = (0.5 - f64::from(target)).signum() / (1.0 + (-against).exp());
            assert!(ulps(grad, truth) <= 3.0, "{score}: {grad:e} {truth:e}");
            assert!(ulps(hess, 1.0 / ((1.0 + score.exp()) * (1.0 + (-score).exp()))) <= 5.0, "{score}: {hess:e}");
        }
    }
}

#[test]
fn extremes_saturate_and_nan_stays() {
    let values = [f32::INFINITY, f32::NEG_INFINITY, 1e4, -1e4, 88.8, -104.0, f32::NAN];
    for &backend in Backend::available() {
        let powers = mapped(exp, backend, &values);
        let inf = f32::INFINITY;
        assert_eq!(powers[..6], [inf, 0.0, inf, 0.0, inf, 0.0], "{backend}");
        let shares = mapped(sigmoid, backend, &values);
        assert_eq!((shares[0], shares[2], shares[4]), (1.0, 1.0, 1.0), "{backend}");
        assert!([1, 3, 5].iter().all(|&i| shares[i] == shares[1] && shares[i].is_normal()), "{backend}");
        assert!(powers[6].is_nan() && shares[6].is_nan(), "{backend}");
    }
}
