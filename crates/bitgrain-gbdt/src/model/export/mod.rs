//! Export of models to the formats of other programs. Exactness of each format: `docs/guide/export.md`.
//!
//! ```
//! use bitgrain_gbdt::model::{Model, ModelFormat};
//! # let text = "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=0\nobjective=regression\n\
//! #     feature_names=x\nfeature_infos=[0:9]\n\nTree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=0\nthreshold=4.5\n\
//! #     decision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=-0.5 0.25\n\nend of trees\n";
//! # let model = Model::import(text.as_bytes())?;
//! let text = model.export(ModelFormat::Lightgbm)?;
//! assert_eq!(Model::import(&text)?.raw_scores_of(&[4.5]), model.raw_scores_of(&[4.5]));
//! let source = String::from_utf8(model.export(ModelFormat::C)?)?;
//! assert!(source.contains("void bitgrain_predict(const double *row, double *predictions)"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrays;
mod categorical;
mod error;
mod folded;
mod format;
mod lightgbm;
mod onnx;
mod source;
mod threshold;
mod xgboost;

pub use arrays::TreeArrays;
pub use error::ExportError;
pub use format::ModelFormat;

use super::Model;

impl Model {
    /// Returns the model in a format of this or another program.
    ///
    /// # Errors
    /// Returns [`ExportError::Model`] if [`check`](Self::check) fails, [`ExportError::Unsupported`] if the format cannot
    /// express the model exactly.
    pub fn export(&self, format: ModelFormat) -> Result<Vec<u8>, ExportError> {
        self.check()?;
        Ok(match format {
            ModelFormat::Bitgrain => self.to_bytes()?,
            ModelFormat::Json => self.to_json().into_bytes(),
            ModelFormat::Lightgbm => lightgbm::lists(self, format)?.to_text().into_bytes(),
            ModelFormat::LightgbmJson => lightgbm::lists(self, format)?.to_dump().into_bytes(),
            ModelFormat::XgboostJson => xgboost::lists(self, format)?.to_json().into_bytes(),
            ModelFormat::XgboostUbj => xgboost::lists(self, format)?.to_ubjson(),
            ModelFormat::Onnx => onnx::bytes(self, format)?,
            ModelFormat::C => source::c(self).into_bytes(),
            ModelFormat::Rust => source::rust(self).into_bytes(),
        })
    }
}
