//! Writer of JSON models. Numbers round-trip, and splits name their features.

use serde_json::{Map, Value, json};

use crate::model::{Child, Comparison, Input, InputKind, Leaf, Link, Missing, Model, Rule, Split, Tree};

impl Model {
    /// Returns the model as indented JSON, which [`from_json`](Self::from_json) reads back.
    ///
    /// ```
    /// # use bitgrain_gbdt::model::Model;
    /// # let text = "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=0\nobjective=regression\n\
    /// #     feature_names=x\nfeature_infos=[0:9]\n\nTree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=0\nthreshold=4.5\n\
    /// #     decision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=-0.5 0.25\n\nend of trees\n";
    /// # let model = Model::import(text.as_bytes())?;
    /// let json: serde_json::Value = serde_json::from_str(&model.to_json())?;
    /// assert_eq!(json["trees"][0]["splits"][0]["feature"], "x");
    /// assert_eq!(json["trees"][0]["splits"][0]["at_most"], 4.5);
    /// assert_eq!(json["trees"][0]["splits"][0]["left"], serde_json::json!({"leaf": 0}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_json(&self) -> String {
        let output = &self.output;
        let slope = match output.link {
            Link::Logistic { slope } => Some(slope),
            _ => None,
        };
        let comparison = match self.comparison {
            Comparison::F32 => "f32",
            Comparison::F64 => "f64",
        };
        let model = json!({
            "bitgrain_model": 1,
            "objective": output.objective,
            "link": output.link.name(),
            "slope": slope,
            "average": output.average,
            "base_scores": output.base_scores,
            "classes": output.classes,
            "comparison": comparison,
            "features": self.inputs.iter().map(input).collect::<Vec<_>>(),
            "trees": self.trees.iter().map(|tree| self.tree_json(tree)).collect::<Vec<_>>(),
            "metadata": self.metadata,
        });
        format!("{model:#}")
    }

    fn tree_json(&self, tree: &Tree) -> Value {
        let leaf = |leaf: &Leaf| json!({"value": leaf.value, "weight": leaf.weight, "count": leaf.count});
        json!({
            "splits": tree.splits.iter().map(|split| self.split_json(split)).collect::<Vec<_>>(),
            "leaves": tree.leaves.iter().map(leaf).collect::<Vec<_>>(),
        })
    }

    fn split_json(&self, split: &Split) -> Value {
        let name = self.inputs.get(split.feature as usize).map(|input| input.name.as_str());
        let (rule, argument) = match &split.rule {
            // JSON cannot represent infinity.
            Rule::AtMost(threshold) if threshold.is_infinite() => ("at_most", json!(threshold.to_string())),
            Rule::AtMost(threshold) => ("at_most", json!(threshold)),
            Rule::In(set) => ("in", json!(set.iter().collect::<Vec<_>>())),
            Rule::NotIn(set) => ("not_in", json!(set.iter().collect::<Vec<_>>())),
        };
        let missing = match split.missing {
            Missing::Nan => "nan",
            Missing::NanOrZero => "nan_or_zero",
            Missing::Nothing => "nothing",
        };
        let child = |child| match child {
            Child::Split(index) => json!({"split": index}),
            Child::Leaf(index) => json!({"leaf": index}),
        };
        json!({
            "feature": name,
            rule: argument,
            "missing": missing,
            "missing_left": split.missing_left,
            "left": child(split.left),
            "right": child(split.right),
            "gain": split.gain,
            "value": split.value,
            "weight": split.weight,
            "count": split.count,
        })
    }
}

fn input(input: &Input) -> Value {
    let mut object = Map::from_iter([("name".to_owned(), json!(input.name))]);
    match &input.kind {
        InputKind::Numeric => drop(object.insert("kind".into(), json!("numeric"))),
        InputKind::Categorical { known, labels } => {
            object.insert("kind".into(), json!("categorical"));
            object.insert("known".into(), json!(known));
            object.insert("labels".into(), json!(labels));
        }
    }
    Value::Object(object)
}
