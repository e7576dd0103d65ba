//! `Activation`: element-wise activation functions.

use std::f32::consts::{FRAC_1_SQRT_2, PI};

use bitgrain_kernels::Backend;
use bitgrain_kernels::floats::sigmoid as sigmoid_each;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::network::step::{Back, Run, Step};
use crate::network::{InputBatch, NetworkError};

/// An element-wise activation function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActivationFunction {
    /// `max(x, 0)`.
    Relu,
    /// `x` if positive, else `0.01 · x`.
    LeakyRelu,
    /// `x · Φ(x)` with the normal cumulative distribution function `Φ`, exact.
    Gelu,
    /// GELU in the usual approximation by tanh.
    GeluTanh,
    /// `x · sigmoid(x)`.
    Silu,
    /// Hyperbolic tangent.
    Tanh,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
}

/// An activation function as a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Activation {
    /// The function.
    #[serde(alias = "curve")]
    pub function: ActivationFunction,
}

/// Number of values per task.
const PIECE: usize = 1 << 14;

/// Coefficient of the tanh approximation of GELU.
const CUBIC: f32 = 0.044_715;

impl ActivationFunction {
    /// Returns the function's value at `x`.
    #[must_use]
    pub fn value(self, x: f32) -> f32 {
        match self {
            Self::Relu => x.max(0.0),
            Self::LeakyRelu => x.max(0.01 * x),
            Self::Gelu => x * normal_below(x),
            Self::GeluTanh => 0.5 * x * (1.0 + (root(x) * (1.0 + CUBIC * x * x)).tanh()),
            Self::Silu => x * sigmoid(x),
            Self::Tanh => x.tanh(),
            Self::Sigmoid => sigmoid(x),
        }
    }

    /// Applies the function to each value.
    fn apply(self, values: &mut [f32]) {
        // Match outside the loops, so that each loop has one function and can be vectorized.
        match self {
            Self::Relu => values.iter_mut().for_each(|x| *x = x.max(0.0)),
            Self::Gelu => values.iter_mut().for_each(|x| *x *= normal_below(*x)),
            Self::Silu | Self::Sigmoid => {
                let mut sigmoids = vec![0.0; values.len()];
                sigmoid_each(Backend::best(), values, &mut sigmoids).expect("equal lengths");
                if self == Self::Silu {
                    values.iter_mut().zip(sigmoids).for_each(|(x, sigmoid)| *x *= sigmoid);
                } else {
                    values.copy_from_slice(&sigmoids);
                }
            }
            Self::LeakyRelu | Self::GeluTanh | Self::Tanh => values.iter_mut().for_each(|x| *x = self.value(*x)),
        }
    }

    /// Returns the derivative at `x`; at a kink, the left derivative.
    #[must_use]
    pub fn derivative(self, x: f32) -> f32 {
        match self {
            Self::Relu => f32::from(u8::from(x > 0.0)),
            Self::LeakyRelu => {
                if x > 0.0 {
                    1.0
                } else {
                    0.01
                }
            }
            Self::Gelu => normal_below(x) + x * (-0.5 * x * x).exp() / (2.0 * PI).sqrt(),
            Self::GeluTanh => {
                let tanh = (root(x) * (1.0 + CUBIC * x * x)).tanh();
                0.5 * (1.0 + tanh) + 0.5 * root(x) * (1.0 - tanh * tanh) * (1.0 + 3.0 * CUBIC * x * x)
            }
            Self::Silu => {
                let share = sigmoid(x);
                share * (1.0 + x * (1.0 - share))
            }
            Self::Tanh => 1.0 - x.tanh().powi(2),
            Self::Sigmoid => sigmoid(x) * (1.0 - sigmoid(x)),
        }
    }
}

/// Returns `x · √(2/π)`.
fn root(x: f32) -> f32 {
    x * (2.0 / PI).sqrt()
}

/// Returns the normal cumulative distribution function, within 2e-7.
fn normal_below(x: f32) -> f32 {
    0.5 + 0.5 * erf(x * FRAC_1_SQRT_2)
}

/// Coefficients of `erf(x) / x` for `x²` in 0..=16 as a polynomial in `x² / 8 - 1`, interpolated at Chebyshev nodes.
const ERF: [f32; 17] = [
    0.353_531,
    -0.176_576_17,
    0.131_675,
    -0.107_713_364,
    0.090_212_04,
    -0.074_687_53,
    0.059_855_994,
    -0.046_014_32,
    0.033_217,
    -0.021_662_531,
    0.013_908_146,
    -0.010_085_907,
    0.005_577_363_5,
    -0.001_076_942_1,
    0.000_616_610_75,
    -0.001_372_815_1,
    0.000_596_425_1,
];

/// Error function, within 3e-7. Branchless, so that loops over it are vectorized.
fn erf(x: f32) -> f32 {
    let x = x.clamp(-4.0, 4.0);
    let u = x * x * 0.125 - 1.0;
    x * ERF.iter().rev().fold(0.0, |sum, factor| sum * u + factor)
}

pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

impl Step for Activation {
    fn forward(&self, mut x: InputBatch, run: &mut Run<'_>) -> Result<InputBatch, NetworkError> {
        let function = self.function;
        if run.is_training() {
            run.save(x.clone());
        }
        x.values_mut().par_chunks_mut(PIECE).for_each(|piece| function.apply(piece));
        Ok(x)
    }

    fn backward(&self, mut dy: InputBatch, back: &mut Back<'_>) -> InputBatch {
        let (x, function) = (back.saved(), self.function);
        let piece = |(dy, x): (&mut [f32], &[f32])| {
            dy.iter_mut().zip(x).for_each(|(dy, x)| *dy *= function.derivative(*x));
        };
        dy.values_mut().par_chunks_mut(PIECE).zip(x.values().par_chunks(PIECE)).for_each(piece);
        dy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activations_match_their_definitions() {
        let near = |function: ActivationFunction, x: f32, y: f32| {
            assert!((function.value(x) - y).abs() < 1e-5, "{function:?} at {x}")
        };
        near(ActivationFunction::Gelu, 1.0, 0.841_345);
        near(ActivationFunction::Gelu, -2.0, -0.045_500);
        near(ActivationFunction::GeluTanh, 1.0, 0.841_192);
        near(ActivationFunction::Silu, 1.0, 0.731_059);
        near(ActivationFunction::LeakyRelu, -3.0, -0.03);
        near(ActivationFunction::Sigmoid, -100.0, 0.0);
        near(ActivationFunction::Sigmoid, 100.0, 1.0);
    }

    #[test]
    fn the_error_function_is_accurate_enough() {
        for i in -30_000..=30_000_i16 {
            let x = f32::from(i) * 2e-4;
            let far = f64::from(erf(x)) - libm::erf(f64::from(x));
            assert!(far.abs() < 3e-7, "{x}: {far}");
        }
    }

    #[test]
    fn slices_and_scalars_have_the_same_activation() {
        use ActivationFunction::{Gelu, GeluTanh, LeakyRelu, Relu, Sigmoid, Silu, Tanh};
        let values: Vec<f32> = (-40..40).map(|i| i as f32 * 0.3).collect();
        for function in [Relu, LeakyRelu, Gelu, GeluTanh, Silu, Tanh, Sigmoid] {
            let mut sent = values.clone();
            function.apply(&mut sent);
            assert!(
                sent.iter().zip(&values).all(|(y, x)| (y - function.value(*x)).abs() < 1e-6 * (1.0 + x.abs())),
                "{function:?}"
            );
        }
    }

    #[test]
    fn derivatives_match_the_activation_functions() {
        use ActivationFunction::{Gelu, GeluTanh, LeakyRelu, Relu, Sigmoid, Silu, Tanh};
        for function in [Relu, LeakyRelu, Gelu, GeluTanh, Silu, Tanh, Sigmoid] {
            for x in [-3.0_f32, -1.1, -0.4, 0.3, 0.9, 2.5] {
                let h = 1e-2;
                let measured = (function.value(x + h) - function.value(x - h)) / (2.0 * h);
                assert!(
                    (function.derivative(x) - measured).abs() < 2e-4,
                    "{function:?} at {x}: {} {measured}",
                    function.derivative(x)
                );
            }
        }
    }
}
