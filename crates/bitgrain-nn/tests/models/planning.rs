//! Plans: budgets and error targets hold, and planning is deterministic.

use bitgrain_codec::weight::WeightFormat;
use bitgrain_nn::model::convert::{FormatChoice, Recipe, quantize};
use bitgrain_nn::model::plan::{Goal, PrecisionPlan, candidates, plan};
use bitgrain_nn::{Container, ModelFile, ModelFileError};

use super::{Folder, small_model};

fn planned(model: &ModelFile, container: Container, goal: Goal) -> Result<PrecisionPlan, ModelFileError> {
    plan(model, container, &candidates(container), goal, &Recipe::new(FormatChoice::Keep), &())
}

#[test]
fn a_budget_is_kept_and_more_bytes_never_mean_more_error() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &small_model());
    for (container, name) in [(Container::Gguf, "out.gguf"), (Container::Safetensors, "out.safetensors")] {
        let whole = planned(&model, container, Goal::Budget(u64::MAX)).expect("no limit");
        let (least, most) = (whole.curve[0].bytes, whole.bytes);
        let mut last = f64::INFINITY;
        for step in 0..8 {
            let budget = least + (most - least) * step / 7;
            let plan = planned(&model, container, Goal::Budget(budget)).expect("above the least");
            assert!(plan.bytes <= budget && plan.relative_rmse <= last, "{budget}: {plan:?}");
            last = plan.relative_rmse;
            let recipe = plan.apply(&model, Recipe::new(FormatChoice::Keep)).expect("for this model");
            let done = quantize(&model, &folder.path(name), &recipe, &()).expect("conversion succeeds");
            assert_eq!(done.bytes_after, plan.bytes, "the output has the planned size");
        }
        assert!(matches!(
            planned(&model, container, Goal::Budget(least - 1)),
            Err(ModelFileError::BudgetTooSmall { .. })
        ));
    }
}

#[test]
fn a_mixed_plan_needs_fewer_bytes_than_one_format_for_the_same_error() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &small_model());
    let limit = 0.05;
    let plan = planned(&model, Container::Gguf, Goal::MaxError(limit)).expect("reachable");
    assert!(plan.relative_rmse <= limit, "{plan:?}");
    let all = Recipe::new(FormatChoice::To("q8_0".parse().expect("known format")));
    let done = quantize(&model, &folder.path("out.gguf"), &all, &()).expect("conversion succeeds");
    assert!(plan.bytes < done.bytes_after, "{} and {}", plan.bytes, done.bytes_after);
    assert!(matches!(
        planned(&model, Container::Gguf, Goal::MaxError(1e-12)),
        Err(ModelFileError::ErrorTooSmall { .. })
    ));
}

#[test]
fn planned_errors_equal_measured_errors_for_every_calibration_and_rule() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &small_model());
    let formats: Vec<_> = ["int2", "int4", "int8"].map(|name| format!("{name}@mse")).into();
    let formats: Vec<WeightFormat> = formats
        .iter()
        .map(|text| match text.parse() {
            Ok(FormatChoice::To(format)) => format,
            other => panic!("{text}: {other:?}"),
        })
        .collect();
    let rules =
        || Recipe::new(FormatChoice::Keep).rule("odd*", FormatChoice::To("uint8".parse().expect("known format")));
    let goal = Goal::Budget(6000);
    let plan = plan(&model, Container::Safetensors, &formats, goal, &rules(), &()).expect("enough");
    plan.save(&folder.path("plan.json")).expect("writable");
    let mut files = Vec::new();
    for recipe in [rules(), Recipe::new(FormatChoice::Keep)] {
        let loaded = PrecisionPlan::load(&folder.path("plan.json")).expect("just saved");
        let recipe = loaded.apply(&model, recipe).expect("for this model");
        let out = folder.path("out.safetensors");
        let done = quantize(&model, &out, &recipe, &()).expect("conversion succeeds");
        assert_eq!(done.bytes_after, plan.bytes);
        let planned: Vec<_> = done.tensors.iter().filter(|row| plan.formats.contains_key(&row.name)).collect();
        let weights = |shape: &[u64]| shape.iter().product::<u64>() as f64;
        let square = |row: &&&bitgrain_nn::model::convert::Converted| {
            weights(&row.shape) * row.figures.expect("quantized").relative_rmse.powi(2)
        };
        let all: f64 = planned.iter().map(|row| weights(&row.shape)).sum();
        let measured = (planned.iter().map(|row| square(&row)).sum::<f64>() / all).sqrt();
        assert!((measured - plan.relative_rmse).abs() < 1e-12, "{measured} and {}", plan.relative_rmse);
        files.push(std::fs::read(&out).expect("written"));
    }
    assert_eq!(files[0], files[1], "the plan is self-contained");
    let wrong = ["q4_0".parse().expect("known format"), "int8".parse().expect("known format")];
    let refused = bitgrain_nn::model::plan::plan(&model, Container::Gguf, &wrong, goal, &rules(), &());
    assert!(matches!(refused, Err(ModelFileError::Container { .. })));
}

#[test]
fn a_plan_round_trips() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &small_model());
    let plan = planned(&model, Container::Gguf, Goal::Budget(20_000)).expect("enough");
    plan.save(&folder.path("plan.json")).expect("writable");
    let loaded = PrecisionPlan::load(&folder.path("plan.json")).expect("just saved");
    assert_eq!(loaded, plan);
}

#[test]
fn invalid_plans_and_plans_for_another_model_are_rejected() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &small_model());
    let path = folder.path("plan.json");
    for text in ["", "{}", "[1]", r#"{"version":9,"formats":{},"bytes":0,"relative_rmse":0,"curve":[]}"#] {
        std::fs::write(&path, text).expect("writable");
        assert!(matches!(PrecisionPlan::load(&path), Err(ModelFileError::Plan { .. })), "{text}");
    }
    let other = r#"{"version":1,"formats":{"ghost":"q4_0"},"bytes":0,"relative_rmse":0.0,"curve":[]}"#;
    std::fs::write(&path, other).expect("writable");
    let refused = PrecisionPlan::load(&path).expect("valid plan").apply(&model, Recipe::new(FormatChoice::Keep));
    assert!(matches!(refused, Err(ModelFileError::NoTensor { .. })));
    std::fs::write(&path, other.replace("q4_0", "q9_9")).expect("writable");
    assert!(matches!(PrecisionPlan::load(&path), Err(ModelFileError::Plan { .. })));
}
