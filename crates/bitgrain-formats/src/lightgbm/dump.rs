//! Writer of the JSON that LightGBM's `dump_model` returns: nested nodes, for programs that read trees.

use std::fmt::{Display, Write};

use super::{Model, Tree};

/// Infinite thresholds in JSON, as LightGBM writes them.
const INFINITY: f64 = 1e300;

impl Model {
    /// Returns the model as `dump_model` does: a JSON object with one nested object per tree.
    ///
    /// JSON has no infinity: infinite thresholds become ±1e300, as in LightGBM.
    #[must_use]
    pub fn to_dump(&self) -> String {
        let mut out = String::from("{");
        let classes = self.trees_per_iteration;
        field(&mut out, "name", quoted("tree"));
        field(&mut out, "version", quoted("v4"));
        field(&mut out, "num_class", classes);
        field(&mut out, "num_tree_per_iteration", classes);
        field(&mut out, "label_index", 0);
        field(&mut out, "max_feature_idx", self.max_feature_index());
        if let Some(objective) = &self.objective {
            field(&mut out, "objective", quoted(objective));
        }
        field(&mut out, "average_output", self.average_output);
        field(&mut out, "feature_names", array(self.feature_names.iter().map(|name| quoted(name))));
        field(&mut out, "monotone_constraints", "[]");
        field(&mut out, "feature_infos", self.infos());
        field(&mut out, "tree_info", array(self.trees.iter().enumerate().map(|(index, tree)| tree.to_dump(index))));
        let importances = self.importances();
        let importances = importances.iter().map(|(name, count)| format!("{}:{count}", quoted(name)));
        field(&mut out, "feature_importances", format!("{{{}}}", importances.collect::<Vec<_>>().join(",")));
        field(&mut out, "pandas_categorical", self.pandas_categorical.as_deref().unwrap_or("null"));
        out.push('}');
        out
    }

    /// Ranges of the features: numbers from `[min:max]`, or the list of categories.
    fn infos(&self) -> String {
        let entry = |(name, info): (&String, &String)| {
            let range =
                info.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).and_then(|it| it.split_once(':'));
            let parsed = match range {
                Some((low, high)) => (number(low.parse().ok()?), number(high.parse().ok()?), "[]".to_owned()),
                None if info == "none" => return None,
                None => {
                    let codes: Vec<i64> = info.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
                    let (low, high) = (codes.iter().min()?, codes.iter().max()?);
                    (low.to_string(), high.to_string(), array(codes.iter()))
                }
            };
            let (low, high, values) = parsed;
            Some(format!("{}:{{\"min_value\":{low},\"max_value\":{high},\"values\":{values}}}", quoted(name)))
        };
        let entries = self.feature_names.iter().zip(&self.feature_infos).filter_map(entry);
        format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
    }
}

/// Part of a tree that is still to be written.
enum Part {
    Node(i32),
    Text(&'static str),
}

impl Tree {
    fn to_dump(&self, index: usize) -> String {
        let mut out = String::from("{");
        field(&mut out, "tree_index", index);
        field(&mut out, "num_leaves", self.num_leaves);
        field(&mut out, "num_cat", self.n_category_sets());
        field(&mut out, "shrinkage", super::write::Shortest(self.shrinkage.unwrap_or(1.0)));
        out.push_str(",\"tree_structure\":");
        // A stack instead of recursion: a tree may be as deep as it has splits.
        let mut waiting = vec![Part::Node(if self.num_leaves > 1 { 0 } else { -1 })];
        while let Some(part) = waiting.pop() {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Node(node) => match usize::try_from(node) {
                    Ok(split) => {
                        out.push('{');
                        self.split_fields(&mut out, split);
                        out.push_str(",\"left_child\":");
                        waiting.extend([Part::Text("}"), Part::Node(self.right_child[split])]);
                        waiting.extend([Part::Text(",\"right_child\":"), Part::Node(self.left_child[split])]);
                    }
                    Err(_) => self.leaf_object(&mut out, !node),
                },
            }
        }
        out.push('}');
        out
    }

    fn split_fields(&self, out: &mut String, split: usize) {
        let decision = self.decision_type[split];
        let at = |list: &[f64]| number(list.get(split).copied().unwrap_or(0.0));
        field(out, "split_index", split);
        field(out, "split_feature", self.split_feature[split]);
        field(out, "split_gain", at(&self.split_gain));
        if decision & 1 == 0 {
            field(out, "threshold", number(self.threshold[split]));
            field(out, "decision_type", quoted("<="));
        } else {
            let codes: Vec<String> = self.codes(self.threshold[split]).iter().map(u64::to_string).collect();
            field(out, "threshold", quoted(&codes.join("||")));
            field(out, "decision_type", quoted("=="));
        }
        field(out, "default_left", decision & 2 != 0);
        field(out, "missing_type", quoted(["None", "Zero", "NaN", "NaN"][usize::from(decision >> 2 & 3)]));
        field(out, "internal_value", at(&self.internal_value));
        field(out, "internal_weight", at(&self.internal_weight));
        field(out, "internal_count", self.internal_count.get(split).copied().unwrap_or(0));
    }

    fn leaf_object(&self, out: &mut String, leaf: i32) {
        let leaf = usize::try_from(leaf).unwrap_or(0);
        out.push('{');
        // LightGBM leaves out the index and the weight of the leaf of a tree without splits.
        if self.num_leaves > 1 {
            field(out, "leaf_index", leaf);
        }
        field(out, "leaf_value", number(self.leaf_value[leaf]));
        if self.num_leaves > 1 {
            field(out, "leaf_weight", number(self.leaf_weight.get(leaf).copied().unwrap_or(0.0)));
        }
        field(out, "leaf_count", self.leaf_count.get(leaf).copied().unwrap_or(0));
        out.push('}');
    }

    /// Codes of the category set that a split refers to by its threshold.
    fn codes(&self, threshold: f64) -> Vec<u64> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index that was written as f64")]
        let words = self.category_words(threshold as usize).unwrap_or_default();
        let of_word = |(at, word): (usize, &u32)| {
            let (word, first) = (*word, at as u64 * 32);
            (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| first + bit)
        };
        words.iter().enumerate().flat_map(of_word).collect()
    }
}

fn field(out: &mut String, name: &str, value: impl Display) {
    let comma = if out.ends_with('{') { "" } else { "," };
    // Writing to a string cannot fail.
    let _ = write!(out, "{comma}\"{name}\":{value}");
}

fn array(items: impl IntoIterator<Item = impl Display>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("[{}]", items.join(","))
}

fn number(value: f64) -> String {
    super::write::Shortest(value.clamp(-INFINITY, INFINITY)).to_string()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
