//! `Model`: a model file in memory.

use std::path::Path;

use bitgrain::nn::model::convert::{Conversion as Report, FormatChoice, FormatOptions, Recipe, quantize_to_bytes};
use bitgrain::nn::model::plan::{Goal, PrecisionPlan, candidates, plan};
use bitgrain::nn::model::stats::stats;
use bitgrain::nn::{Container, ModelFile, ModelTensor, Progress};
use js_sys::Function;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use crate::error::{Result, js};
use crate::{callback, options, source};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** A tensor of a model file. */
export interface TensorInfo {
  name: string;
  /** Outermost dimension first. */
  shape: number[];
  encoding: string;
  bytes: number;
  elements: number;
  bitsPerWeight: number;
}

/** Statistics of a tensor's finite values, with a histogram of equal bins from `min` to `max`. */
export interface TensorStats {
  count: number;
  min: number;
  max: number;
  mean: number;
  std: number;
  zeros: number;
  non_finite: number;
  histogram: number[];
}

/** Options of a conversion: a format, or a goal that formats are chosen for. */
export interface QuantizeOptions {
  /** Format of the weight matrices, such as `q4_k` or `int4/32@mse`. */
  to?: string;
  /** Maximum size of all tensors in bytes; formats are chosen per tensor to minimize the error. */
  budget?: number;
  /** Maximum relative RMS error; formats are chosen per tensor to minimize the size. */
  maxRmse?: number;
  /** Tensors to keep unchanged (`"keep"`) or to convert to another format, by name or pattern; the first match applies. */
  rules?: [pattern: string, format: string][];
}

/** Error of a tensor relative to its original; `snr_db` is null for an exact copy. */
export interface Figures {
  cosine: number;
  max_error: number;
  rmse: number;
  relative_rmse: number;
  exact: boolean;
  snr_db: number | null;
}

/** Report of a conversion. */
export interface ConversionReport {
  tensors: {
    name: string;
    shape: number[];
    from: string;
    to: string;
    bytes_before: number;
    bytes_after: number;
    figures: Figures | null;
    remark: string | null;
  }[];
  overall: Figures;
  tensor_rmse: number;
  bytes_before: number;
  bytes_after: number;
  file_bytes: number;
}

/** Chosen formats, and the trade-off between size and error. */
export interface Plan {
  formats: Record<string, string>;
  bytes: number;
  relative_rmse: number;
  curve: { bytes: number; relative_rmse: number }[];
}

/** Called with the bytes done since the last call. The work ends with an error if the function returns `false`. */
export type OnProgress = (bytes: number) => boolean | void;
"#;

/// A GGUF, safetensors, npy or npz file in memory.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Model(ModelFile);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TensorReport<'a> {
    name: &'a str,
    shape: &'a [u64],
    encoding: String,
    bytes: u64,
    elements: u64,
    bits_per_weight: f64,
}

impl<'a> From<&'a ModelTensor> for TensorReport<'a> {
    fn from(tensor: &'a ModelTensor) -> Self {
        Self {
            name: &tensor.name,
            shape: &tensor.shape,
            encoding: tensor.storage.to_string(),
            bytes: tensor.bytes(),
            elements: tensor.elements(),
            bits_per_weight: tensor.bits_per_weight(),
        }
    }
}

/// Options of a conversion.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct QuantizeOptions {
    to: Option<String>,
    budget: Option<f64>,
    max_rmse: Option<f64>,
    rules: Vec<(String, String)>,
}

#[wasm_bindgen]
impl Model {
    /// Opens a typed array, a buffer, a blob or a file. The name defaults to that of the file.
    pub async fn open(
        #[wasm_bindgen(unchecked_param_type = "Uint8Array | ArrayBuffer | Blob")] source: JsValue,
        name: Option<String>,
    ) -> Result<Self> {
        let name = name.unwrap_or_else(|| source::name(&source, "model"));
        Self::from_bytes(source::read(source).await?, Some(name))
    }

    /// Opens the bytes of a file.
    #[wasm_bindgen(js_name = fromBytes)]
    pub fn from_bytes(bytes: Vec<u8>, name: Option<String>) -> Result<Self> {
        ModelFile::from_bytes(name.as_deref().unwrap_or("model"), bytes).map(Self).map_err(js)
    }

    /// Format of the file: `GGUF`, `safetensors`, `npy` or `npz`.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn container(&self) -> String {
        self.0.container().name().to_owned()
    }

    /// Tensors, in the order of the file.
    #[wasm_bindgen(getter, unchecked_return_type = "TensorInfo[]")]
    pub fn tensors(&self) -> Result<JsValue> {
        options::write(&self.0.tensors().iter().map(TensorReport::from).collect::<Vec<_>>())
    }

    /// Decodes a tensor.
    pub fn values(&self, name: &str) -> Result<Vec<f32>> {
        let tensor = self.0.tensor(name).map_err(js)?;
        // Half of the memory that WebAssembly can address.
        const MOST: u64 = 1 << 29;
        if tensor.elements() > MOST {
            let found = tensor.elements();
            return Err(js(format!("tensor `{name}` is too large to decode: {found} values; at most {MOST} fit")));
        }
        tensor.values().map_err(js)
    }

    /// Computes statistics and a histogram of a tensor.
    #[wasm_bindgen(unchecked_return_type = "TensorStats")]
    pub fn stats(&self, name: &str) -> Result<JsValue> {
        options::write(&stats(self.0.tensor(name).map_err(js)?, &()).map_err(js)?)
    }

    /// Chooses formats for a goal without converting the model: measures every tensor in every candidate format.
    #[wasm_bindgen(unchecked_return_type = "Plan")]
    pub fn plan(
        &self,
        output: &str,
        #[wasm_bindgen(unchecked_param_type = "QuantizeOptions")] options: JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "OnProgress")] on_progress: Option<Function>,
    ) -> Result<JsValue> {
        let options: QuantizeOptions = options::read(&options)?;
        let container = Container::of_output(Path::new(output)).map_err(js)?;
        match callback::with(on_progress, || options.recipe(&self.0, container))? {
            (_, Some(plan)) => options::write(&plan),
            (_, None) => Err(js("invalid options: a plan needs a goal; give `budget` or `maxRmse`")),
        }
    }

    /// Quantizes the model. `output` is the name of the result: `.gguf` or `.safetensors`.
    pub fn quantize(
        &self,
        output: &str,
        #[wasm_bindgen(unchecked_param_type = "QuantizeOptions")] options: JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "OnProgress")] on_progress: Option<Function>,
    ) -> Result<Conversion> {
        let options: QuantizeOptions = options::read(&options)?;
        let output = Path::new(output);
        let container = Container::of_output(output).map_err(js)?;
        callback::with(on_progress, || {
            let (recipe, plan) = options.recipe(&self.0, container)?;
            let (bytes, report) = quantize_to_bytes(&self.0, output, &recipe, &Reporter).map_err(js)?;
            Ok(Conversion { bytes, report, plan })
        })
    }
}

impl QuantizeOptions {
    /// Returns the recipe, and the plan it follows if the options state a goal.
    fn recipe(&self, model: &ModelFile, container: Container) -> Result<(Recipe, Option<PrecisionPlan>)> {
        let format = |name: &str| -> Result<FormatChoice> {
            if name == "keep" {
                return Ok(FormatChoice::Keep);
            }
            Ok(FormatChoice::To(FormatOptions::default().resolve(name).map_err(js)?.format))
        };
        let goal = match (&self.to, self.budget, self.max_rmse) {
            (Some(_), None, None) => None,
            (None, Some(budget), None) => Some(Goal::Budget(whole_bytes(budget)?)),
            (None, None, Some(error)) => Some(Goal::MaxError(error)),
            _ => return Err(js("invalid options: give exactly one of `to`, `budget` and `maxRmse`")),
        };
        let mut recipe = Recipe::new(self.to.as_deref().map_or(Ok(FormatChoice::Keep), format)?);
        for (pattern, name) in &self.rules {
            recipe = recipe.rule(pattern, format(name)?);
        }
        let Some(goal) = goal else { return Ok((recipe, None)) };
        let plan = plan(model, container, &candidates(container), goal, &recipe, &Reporter).map_err(js)?;
        Ok((plan.apply(model, recipe).map_err(js)?, Some(plan)))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked: an integer below 2^53")]
fn whole_bytes(budget: f64) -> Result<u64> {
    if budget.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&budget) {
        return Ok(budget as u64);
    }
    Err(js(format!("invalid budget `{budget}`; use an integer number of bytes")))
}

/// Passes progress to the callback.
struct Reporter;

impl Progress for Reporter {
    fn add(&self, bytes: u64) {
        // An answer of `false` cancels, as an error does.
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        if !callback::call(|| Ok(JsValue::from(bytes as f64))) && !callback::has_thrown() {
            callback::throw(js("canceled; nothing was written"));
        }
    }

    fn tensor(&self, _name: &str) {}

    fn stopped(&self) -> bool {
        callback::has_thrown()
    }
}

/// A quantized model file and its error report.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Conversion {
    bytes: Vec<u8>,
    report: Report,
    plan: Option<PrecisionPlan>,
}

#[wasm_bindgen]
impl Conversion {
    /// Content of the file.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    /// Sizes and errors of all tensors.
    #[wasm_bindgen(getter, unchecked_return_type = "ConversionReport")]
    pub fn report(&self) -> Result<JsValue> {
        options::write(&self.report)
    }

    /// Chosen formats, if the options stated a goal.
    #[wasm_bindgen(getter, unchecked_return_type = "Plan | null")]
    pub fn plan(&self) -> Result<JsValue> {
        options::write(&self.plan)
    }
}
