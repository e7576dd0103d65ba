//! Ranking: losses that compare the rows of a query.

mod gains;
mod lambdarank;
mod pair_weight;
mod pairs;
mod position_bias;
#[cfg(test)]
mod tests;
mod xendcg;

pub use gains::LabelGain;
pub use lambdarank::LambdaRank;
pub use xendcg::RankXendcg;

pub(crate) use gains::{discounts, label_of};
