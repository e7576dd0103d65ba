//! Writer of the text format.

use std::fmt::{Display, Write};

use super::{Model, Tree};

impl Model {
    /// Returns the model in the text format of `save_model`, version 4.
    ///
    /// Names and other strings are written unchanged; LightGBM separates feature names by spaces.
    ///
    /// ```
    /// # let text = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=0\nobjective=regression\n\
    /// #     feature_names=x\nfeature_infos=[0:9]\n\nTree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=0\nthreshold=4.5\n\
    /// #     decision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=-0.5 0.25\n\nend of trees\n";
    /// use bitgrain_formats::lightgbm::Model;
    /// let model = Model::parse(text.as_bytes())?;
    /// assert_eq!(Model::parse(model.to_text().as_bytes())?.trees, model.trees);
    /// # Ok::<(), bitgrain_formats::lightgbm::LightgbmError>(())
    /// ```
    #[must_use]
    pub fn to_text(&self) -> String {
        let trees: Vec<String> = self.trees.iter().enumerate().map(|(index, tree)| tree.to_text(index)).collect();
        let mut out = String::new();
        line(&mut out, "tree", None::<u8>);
        line(&mut out, "version", Some("v4"));
        line(&mut out, "num_class", Some(self.trees_per_iteration));
        line(&mut out, "num_tree_per_iteration", Some(self.trees_per_iteration));
        line(&mut out, "label_index", Some(0));
        line(&mut out, "max_feature_idx", Some(self.max_feature_index()));
        if let Some(objective) = &self.objective {
            line(&mut out, "objective", Some(objective));
        }
        if self.average_output {
            line(&mut out, "average_output", None::<u8>);
        }
        line(&mut out, "feature_names", Some(self.feature_names.join(" ")));
        line(&mut out, "feature_infos", Some(self.feature_infos.join(" ")));
        // LightGBM finds the trees by these sizes in bytes, so that it can parse them in parallel.
        list(&mut out, "tree_sizes", trees.iter().map(String::len));
        out.push('\n');
        out.extend(trees);
        out.push_str("end of trees\n\nfeature_importances:\n");
        for (name, count) in self.importances() {
            line(&mut out, name, Some(count));
        }
        out.push_str("\nparameters:\n");
        for (key, value) in &self.parameters {
            out.push_str(&format!("[{key}: {value}]\n"));
        }
        out.push_str("end of parameters\n\npandas_categorical:");
        out.push_str(self.pandas_categorical.as_deref().unwrap_or("null"));
        out.push('\n');
        out
    }

    pub(super) fn max_feature_index(&self) -> usize {
        self.feature_names.len().saturating_sub(1)
    }

    /// Features that are split on with their numbers of splits, most used first.
    pub(super) fn importances(&self) -> Vec<(&str, usize)> {
        let mut counts: Vec<(&str, usize)> = self.feature_names.iter().map(|name| (name.as_str(), 0)).collect();
        for &feature in self.trees.iter().flat_map(|tree| &tree.split_feature) {
            if let Some((_, count)) = counts.get_mut(feature as usize) {
                *count += 1;
            }
        }
        counts.retain(|&(_, count)| count > 0);
        counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        counts
    }
}

impl Tree {
    fn to_text(&self, index: usize) -> String {
        let mut out = format!("Tree={index}\n");
        line(&mut out, "num_leaves", Some(self.num_leaves));
        line(&mut out, "num_cat", Some(self.n_category_sets()));
        if self.num_leaves > 1 {
            list(&mut out, "split_feature", self.split_feature.iter());
            list(&mut out, "split_gain", self.split_gain.iter().copied().map(Shortest));
            list(&mut out, "threshold", self.threshold.iter().copied().map(Shortest));
            list(&mut out, "decision_type", self.decision_type.iter());
            list(&mut out, "left_child", self.left_child.iter());
            list(&mut out, "right_child", self.right_child.iter());
        }
        list(&mut out, "leaf_value", self.leaf_value.iter().copied().map(Shortest));
        list(&mut out, "leaf_weight", self.leaf_weight.iter().copied().map(Shortest));
        list(&mut out, "leaf_count", self.leaf_count.iter());
        if self.num_leaves > 1 {
            list(&mut out, "internal_value", self.internal_value.iter().copied().map(Shortest));
            list(&mut out, "internal_weight", self.internal_weight.iter().copied().map(Shortest));
            list(&mut out, "internal_count", self.internal_count.iter());
        }
        if self.n_category_sets() > 0 {
            list(&mut out, "cat_boundaries", self.cat_boundaries.iter());
            list(&mut out, "cat_threshold", self.cat_threshold.iter());
        }
        line(&mut out, "is_linear", Some(u8::from(self.is_linear)));
        if let Some(shrinkage) = self.shrinkage {
            line(&mut out, "shrinkage", Some(Shortest(shrinkage)));
        }
        out.push_str("\n\n");
        out
    }

    /// Number of category sets.
    #[must_use]
    pub fn n_category_sets(&self) -> usize {
        self.cat_boundaries.len().saturating_sub(1)
    }
}

/// The shortest decimal number that reads back as the same f64, with an exponent if it is very large or small.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shortest(pub(super) f64);

impl Display for Shortest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(value) = *self;
        // Integers are written without a fraction, as by LightGBM.
        if value.fract() == 0.0 && value.abs() < 1e16 { write!(f, "{value}") } else { write!(f, "{value:?}") }
    }
}

fn line(out: &mut String, name: &str, value: Option<impl Display>) {
    out.push_str(name);
    if let Some(value) = value {
        // Writing to a string cannot fail.
        let _ = write!(out, "={value}");
    }
    out.push('\n');
}

/// Writes a list, unless it is empty: the reader skips what is missing.
fn list<T: Display>(out: &mut String, name: &str, values: impl IntoIterator<Item = T>) {
    let mut values = values.into_iter();
    let Some(first) = values.next() else { return };
    let _ = write!(out, "{name}={first}");
    for value in values {
        let _ = write!(out, " {value}");
    }
    out.push('\n');
}
