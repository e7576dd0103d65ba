//! Marks of rows: a formula in a fixed order, and every extreme lets a row pass.

use bitgrain_kernels::search::{RowCondition, mark_rows};
use bitgrain_kernels::{Backend, KernelError};

use crate::{Bits, for_hostile};

fn condition(bits: &mut Bits) -> RowCondition {
    let [constant, norm, norm_square, residual, residual_square] = bits.normals(5)[..] else { unreachable!() };
    RowCondition { constant, norm, norm_square, residual, residual_square }
}

#[test]
fn marks_are_the_same_on_every_backend() {
    let mut bits = Bits(21);
    let (norms, residuals) = (bits.normals(600), bits.normals(600));
    let conditions = [condition(&mut bits), condition(&mut bits)];
    let (mut marked, mut unmarked) = (0, 0);
    for_hostile(|backend, scores| {
        let mark = |backend, a: &[f32], b: &[f32], c: &[f32]| {
            let mut marks = vec![7; scores.len()];
            mark_rows(backend, &conditions, a, b, c, &mut marks).expect("equal lengths");
            marks
        };
        let (norms, residuals) = (&norms[..scores.len()], &residuals[..scores.len()]);
        // The hostile value is a score, a norm or a residual.
        for (a, b, c) in [(scores, norms, residuals), (norms, scores, residuals), (norms, residuals, scores)] {
            let marks = mark(backend, a, b, c);
            assert_eq!(marks, mark(Backend::scalar(), a, b, c), "{backend} {scores:?}");
            marked += marks.iter().filter(|&&mark| mark == 1).count();
            unmarked += marks.iter().filter(|&&mark| mark == 0).count();
        }
    });
    assert!(Backend::available().len() == 1 || (marked > 1000 && unmarked > 1000), "{marked} {unmarked}");
}

#[test]
fn a_row_passes_if_one_condition_does_or_nothing_is_known() {
    let only = |constant| RowCondition { constant, norm: 0.0, norm_square: 0.0, residual: 0.0, residual_square: 0.0 };
    let terms = RowCondition { constant: -100.0, norm: 2.0, norm_square: 3.0, residual: 5.0, residual_square: 7.0 };
    for &backend in Backend::available() {
        let mark = |conditions: [RowCondition; 2], score, norm, residual| {
            let mut marks = [7];
            mark_rows(backend, &conditions, &[score], &[norm], &[residual], &mut marks).expect("equal lengths");
            marks[0]
        };
        assert_eq!(mark([only(-1.0), only(-2.0)], 0.9, 1.0, 1.0), 0);
        assert_eq!(mark([only(-1.0), only(-2.0)], 1.0, 1.0, 1.0), 1);
        assert_eq!(mark([only(-2.0), only(-1.0)], 1.0, 1.0, 1.0), 1);
        // 2 * 2 + 3 * 4 + 5 * 3 + 7 * 9 = 94.
        assert_eq!((mark([terms; 2], 5.9, 2.0, 3.0), mark([terms; 2], 6.0, 2.0, 3.0)), (0, 1));
        for unknown in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(mark([only(-1.0); 2], unknown, 1.0, 1.0), 1, "{unknown}");
        }
        assert_eq!(
            mark_rows(backend, &[terms; 2], &[0.0], &[], &[0.0], &mut [0]),
            Err(KernelError::InputTooSmall { required: 1 })
        );
        assert_eq!(
            mark_rows(backend, &[terms; 2], &[0.0], &[0.0], &[0.0], &mut []),
            Err(KernelError::OutputTooSmall { required: 1 })
        );
    }
}
