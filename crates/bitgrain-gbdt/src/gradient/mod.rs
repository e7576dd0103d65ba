//! Gradients in f32, or as pairs of 8 or 4 bits.

/// How gradients are kept while a tree is grown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GradientPrecision {
    /// As they are.
    #[default]
    F32,
    /// A signed byte for the gradient and a byte for the hessian.
    Pair8,
    /// Four bits for each.
    Pair4,
    /// By the size of the data.
    Auto,
}
