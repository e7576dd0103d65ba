//! Products of plain f32 matrices: all forms and sizes give the documented chain of fused multiply-adds.

use bitgrain_nn::network::product::{
    ProductShape, View, multiply_back_f32, multiply_f32, multiply_outer_f32, multiply_views,
};
use bitgrain_nn::network::weights::WeightsError;

use crate::Normals;

/// The documented order of operations, as a plain loop.
fn chain(m: usize, k: usize, n: usize, a: impl Fn(usize, usize) -> f32, b: impl Fn(usize, usize) -> f32) -> Vec<f32> {
    let one = |row, col| (0..k).fold(0.0_f32, |sum, at| b(at, col).mul_add(a(row, at), sum));
    (0..m).flat_map(|row| (0..n).map(move |col| (row, col))).map(|(row, col)| one(row, col)).collect()
}

#[test]
fn the_three_forms_are_chains_of_fused_multiply_adds() {
    let sizes = [(0, 3, 3), (1, 1, 1), (1, 40, 700), (2, 17, 33), (3, 33, 5), (5, 70, 16), (9, 31, 65), (64, 20, 12)];
    for (batch, rows, cols) in
        sizes.into_iter().chain([(3, 5, 1), (4, 1, 6), (1, 6, 4), (65, 100, 37), (130, 35, 40), (12, 130, 1100)])
    {
        let shape = ProductShape { batch, rows, cols };
        let mut random = Normals(1);
        let (x, w, y) = (random.take(batch * cols), random.take(rows * cols), random.take(batch * rows));
        let mut out = vec![f32::NAN; batch * rows];
        multiply_f32(&x, &w, shape, &mut out).expect("right lengths");
        assert!(out == chain(batch, cols, rows, |b, k| x[b * cols + k], |k, r| w[r * cols + k]), "forward {shape:?}");
        let mut out = vec![f32::NAN; batch * cols];
        multiply_back_f32(&y, &w, shape, &mut out).expect("right lengths");
        assert!(out == chain(batch, rows, cols, |b, r| y[b * rows + r], |r, c| w[r * cols + c]), "back {shape:?}");
        let mut out = vec![f32::NAN; rows * cols];
        multiply_outer_f32(&y, &x, shape, &mut out).expect("right lengths");
        assert!(out == chain(rows, batch, cols, |r, b| y[b * rows + r], |b, c| x[b * cols + c]), "outer {shape:?}");
    }
}

#[test]
fn a_strided_view_of_some_columns_is_a_matrix() {
    let wide = Normals(2).take(10 * 50);
    let a = View::strided(&wide[7..], 10, 20, 50).expect("it ends before the slice");
    let mut out = vec![0.0; 100];
    multiply_views(a, a.transposed(), &mut out).expect("matching shapes");
    assert!(out == chain(10, 20, 10, |r, k| wide[7 + 50 * r + k], |k, c| wide[7 + 50 * c + k]));
    let mut out = vec![0.0; 400];
    multiply_views(a.transposed(), a, &mut out).expect("matching shapes");
    assert!(out == chain(20, 10, 20, |r, k| wide[7 + 50 * k + r], |k, c| wide[7 + 50 * k + c]));
    assert!(View::strided(&wide, 10, 51, 50).is_err());
    assert!(View::strided(&wide, 10, 50, 51).is_err());
    assert!(View::strided(&wide, 0, 50, 51).is_ok());
    assert!(View::strided(&wide, usize::MAX, 2, usize::MAX).is_err());
}

#[test]
fn mismatched_dimensions_are_rejected() {
    let values = [0.0; 12];
    let (a, b) = (View::new(&values, 3, 4).expect("12"), View::new(&values, 2, 6).expect("12"));
    assert_eq!(multiply_views(a, b, &mut [0.0; 18]), Err(WeightsError::Inner { left: 4, right: 2 }));
    let short = Err(WeightsError::Length { what: "output", found: 8, rows: 3, cols: 3 });
    assert_eq!(multiply_views(a, a.transposed(), &mut [0.0; 8]), short);
    assert!(View::new(&values, usize::MAX, 2).is_err());
}

#[test]
fn a_product_over_zero_columns_is_zero() {
    let none = View::new(&[], 2, 0).expect("nothing");
    let mut out = [1.0; 4];
    multiply_views(none, none.transposed(), &mut out).expect("matching shapes");
    assert_eq!(out, [0.0; 4]);
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let shape = ProductShape { batch: 100, rows: 300, cols: 200 };
    let mut random = Normals(3);
    let (x, w, y) = (random.take(100 * 200), random.take(300 * 200), random.take(100 * 300));
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let (mut forward, mut back, mut outer) = (vec![0.0; 30_000], vec![0.0; 20_000], vec![0.0; 60_000]);
        pool.install(|| {
            multiply_f32(&x, &w, shape, &mut forward).expect("right lengths");
            multiply_back_f32(&y, &w, shape, &mut back).expect("right lengths");
            multiply_outer_f32(&y, &x, shape, &mut outer).expect("right lengths");
        });
        [forward, back, outer]
    };
    let one = on(1);
    for threads in [2, 3, 8] {
        assert!(on(threads) == one, "{threads} threads");
    }
}
