#![expect(clippy::cast_possible_truncation, reason = "numbers made up for tests")]

use super::*;
use proptest::prelude::*;

fn exact(values: &[f32]) -> Approximate {
    Approximate { values: values.to_vec(), bound: 0.0 }
}

fn projection(rows: usize, columns: usize, values: &[f32]) -> Option<Projection> {
    Some(Projection::new(rows, columns, values.to_vec()).expect("finite and of this size"))
}

#[test]
fn rows_are_permuted_projected_and_scaled_in_this_order() {
    let source = exact(&[1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
    let permuted = Factor { permutation: Some(vec![2, 0, 1]), ..Factor::default() };
    let (shape, result) = apply_factor(&[3, 2], &source, &permuted).expect("fits");
    assert_eq!((shape, result.values), (vec![3, 2], vec![3.0, 30.0, 1.0, 10.0, 2.0, 20.0]));
    assert_eq!(result.bound, 0.0);
    let all = Factor { scale: -2.0, projection: projection(1, 3, &[1.0, 0.0, -1.0]), ..permuted };
    let (shape, result) = apply_factor(&[3, 2], &source, &all).expect("fits");
    assert_eq!((shape, result.values), (vec![1, 2], vec![-2.0, -20.0])); // -2 * (third - second row)
}

#[test]
fn a_tensor_without_axes_is_one_row() {
    let factor = Factor { scale: 3.0, projection: projection(2, 1, &[1.0, 2.0]), ..Factor::default() };
    let (shape, result) = apply_factor(&[], &exact(&[5.0]), &factor).expect("one value");
    assert_eq!((shape, result.values), (vec![2], vec![15.0, 30.0]));
}

#[test]
fn empty_tensors_round_trip_and_empty_sums_are_zero() {
    let same = Factor { scale: 2.0, permutation: Some(vec![]), ..Factor::default() };
    let (shape, result) = apply_factor(&[0, 3], &exact(&[]), &same).expect("nothing");
    assert_eq!((shape, result.values.len()), (vec![0, 3], 0));
    let (shape, _) = apply_factor(&[3, 0], &exact(&[]), &Factor::default()).expect("nothing");
    assert_eq!(shape, [3, 0]);
    let grown = Factor { projection: projection(2, 0, &[]), ..Factor::default() };
    let (shape, result) = apply_factor(&[0, 3], &exact(&[]), &grown).expect("nothing");
    assert_eq!((shape, result.values), (vec![2, 3], vec![0.0; 6]));
}

#[test]
fn factors_that_do_not_fit_are_rejected() {
    let permutation = |rows: &[u32]| Factor { permutation: Some(rows.to_vec()), ..Factor::default() };
    let refused = |factor: &Factor| factor.shape(&[2, 3]).expect_err("does not fit").to_string();
    assert_eq!(refused(&permutation(&[0, 1, 2])), "the permutation has 3 rows, but the source has 2");
    let twice = "invalid permutation: entry 1 (0-based) is row 1, which is repeated or not in 0..2";
    assert_eq!(refused(&permutation(&[1, 1])), twice);
    assert!(refused(&permutation(&[0, 2])).starts_with("invalid permutation: entry 1 (0-based) is row 2"));
    let wide = Factor { projection: projection(1, 3, &[0.0; 3]), ..Factor::default() };
    assert_eq!(refused(&wide), "the projection has 3 rows, but the source has 2");
    assert!(refused(&Factor { scale: f32::NAN, ..Factor::default() }).contains("scale is not finite"));
    assert!(matches!(Projection::new(2, 2, vec![0.0; 3]), Err(StoreError::ProjectionShape { got: 3, .. })));
    assert!(matches!(Projection::new(usize::MAX, 2, vec![]), Err(StoreError::ProjectionShape { .. })));
    let odd = Projection::new(1, 2, vec![0.0, f32::INFINITY]);
    assert!(matches!(odd, Err(StoreError::FactorNonFinite { index: 1, .. })));
    let short = apply_factor(&[2, 3], &exact(&[0.0; 5]), &Factor::default());
    assert!(matches!(short, Err(StoreError::ShapeMismatch { expected: 6, got: 5 })));
    let huge = apply_factor(&[usize::MAX, 2], &exact(&[]), &Factor::default());
    assert!(matches!(huge, Err(StoreError::ShapeOverflow { .. })));
}

#[test]
fn results_beyond_f32_are_rejected_with_their_index() {
    let factor = Factor { scale: 3.0, ..Factor::default() };
    let far = apply_factor(&[2], &exact(&[1.0, 2e38]), &factor);
    assert!(matches!(far, Err(StoreError::ReconstructionOverflow { index: 1 })));
}

proptest! {
    #[test]
    fn errors_of_the_source_stay_within_the_bound_of_the_result(
        rows in 1..6_usize, columns in 1..6_usize, out in 0..5_usize, projects in any::<bool>(),
        scale in -4.0_f32..4.0, exponent in -140..60_i32, seed in prop::collection::vec(-1.0_f32..1.0, 200),
        shuffle in Just((0..5_u32).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let mut numbers = seed.iter().copied().cycle();
        let mut take = |n: usize| numbers.by_ref().take(n).collect::<Vec<f32>>();
        let size = 2.0_f32.powi(exponent);
        let original: Vec<f64> = take(rows * columns).iter().map(|v| f64::from(v * size)).collect();
        // The stored source differs from the original by up to its bound.
        let bound = 0.25 * size;
        let values: Vec<f32> = original.iter().zip(take(rows * columns)).map(|(x, e)| *x as f32 + e * bound * 0.99).collect();
        let permutation: Vec<u32> = shuffle.into_iter().filter(|&row| (row as usize) < rows).collect();
        let factor = Factor {
            scale,
            permutation: (rows <= 5).then(|| permutation.clone()),
            projection: projects.then(|| Projection::new(out, rows, take(out * rows)).expect("finite")),
        };
        let worst = original.iter().zip(&values).map(|(x, y)| (x - f64::from(*y)).abs()).fold(0.0, f64::max);
        let source = Approximate { values, bound: (worst as f32).next_up() };
        let (shape, result) = apply_factor(&[rows, columns], &source, &factor).expect("fits");
        prop_assert_eq!(shape.iter().product::<usize>(), result.values.len());
        for (i, row) in result.values.chunks(columns).enumerate() {
            for (c, &got) in row.iter().enumerate() {
                let at = |j: usize| original[permutation.get(j).map_or(j, |&row| row as usize) * columns + c];
                let sum = match &factor.projection {
                    None => at(i),
                    Some(projection) => {
                        let weights = &projection.values()[i * rows..(i + 1) * rows];
                        weights.iter().enumerate().map(|(j, &weight)| f64::from(weight) * at(j)).sum()
                    }
                };
                let error = (f64::from(scale) * sum - f64::from(got)).abs();
                prop_assert!(error <= f64::from(result.bound), "{error:e} beyond {:e}", result.bound);
            }
        }
    }
}
