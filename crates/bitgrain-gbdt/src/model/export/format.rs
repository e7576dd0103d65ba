//! `ModelFormat`: file formats of models.

use std::fmt::{self, Display};
use std::path::Path;
use std::str::FromStr;

use super::ExportError;

/// File format of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelFormat {
    /// Bitgrain's model file, the smallest and fastest to load.
    Bitgrain,
    /// Bitgrain's JSON: complete, and readable by people and scripts.
    Json,
    /// LightGBM's text format.
    Lightgbm,
    /// The JSON of LightGBM's `dump_model`. LightGBM itself cannot load it.
    LightgbmJson,
    /// XGBoost's JSON.
    XgboostJson,
    /// XGBoost's UBJSON.
    XgboostUbj,
    /// ONNX with a `TreeEnsemble`, for onnxruntime 1.20 and later.
    Onnx,
    /// C99 source code in one file.
    C,
    /// Rust source code in one file.
    Rust,
}

impl ModelFormat {
    /// All formats.
    pub const ALL: [Self; 9] = [
        Self::Bitgrain,
        Self::Json,
        Self::Lightgbm,
        Self::LightgbmJson,
        Self::XgboostJson,
        Self::XgboostUbj,
        Self::Onnx,
        Self::C,
        Self::Rust,
    ];

    /// Name of the format, as on the command line and in Python.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bitgrain => "bitgrain",
            Self::Json => "json",
            Self::Lightgbm => "lightgbm",
            Self::LightgbmJson => "lightgbm-json",
            Self::XgboostJson => "xgboost-json",
            Self::XgboostUbj => "xgboost-ubj",
            Self::Onnx => "onnx",
            Self::C => "c",
            Self::Rust => "rust",
        }
    }

    /// File extension that selects the format, if one does.
    #[must_use]
    pub const fn extension(self) -> Option<&'static str> {
        match self {
            Self::Bitgrain => Some("bitgrain"),
            Self::Json => Some("json"),
            Self::Lightgbm => Some("txt"),
            // The extension .json belongs to our own format.
            Self::LightgbmJson | Self::XgboostJson => None,
            Self::XgboostUbj => Some("ubj"),
            Self::Onnx => Some("onnx"),
            Self::C => Some("c"),
            Self::Rust => Some("rs"),
        }
    }

    /// Returns the format that the extension of a path selects; `Bitgrain` if the extension is unknown.
    ///
    /// ```
    /// use bitgrain_gbdt::model::ModelFormat;
    /// assert_eq!(ModelFormat::of_path("model.TXT"), ModelFormat::Lightgbm);
    /// assert_eq!(ModelFormat::of_path("model"), ModelFormat::Bitgrain);
    /// ```
    #[must_use]
    pub fn of_path(path: impl AsRef<Path>) -> Self {
        let extension = path.as_ref().extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let is_of = |format: &Self| format.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension));
        Self::ALL.into_iter().find(is_of).unwrap_or(Self::Bitgrain)
    }
}

impl Display for ModelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ModelFormat {
    type Err = ExportError;

    fn from_str(name: &str) -> Result<Self, ExportError> {
        let is_named = |format: &Self| format.name().eq_ignore_ascii_case(&name.replace('_', "-"));
        Self::ALL.into_iter().find(is_named).ok_or_else(|| ExportError::UnknownFormat { name: name.to_owned() })
    }
}
