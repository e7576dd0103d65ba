//! How trees are grown, as options.

use bitgrain::gbdt::feature::Quantizer;
use bitgrain::gbdt::gradient::GradientPrecision;
use bitgrain::gbdt::train::{Bagging, Goss, Growth, Params};

use crate::error::CliError;

/// How trees are grown.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "How trees are grown")]
pub(crate) struct Settings {
    /// Rounds: trees, or trees per class.
    #[arg(long, value_name = "N", default_value_t = 100)]
    rounds: usize,
    /// How far each tree goes.
    #[arg(long, value_name = "X", default_value_t = 0.1)]
    learning_rate: f64,
    /// Leaves of a tree at most.
    #[arg(long, value_name = "N", default_value_t = 31)]
    num_leaves: usize,
    /// Splits from the root to a leaf at most; no bound but that of the leaves if not given.
    #[arg(long, value_name = "N")]
    max_depth: Option<usize>,
    /// The order nodes are split in.
    #[arg(long, value_enum, default_value = "leaf")]
    growth: Order,
    /// Rows of a leaf at least.
    #[arg(long, value_name = "N", default_value_t = 20)]
    min_child_samples: usize,
    /// Shrinks leaves by a constant.
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    lambda_l1: f64,
    /// Shrinks leaves in proportion.
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    lambda_l2: f64,
    /// Share of the rows for each tree, drawn at random.
    #[arg(long, value_name = "F", conflicts_with = "goss")]
    bagging: Option<f64>,
    /// Share of the features for each tree, drawn at random.
    #[arg(long, value_name = "F", default_value_t = 1.0)]
    feature_fraction: f64,
    /// Keep the rows with large gradients and a sample of the others.
    #[arg(long)]
    goss: bool,
    /// How gradients are kept: f32, pairs of 8 or 4 bits, or by the size of the data.
    #[arg(long, value_enum, default_value = "f32")]
    precision: Precision,
    /// Maximum number of bins per numeric feature, including the bin of missing values.
    #[arg(long, value_name = "N", default_value_t = 256)]
    max_bin: u32,
    /// Stop after so many rounds without improvement on the validation rows.
    #[arg(long, value_name = "N")]
    early_stopping: Option<usize>,
    /// Chooses samples, roundings, and rows that are held back.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

/// The order nodes are split in.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Order {
    /// The leaf that gains most, next.
    Leaf,
    /// All nodes of a level, then those of the next.
    Depth,
    /// All nodes of a level by one question: the fastest to predict with.
    Symmetric,
}

/// How gradients are kept.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Precision {
    F32,
    /// A byte for the gradient and one for the hessian.
    Pair8,
    /// Four bits for each.
    Pair4,
    Auto,
}

impl Settings {
    pub(crate) fn stops_early(&self) -> bool {
        self.early_stopping.is_some()
    }

    pub(crate) fn params(&self) -> Params {
        Params {
            rounds: self.rounds,
            learning_rate: self.learning_rate,
            num_leaves: self.num_leaves,
            max_depth: self.max_depth,
            growth: match self.growth {
                Order::Leaf => Growth::LeafWise,
                Order::Depth => Growth::DepthWise,
                Order::Symmetric => Growth::Symmetric,
            },
            min_child_samples: self.min_child_samples,
            lambda_l1: self.lambda_l1,
            lambda_l2: self.lambda_l2,
            bagging: self.bagging.map(|fraction| Bagging { fraction, every: 1 }),
            feature_fraction: self.feature_fraction,
            goss: self.goss.then_some(Goss { top_rate: 0.2, other_rate: 0.1 }),
            precision: match self.precision {
                Precision::F32 => GradientPrecision::F32,
                Precision::Pair8 => GradientPrecision::Pair8,
                Precision::Pair4 => GradientPrecision::Pair4,
                Precision::Auto => GradientPrecision::Auto,
            },
            early_stopping: self.early_stopping,
            seed: self.seed,
            ..Params::default()
        }
    }

    pub(crate) fn quantizer(&self) -> Result<Quantizer, CliError> {
        Ok(Quantizer::default().with_max_bin(self.max_bin)?.with_seed(self.seed))
    }
}
