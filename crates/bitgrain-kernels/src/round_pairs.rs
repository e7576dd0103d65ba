//! Rounding of gradients and hessians to pairs of codes, optionally stochastic so that sums keep their expectation.

use crate::backend::{Backend, on};
use crate::error::KernelError;
use crate::histogram::Pair8;

/// Parameters of the rounding of pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairSteps {
    /// Codes per unit of gradient: the reciprocal of the step.
    pub grad_codes: f32,
    /// Codes per unit of hessian.
    pub hess_codes: f32,
    /// Largest gradient code, at most 127; the smallest is its negative.
    pub grad_max: i8,
    /// Largest hessian code.
    pub hess_max: u8,
    /// Seed of stochastic rounding; `None` rounds to nearest, ties to even, but positive hessians never to 0.
    pub seed: Option<u32>,
    /// Number that is added to each row index, modulo 2^32: rows before those of this process.
    pub first_row: u32,
}

/// Rounds gradients and hessians to codes. Entry `i` uses the random number of row `rows[i]`, so that its code depends
/// neither on its position nor on the number of processes that share the rows.
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`] unless there is one gradient, one hessian and one row per pair.
pub fn round_pairs(
    backend: Backend,
    steps: &PairSteps,
    grads: &[f32],
    hess: &[f32],
    rows: &[u32],
    out: &mut [Pair8],
) -> Result<(), KernelError> {
    let required = out.len();
    if grads.len() < required || hess.len() < required || rows.len() < required {
        return Err(KernelError::InputTooSmall { required });
    }
    on!(backend, round_pairs(steps, &grads[..required], &hess[..required], &rows[..required], out));
    Ok(())
}

/// Written so that the compiler vectorizes the loop with the instruction set of the caller it is inlined into.
#[inline(always)]
pub(crate) fn round_pairs_body(steps: &PairSteps, grads: &[f32], hess: &[f32], rows: &[u32], out: &mut [Pair8]) {
    let (grad_max, hess_max) = (f32::from(steps.grad_max), f32::from(steps.hess_max));
    let inputs = grads.iter().zip(hess).zip(out);
    let Some(seed) = steps.seed else {
        for ((&grad, &hess), out) in inputs {
            let grad = nearest((grad * steps.grad_codes).clamp(-grad_max, grad_max));
            let code = nearest((hess * steps.hess_codes).clamp(0.0, hess_max));
            *out = pair(grad, code.max(i32::from(hess > 0.0)));
        }
        return;
    };
    for (((&grad, &hess), out), row) in inputs.zip(rows) {
        let random = mixed(steps.first_row.wrapping_add(*row).wrapping_mul(0x9E37_79B9) ^ seed);
        let grad = floor((grad * steps.grad_codes + share(random & 0xFFFF)).clamp(-grad_max, grad_max));
        let hess = floor((hess * steps.hess_codes + share(random >> 16)).clamp(0.0, hess_max));
        *out = pair(grad, hess);
    }
}

/// Converts to a float that is at least 0 and below 1.
#[inline(always)]
fn share(random: u32) -> f32 {
    random.cast_signed() as f32 * (1.0 / 65536.0)
}

/// Rounds down magnitudes below 256: the offset makes the value positive, so that truncation rounds down.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "truncation is intended")]
fn floor(value: f32) -> i32 {
    (value + 256.0) as i32 - 256
}

/// Rounds to nearest, ties to even, magnitudes below 2^22: floats of the constant's size have no fraction bits.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "an integer")]
fn nearest(value: f32) -> i32 {
    const NO_FRACTION: f32 = 12_582_912.0;
    ((value + NO_FRACTION) - NO_FRACTION) as i32
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range of the codes")]
fn pair(grad: i32, hess: i32) -> Pair8 {
    Pair8 { grad: grad as i8, hess: hess as u8 }
}

/// Hashes an integer so that the result depends on every bit: the finalizer of MurmurHash3.
#[inline(always)]
fn mixed(x: u32) -> u32 {
    let x = (x ^ x >> 16).wrapping_mul(0x85EB_CA6B);
    let x = (x ^ x >> 13).wrapping_mul(0xC2B2_AE35);
    x ^ x >> 16
}
