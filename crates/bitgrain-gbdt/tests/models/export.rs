//! Exports: read back to the same scores, or refused with a reason.

use bitgrain_gbdt::model::{Child, Comparison, ExportError, Link, Model, ModelFormat, Rule, SaveError, Tree};

use crate::samples;

/// A model with every kind of rule that LightGBM's format has.
fn several() -> Model {
    let mut model = samples::forest();
    model.output.base_scores = vec![0.5, -0.25];
    model.output.average = false;
    for tree in &mut model.trees {
        tree.splits.iter_mut().filter(|split| split.feature == 1).for_each(|split| split.missing_left = true);
    }
    model
}

#[test]
fn lightgbm_text_reads_back_to_the_same_scores() {
    for (name, model) in [("binary", samples::binary()), ("several", several()), ("empty", empty())] {
        let text = model.export(ModelFormat::Lightgbm).expect("expressible");
        let read = Model::import(&text).expect("a LightGBM model");
        assert_eq!(read.output.link, model.output.link, "{name}");
        for row in samples::rows(model.n_inputs()) {
            // LightGBM takes the integer part of a category and reads tiny numbers as 0.
            let codes = &row[row.len().saturating_sub(1)..];
            if codes.iter().any(|code| code.fract() != 0.0) || row.contains(&1e-36) {
                continue;
            }
            assert_eq!(read.raw_scores_of(&row), model.raw_scores_of(&row), "{name}: {row:?}");
        }
    }
}

#[test]
fn xgboost_models_read_back_to_the_same_leaves() {
    for format in [ModelFormat::XgboostJson, ModelFormat::XgboostUbj] {
        for (name, mut model) in [("binary", samples::binary()), ("several", several()), ("empty", empty())] {
            if name == "several" {
                // Zeros go with missing values anyway; see the test of refused models for the others.
                model.output.link = Link::Identity;
            }
            let file = model.export(format).expect("expressible");
            let read = Model::import(&file).expect("an XGBoost model");
            assert_eq!(read.n_outputs(), model.n_outputs(), "{name}");
            for row in samples::rows(model.n_inputs()) {
                #[expect(clippy::cast_possible_truncation, reason = "XGBoost compares in f32")]
                let row: Vec<f64> = row.iter().map(|&value| f64::from(value as f32)).collect();
                if row.iter().any(|value| value.is_infinite()) || row.last().is_some_and(|code| code.fract() != 0.0) {
                    continue;
                }
                for (ours, theirs) in model.raw_scores_of(&row).iter().zip(read.raw_scores_of(&row)) {
                    assert!((ours - theirs).abs() < 1e-6, "{name}: {row:?}: {ours} {theirs}");
                }
            }
        }
    }
}

#[test]
fn source_code_has_the_tables_of_the_model() {
    for (_, model) in samples::all() {
        let c = String::from_utf8(model.export(ModelFormat::C).expect("expressible")).expect("UTF-8");
        assert!(c.is_ascii() && !c.contains('@'), "{c}");
        let rust = String::from_utf8(model.export(ModelFormat::Rust).expect("expressible")).expect("UTF-8");
        assert!(rust.contains(&format!("pub const N_SCORES: usize = {};", model.n_outputs())) && !rust.contains('@'));
    }
}

#[test]
fn arrays_of_trees_have_splits_before_leaves() {
    let mut model = samples::binary();
    let error = model.tree_arrays().expect_err("categorical");
    assert!(error.to_string().contains("split 1 of tree 0, which is categorical"), "{error}");
    model.trees.remove(0);
    let arrays = &model.tree_arrays().expect("numeric")[0];
    assert_eq!(
        (&arrays.left[..], &arrays.right[..], &arrays.missing[..]),
        (&[1, -1, -1][..], &[2, -1, -1][..], &[2, -1, -1][..])
    );
    assert_eq!((&arrays.features[..], &arrays.values[..]), (&[1, -1, -1][..], &[0.25, 0.125, -0.0625][..]));
    assert_eq!(arrays.weights, [300.0, 100.0, 200.0]);
    assert!(arrays.thresholds[0] > -1.5 && arrays.thresholds[0] < -1.499_999);
}

/// Base scores without trees, for one feature: LightGBM's files need one.
fn empty() -> Model {
    Model { inputs: vec![samples::numeric("x")], ..samples::empty() }
}

#[test]
fn unexpressible_parts_are_errors_that_name_another_format() {
    let refused = |model: &Model, format: ModelFormat, part: &str| {
        let error = model.export(format).expect_err("not expressible");
        assert!(matches!(error, ExportError::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains(part) && error.to_string().contains("; use "), "{error}");
    };
    refused(&samples::forest(), ModelFormat::Lightgbm, "an average over rounds with a base score");
    let mut model = several();
    model.trees[0].splits[1].missing_left = false;
    refused(&model, ModelFormat::Lightgbm, "split 1 of tree 0");
    let mut model = samples::binary();
    model.output.link = Link::Step;
    refused(&model, ModelFormat::Lightgbm, "the link function step");
    refused(&model, ModelFormat::LightgbmJson, "format lightgbm-json cannot represent");
    let mut zeros = several();
    zeros.trees[0].splits[0].missing_left = false;
    for format in [ModelFormat::XgboostJson, ModelFormat::XgboostUbj, ModelFormat::Onnx] {
        refused(&zeros, format, "split 0 of tree 0, which treats 0 as a missing value");
    }
    assert!(zeros.export(ModelFormat::Lightgbm).is_ok());
    let mut steep = samples::binary();
    steep.output.link = Link::Logistic { slope: 2.5 };
    refused(&steep, ModelFormat::XgboostUbj, "the link function logistic with slope 2.5 of one score");
    model.inputs[1].name = "größe".into();
    assert!(matches!(model.export(ModelFormat::Lightgbm), Err(ExportError::Model(_))), "duplicate names");
    let mut model = samples::binary();
    (model.inputs[0].name, model.inputs[1].name) = ("a b".into(), "a_b".into());
    refused(&model, ModelFormat::Lightgbm, "differ in spaces only");
}

#[test]
fn files_have_the_format_of_their_extension() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = samples::binary();
    for format in ModelFormat::ALL {
        let name = format.extension().map_or_else(|| "other".to_owned(), |extension| format!("model.{extension}"));
        let path = folder.path().join(name);
        model.save_as(&path, format).expect("written");
        assert_eq!(std::fs::read(&path).expect("written"), model.export(format).expect("expressible"), "{format}");
        assert_eq!(format.name().parse(), Ok(format));
        assert_eq!(format.name().replace('-', "_").parse(), Ok(format), "as in Python");
        if format.extension().is_some() {
            assert_eq!(ModelFormat::of_path(&path), format);
        }
    }
    let error = "pmml".parse::<ModelFormat>().expect_err("unknown");
    assert!(error.to_string().contains("`pmml`; the formats are bitgrain, json, lightgbm"), "{error}");
    let error = samples::forest().save_as(folder.path().join("no.txt"), ModelFormat::Lightgbm);
    assert!(matches!(error, Err(SaveError::Export(_))));
    assert!(!folder.path().join("no.txt").exists());
}

#[test]
fn deep_trees_are_written_without_recursion() {
    let mut model = samples::binary();
    model.comparison = Comparison::F64;
    let depth = 200_000;
    let splits = (0..depth).map(|at| {
        let next = if at + 1 == depth { Child::Leaf(depth) } else { Child::Split(at + 1) };
        samples::split(0, Rule::AtMost(f64::from(at)), Child::Leaf(at), next)
    });
    let splits = splits.collect();
    model.trees = vec![Tree { splits, leaves: samples::leaves(&vec![0.5; depth as usize + 1]) }];
    for format in ModelFormat::ALL {
        assert!(model.export(format).is_ok(), "{format}");
    }
}
