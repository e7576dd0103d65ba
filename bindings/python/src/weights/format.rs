//! Weight formats by name.

use bitgrain::codec::weight::{DType, WeightFormat};
use bitgrain::codec::{CodecErr, NonFinite};
use bitgrain::nn::model::convert::{FormatChoice, FormatOptions, FormatOptionsError, Granularity};
use pyo3::prelude::*;

use crate::error::{Raised, Result};

/// Returns all formats: name, kind, bits per weight without separate scales, and block length.
#[pyfunction]
pub(crate) fn weight_formats() -> Vec<(&'static str, &'static str, f64, usize)> {
    let row = |format: WeightFormat| {
        let (kind, bits) = match format {
            WeightFormat::Scaled(scaled) => (kind(scaled.dtype), f64::from(scaled.dtype.bits())),
            _ => ("block", format.bits_per_weight(1, format.block()).unwrap_or(f64::NAN)),
        };
        (format.name(), kind, bits, format.block())
    };
    WeightFormat::all().map(row).collect()
}

fn kind(dtype: DType) -> &'static str {
    match dtype {
        _ if dtype.is_plain() => "float",
        _ if dtype.is_affine() => "affine",
        _ => "scaled",
    }
}

/// Returns the full name of a format with these settings, such as `int4/32@mse`; other functions take full names.
///
/// `strict` rejects settings that do not apply to the format; otherwise they are ignored for it.
#[pyfunction]
#[pyo3(signature = (name, group=None, scale=None, calibrate=None, strict=true))]
pub(crate) fn weight_format(
    name: &str,
    group: Option<usize>,
    scale: Option<&str>,
    calibrate: Option<&str>,
    strict: bool,
) -> Result<String> {
    parse(name)?;
    let scale = match scale {
        None => None,
        Some("none") => Some(Granularity::None),
        Some("tensor") => Some(Granularity::Tensor),
        Some("channel") => Some(Granularity::Channel),
        Some("group") => Some(Granularity::Group),
        Some(other) => {
            return Err(Raised::input(format!("scale cannot be \"{other}\"; choose none, tensor, channel or group")));
        }
    };
    let settings = FormatOptions { scale, group, calibration: calibrate.map(str::parse).transpose()? };
    let resolved = if strict { settings.resolve(name) } else { settings.resolve_override(name) };
    let resolved = resolved.map_err(refused)?;
    if strict {
        settings.reject_unused(&[resolved]).map_err(refused)?;
    }
    Ok(full_name(resolved.format))
}

fn refused(error: FormatOptionsError) -> Raised {
    match error {
        FormatOptionsError::Codec(source) => source.into(),
        other => Raised::input(other.to_string()),
    }
}

/// Parses the full name of a format.
pub(super) fn parse(name: &str) -> Result<WeightFormat> {
    match name.parse::<FormatChoice>() {
        Ok(FormatChoice::To(format)) => Ok(format),
        Ok(FormatChoice::Keep) | Err(CodecErr::UnknownFormat) => Err(unknown(name)),
        Err(error) => Err(error.into()),
    }
}

/// Parses `keep` or the full name of a format.
pub(super) fn parse_choice(name: &str) -> Result<FormatChoice> {
    if name == "keep" { Ok(FormatChoice::Keep) } else { parse(name).map(FormatChoice::To) }
}

/// Returns the full name of a format.
pub(super) fn full_name(format: WeightFormat) -> String {
    FormatChoice::To(format).to_string()
}

/// Parses the handling of NaN and infinities.
pub(super) fn parse_policy(name: &str) -> Result<NonFinite> {
    match name {
        "reject" => Ok(NonFinite::Reject),
        "zero" => Ok(NonFinite::Zero),
        "clamp" => Ok(NonFinite::Clamp),
        other => Err(Raised::input(format!("non_finite cannot be \"{other}\"; choose reject, zero or clamp"))),
    }
}

fn unknown(name: &str) -> Raised {
    let names: Vec<&str> = weight_formats().into_iter().map(|(name, ..)| name).collect();
    Raised::input(format!("unknown weight format \"{name}\"; use one of {}", names.join(", ")))
}
