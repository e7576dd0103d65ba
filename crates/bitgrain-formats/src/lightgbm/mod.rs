//! LightGBM models: text, as written by `save_model`, and the JSON of `dump_model`. Spec: `spec/model.md#lightgbm`.
//!
//! [`Model::parse`] returns the lists of a text file with their lengths checked; it does not interpret them.
//! [`Model::to_text`] and [`Model::to_dump`] write them.
//!
//! ```
//! let text = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=0\nobjective=regression\n\
//!     feature_names=x\nfeature_infos=[0:9]\n\nTree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=0\nthreshold=4.5\n\
//!     decision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=-0.5 0.25\n\nend of trees\n";
//! let model = bitgrain_formats::lightgbm::Model::parse(text.as_bytes())?;
//! assert_eq!(model.trees[0].threshold, [4.5]);
//! assert_eq!(model.trees[0].leaf_value, [-0.5, 0.25]);
//! # Ok::<(), bitgrain_formats::lightgbm::LightgbmError>(())
//! ```

mod dump;
mod error;
mod list;
mod model;
mod tree;
mod write;

pub use error::LightgbmError;
pub use model::Model;
pub use tree::Tree;

/// Returns whether a file starts like a LightGBM text model.
#[must_use]
pub fn detect(bytes: &[u8]) -> bool {
    bytes.starts_with(b"tree\n") || bytes.starts_with(b"tree\r\n")
}
