//! Import of other libraries' models: small saved files with their scores, and corrupt files.

use std::fs;
use std::path::{Path, PathBuf};

use bitgrain_formats::lightgbm::LightgbmError;
use bitgrain_formats::xgboost::XgboostError;
use bitgrain_gbdt::model::{Comparison, ImportError, InputKind, Link, Missing, Model, ModelError, Rule};
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/foreign_models")
}

fn read(name: &str) -> Vec<u8> {
    let path = folder().join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn text(name: &str) -> String {
    String::from_utf8(read(name)).expect("UTF-8")
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().expect("a list").iter().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect()
}

#[test]
fn scores_are_those_of_the_libraries() {
    let mut count = 0;
    for entry in fs::read_dir(folder()).expect("there") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name.ends_with(".scores.json") {
            continue;
        }
        let model = Model::load(&path).expect(&name);
        let stem = name.split('.').next().expect("a stem");
        let wanted: Value = serde_json::from_str(&text(&format!("{stem}.scores.json"))).expect("JSON");
        // XGBoost adds in f32.
        let tolerance = if name.starts_with("xgboost") { 1e-6 } else { 1e-14 };
        for (row, scores) in
            wanted["rows"].as_array().expect("rows").iter().zip(wanted["scores"].as_array().expect("scores"))
        {
            let (row, scores) = (numbers(row), numbers(scores));
            let found = model.raw_scores_of(&row);
            let near = found.iter().zip(&scores).all(|(a, b)| (a - b).abs() <= tolerance * b.abs().max(1.0));
            assert!(near && found.len() == scores.len(), "{name}: {row:?}: {found:?}, not {scores:?}");
        }
        assert_eq!(Model::from_bytes(&model.to_bytes().expect(&name)).as_ref(), Ok(&model), "{name}");
        count += 1;
    }
    assert_eq!(count, 11);
}

#[test]
fn json_and_ubjson_are_the_same_model() {
    for name in ["xgboost_binary", "xgboost_classes", "xgboost_dart"] {
        let [json, ubjson] = ["json", "ubj"].map(|ending| Model::from_xgboost(&read(&format!("{name}.{ending}"))));
        assert!(json.is_ok());
        assert_eq!(json, ubjson, "{name}");
    }
}

#[test]
fn model_metadata_is_kept() {
    let model = Model::from_lightgbm(&read("lightgbm_binary.txt")).expect("valid");
    assert_eq!(model.comparison, Comparison::F64);
    assert_eq!((&*model.output.objective, model.output.link), ("binary", Link::Logistic { slope: 1.0 }));
    assert_eq!(model.output.classes, ["0", "1"]);
    let names: Vec<&str> = model.inputs.iter().map(|input| &*input.name).collect();
    assert_eq!(names, ["x", "z", "c"]);
    assert!(matches!(model.inputs[2].kind, InputKind::Categorical { .. }));
    assert_eq!(model.metadata["lightgbm.num_leaves"], "4");
    assert!(model.trees.iter().flat_map(|tree| &tree.splits).any(|split| matches!(split.rule, Rule::In(_))));
    let model = Model::from_xgboost(&read("xgboost_classes.ubj")).expect("valid");
    assert_eq!((model.n_outputs(), model.n_rounds(), model.comparison), (3, 6, Comparison::F32));
    assert_eq!((&*model.output.objective, model.output.classes.len()), ("multiclass:3", 3));
    assert_eq!(model.metadata["source"], "XGBoost 3.2.0");
    let forest = Model::from_lightgbm(&read("lightgbm_forest.txt")).expect("valid");
    assert!(forest.output.average);
}

#[test]
fn the_missing_rule_is_read_from_each_split() {
    let kinds = |name| {
        let model = Model::from_lightgbm(&read(name)).expect("valid");
        let splits = model.trees.into_iter().flat_map(|tree| tree.splits);
        let kinds: Vec<Missing> =
            splits.filter(|split| matches!(split.rule, Rule::AtMost(_))).map(|split| split.missing).collect();
        assert!(!kinds.is_empty(), "{name} has splits by numbers");
        kinds
    };
    assert!(kinds("lightgbm_binary.txt").iter().all(|&kind| kind == Missing::Nan));
    assert!(kinds("lightgbm_no_missing.txt").iter().all(|&kind| kind == Missing::Nothing));
    assert!(kinds("lightgbm_zero_missing.txt").iter().all(|&kind| kind == Missing::NanOrZero));
}

/// A LightGBM model of one split, with lines replaced.
fn lightgbm(changes: &[(&str, &str)]) -> Result<Model, ImportError> {
    let mut text = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=0\n\
        objective=regression\nfeature_names=x\nfeature_infos=[0:9]\n\nTree=0\nnum_leaves=2\nnum_cat=0\n\
        split_feature=0\nthreshold=4.5\ndecision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=-0.5 0.25\n\
        is_linear=0\n\nend of trees\n"
        .to_owned();
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    Model::import(text.as_bytes())
}

#[test]
fn objectives_have_their_links() {
    let link = |objective: &str| {
        let output = lightgbm(&[("=regression", &format!("={objective}"))]).expect("valid").output;
        (output.objective, output.link)
    };
    assert_eq!(link("regression sqrt"), ("squared".into(), Link::SignedSquare));
    assert_eq!(link("quantile alpha:0.9"), ("quantile:0.9".into(), Link::Identity));
    assert_eq!(link("tweedie tweedie_variance_power:1.5"), ("tweedie:1.5".into(), Link::Exponential));
    assert_eq!(link("binary sigmoid:2.5"), ("binary".into(), Link::Logistic { slope: 2.5 }));
    assert_eq!(link("cross_entropy_lambda"), ("cross_entropy_lambda".into(), Link::Softplus));
    assert_eq!(lightgbm(&[("objective=regression\n", "")]).expect("valid").output.objective, "custom");
}

#[test]
fn thresholds_near_zero_are_moved_to_the_edge_of_zero() {
    let left = |threshold: &str, value: f64| {
        let model = lightgbm(&[("=4.5", &format!("={threshold}")), ("decision_type=2", "decision_type=10")]);
        model.expect("valid").raw_scores_of(&[value]) == [-0.5]
    };
    for value in [0.0, 1e-36, -1e-36, Missing::ZERO, -Missing::ZERO] {
        assert!(left("1e-40", value) && !left("-1.0000000180025095e-35", value), "{value}");
    }
    assert!(left("-1e-40", -1.1e-35) && !left("1e-40", 1.1e-35));
}

#[test]
fn broken_lightgbm_models_are_rejected_with_a_clear_message() {
    assert!(lightgbm(&[]).is_ok());
    let cases: [(&[(&str, &str)], &str); 15] = [
        (&[("v4", "v9")], "version `v9`"),
        (&[("is_linear=0", "is_linear=1")], "linear trees"),
        (&[("=regression", "=poetry")], "objective `poetry`"),
        (&[("max_feature_idx=0\n", "")], "max_feature_idx"),
        (&[("max_feature_idx=0", "max_feature_idx=4000000000")], "expected 4000000001"),
        (&[("num_tree_per_iteration=1", "num_tree_per_iteration=4000000000")], "scores per row"),
        (&[("num_tree_per_iteration=1", "num_tree_per_iteration=0")], "scores per row"),
        (&[("num_leaves=2", "num_leaves=3")], "expected 2"),
        (&[("num_leaves=2", "num_leaves=99999999999999999999")], "is not a valid number"),
        (&[("-0.5 0.25", "-0.5 x")], "line 18: value `x` of `leaf_value`"),
        (&[("-0.5 0.25", "-0.5 nan")], "leaf 1 of tree 0"),
        (&[("left_child=-1", "left_child=0")], "does not come after its parent"),
        (&[("decision_type=2", "decision_type=3")], "no category set"),
        (&[("decision_type=2", "decision_type=14")], "unknown decision type"),
        (&[("Tree=0", "Tree=7")], "expected `Tree=0`"),
    ];
    for (changes, words) in cases {
        let refused = lightgbm(changes).expect_err(words).to_string();
        assert!(refused.contains(words), "{refused}");
    }
    let refused = lightgbm(&[("end of trees\n", "")]);
    assert_eq!(refused, Err(ImportError::Lightgbm(LightgbmError::Truncated { trees: 0 })));
    let refused = lightgbm(&[("split_feature=0", "split_feature=1")]);
    assert_eq!(refused, Err(ImportError::Model(ModelError::Feature { tree: 0, split: 0, feature: 1, inputs: 1 })));
}

/// An XGBoost model, with the value at a JSON path replaced.
fn xgboost(path: &str, new: Value) -> Result<Model, ImportError> {
    let mut model: Value = serde_json::from_slice(&read("xgboost_binary.json")).expect("JSON");
    *model.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = new;
    Model::import(model.to_string().as_bytes())
}

#[test]
fn broken_xgboost_models_are_rejected_with_a_clear_message() {
    let tree = "/learner/gradient_booster/model/trees/0";
    let at = |field: &str| format!("{tree}/{field}");
    for (path, new, words) in [
        ("/learner/gradient_booster/name".into(), json!("gblinear"), "`gblinear`"),
        ("/learner/objective/name".into(), json!("reg:poetry"), "`reg:poetry`"),
        ("/learner/learner_model_param/base_score".into(), json!("much"), "value `much` of `base_score`"),
        ("/learner/learner_model_param/base_score".into(), json!("[1E-1,2E-1]"), "2 numbers for 1 scores"),
        ("/learner/learner_model_param/base_score".into(), json!("[1E0]"), "base score 0"),
        ("/learner/learner_model_param/num_class".into(), json!("4000000000"), "scores per row"),
        ("/learner/learner_model_param/num_feature".into(), json!("4000000000"), "features"),
        (at("tree_param/size_leaf_vector"), json!("3"), "several outputs"),
        (at("tree_param/num_nodes"), json!("1000000"), "expected 1000000"),
        (at("left_children/0"), json!(0), "has two parents"),
        (at("left_children/0"), json!(77), "does not exist"),
        (at("left_children/0"), json!(-1), "has only one child"),
        (at("split_indices/0"), json!(3), "there are 3"),
        (at("split_indices/0"), json!(-1), "invalid value"),
        (at("split_conditions/0"), Value::Null, "invalid type"),
        (at("categories/0"), json!(1 << 24), "2^24"),
        (at("categories_segments/0"), json!(u64::MAX), "has no categories"),
        (at("categories_nodes/0"), json!(70), "has no categories"),
    ] {
        let refused = xgboost(&path, new).expect_err(&path).to_string();
        assert!(refused.contains(words), "{path}: {refused}");
    }
}

#[test]
fn large_category_codes_take_proportional_memory() {
    let mut model: Value = serde_json::from_slice(&read("xgboost_binary.json")).expect("JSON");
    let tree = &mut model["learner"]["gradient_booster"]["model"]["trees"][0];
    let count = 200;
    tree["categories"] = json!(vec![(1 << 24) - 1; count]);
    tree["categories_nodes"] = json!((0..count).collect::<Vec<_>>());
    tree["categories_segments"] = json!((0..count).collect::<Vec<_>>());
    tree["categories_sizes"] = json!(vec![1; count]);
    let refused = Model::import(model.to_string().as_bytes());
    assert!(matches!(refused, Err(ImportError::TooMany { what: "bytes of category sets", .. })), "{refused:?}");
}

#[test]
fn other_files_are_not_models() {
    for bytes in [&b""[..], b"tree", b"treehouse\n", b"[1]", b"binf\x00\x01", b"\xff\xfe"] {
        assert_eq!(Model::import(bytes), Err(ImportError::Kind), "{}", bytes.escape_ascii());
    }
    assert!(matches!(Model::import(b"{}"), Err(ImportError::Xgboost(XgboostError::Json { .. }))));
    assert!(matches!(Model::import(b"{L\0"), Err(ImportError::Xgboost(XgboostError::Ubjson { .. }))));
}

/// Truncation at every length and every flipped bit give an error, or a model that can be traversed.
#[test]
fn damaged_files_are_errors_or_models() {
    let try_out = |bytes: &[u8]| {
        if let Ok(model) = Model::import(bytes) {
            assert_eq!(model.check(), Ok(()));
            assert_eq!(model.raw_scores_of(&[0.5, f64::NAN, 3.0]).len(), model.n_outputs());
        }
    };
    for name in ["lightgbm_binary.txt", "xgboost_binary.json", "xgboost_dart.ubj"] {
        let bytes = read(name);
        // Lines after the trees of a LightGBM file are not checked.
        let end = bytes.windows(12).position(|window| window == b"end of trees").unwrap_or(bytes.len());
        for len in 0..end {
            assert!(Model::import(&bytes[..len]).is_err(), "{name} cut at {len}");
        }
        let mut copy = bytes.clone();
        for at in 0..end {
            for new in (0..8).map(|bit| bytes[at] ^ (1 << bit)).chain([0xff]) {
                copy[at] = new;
                try_out(&copy);
            }
            copy[at] = bytes[at];
        }
    }
}
