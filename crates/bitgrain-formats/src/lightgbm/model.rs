//! `Model`: header, trees and parameters of a text model.

use super::list::Lines;
use super::{LightgbmError, Tree};

/// Contents of a model file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    /// `v2`, `v3` or `v4`.
    pub version: String,
    /// Trees per round: the number of outputs.
    pub trees_per_iteration: usize,
    /// Objective with its parameters, such as `binary sigmoid:1`; missing for a custom loss.
    pub objective: Option<String>,
    /// Whether scores are averaged over rounds instead of summed.
    pub average_output: bool,
    /// Name of each feature.
    pub feature_names: Vec<String>,
    /// Value range of each feature: `[min:max]`, categories separated by `:`, or `none`.
    pub feature_infos: Vec<String>,
    /// Trees in the order they were grown.
    pub trees: Vec<Tree>,
    /// Training parameters, in file order.
    pub parameters: Vec<(String, String)>,
    /// Categories of each categorical pandas column, as JSON.
    pub pandas_categorical: Option<String>,
}

impl Model {
    /// Parses a text model.
    ///
    /// # Errors
    /// Returns a [`LightgbmError`] that names the line or tree.
    pub fn parse(bytes: &[u8]) -> Result<Self, LightgbmError> {
        if !super::detect(bytes) {
            return Err(LightgbmError::Magic);
        }
        let mut lines = Lines::new(bytes);
        let mut model = Self { trees_per_iteration: 1, ..Self::default() };
        model.read_head(&mut lines)?;
        model.read_rest(&mut lines)?;
        Ok(model)
    }

    /// Reads the header and the trees.
    fn read_head(&mut self, lines: &mut Lines<'_>) -> Result<(), LightgbmError> {
        let (mut max_feature, mut open) = (None, None::<Tree>);
        loop {
            let Some(field) = lines.next()? else {
                return Err(LightgbmError::Truncated { trees: self.trees.len() });
            };
            if field.name == "Tree" || field.name == "end of trees" {
                if let Some(tree) = open.take() {
                    tree.check(self.trees.len())?;
                    self.trees.push(tree);
                }
                if field.name == "end of trees" {
                    break;
                }
                if field.number::<usize>("Tree")? != self.trees.len() {
                    return Err(LightgbmError::TreeOrder { line: field.line, expected: self.trees.len() });
                }
                open = Some(Tree::default());
                continue;
            }
            if let Some(tree) = &mut open {
                tree.take(field)?;
                continue;
            }
            match field.name {
                "version" => self.version = field.value.to_owned(),
                "num_tree_per_iteration" => self.trees_per_iteration = field.number("num_tree_per_iteration")?,
                "max_feature_idx" => max_feature = Some(field.number::<u32>("max_feature_idx")?),
                "objective" => self.objective = Some(field.value.to_owned()),
                "average_output" => self.average_output = true,
                "feature_names" => self.feature_names = words(field.value),
                "feature_infos" => self.feature_infos = words(field.value),
                _ => {}
            }
        }
        self.check_head(max_feature)
    }

    fn check_head(&self, max_feature: Option<u32>) -> Result<(), LightgbmError> {
        if !matches!(&*self.version, "v2" | "v3" | "v4") {
            return Err(LightgbmError::Version { version: self.version.chars().take(40).collect() });
        }
        let place = "the head".to_owned();
        let Some(last) = max_feature else {
            return Err(LightgbmError::Missing { place, field: "max_feature_idx" });
        };
        let (expected, found) = (last as usize + 1, self.feature_names.len());
        if found != expected {
            return Err(LightgbmError::Length { place, field: "feature_names", expected, found });
        }
        Ok(())
    }

    /// Reads the parameters and pandas categories, which follow the trees.
    fn read_rest(&mut self, lines: &mut Lines<'_>) -> Result<(), LightgbmError> {
        let mut in_parameters = false;
        while let Some(field) = lines.next()? {
            match field.name {
                "parameters:" => in_parameters = true,
                "end of parameters" => in_parameters = false,
                // The JSON line is taken whole because it may contain `=`.
                name if name.starts_with("pandas_categorical:") => {
                    let json = name.trim_start_matches("pandas_categorical:");
                    let equals = if field.value.is_empty() { "" } else { "=" };
                    self.pandas_categorical = Some(format!("{json}{equals}{}", field.value));
                }
                name if in_parameters => {
                    let inner = name.strip_prefix('[').unwrap_or(name);
                    let inner = inner.strip_suffix(']').unwrap_or(inner);
                    if let Some((key, value)) = inner.split_once(": ") {
                        self.parameters.push((key.to_owned(), value.to_owned()));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn words(value: &str) -> Vec<String> {
    value.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
