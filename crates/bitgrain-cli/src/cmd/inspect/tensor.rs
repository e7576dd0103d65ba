//! Summary of one tensor: storage, statistics and a histogram of its values.

use std::io::Write;

use bitgrain::nn::ModelTensor;
use bitgrain::nn::model::stats::{TensorStats, stats};
use serde_json::json;

use super::{bars, model};
use crate::error::CliError;
use crate::number::{Size, digits, digits_within, ends};
use crate::printable::{printable, shape};
use crate::progress::Bar;

pub(super) fn show(tensor: &ModelTensor, json: bool, out: &mut impl Write) -> Result<(), CliError> {
    let bar = Bar::new(tensor.bytes(), "reading");
    let stats = stats(tensor, &bar)?;
    bar.finish();
    if json {
        let mut report = model::tensor_json(tensor);
        report["stats"] = serde_json::to_value(&stats)?;
        report["stats"]["rms"] = json!(rms(&stats));
        return Ok(writeln!(out, "{report:#}")?);
    }
    let bytes = tensor.bytes();
    writeln!(out, "{}", printable(&tensor.name))?;
    writeln!(out, "  shape      {}", shape(&tensor.shape))?;
    writeln!(out, "  storage    {}, {:.2} bits per weight", tensor.storage, tensor.bits_per_weight())?;
    writeln!(out, "  bytes      {bytes} ({})", Size(bytes))?;
    writeln!(out, "  values     {}", stats.count)?;
    let (min, max) = ends(stats.min, stats.max);
    writeln!(out, "  range      {min} to {max}")?;
    // The mean gets enough digits to lie within the range when rounded.
    let width = f64::from(stats.max) - f64::from(stats.min);
    writeln!(out, "  mean       {}", digits_within(stats.mean, width))?;
    writeln!(out, "  deviation  {}", digits(stats.std))?;
    writeln!(out, "  RMS        {}", digits(rms(&stats)))?;
    writeln!(out, "  zeros      {}", stats.zeros)?;
    if stats.non_finite > 0 {
        writeln!(out, "  not finite {} (NaN or infinite; excluded from the statistics)", stats.non_finite)?;
    }
    if stats.count > stats.non_finite {
        writeln!(out, "\n{}", bars::draw(&stats.histogram, stats.min, stats.max))?;
    }
    Ok(())
}

/// Returns the root mean square, to which relative errors refer.
fn rms(stats: &TensorStats) -> f64 {
    stats.std.hypot(stats.mean)
}
