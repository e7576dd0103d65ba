//! `Layer`: serializable descriptions of layers.
//!
//! A layer stores its settings only; the number of inputs follows from the preceding layer when a network is built.
//! Each file here holds a layer's settings, its forward pass and its backward pass.

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
pub use activation::{Activation, ActivationFunction};
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
pub(crate) use softmax::softmax;
pub use swiglu::SwiGlu;

/// A layer of a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Layer {
    /// Fully connected layer over the last dimension.
    Dense(Dense),
    /// Convolution of a signal: `[channels, length]`.
    Conv1d(Conv<1>),
    /// Convolution of an image: `[channels, height, width]`.
    Conv2d(Conv<2>),
    /// Convolution of a volume: `[channels, depth, height, width]`.
    Conv3d(Conv<3>),
    /// Recurrent layer.
    Rnn(Rnn),
    /// Long short-term memory.
    Lstm(Lstm),
    /// Lookup table for tokens.
    Embedding(Embedding),
    /// Learned embeddings of positions and token types, added to the input.
    Positions(Positions),
    /// Multi-head self-attention.
    Attention(Attention),
    /// Layer normalization.
    LayerNorm(LayerNorm),
    /// Root-mean-square normalization.
    RmsNorm(RmsNorm),
    /// Gated feed-forward block.
    Swiglu(SwiGlu),
    /// Element-wise activation function.
    Activation(Activation),
    /// Softmax along the last dimension.
    Softmax {},
    /// Merges all dimensions into one.
    Flatten {},
    /// Reduces a sequence to one vector.
    Pool(Pool),
    /// Layers whose output is added to their input.
    Residual {
        /// Layers of the branch, in order.
        layers: Vec<Layer>,
    },
    /// A sequence of layers.
    Sequential {
        /// The layers, in order.
        layers: Vec<Layer>,
    },
}

impl Layer {
    /// All kinds, as named in files.
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

    /// Creates a fully connected layer with a bias.
    #[must_use]
    pub const fn dense(outputs: usize) -> Self {
        Self::Dense(Dense { outputs, bias: true })
    }

    /// Creates an activation layer.
    #[must_use]
    pub const fn activation(function: ActivationFunction) -> Self {
        Self::Activation(Activation { function })
    }

    /// Creates a layer that computes `max(x, 0)`.
    #[must_use]
    pub const fn relu() -> Self {
        Self::activation(ActivationFunction::Relu)
    }

    /// Creates a convolution of images. The padding preserves the image size if the kernel size is odd.
    #[must_use]
    pub const fn conv2d(channels: usize, kernel: usize) -> Self {
        Self::Conv2d(Conv::new(channels, [kernel; 2]).with_padding([kernel / 2; 2]))
    }

    /// Creates an LSTM layer.
    #[must_use]
    pub const fn lstm(hidden: usize, output: SequenceOutput) -> Self {
        Self::Lstm(Lstm { hidden, output })
    }

    /// Creates a recurrent layer.
    #[must_use]
    pub const fn rnn(hidden: usize, output: SequenceOutput) -> Self {
        Self::Rnn(Rnn { hidden, output })
    }

    /// Creates a lookup table.
    #[must_use]
    pub const fn embedding(tokens: usize, outputs: usize) -> Self {
        Self::Embedding(Embedding { tokens, outputs })
    }

    /// Creates bidirectional attention with biases.
    #[must_use]
    pub const fn attention(heads: usize) -> Self {
        Self::Attention(Attention { heads, causal: false, bias: true, rope: None })
    }

    /// Creates attention as in Llama: causal, without biases, with rotary position embeddings.
    #[must_use]
    pub const fn causal_attention(heads: usize) -> Self {
        let rope = Some(Rope { base: 10_000.0, pairs: Pairs::Neighbors });
        Self::Attention(Attention { heads, causal: true, bias: false, rope })
    }

    /// Creates a layer normalization.
    #[must_use]
    pub const fn layer_norm() -> Self {
        Self::LayerNorm(LayerNorm { epsilon: 1e-5 })
    }

    /// Creates a root-mean-square normalization.
    #[must_use]
    pub const fn rms_norm() -> Self {
        Self::RmsNorm(RmsNorm { epsilon: 1e-5 })
    }

    /// Creates a gated feed-forward block.
    #[must_use]
    pub const fn swiglu(hidden: usize) -> Self {
        Self::Swiglu(SwiGlu { hidden })
    }

    /// Creates a layer that averages a sequence.
    #[must_use]
    pub const fn mean_pool() -> Self {
        Self::Pool(Pool { pooling: Pooling::Mean })
    }

    /// Creates a residual branch.
    #[must_use]
    pub fn residual(layers: impl Into<Vec<Self>>) -> Self {
        Self::Residual { layers: layers.into() }
    }

    /// Returns the kind, as named in files.
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
