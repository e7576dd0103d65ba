//! Summary of a model file: container, metadata, tensors, totals per format.

use std::collections::BTreeMap;
use std::io::Write;

use bitgrain::nn::{ModelFile, ModelTensor, bits_per_weight};
use serde_json::{Map, Value, json};

use super::metadata;
use crate::error::CliError;
use crate::number::Size;
use crate::printable::{counted, printable, shape};
use crate::table::Table;

/// Totals of the tensors with the same storage format.
#[derive(Debug, Default)]
struct Total {
    tensors: u64,
    weights: u64,
    bytes: u64,
}

/// Prints a summary of `model` and a list of `tensors`.
pub(super) fn show(
    model: &ModelFile,
    tensors: &[&ModelTensor],
    json: bool,
    out: &mut impl Write,
) -> Result<(), CliError> {
    if json {
        return Ok(writeln!(out, "{:#}", to_json(model, tensors))?);
    }
    header(model, out)?;
    let entries = metadata::lines(model.metadata());
    if !entries.is_empty() {
        let widest = entries.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0).min(44);
        writeln!(out, "\nmetadata")?;
        for (key, value) in entries {
            writeln!(out, "  {key:<widest$}  {value}")?;
        }
    }
    let mut table = Table::new(&["tensor", "shape", "storage", "bytes", "bits/weight"], 3);
    for tensor in tensors {
        table.row([
            printable(&tensor.name).into_owned(),
            shape(&tensor.shape),
            tensor.storage.to_string(),
            tensor.bytes().to_string(),
            format!("{:.2}", tensor.bits_per_weight()),
        ]);
    }
    if tensors.len() < model.tensors().len() {
        writeln!(out, "\n{} of {} tensors:", tensors.len(), model.tensors().len())?;
    }
    if !tensors.is_empty() {
        writeln!(out, "\n{table}")?;
    }
    let totals = totals(tensors);
    let mut table = Table::new(&["storage", "tensors", "weights", "bytes", "bits/weight"], 1);
    for (storage, Total { tensors, weights, bytes }) in &totals {
        table.row([
            storage.clone(),
            tensors.to_string(),
            weights.to_string(),
            bytes.to_string(),
            format!("{:.2}", bits_per_weight(*bytes, *weights)),
        ]);
    }
    if !totals.is_empty() {
        writeln!(out, "\n{table}")?;
    }
    Ok(())
}

fn header(model: &ModelFile, out: &mut impl Write) -> Result<(), CliError> {
    let version = model.metadata().version.map(|version| format!(" version {version}")).unwrap_or_default();
    let architecture = model.metadata().architecture.as_deref();
    let architecture = architecture.map(|name| format!(", architecture {}", printable(name))).unwrap_or_default();
    writeln!(out, "{}{version}{architecture}", model.container().name())?;
    let files = model.files();
    if files.len() > 1 {
        writeln!(out, "{} in {} files:", printable(&model.path().display().to_string()), files.len())?;
    }
    for file in files {
        let bytes = std::fs::metadata(file).map(|metadata| format!(", {}", Size(metadata.len()))).unwrap_or_default();
        writeln!(out, "{}{bytes}", printable(&file.display().to_string()))?;
    }
    let (weights, bytes) = (model.elements(), model.bytes());
    let bits = bits_per_weight(bytes, weights);
    let tensors = counted(model.tensors().len() as u64, "tensor");
    Ok(writeln!(out, "{tensors}, {weights} weights in {bytes} bytes ({}), {bits:.2} bits per weight", Size(bytes))?)
}

fn totals(tensors: &[&ModelTensor]) -> Vec<(String, Total)> {
    let mut totals: BTreeMap<String, Total> = BTreeMap::new();
    for tensor in tensors {
        let total = totals.entry(tensor.storage.to_string()).or_default();
        total.tensors += 1;
        total.weights += tensor.elements();
        total.bytes += tensor.bytes();
    }
    let mut totals: Vec<_> = totals.into_iter().collect();
    totals.sort_by_key(|(_, total)| std::cmp::Reverse(total.bytes));
    totals
}

fn to_json(model: &ModelFile, tensors: &[&ModelTensor]) -> Value {
    let total = |(storage, total): (String, Total)| {
        json!({
            "storage": storage,
            "tensors": total.tensors,
            "weights": total.weights,
            "bytes": total.bytes,
            "bits_per_weight": bits_per_weight(total.bytes, total.weights),
        })
    };
    json!({
        "container": model.container().name(),
        "version": model.metadata().version,
        "architecture": model.metadata().architecture,
        "files": model.files().iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        "weights": model.elements(),
        "bytes": model.bytes(),
        "bits_per_weight": bits_per_weight(model.bytes(), model.elements()),
        "metadata": model.metadata().entries().into_iter().collect::<Map<_, _>>(),
        "tensors": tensors.iter().map(|tensor| tensor_json(tensor)).collect::<Vec<_>>(),
        "storages": totals(tensors).into_iter().map(total).collect::<Vec<_>>(),
    })
}

/// Converts the properties of a tensor, without its values, to JSON.
pub(super) fn tensor_json(tensor: &ModelTensor) -> Value {
    json!({
        "name": tensor.name,
        "shape": tensor.shape,
        "storage": tensor.storage.to_string(),
        "bytes": tensor.bytes(),
        "bits_per_weight": tensor.bits_per_weight(),
    })
}
