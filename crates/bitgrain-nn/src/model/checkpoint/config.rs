//! `Settings`: the `quantization_config` of a checkpoint.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::CheckpointError;

/// Files that may hold the configuration, most specific last. The second is that of AutoGPTQ, the last that of ModelOpt.
const FILES: [&str; 3] = ["config.json", "quantize_config.json", "hf_quant_config.json"];

const SUPPORTED: &str =
    "gptq, awq, auto-round, fp8, fbgemm_fp8, compressed-tensors, modelopt, mxfp4, bitsandbytes and hqq";

/// Quantization of a checkpoint.
#[derive(Debug)]
pub(super) struct Settings {
    path: PathBuf,
    name: String,
    method: Method,
}

/// A method with the settings that its layout depends on.
#[derive(Debug, PartialEq)]
pub(super) enum Method {
    Gptq(Gptq),
    Awq(Awq),
    Float8(Float8),
    CompressedTensors(Vec<Group>),
    ModelOpt,
    Mxfp4,
    BitsAndBytes,
    Hqq,
}

impl Method {
    /// Returns the name of the method with the settings that its layout depends on.
    fn describe(&self, name: &str) -> String {
        let groups = |group: &Option<u64>| group.map_or("rows".to_owned(), |len| format!("groups of {len}"));
        match self {
            Self::Gptq(Gptq { bits, group, decremented }) => {
                let version = if *decremented { "gptq" } else { "gptq_v2" };
                format!("{name}, {bits} bits, {}, format {version}", groups(group))
            }
            Self::Awq(Awq { group }) => format!("{name}, {}", groups(group)),
            Self::Float8(Float8 { block: Some((rows, cols)) }) => format!("{name}, blocks of {rows} by {cols}"),
            _ => name.to_owned(),
        }
    }
}

/// Settings of GPTQ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gptq {
    pub(super) bits: usize,
    /// `None` for one group per row.
    pub(super) group: Option<u64>,
    /// Whether zero points are stored minus 1, as in the first version of the format.
    pub(super) decremented: bool,
}

/// Settings of AWQ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Awq {
    pub(super) group: Option<u64>,
}

/// Settings of FP8.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Float8 {
    /// Rows and columns of a block with one scale; `None` without blocks.
    pub(super) block: Option<(u64, u64)>,
}

/// A group of compressed-tensors: an encoding that some of the modules have.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub(super) bits: u64,
    pub(super) float: bool,
    pub(super) symmetric: bool,
    pub(super) scaling: GroupScaling,
}

/// Strategy of compressed-tensors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum GroupScaling {
    Tensor,
    Channel,
    Group(u64),
    Block(u64, u64),
}

impl Settings {
    /// Reads the configuration in the folder of the weights, if it describes a quantization.
    pub(super) fn read(weights: &Path) -> Result<Option<Self>, CheckpointError> {
        let folder = weights.parent().unwrap_or(Path::new(""));
        let mut found: Option<Self> = None;
        for file in FILES {
            let path = folder.join(file);
            let Some(mut entries) = read_object(&path)? else { continue };
            let quantization = match file {
                "config.json" => entries.remove("quantization_config").or_else(|| {
                    entries.get_mut("text_config").and_then(Value::as_object_mut)?.remove("quantization_config")
                }),
                "hf_quant_config.json" => entries.remove("quantization").map(|mut quantization| {
                    if let Some(entries) = quantization.as_object_mut() {
                        entries.entry("quant_method").or_insert("modelopt".into());
                    }
                    quantization
                }),
                _ => {
                    entries.entry("quant_method").or_insert("gptq".into());
                    Some(Value::Object(entries))
                }
            };
            let reader = match quantization {
                None | Some(Value::Null) => continue,
                Some(Value::Object(entries)) => Reader { path, entries },
                Some(_) => {
                    let reason = "`quantization_config` is not an object".to_owned();
                    return Err(CheckpointError::Json { path, reason });
                }
            };
            let (name, method) = reader.method()?;
            if let Some(first) = &found {
                if first.method != method {
                    return Err(CheckpointError::Files {
                        path: reader.path,
                        first: first.path.clone(),
                        found: method.describe(&name),
                        expected: first.method.describe(&first.name),
                    });
                }
                continue;
            }
            found = Some(Self { path: reader.path, name, method });
        }
        Ok(found)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the name of the method.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) const fn method(&self) -> &Method {
        &self.method
    }
}

/// Reads an object from a JSON file; `None` if the file does not exist, or is not an object as only other programs
/// would write it.
fn read_object(path: &Path) -> Result<Option<Map<String, Value>>, CheckpointError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(source) => return Err(CheckpointError::Io { path: path.to_owned(), source }),
    };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(entries)) => Ok(Some(entries)),
        Ok(_) => Ok(None),
        Err(error) => Err(CheckpointError::Json { path: path.to_owned(), reason: error.to_string() }),
    }
}

/// A `quantization_config` with typed errors.
struct Reader {
    path: PathBuf,
    entries: Map<String, Value>,
}

impl Reader {
    fn method(&self) -> Result<(String, Method), CheckpointError> {
        let name = self.text(&self.entries, "quant_method").unwrap_or_else(|| {
            // The first versions of compressed-tensors had no name; its groups are unmistakable.
            if self.entries.contains_key("config_groups") { "compressed-tensors" } else { "" }.to_owned()
        });
        let method = match name.as_str() {
            "" => return Err(CheckpointError::MissingKey { path: self.path.clone(), key: "quant_method" }),
            "gptq" => Method::Gptq(self.gptq()?),
            "awq" => Method::Awq(self.awq()?),
            "auto-round" | "auto_round" | "intel/auto-round" => {
                let packing = self.text(&self.entries, "packing_format").unwrap_or_default();
                match packing.as_str() {
                    "auto_round:auto_gptq" | "auto_round:gptq" => Method::Gptq(self.auto_round(true)?),
                    "auto_round" | "auto_round:exllamav2" | "auto_round:gptqmodel" => {
                        Method::Gptq(self.auto_round(false)?)
                    }
                    "auto_round:auto_awq" | "auto_round:awq" => Method::Awq(self.awq()?),
                    _ => {
                        let expected = "auto_round, auto_round:auto_gptq, auto_round:gptqmodel or auto_round:auto_awq";
                        return Err(self.scheme("packing_format", &packing, expected));
                    }
                }
            }
            "fp8" | "fbgemm_fp8" => Method::Float8(self.float8()?),
            "compressed-tensors" => Method::CompressedTensors(self.groups()?),
            "modelopt" | "modelopt_fp4" => {
                let quantized = self.entries.get("quantization").and_then(Value::as_object).unwrap_or(&self.entries);
                match self.text(quantized, "quant_algo").unwrap_or_default().as_str() {
                    "FP8" | "NVFP4" => Method::ModelOpt,
                    other => return Err(self.scheme("quant_algo", other, "FP8 or NVFP4")),
                }
            }
            "mxfp4" => Method::Mxfp4,
            "bitsandbytes" => Method::BitsAndBytes,
            "hqq" => Method::Hqq,
            _ => {
                return Err(CheckpointError::Method { path: self.path.clone(), method: name, supported: SUPPORTED });
            }
        };
        Ok((name, method))
    }

    fn gptq(&self) -> Result<Gptq, CheckpointError> {
        // GPTQModel stores 5, 6 and 7 bits in planes.
        let bits = self.bits(&[2, 3, 4, 8], "2, 3, 4 or 8")?;
        let format = self.text(&self.entries, "checkpoint_format").or_else(|| self.text(&self.entries, "format"));
        let decremented = match format.as_deref().unwrap_or("gptq") {
            "gptq" => true,
            "gptq_v2" => false,
            other => return Err(self.scheme("checkpoint_format", other, "gptq or gptq_v2")),
        };
        Ok(Gptq { bits, group: self.group_size()?, decremented })
    }

    /// Reads the settings of AutoRound's packing, which is the one of GPTQ for every width.
    fn auto_round(&self, decremented: bool) -> Result<Gptq, CheckpointError> {
        let bits = self.bits(&[2, 3, 4, 5, 6, 7, 8], "2 to 8")?;
        match self.entries.get("act_bits").and_then(Value::as_u64) {
            Some(act_bits) if act_bits <= 8 => Err(self.scheme("act_bits", act_bits.to_string(), "16")),
            _ => Ok(Gptq { bits, group: self.group_size()?, decremented }),
        }
    }

    fn bits(&self, known: &[usize], expected: &'static str) -> Result<usize, CheckpointError> {
        let bits = self.need("bits")?.as_u64().and_then(|bits| usize::try_from(bits).ok());
        bits.filter(|bits| known.contains(bits)).ok_or_else(|| self.scheme("bits", self.need_text("bits"), expected))
    }

    fn awq(&self) -> Result<Awq, CheckpointError> {
        if self.need("bits")?.as_u64() != Some(4) {
            return Err(self.scheme("bits", self.need_text("bits"), "4"));
        }
        let version = self.text(&self.entries, "version").unwrap_or_else(|| "gemm".to_owned());
        if !version.eq_ignore_ascii_case("gemm") {
            return Err(self.scheme("version", &version, "gemm"));
        }
        Ok(Awq { group: self.group_size()? })
    }

    fn float8(&self) -> Result<Float8, CheckpointError> {
        let format = self.text(&self.entries, "fmt").unwrap_or_else(|| "e4m3".to_owned());
        if !format.eq_ignore_ascii_case("e4m3") && !format.eq_ignore_ascii_case("float8_e4m3fn") {
            return Err(self.scheme("fmt", &format, "e4m3"));
        }
        let Some(block) = self.entries.get("weight_block_size").filter(|block| !block.is_null()) else {
            return Ok(Float8 { block: None });
        };
        let pair = block.as_array().and_then(|pair| Some((pair.first()?.as_u64()?, pair.get(1)?.as_u64()?)));
        match pair.filter(|(rows, cols)| *rows > 0 && *cols > 0) {
            Some(block) => Ok(Float8 { block: Some(block) }),
            None => Err(self.scheme("weight_block_size", block.to_string(), "two positive integers")),
        }
    }

    /// Returns the groups of compressed-tensors that quantize weights.
    fn groups(&self) -> Result<Vec<Group>, CheckpointError> {
        let stored = self.text(&self.entries, "format").unwrap_or_default();
        const FORMATS: &str = "pack-quantized, int-quantized, float-quantized, naive-quantized, nvfp4-pack-quantized, \
                               mxfp4-pack-quantized or mixed-precision";
        if !FORMATS.split([',', ' ']).any(|known| known == stored) {
            return Err(self.scheme("format", &stored, FORMATS));
        }
        let sparse = self.entries.get("sparsity_config").and_then(|sparse| sparse.get("format"));
        if let Some(format) = sparse.and_then(Value::as_str).filter(|format| *format != "dense") {
            return Err(self.scheme("sparsity_config.format", format, "dense"));
        }
        let groups = self.need("config_groups")?;
        let wrong = || self.scheme("config_groups", groups.to_string(), "an object of groups");
        let mut all = Vec::new();
        for group in groups.as_object().ok_or_else(wrong)?.values() {
            let weights = match group.get("weights") {
                None | Some(Value::Null) => continue,
                Some(weights) => weights.as_object().ok_or_else(wrong)?,
            };
            all.push(self.group(weights)?);
        }
        if all.is_empty() { Err(wrong()) } else { Ok(all) }
    }

    fn group(&self, weights: &Map<String, Value>) -> Result<Group, CheckpointError> {
        let count = |key: &str| weights.get(key).and_then(Value::as_u64).filter(|count| *count > 0);
        let shown = |key: &str| weights.get(key).unwrap_or(&Value::Null).to_string();
        let bits = count("num_bits").filter(|bits| (1..=8).contains(bits));
        let bits = bits.ok_or_else(|| self.scheme("num_bits", shown("num_bits"), "1 to 8"))?;
        let float = match self.text(weights, "type").as_deref() {
            None | Some("int") => false,
            Some("float") => true,
            Some(other) => return Err(self.scheme("type", other, "int or float")),
        };
        let symmetric = weights.get("symmetric").and_then(Value::as_bool).unwrap_or(true);
        let length = count("group_size");
        let strategy = self.text(weights, "strategy");
        let default = if length.is_some() { "group" } else { "tensor" };
        let scaling = match strategy.as_deref().unwrap_or(default) {
            "tensor" => GroupScaling::Tensor,
            "channel" => GroupScaling::Channel,
            "group" | "tensor_group" => GroupScaling::Group(
                length.ok_or_else(|| self.scheme("group_size", shown("group_size"), "a positive integer"))?,
            ),
            "block" => {
                let block = weights.get("block_structure").and_then(Value::as_array);
                let block = block.and_then(|pair| Some((pair.first()?.as_u64()?, pair.get(1)?.as_u64()?)));
                let block = block.filter(|(rows, cols)| *rows > 0 && *cols > 0);
                let (rows, cols) = block
                    .ok_or_else(|| self.scheme("block_structure", shown("block_structure"), "two positive integers"))?;
                GroupScaling::Block(rows, cols)
            }
            other => return Err(self.scheme("strategy", other, "tensor, channel, group, tensor_group or block")),
        };
        Ok(Group { bits, float, symmetric, scaling })
    }

    /// Returns the group length; `None` for -1, one group per row.
    fn group_size(&self) -> Result<Option<u64>, CheckpointError> {
        let value = self.need("group_size")?;
        match (value.as_u64(), value.as_i64()) {
            (Some(length), _) if length > 0 => Ok(Some(length)),
            (_, Some(-1)) => Ok(None),
            _ => Err(self.scheme("group_size", value.to_string(), "a positive integer, or -1 for one group per row")),
        }
    }

    fn need(&self, key: &'static str) -> Result<&Value, CheckpointError> {
        let found = self.entries.get(key).filter(|value| !value.is_null());
        // AWQ's own configuration has other names.
        let other = match key {
            "bits" => "w_bit",
            "group_size" => "q_group_size",
            _ => key,
        };
        found
            .or_else(|| self.entries.get(other))
            .ok_or_else(|| CheckpointError::MissingKey { path: self.path.clone(), key })
    }

    fn need_text(&self, key: &'static str) -> String {
        self.need(key).map_or_else(|_| String::new(), Value::to_string)
    }

    fn text(&self, entries: &Map<String, Value>, key: &str) -> Option<String> {
        entries.get(key)?.as_str().map(str::to_owned)
    }

    fn scheme(&self, key: &str, found: impl AsRef<str>, expected: &'static str) -> CheckpointError {
        let found = found.as_ref().chars().take(80).collect();
        CheckpointError::Scheme { path: self.path.clone(), key: key.to_owned(), found, expected }
    }
}
