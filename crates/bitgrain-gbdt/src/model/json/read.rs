//! Reader of JSON models.
//!
//! Nesting is bounded by the parser, category sets by the size of the file, and everything else takes memory in
//! proportion to the file. The result has passed [`Model::check`], which rejects cycles.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::Value;

use crate::model::import::SetBudget;
use crate::model::{
    Child, Comparison, ImportError, Input, InputKind, Leaf, Link, Missing, Model, Output, Rule, Split, Tree,
};

/// Version of the format.
const VERSION: u64 = 1;

/// Returns whether bytes look like the output of [`Model::to_json`]: an object that mentions its version key.
pub(in crate::model) fn detect(bytes: &[u8]) -> bool {
    const KEY: &[u8] = b"\"bitgrain_model\"";
    bytes.trim_ascii_start().starts_with(b"{") && bytes.windows(KEY.len()).any(|word| word == KEY)
}

impl Model {
    /// Reads the JSON that [`to_json`](Self::to_json) writes.
    ///
    /// ```
    /// # use bitgrain_gbdt::model::Model;
    /// # let text = "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=0\nobjective=regression\n\
    /// #     feature_names=x\nfeature_infos=[0:9]\n\nTree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=0\nthreshold=4.5\n\
    /// #     decision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=-0.5 0.25\n\nend of trees\n";
    /// # let model = Model::import(text.as_bytes())?;
    /// assert_eq!(Model::from_json(model.to_json().as_bytes())?, model);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ImportError::Json`] if the bytes are not such JSON, [`ImportError::JsonVersion`] if they are of a newer
    /// version, [`ImportError::Node`] for an invalid split, [`ImportError::TooMany`] if category sets are too large, or
    /// [`ImportError::Model`] if the model is inconsistent.
    pub fn from_json(bytes: &[u8]) -> Result<Self, ImportError> {
        // The version is read first: a newer version may have other fields.
        let Version { bitgrain_model: version } = parse(bytes)?;
        if version != VERSION {
            return Err(ImportError::JsonVersion { version });
        }
        let file: File = parse(bytes)?;
        let index: HashMap<&str, u32> = (0..).zip(&file.features).map(|(at, input)| (&*input.name, at)).collect();
        let mut sets = SetBudget::for_file(bytes.len());
        let mut trees = Vec::with_capacity(file.trees.len());
        for (at, tree) in file.trees.iter().enumerate() {
            let split = |(node, split): (usize, &FileSplit)| split.convert((at, node), &index, &mut sets);
            let splits = tree.splits.iter().enumerate().map(split).collect::<Result<_, _>>()?;
            trees.push(Tree { splits, leaves: tree.leaves.iter().map(FileLeaf::convert).collect() });
        }
        let link = file.link.with(file.slope);
        let model = Self {
            comparison: match file.comparison {
                FileComparison::F32 => Comparison::F32,
                FileComparison::F64 => Comparison::F64,
            },
            output: Output {
                objective: file.objective,
                link: link.ok_or_else(|| invalid("the link `logistic`, and no other, has a slope"))?,
                base_scores: file.base_scores,
                classes: file.classes,
                average: file.average,
            },
            trees,
            inputs: file.features.into_iter().map(Feature::convert).collect(),
            metadata: file.metadata,
        };
        model.check()?;
        Ok(model)
    }
}

fn parse<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, ImportError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let (line, column, text) = (error.line(), error.column(), error.to_string());
        let message = text.strip_suffix(&format!(" at line {line} column {column}")).map(str::to_owned);
        ImportError::Json { line, column, message: message.unwrap_or(text) }
    })
}

/// An error of the whole file.
fn invalid(message: &str) -> ImportError {
    ImportError::Json { line: 1, column: 1, message: message.to_owned() }
}

#[derive(Deserialize)]
struct Version {
    bitgrain_model: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "bitgrain_model")]
    _version: u64,
    objective: String,
    link: FileLink,
    #[serde(default)]
    slope: Option<f64>,
    average: bool,
    base_scores: Vec<f64>,
    classes: Vec<String>,
    comparison: FileComparison,
    features: Vec<Feature>,
    trees: Vec<FileTree>,
    #[serde(default)]
    metadata: BTreeMap<String, String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum FileLink {
    Identity,
    Logistic,
    Softmax,
    Exponential,
    Softplus,
    SignedSquare,
    Step,
}

impl FileLink {
    /// Returns the link function; `None` if a slope is missing or has no meaning.
    fn with(self, slope: Option<f64>) -> Option<Link> {
        let link = match self {
            Self::Logistic => return slope.map(|slope| Link::Logistic { slope }),
            Self::Identity => Link::Identity,
            Self::Softmax => Link::Softmax,
            Self::Exponential => Link::Exponential,
            Self::Softplus => Link::Softplus,
            Self::SignedSquare => Link::SignedSquare,
            Self::Step => Link::Step,
        };
        slope.is_none().then_some(link)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum FileComparison {
    F32,
    F64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Feature {
    name: String,
    kind: FeatureKind,
    #[serde(default)]
    known: Option<Vec<u32>>,
    #[serde(default)]
    labels: Vec<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum FeatureKind {
    Numeric,
    Categorical,
}

impl Feature {
    fn convert(self) -> Input {
        let kind = match self.kind {
            FeatureKind::Numeric => InputKind::Numeric,
            FeatureKind::Categorical => InputKind::Categorical { known: self.known, labels: self.labels },
        };
        Input { name: self.name, kind }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileTree {
    splits: Vec<FileSplit>,
    leaves: Vec<FileLeaf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileLeaf {
    value: f64,
    weight: f64,
    count: u64,
}

impl FileLeaf {
    const fn convert(&self) -> Leaf {
        Leaf { value: self.value, weight: self.weight, count: self.count }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSplit {
    feature: String,
    /// A number, or `inf` or `-inf` as a string: JSON has no infinity.
    #[serde(default)]
    at_most: Option<Value>,
    #[serde(default, rename = "in")]
    inside: Option<Vec<u32>>,
    #[serde(default, rename = "not_in")]
    outside: Option<Vec<u32>>,
    missing: FileMissing,
    missing_left: bool,
    left: FileChild,
    right: FileChild,
    gain: f32,
    value: f64,
    weight: f64,
    count: u64,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum FileMissing {
    Nan,
    NanOrZero,
    Nothing,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum FileChild {
    Split(u32),
    Leaf(u32),
}

impl FileChild {
    const fn convert(self) -> Child {
        match self {
            Self::Split(index) => Child::Split(index),
            Self::Leaf(index) => Child::Leaf(index),
        }
    }
}

impl FileSplit {
    fn convert(
        &self,
        (tree, node): (usize, usize),
        features: &HashMap<&str, u32>,
        sets: &mut SetBudget,
    ) -> Result<Split, ImportError> {
        let wrong = |wrong| ImportError::Node { tree, node, wrong };
        let rule = match (&self.at_most, &self.inside, &self.outside) {
            (Some(threshold), None, None) => {
                Rule::AtMost(number(threshold).ok_or_else(|| wrong("has an invalid threshold"))?)
            }
            (None, Some(codes), None) => Rule::In(sets.set(codes)?),
            (None, None, Some(codes)) => Rule::NotIn(sets.set(codes)?),
            _ => return Err(wrong("needs exactly one of `at_most`, `in` and `not_in`")),
        };
        let feature = features.get(&*self.feature).copied();
        Ok(Split {
            feature: feature.ok_or_else(|| wrong("names a feature that does not exist"))?,
            rule,
            missing: match self.missing {
                FileMissing::Nan => Missing::Nan,
                FileMissing::NanOrZero => Missing::NanOrZero,
                FileMissing::Nothing => Missing::Nothing,
            },
            missing_left: self.missing_left,
            left: self.left.convert(),
            right: self.right.convert(),
            gain: self.gain,
            value: self.value,
            weight: self.weight,
            count: self.count,
        })
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) if text == "inf" => Some(f64::INFINITY),
        Value::String(text) if text == "-inf" => Some(f64::NEG_INFINITY),
        value => value.as_f64(),
    }
}
