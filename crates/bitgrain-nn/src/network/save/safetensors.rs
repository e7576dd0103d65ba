//! The safetensors file: master weights and codes as tensors, layers in the metadata. Spec: `spec/network.md`.

use std::collections::HashMap;

use bitgrain_codec::weight::{PartsBuf, WeightFormat};
use bitgrain_formats::crc32c;
use bitgrain_formats::safetensors::{Dtype, Header, TensorInfo, TensorSpec, Writer, order};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::saved::{Saved, SavedParameter, SavedVersion, format_text, parse_format};
use super::{NetworkFileError, is_known, json, version_of};
use crate::TensorEncoding;
use crate::model::{Entry, NOTE_KEY, Note, SCALES, ZEROS, dtype_of};
use crate::network::Shape;

/// Metadata keys.
const NETWORK: &str = "bitgrain.network";
const CHECKSUM: &str = "bitgrain.network.crc32c";

/// Suffixes of the names of a parameter's other arrays.
const IMPORTANCE: &str = ":importance";
const MOMENTS: &str = ":moments";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    version: u32,
    input: Shape,
    layers: Vec<Value>,
    parameters: Vec<ParameterText>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParameterText {
    name: String,
    rows: usize,
    cols: usize,
    active: String,
    master: bool,
    importance: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input_range: Option<[f32; 2]>,
    #[serde(default, skip_serializing_if = "is_absent")]
    moments: bool,
    versions: Vec<VersionText>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionText {
    format: String,
    stored: String,
}

/// Omits entries at their default, because version 1 does not have them.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_absent(there: &bool) -> bool {
    !there
}

/// Returns the name of a version's codes.
fn version_name(parameter: &str, format: &str) -> String {
    format!("{parameter}:{format}")
}

fn float_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub(super) fn write(saved: &Saved) -> Result<Vec<u8>, NetworkFileError> {
    let mut note = Note { version: 1, ..Note::default() };
    let mut arrays: Vec<(TensorSpec, Vec<u8>)> = Vec::new();
    for one in &saved.parameters {
        let (rows, cols) = (one.rows as u64, one.cols as u64);
        let mut add =
            |name: String, dtype, shape: Vec<u64>, bytes| arrays.push((TensorSpec { name, dtype, shape }, bytes));
        if let Some(master) = &one.master {
            add(one.name.clone(), Dtype::F32, vec![rows, cols], float_bytes(master));
        }
        if let Some(importance) = &one.importance {
            add(format!("{}{IMPORTANCE}", one.name), Dtype::F32, vec![cols], float_bytes(importance));
        }
        if let Some(moments) = &one.moments {
            add(format!("{}{MOMENTS}", one.name), Dtype::F32, vec![moments.len() as u64], float_bytes(moments));
        }
        for version in &one.versions {
            let name = version_name(&one.name, &format_text(version.format));
            let storage = TensorEncoding::Weights(version.stored);
            let SavedVersion { parts: PartsBuf { codes, scales, zeros }, .. } = version;
            let per_row = |len: usize| {
                if rows > 1 && (len as u64).is_multiple_of(rows) {
                    vec![rows, len as u64 / rows]
                } else {
                    vec![len as u64]
                }
            };
            match dtype_of(&storage) {
                Some(dtype) => add(name.clone(), dtype, vec![rows, cols], codes.clone()),
                None => add(name.clone(), Dtype::U8, per_row(codes.len()), codes.clone()),
            }
            if !scales.is_empty() {
                add(format!("{name}{SCALES}"), Dtype::F32, per_row(scales.len()), float_bytes(scales));
            }
            if !zeros.is_empty() {
                add(format!("{name}{ZEROS}"), Dtype::U8, per_row(zeros.len()), zeros.clone());
            }
            if !storage.is_self_evident() {
                note.weights.insert(name, Entry { format: version.stored.to_string(), shape: vec![rows, cols] });
            }
        }
    }
    let mut specs: Vec<TensorSpec> = arrays.iter().map(|(spec, _)| spec.clone()).collect();
    order(&mut specs);
    let arrays: HashMap<String, Vec<u8>> = arrays.into_iter().map(|(spec, bytes)| (spec.name, bytes)).collect();
    let text = serde_json::to_string(&text(saved)?)?;
    let data: Vec<u8> =
        specs.iter().flat_map(|spec| arrays.get(&spec.name).map_or(&[][..], |bytes| bytes)).copied().collect();
    let sum = crc32c(&[text.as_bytes(), &data].concat());
    let mut metadata = vec![(NETWORK.to_owned(), text), (CHECKSUM.to_owned(), sum.to_string())];
    if !note.weights.is_empty() {
        metadata.push((NOTE_KEY.to_owned(), serde_json::to_string(&note)?));
    }
    let mut writer = Writer::new(Vec::new(), &metadata, &specs)?;
    for spec in &specs {
        writer.write(arrays.get(&spec.name).map_or(&[][..], |bytes| bytes))?;
    }
    Ok(writer.finish()?)
}

fn text(saved: &Saved) -> Result<Text, NetworkFileError> {
    let parameter = |one: &SavedParameter| ParameterText {
        name: one.name.clone(),
        rows: one.rows,
        cols: one.cols,
        active: format_text(one.active),
        master: one.master.is_some(),
        importance: one.importance.is_some(),
        input_range: one.input_range,
        moments: one.moments.is_some(),
        versions: one.versions.iter().map(version_text).collect(),
    };
    Ok(Text {
        version: version_of(saved),
        input: saved.input.clone(),
        layers: saved.layers.iter().map(serde_json::to_value).collect::<Result<_, _>>()?,
        parameters: saved.parameters.iter().map(parameter).collect(),
    })
}

fn version_text(version: &SavedVersion) -> VersionText {
    VersionText { format: format_text(version.format), stored: format_text(version.stored) }
}

/// Arrays of a file.
struct Arrays<'a> {
    bytes: &'a [u8],
    tensors: HashMap<&'a str, &'a TensorInfo>,
    used: usize,
}

impl<'a> Arrays<'a> {
    fn get(&mut self, parameter: &str, name: &str, dtype: Option<Dtype>) -> Result<&'a [u8], NetworkFileError> {
        let found = self.tensors.get(name).filter(|info| dtype.is_none_or(|dtype| info.dtype == dtype));
        let lacking = NetworkFileError::Weights {
            parameter: parameter.to_owned(),
            what: "arrays that are missing from the file",
        };
        self.used += 1;
        Ok(&self.bytes[found.ok_or(lacking)?.range()])
    }

    fn floats(&mut self, parameter: &str, name: &str) -> Result<Vec<f32>, NetworkFileError> {
        let bytes = self.get(parameter, name, Some(Dtype::F32))?;
        Ok(bytes.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect())
    }

    /// Reads the parameter's array with the suffix `ending`, if the parameter declares it.
    fn floats_if(&mut self, there: bool, parameter: &str, ending: &str) -> Result<Option<Vec<f32>>, NetworkFileError> {
        there.then(|| self.floats(parameter, &format!("{parameter}{ending}"))).transpose()
    }

    fn parts(&mut self, parameter: &str, name: &str, stored: WeightFormat) -> Result<PartsBuf, NetworkFileError> {
        let dtype = dtype_of(&TensorEncoding::Weights(stored)).unwrap_or(Dtype::U8);
        let codes = self.get(parameter, name, Some(dtype))?.to_vec();
        let (scales, zeros) = (format!("{name}{SCALES}"), format!("{name}{ZEROS}"));
        let has = |name: &str| self.tensors.contains_key(name);
        let (has_scales, has_zeros) = (has(&scales), has(&zeros));
        Ok(PartsBuf {
            codes,
            scales: if has_scales { self.floats(parameter, &scales)? } else { Vec::new() },
            zeros: if has_zeros { self.get(parameter, &zeros, Some(Dtype::U8))?.to_vec() } else { Vec::new() },
        })
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<Saved, NetworkFileError> {
    #[derive(Deserialize)]
    struct Head {
        version: Option<u64>,
    }
    let header = Header::parse(bytes)?;
    let lacking = |reason| NetworkFileError::NotANetwork { reason };
    let text = header.metadata_value(NETWORK).ok_or(lacking("its metadata lacks `bitgrain.network`"))?;
    let sum = header.metadata_value(CHECKSUM).and_then(|sum| sum.parse().ok());
    let stored: u32 = sum.ok_or(lacking("its metadata lacks a checksum"))?;
    let data = usize::try_from(header.data_start).ok().and_then(|start| bytes.get(start..)).unwrap_or_default();
    let found = crc32c(&[text.as_bytes(), data].concat());
    if stored != found {
        return Err(NetworkFileError::Checksum { stored, found });
    }
    match serde_json::from_str::<Head>(text)?.version {
        Some(version) if is_known(version) => {}
        Some(found) => return Err(NetworkFileError::Version { found }),
        None => return Err(lacking("it has no version")),
    }
    let text: Text = serde_json::from_str(text)?;
    let tensors = header.tensors.iter().map(|info| (info.name.as_str(), info)).collect();
    let mut arrays = Arrays { bytes, tensors, used: 0 };
    let layers = json::layers(text.layers, "")?;
    let mut parameters = Vec::with_capacity(text.parameters.len());
    for one in text.parameters {
        let mut versions = Vec::with_capacity(one.versions.len());
        for version in &one.versions {
            let (format, stored) =
                (parse_format(&one.name, &version.format)?, parse_format(&one.name, &version.stored)?);
            let parts = arrays.parts(&one.name, &version_name(&one.name, &version.format), stored)?;
            versions.push(SavedVersion { format, stored, parts });
        }
        parameters.push(SavedParameter {
            active: parse_format(&one.name, &one.active)?,
            master: if one.master { Some(arrays.floats(&one.name, &one.name)?) } else { None },
            importance: arrays.floats_if(one.importance, &one.name, IMPORTANCE)?,
            input_range: one.input_range,
            moments: arrays.floats_if(one.moments, &one.name, MOMENTS)?,
            rows: one.rows,
            cols: one.cols,
            versions,
            name: one.name,
        });
    }
    if arrays.used != header.tensors.len() {
        return Err(lacking("it has tensors that do not belong to a parameter"));
    }
    Ok(Saved { input: text.input, layers, parameters })
}
