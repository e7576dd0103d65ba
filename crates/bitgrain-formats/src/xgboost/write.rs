//! Writer of JSON and UBJSON models, in the layout of XGBoost 2.1, which later versions read.

use std::fmt::Write;

use super::{BoosterModel, Model, Tree};

/// A value of the file. Lists of numbers have a type, which UBJSON writes once per list.
enum Value {
    Text(String),
    Integer(i64),
    List(Vec<Value>),
    Object(Vec<(&'static str, Value)>),
    Strings(Vec<(String, String)>),
    F32(Vec<f32>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
}

impl Model {
    /// Returns the model as JSON, as `save_model` writes it.
    ///
    /// Infinite thresholds are written as 1E39, which readers of f32 numbers round to infinity.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.value().write_json(&mut out);
        out
    }

    /// Returns the model as UBJSON, big-endian, as `save_model` writes it.
    #[must_use]
    pub fn to_ubjson(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.value().write_ubjson(&mut out);
        out
    }

    fn value(&self) -> Value {
        let learner = &self.learner;
        let param = &learner.learner_model_param;
        let text = |text: &str| Value::Text(text.to_owned());
        let strings = |list: &[String]| Value::List(list.iter().map(|item| text(item)).collect());
        let pairs = |map: &super::Attributes| {
            Value::Strings(map.iter().map(|(key, value)| (key.clone(), value.clone())).collect())
        };
        let sizes = Value::Object(vec![
            ("base_score", text(&param.base_score)),
            ("boost_from_average", text("1")),
            ("num_class", text(&param.num_class)),
            ("num_feature", text(&param.num_feature)),
            ("num_target", text(&param.num_target)),
        ]);
        let mut objective = vec![("name", text(&learner.objective.name))];
        for (key, map) in [
            ("poisson_regression_param", &learner.objective.poisson_regression_param),
            ("pseudo_huber_param", &learner.objective.pseudo_huber_param),
            ("quantile_loss_param", &learner.objective.quantile_loss_param),
            ("reg_loss_param", &learner.objective.reg_loss_param),
            ("softmax_multiclass_param", &learner.objective.softmax_multiclass_param),
            ("tweedie_regression_param", &learner.objective.tweedie_regression_param),
        ] {
            if !map.is_empty() {
                objective.push((key, pairs(map)));
            }
        }
        let outputs = self.trees().tree_info.iter().max().map_or(1, |&last| last as usize + 1);
        let booster = vec![
            ("model", self.trees().value(outputs, &param.num_feature)),
            ("name", text(&learner.gradient_booster.name)),
        ];
        let learner = vec![
            ("attributes", pairs(&learner.attributes)),
            ("feature_names", strings(&learner.feature_names)),
            ("feature_types", strings(&learner.feature_types)),
            ("gradient_booster", Value::Object(booster)),
            ("learner_model_param", sizes),
            ("objective", Value::Object(objective)),
        ];
        let version = self.version.iter().map(|&part| Value::Integer(part.into())).collect();
        Value::Object(vec![("learner", Value::Object(learner)), ("version", Value::List(version))])
    }
}

impl BoosterModel {
    fn value(&self, outputs: usize, features: &str) -> Value {
        let count = |count: usize| Value::Text(count.to_string());
        let sizes = vec![("num_parallel_tree", count(1)), ("num_trees", count(self.trees.len()))];
        // XGBoost reads these two lists only without a common type.
        let integer = |index: usize| Value::Integer(i64::from(narrow(index)));
        let rounds = (0..=self.trees.len()).step_by(outputs.max(1)).map(integer).collect();
        let info = self.tree_info.iter().map(|&output| integer(output as usize)).collect();
        let trees = self.trees.iter().enumerate().map(|(id, tree)| tree.value(id, features)).collect();
        Value::Object(vec![
            ("gbtree_model_param", Value::Object(sizes)),
            ("iteration_indptr", Value::List(rounds)),
            ("tree_info", Value::List(info)),
            ("trees", Value::List(trees)),
        ])
    }
}

impl Tree {
    fn value(&self, id: usize, features: &str) -> Value {
        let nodes = self.left_children.len();
        // The root's parent is the largest i32.
        let mut parents = vec![i32::MAX; nodes];
        for (parent, children) in self.left_children.iter().zip(&self.right_children).enumerate() {
            for child in [children.0, children.1] {
                if let Some(of_child) = usize::try_from(*child).ok().and_then(|child| parents.get_mut(child)) {
                    *of_child = narrow(parent);
                }
            }
        }
        let text = |text: &str| Value::Text(text.to_owned());
        let sizes = Value::Object(vec![
            ("num_deleted", text("0")),
            ("num_feature", text(features)),
            ("num_nodes", Value::Text(nodes.to_string())),
            ("size_leaf_vector", text("1")),
        ]);
        let indices = |list: &[u32]| Value::I32(list.iter().map(|&index| narrow(index as usize)).collect());
        let long =
            |list: &[u64]| Value::I64(list.iter().map(|&size| i64::try_from(size).unwrap_or(i64::MAX)).collect());
        Value::Object(vec![
            ("base_weights", Value::F32(self.base_weights.clone())),
            ("categories", indices(&self.categories)),
            ("categories_nodes", indices(&self.categories_nodes)),
            ("categories_segments", long(&self.categories_segments)),
            ("categories_sizes", long(&self.categories_sizes)),
            ("default_left", Value::U8(self.default_left().iter().map(|&left| left.into()).collect())),
            ("id", Value::Integer(i64::from(narrow(id)))),
            ("left_children", Value::I32(self.left_children.clone())),
            ("loss_changes", Value::F32(self.loss_changes.clone())),
            ("parents", Value::I32(parents)),
            ("right_children", Value::I32(self.right_children.clone())),
            ("split_conditions", Value::F32(self.split_conditions.clone())),
            ("split_indices", indices(&self.split_indices)),
            ("split_type", Value::U8(self.split_type.clone())),
            ("sum_hessian", Value::F32(self.sum_hessian.clone())),
            ("tree_param", sizes),
        ])
    }
}

/// Converts an index; models with 2^31 nodes do not fit into memory, let alone into XGBoost.
fn narrow(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The shortest number that reads back as the same f32, with an exponent, as XGBoost writes it.
fn shortest(value: f32) -> String {
    match value {
        // JSON has no infinity; a number beyond f32 is read as one.
        f32::INFINITY => "1E39".into(),
        f32::NEG_INFINITY => "-1E39".into(),
        value => format!("{value:E}"),
    }
}

impl Value {
    fn write_json(&self, out: &mut String) {
        fn list<T>(out: &mut String, items: &[T], mut write: impl FnMut(&mut String, &T)) {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(out, item);
            }
            out.push(']');
        }
        // Writing to a string cannot fail.
        match self {
            Self::Text(text) => out.push_str(&quoted(text)),
            Self::Integer(value) => out.push_str(&value.to_string()),
            Self::List(items) => list(out, items, |out, item| item.write_json(out)),
            Self::F32(items) => list(out, items, |out, &item| out.push_str(&shortest(item))),
            Self::I32(items) => list(out, items, |out, item| out.push_str(&item.to_string())),
            Self::I64(items) => list(out, items, |out, item| out.push_str(&item.to_string())),
            Self::U8(items) => list(out, items, |out, item| out.push_str(&item.to_string())),
            Self::Object(fields) => {
                for (at, (key, value)) in fields.iter().enumerate() {
                    let _ = write!(out, "{}\"{key}\":", if at == 0 { "{" } else { "," });
                    value.write_json(out);
                }
                out.push('}');
            }
            Self::Strings(pairs) => {
                let pairs: Vec<String> =
                    pairs.iter().map(|(key, it)| format!("{}:{}", quoted(key), quoted(it))).collect();
                let _ = write!(out, "{{{}}}", pairs.join(","));
            }
        }
    }

    fn write_ubjson(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => {
                out.push(b'S');
                put_text(out, text);
            }
            Self::Integer(value) => {
                out.push(b'L');
                out.extend(value.to_be_bytes());
            }
            Self::List(items) => {
                out.extend(b"[#");
                put_len(out, items.len());
                items.iter().for_each(|item| item.write_ubjson(out));
            }
            Self::Object(fields) => {
                out.push(b'{');
                for (key, value) in fields {
                    put_text(out, key);
                    value.write_ubjson(out);
                }
                out.push(b'}');
            }
            Self::Strings(pairs) => {
                out.push(b'{');
                for (key, value) in pairs {
                    put_text(out, key);
                    out.push(b'S');
                    put_text(out, value);
                }
                out.push(b'}');
            }
            Self::F32(items) => put_typed(out, b'd', items, |value| value.to_be_bytes()),
            Self::I32(items) => put_typed(out, b'l', items, |value| value.to_be_bytes()),
            Self::I64(items) => put_typed(out, b'L', items, |value| value.to_be_bytes()),
            Self::U8(items) => put_typed(out, b'U', items, |value| value.to_be_bytes()),
        }
    }
}

fn put_len(out: &mut Vec<u8>, len: usize) {
    out.push(b'L');
    out.extend((len as u64).to_be_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    // XGBoost reads lengths of keys and strings only as 64-bit integers.
    put_len(out, text.len());
    out.extend(text.as_bytes());
}

fn put_typed<T: Copy, const N: usize>(out: &mut Vec<u8>, marker: u8, items: &[T], bytes: impl Fn(T) -> [u8; N]) {
    out.extend([b'[', b'$', marker, b'#']);
    put_len(out, items.len());
    items.iter().for_each(|&item| out.extend(bytes(item)));
}

#[cfg(test)]
mod tests {
    use super::super::{Booster, Learner, LearnerParam, Objective};
    use super::*;

    fn model() -> Model {
        let mut tree = Tree::for_nodes(3);
        tree.left_children = vec![1, -1, -1];
        tree.right_children = vec![2, -1, -1];
        tree.split_indices = vec![1, 0, 0];
        tree.split_conditions = vec![f32::INFINITY, -1.5e-7, 1e20];
        tree.base_weights = vec![0.0; 3];
        tree.loss_changes = vec![1.5, 0.0, 0.0];
        tree.sum_hessian = vec![3.0, 1.0, 2.0];
        tree.split_type = vec![1, 0, 0];
        tree.categories = vec![3, 70];
        tree.categories_nodes = vec![0];
        tree.categories_segments = vec![0];
        tree.categories_sizes = vec![2];
        tree.set_default_left(vec![true, false, false]);
        let booster = BoosterModel { trees: vec![tree], tree_info: vec![0], ..BoosterModel::default() };
        Model {
            learner: Learner {
                attributes: [("a \"quoted\" key".to_owned(), "grün".repeat(50))].into(),
                feature_names: vec!["x".into(), "größe".into()],
                feature_types: vec!["float".into(), "c".into()],
                gradient_booster: Booster {
                    name: "gbtree".into(),
                    model: booster,
                    gbtree: None,
                    weight_drop: Vec::new(),
                },
                learner_model_param: LearnerParam::new(0.5, 0, 2, 1),
                objective: Objective { name: "binary:logistic".into(), ..Objective::default() },
            },
            version: vec![2, 1, 4],
        }
    }

    #[test]
    fn both_encodings_read_back() {
        let model = model();
        assert_eq!(Model::parse(model.to_json().as_bytes()), Ok(model.clone()));
        assert_eq!(Model::parse(&model.to_ubjson()), Ok(model));
    }
}
