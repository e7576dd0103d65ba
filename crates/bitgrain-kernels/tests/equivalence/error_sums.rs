//! Error sums: every backend compared with the definition, the definition compared with a simple loop.

use bitgrain_kernels::{Backend, ErrorSums, KernelError, error_sums};

use super::{HOSTILE, ramp_with};

#[test]
fn every_backend_sums_the_same_bits_with_hostile_values_anywhere() {
    for len in 0..40 {
        for at in 0..=len {
            for odd in HOSTILE {
                let (x, y) = (ramp_with(odd, at, len), ramp_with(0.25, at, len));
                for (x, y) in [(&x, &y), (&y, &x)] {
                    let want = error_sums(Backend::scalar(), x, y).expect("one length");
                    for &backend in Backend::available() {
                        let got = error_sums(backend, x, y).expect("one length");
                        assert_eq!(format!("{got:?}"), format!("{want:?}"), "{backend}: {odd} at {at} of {len}");
                    }
                }
            }
        }
    }
}

#[test]
fn sums_are_those_of_a_plain_loop() {
    let x: Vec<f32> = (0_u8..101).map(|i| f32::from(i) * 0.37 - 15.0).collect();
    let y: Vec<f32> = x.iter().map(|v| v.round()).collect();
    let sums = error_sums(Backend::best(), &x, &y).expect("one length");
    let pairs = || x.iter().zip(&y).map(|(x, y)| (f64::from(*x), f64::from(*y)));
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} and {b}");
    near(sums.squares, pairs().map(|(x, y)| (x - y).powi(2)).sum());
    near(sums.original, pairs().map(|(x, _)| x * x).sum());
    near(sums.decoded, pairs().map(|(_, y)| y * y).sum());
    near(sums.product, pairs().map(|(x, y)| x * y).sum());
    near(sums.max, pairs().map(|(x, y)| (x - y).abs()).fold(0.0, f64::max));
    assert_eq!(sums.skipped, 0);
}

#[test]
fn non_finite_originals_are_skipped_and_non_finite_results_count_as_infinite() {
    let of = |x: &[f32], y: &[f32]| error_sums(Backend::best(), x, y).expect("one length");
    assert_eq!(of(&[f32::NAN, f32::INFINITY], &[1.0, f32::NAN]), ErrorSums { skipped: 2, ..ErrorSums::default() });
    let lost = of(&[1.0], &[f32::NAN]);
    assert_eq!((lost.max, lost.squares, lost.skipped), (f64::INFINITY, f64::INFINITY, 0));
    assert_eq!(error_sums(Backend::best(), &[1.0], &[]), Err(KernelError::InputTooSmall { required: 1 }));
}
