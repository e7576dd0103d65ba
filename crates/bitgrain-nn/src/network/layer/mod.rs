//! `Layer`: what a network is made of, as values that can be written down.
//!
//! A layer says what it is to do; how many inputs it has follows from what comes before it when a network is built.
//! Each file here holds a layer's settings, its way forward and its way back.

mod activation;
mod attention;
mod chain;
mod conv;
mod dense;
mod embedding;
mod flatten;
mod linear;
mod lstm;
mod norm;
mod pool;
mod positions;
mod recurrent;
mod rnn;
mod rope;
mod sequence;
mod softmax;
mod swiglu;
mod window;

use serde::{Deserialize, Serialize};

use crate::network::NetworkError;
use crate::network::site::Site;
use crate::network::step::Step;
pub use activation::{Activation, Curve};
pub use attention::Attention;
pub(crate) use chain::Chain;
use chain::Residual;
pub use conv::Conv;
pub use dense::Dense;
pub use embedding::Embedding;
pub use lstm::Lstm;
pub use norm::{LayerNorm, RmsNorm};
pub use pool::{Pool, Pooling};
pub use positions::Positions;
pub use rnn::Rnn;
pub use rope::{Pairs, Rope};
pub use sequence::SequenceOutput;
pub(crate) use softmax::shares;
pub use swiglu::SwiGlu;

/// One layer of a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Layer {
    /// A matrix over the last dimension.
    Dense(Dense),
    /// Windows of a signal: `[channels, length]`.
    Conv1d(Conv<1>),
    /// Windows of an image: `[channels, height, width]`.
    Conv2d(Conv<2>),
    /// Windows of a volume: `[channels, depth, height, width]`.
    Conv3d(Conv<3>),
    /// A state over a sequence.
    Rnn(Rnn),
    /// A state with a memory over a sequence.
    Lstm(Lstm),
    /// Rows of a table.
    Embedding(Embedding),
    /// Learned vectors for positions and types, added.
    Positions(Positions),
    /// Multi-head attention.
    Attention(Attention),
    /// Vectors to mean 0 and variance 1.
    LayerNorm(LayerNorm),
    /// Vectors to mean square 1.
    RmsNorm(RmsNorm),
    /// A gated block.
    Swiglu(SwiGlu),
    /// A curve.
    Activation(Activation),
    /// Shares of one along the last dimension.
    Softmax {},
    /// One dimension instead of several.
    Flatten {},
    /// A sequence to one vector.
    Pool(Pool),
    /// Layers whose result is added to what goes in.
    Residual {
        /// The branch.
        layers: Vec<Layer>,
    },
    /// Layers one after another.
    Sequential {
        /// In this order.
        layers: Vec<Layer>,
    },
}

impl Layer {
    /// The kinds there are, as files name them.
    pub const KINDS: [&'static str; 18] = [
        "dense",
        "conv1d",
        "conv2d",
        "conv3d",
        "rnn",
        "lstm",
        "embedding",
        "positions",
        "attention",
        "layer_norm",
        "rms_norm",
        "swiglu",
        "activation",
        "softmax",
        "flatten",
        "pool",
        "residual",
        "sequential",
    ];

    /// A matrix with a bias.
    #[must_use]
    pub const fn dense(outputs: usize) -> Self {
        Self::Dense(Dense { outputs, bias: true })
    }

    /// A curve.
    #[must_use]
    pub const fn curve(curve: Curve) -> Self {
        Self::Activation(Activation { curve })
    }

    /// `max(x, 0)`.
    #[must_use]
    pub const fn relu() -> Self {
        Self::curve(Curve::Relu)
    }

    /// A convolution over images, with padding such that a window of odd size leaves the size as it is.
    #[must_use]
    pub const fn conv2d(channels: usize, kernel: usize) -> Self {
        Self::Conv2d(Conv::new(channels, [kernel; 2]).padded([kernel / 2; 2]))
    }

    /// A state with a memory.
    #[must_use]
    pub const fn lstm(hidden: usize, output: SequenceOutput) -> Self {
        Self::Lstm(Lstm { hidden, output })
    }

    /// A state.
    #[must_use]
    pub const fn rnn(hidden: usize, output: SequenceOutput) -> Self {
        Self::Rnn(Rnn { hidden, output })
    }

    /// Rows of a table.
    #[must_use]
    pub const fn embedding(tokens: usize, outputs: usize) -> Self {
        Self::Embedding(Embedding { tokens, outputs })
    }

    /// Attention with biases, in which every place sees every other.
    #[must_use]
    pub const fn attention(heads: usize) -> Self {
        Self::Attention(Attention { heads, causal: false, bias: true, rope: None })
    }

    /// Attention as in Llama: without biases, each place sees those before it, positions are angles.
    #[must_use]
    pub const fn causal_attention(heads: usize) -> Self {
        let rope = Some(Rope { base: 10_000.0, pairs: Pairs::Neighbours });
        Self::Attention(Attention { heads, causal: true, bias: false, rope })
    }

    /// Vectors to mean 0 and variance 1.
    #[must_use]
    pub const fn layer_norm() -> Self {
        Self::LayerNorm(LayerNorm { epsilon: 1e-5 })
    }

    /// Vectors to mean square 1.
    #[must_use]
    pub const fn rms_norm() -> Self {
        Self::RmsNorm(RmsNorm { epsilon: 1e-5 })
    }

    /// A gated block.
    #[must_use]
    pub const fn swiglu(hidden: usize) -> Self {
        Self::Swiglu(SwiGlu { hidden })
    }

    /// The mean over a sequence.
    #[must_use]
    pub const fn mean_pool() -> Self {
        Self::Pool(Pool { pooling: Pooling::Mean })
    }

    /// Layers whose result is added to what goes in.
    #[must_use]
    pub fn residual(layers: impl Into<Vec<Self>>) -> Self {
        Self::Residual { layers: layers.into() }
    }

    /// What it is, as files name it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Dense(_) => "dense",
            Self::Conv1d(_) => "conv1d",
            Self::Conv2d(_) => "conv2d",
            Self::Conv3d(_) => "conv3d",
            Self::Rnn(_) => "rnn",
            Self::Lstm(_) => "lstm",
            Self::Embedding(_) => "embedding",
            Self::Positions(_) => "positions",
            Self::Attention(_) => "attention",
            Self::LayerNorm(_) => "layer_norm",
            Self::RmsNorm(_) => "rms_norm",
            Self::Swiglu(_) => "swiglu",
            Self::Activation(_) => "activation",
            Self::Softmax {} => "softmax",
            Self::Flatten {} => "flatten",
            Self::Pool(_) => "pool",
            Self::Residual { .. } => "residual",
            Self::Sequential { .. } => "sequential",
        }
    }

    pub(crate) fn build(&self, site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
        match self {
            Self::Dense(layer) => layer.build(site),
            Self::Conv1d(layer) => layer.build(site),
            Self::Conv2d(layer) => layer.build(site),
            Self::Conv3d(layer) => layer.build(site),
            Self::Rnn(layer) => layer.build(site),
            Self::Lstm(layer) => layer.build(site),
            Self::Embedding(layer) => layer.build(site),
            Self::Positions(layer) => layer.build(site),
            Self::Attention(layer) => layer.build(site),
            Self::LayerNorm(layer) => layer.build(site),
            Self::RmsNorm(layer) => layer.build(site),
            Self::Swiglu(layer) => layer.build(site),
            Self::Activation(layer) => Ok(Box::new(layer.clone())),
            Self::Softmax {} => site.last().map(|_| -> Box<dyn Step> { Box::new(softmax::Softmax) }),
            Self::Flatten {} => flatten::build(site),
            Self::Pool(layer) => layer.build(site),
            Self::Residual { layers } => Residual::build(layers, site),
            Self::Sequential { layers } => Ok(Box::new(Chain::build(layers, site)?)),
        }
    }
}
