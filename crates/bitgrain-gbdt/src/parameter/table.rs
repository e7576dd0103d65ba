//! The table of hyperparameters, from which options, Python signatures and `docs/parameters.md` are derived.
//!
//! A declaration in the first block is `help, name: type = default, range, aliases` and adds a field to [`Params`].
//! Entries of the second block are parameters of the binning or of a front end.

use super::field::{Field, choices};
use super::{
    FeatureGroups, ForcedSplits, HyperParameter, ParameterKind, ParameterRange as Range, ParameterStage,
    ParameterValue, PerFeature,
};
use crate::feature::Quantizer;
use crate::gradient::GradientPrecision;
use crate::objective::LabelGain;
use crate::train::{Boosting, Growth, MonotoneMethod, SampleStrategy};

macro_rules! parameters {
    (
        training { $( $(#[doc = $help:literal])+ $name:ident: $type:ty = $default:expr, $range:expr, [$($alias:literal),* $(,)?]; )* }
        others { $($other:expr;)* }
    ) => {
        /// Training parameters. Names and defaults are those of LightGBM's scikit-learn interface, except that
        /// `subsample_freq` is 1, so that `subsample` alone has an effect.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Params {
            $( $(#[doc = $help])+ pub $name: $type, )*
        }

        impl Default for Params {
            fn default() -> Self {
                Self { $($name: $default),* }
            }
        }

        impl Params {
            /// Returns the value of a field by name; `None` if the field does not exist.
            #[must_use]
            pub fn get(&self, name: &str) -> Option<ParameterValue> {
                match name {
                    $( stringify!($name) => Some(Field::value(&self.$name)), )*
                    _ => None,
                }
            }

            /// Sets a field to a checked value. Returns whether the value fits the field's type.
            pub(super) fn assign(&mut self, name: &str, value: &ParameterValue) -> bool {
                match name {
                    $( stringify!($name) => Field::read(value).map(|read| self.$name = read).is_some(), )*
                    _ => false,
                }
            }
        }

        /// All hyperparameters, in the order of the help.
        pub const PARAMETERS: &[HyperParameter] = &[
            $( HyperParameter {
                name: stringify!($name),
                aliases: &[$($alias),*],
                stage: ParameterStage::Training,
                kind: <$type as Field>::KIND,
                range: $range,
                default: || Field::value(&Params::default().$name),
                help: concat!($($help),+).trim_ascii_start(),
            }, )*
            $( $other, )*
        ];
    };
}

parameters! {
    training {
        /// Number of boosting rounds; each adds one tree, or one tree per class
        n_estimators: usize = 100, Range::at_least(1), [
            "rounds", "num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round", "num_rounds",
            "nrounds", "num_boost_round", "max_iter",
        ];
        /// Learning rate: shrinkage of each tree's contribution
        learning_rate: f64 = 0.1, Range::Positive, ["shrinkage_rate", "eta"];
        /// Combination of trees: gradient boosting, boosting with dropout of trees (DART), or a random forest
        boosting: Boosting = Boosting::Gbdt, Range::Any, ["boosting_type", "boost", "booster"];
        /// Fraction of the earlier rounds that DART drops in a round
        drop_rate: f64 = 0.1, Range::Probability, ["rate_drop"];
        /// Maximum number of rounds that DART drops at once, 50 by default
        max_drop: Option<usize> = Some(50), Range::Integers(1, 1 << 17), [];
        /// Probability that DART drops no trees in a round
        skip_drop: f64 = 0.5, Range::Probability, [];
        /// Equal chances of all rounds to be dropped by DART, instead of chances proportional to their weights
        uniform_drop: bool = false, Range::Any, [];
        /// Weights of the trees of DART as in XGBoost
        xgboost_dart_mode: bool = false, Range::Any, [];
        /// Random seed of the dropped rounds, combined with seed
        drop_seed: u64 = 4, Range::at_least(0), [];
        /// Maximum number of leaves per tree; symmetric trees round it up to a power of two
        num_leaves: usize = 31, Range::Integers(2, 1 << 17), ["num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"];
        /// Maximum tree depth, unlimited by default; symmetric trees have at most 16 levels
        max_depth: Option<usize> = None, Range::Integers(1, 1 << 17), [];
        /// Tree growth: leaf with the largest gain first, level by level, or symmetric with one split per level
        growth: Growth = Growth::LeafWise, Range::Any, ["grow_policy"];
        /// Minimum number of rows per leaf, estimated from the hessians
        min_child_samples: usize = 20, Range::at_least(0), [
            "min_data_in_leaf", "min_data_per_leaf", "min_data", "min_samples_leaf",
        ];
        /// Minimum sum of hessians per leaf
        min_child_weight: f64 = 1e-3, Range::NonNegative, [
            "min_sum_hessian_in_leaf", "min_sum_hessian_per_leaf", "min_sum_hessian", "min_hessian",
        ];
        /// L1 penalty on leaf values
        reg_alpha: f64 = 0.0, Range::NonNegative, ["lambda_l1", "alpha", "l1_regularization"];
        /// L2 penalty on leaf values
        reg_lambda: f64 = 0.0, Range::NonNegative, ["lambda_l2", "lambda", "l2_regularization"];
        /// Minimum gain of a split
        min_split_gain: f64 = 0.0, Range::NonNegative, ["min_gain_to_split", "gamma", "min_split_loss"];
        /// Fraction of the rows sampled for each tree
        subsample: f64 = 1.0, Range::Fraction, ["bagging_fraction", "bagging", "sub_row"];
        /// Number of rounds that use the same row sample; 0 uses all rows
        subsample_freq: usize = 1, Range::at_least(0), ["bagging_freq"];
        /// Row sampling: uniform, or gradient-based (GOSS) with top_rate and other_rate
        data_sample_strategy: SampleStrategy = SampleStrategy::Bagging, Range::Any, [];
        /// Fraction of the rows that GOSS keeps: those with the largest gradients
        top_rate: f64 = 0.2, Range::Fraction, [];
        /// Fraction of the rows that GOSS samples from those it does not keep
        other_rate: f64 = 0.1, Range::Fraction, [];
        /// Fraction of the features sampled for each tree
        colsample_bytree: f64 = 1.0, Range::Fraction, ["feature_fraction", "sub_feature"];
        /// Fraction of the features sampled for each node
        colsample_bynode: f64 = 1.0, Range::Fraction, [
            "feature_fraction_bynode", "feature_fraction_by_node", "sub_feature_bynode", "max_features",
        ];
        /// Storage of gradients: f32, pairs of 8 or 4 bits, or auto (f32 up to 1 million rows, pair8 up to 10 million)
        gradient_precision: GradientPrecision = GradientPrecision::F32, Range::Any, ["precision"];
        /// Stochastic rounding of quantized gradients; pair4 always uses it
        stochastic_rounding: bool = true, Range::Any, [];
        /// Number of rounds without improvement on the validation data after which training stops; off by default
        early_stopping_rounds: Option<usize> = None, Range::at_least(1), [
            "early_stopping_round", "early_stopping", "n_iter_no_change",
        ];
        /// Minimum improvement of the metric that counts for early stopping
        early_stopping_min_delta: f64 = 0.0, Range::NonNegative, ["min_delta"];
        /// Maximum number of categories of a feature for one-vs-rest splits
        max_cat_to_onehot: usize = 4, Range::at_least(0), [];
        /// Additional L2 penalty for categorical splits
        cat_l2: f64 = 10.0, Range::NonNegative, [];
        /// Smoothing of the category statistics that determine the order of categories
        cat_smooth: f64 = 10.0, Range::NonNegative, [];
        /// Maximum number of categories on the smaller side of a split
        max_cat_threshold: usize = 32, Range::at_least(0), [];
        /// Number of top-ranked rows per query that form pairs with other rows in ranking
        lambdarank_truncation_level: usize = 30, Range::at_least(1), ["lambdarank_num_pair_per_sample"];
        /// Normalization of the gradients of each query in ranking, so that long queries do not dominate
        lambdarank_norm: bool = true, Range::Any, ["lambdarank_normalization"];
        /// Factor of score differences in the logistic function of pairs in ranking
        lambdarank_sigmoid: f64 = 1.0, Range::Positive, [];
        /// Gain of each relevance label in ranking, 2^label - 1 by default
        label_gain: LabelGain = LabelGain::default(), Range::Any, [];
        /// L2 penalty on the biases of positions in ranking
        lambdarank_position_bias_regularization: f64 = 0.0, Range::NonNegative, [];
        /// Direction of each feature's effect on the score: 1 increasing, -1 decreasing, 0 free; by position or by name
        monotone_constraints: PerFeature<i8> = PerFeature::Unset, Range::Any, [
            "monotone_constraint", "mc", "monotonic_cst",
        ];
        /// Bounds that keep trees monotone: basic restricts leaf values most, advanced least
        monotone_constraints_method: MonotoneMethod = MonotoneMethod::Basic, Range::Any, [
            "monotone_constraining_method", "mc_method",
        ];
        /// Penalty on splits of monotone features near the root; levels above it have no such split
        monotone_penalty: f64 = 0.0, Range::NonNegative, ["monotone_splits_penalty", "ms_penalty", "mc_penalty"];
        /// Groups of features that may share a path from the root to a leaf; a feature in no group shares none
        interaction_constraints: FeatureGroups = FeatureGroups::default(), Range::Any, ["interaction_cst"];
        /// Maximum absolute value of a leaf before the learning rate; 0 is unlimited
        max_delta_step: f64 = 0.0, Range::NonNegative, ["max_leaf_output", "max_tree_output"];
        /// Smoothing of each node's value toward its parent's value, which counts as this number of rows
        path_smooth: f64 = 0.0, Range::NonNegative, [];
        /// Extremely randomized trees: one random cut per feature and node is tried
        extra_trees: bool = false, Range::Any, ["extra_tree"];
        /// Random seed of extra_trees
        extra_seed: u64 = 6, Range::at_least(0), [];
        /// Factor for the gain of each feature, by position or by name; 1 by default
        feature_contri: PerFeature<f64> = PerFeature::Unset, Range::Any, [
            "feature_contrib", "fc", "fp", "feature_penalty",
        ];
        /// Factor for all costs of cost-effective gradient boosting
        cegb_tradeoff: f64 = 1.0, Range::NonNegative, [];
        /// Cost of a split per row of its node, subtracted from the gain
        cegb_penalty_split: f64 = 0.0, Range::NonNegative, [];
        /// Cost of the first split on each feature in the whole model, subtracted from the gain
        cegb_penalty_feature_coupled: PerFeature<f64> = PerFeature::Unset, Range::Any, [];
        /// Splits at the top of every tree: a JSON file or object in the format of LightGBM
        forced_splits: ForcedSplits = ForcedSplits::default(), Range::Any, [
            "forcedsplits_filename", "forced_splits_filename", "forced_splits_file", "fs",
        ];
        /// Random seed for sampling and stochastic rounding
        seed: u64 = 0, Range::at_least(0), ["random_state", "random_seed"];
    }
    others {
        HyperParameter {
            name: "max_bin",
            aliases: &["max_bins"],
            stage: ParameterStage::Binning,
            kind: ParameterKind::Integer,
            range: Range::Integers(2, Quantizer::MAX_BIN as u64),
            default: || ParameterValue::from(Quantizer::default().max_bin()),
            help: "Maximum number of bins per numeric feature, including the bin for missing values",
        };
        HyperParameter {
            name: "sample_rows",
            aliases: &["bin_construct_sample_cnt", "subsample_for_bin"],
            stage: ParameterStage::Binning,
            kind: ParameterKind::Integer,
            range: Range::at_least(1),
            default: || ParameterValue::from(Quantizer::default().sample_rows()),
            help: "Maximum number of rows from which bin boundaries are computed",
        };
        HyperParameter {
            name: "objective",
            aliases: &["objective_type", "app", "application", "loss"],
            stage: ParameterStage::Run,
            kind: ParameterKind::Any,
            range: Range::Any,
            default: || ParameterValue::Unset,
            help: "Loss function, inferred from the target by default",
        };
        HyperParameter {
            name: "metric",
            aliases: &["metrics", "metric_types", "eval_metric"],
            stage: ParameterStage::Run,
            kind: ParameterKind::Any,
            range: Range::Any,
            default: || ParameterValue::Unset,
            help: "Evaluation metric, by default the objective's own; early stopping watches the first",
        };
        HyperParameter {
            name: "n_jobs",
            aliases: &["threads", "num_threads", "num_thread", "nthread", "nthreads"],
            stage: ParameterStage::Run,
            kind: ParameterKind::Any,
            range: Range::Any,
            default: || ParameterValue::Unset,
            help: "Number of threads, all cores by default; the model does not depend on it",
        };
        HyperParameter {
            name: "verbose",
            aliases: &["verbosity"],
            stage: ParameterStage::Run,
            kind: ParameterKind::Any,
            range: Range::Any,
            default: || ParameterValue::Unset,
            help: "Verbosity; a value above 0 shows a progress bar",
        };
    }
}

choices!(Growth {
    LeafWise = "leaf" | "leafwise" | "lossguide",
    DepthWise = "depth" | "depthwise" | "level",
    Symmetric = "symmetric" | "symmetrictree" | "oblivious",
});

choices!(Boosting { Gbdt = "gbdt" | "gbrt" | "gbtree", Dart = "dart", Rf = "rf" | "random_forest" });

choices!(MonotoneMethod { Basic = "basic", Intermediate = "intermediate", Advanced = "advanced" });

choices!(SampleStrategy { Bagging = "bagging", Goss = "goss" });

choices!(GradientPrecision { F32 = "f32", Pair8 = "pair8", Pair4 = "pair4", Auto = "auto" });
