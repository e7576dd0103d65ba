//! Calibration on a text: its parts, importances, sensitivities and divergence against measurements of files.

use std::path::Path;

use bitgrain_nn::ModelFile;
use bitgrain_nn::model::convert::{FormatChoice, Recipe, quantize};
use bitgrain_nn::model::plan::{Goal, candidates, plan};
use bitgrain_nn::network::language::{CacheFormat, LanguageError, LanguageModel, PerplexityOptions, TextCalibration};

use crate::tiny::{CONTEXT, Spec};

fn text() -> String {
    (0..900).map(|at| format!("There {} is the {} inner thing. ", at * 7 % 31, at * at % 97)).collect()
}

fn to(name: &str) -> FormatChoice {
    FormatChoice::To(name.parse().expect("known"))
}

fn write(model: &ModelFile, path: &Path, recipe: &Recipe) -> ModelFile {
    quantize(model, path, recipe, &()).expect("writable");
    ModelFile::open(path).expect("just written")
}

#[test]
fn a_text_is_divided_into_chunks_for_calibration_and_held_out_ones() {
    let model = Spec::llama().open();
    let calibration = TextCalibration::new(&model, &text(), None).expect("long enough");
    let tokens = LanguageModel::load(&model, None).expect("valid").tokenizer().encode(&text(), false).len();
    let chunks = tokens / CONTEXT as usize;
    let held_out = (chunks / 8).min(4);
    assert_eq!(calibration.tokens(), [chunks - held_out, held_out].map(|count| count * CONTEXT as usize));
    let few = TextCalibration::new(&model, &text(), Some(2)).expect("long enough");
    assert_eq!(few.tokens(), [2, held_out].map(|count| count * CONTEXT as usize));
    let short = TextCalibration::new(&model, "There is one chunk at most. ", None);
    assert!(matches!(short, Err(LanguageError::ShortText { chunk: 512, .. })));
}

#[test]
fn importances_are_those_of_the_model_up_to_8_bits() {
    let model = Spec::llama().open();
    let calibration = TextCalibration::new(&model, &text(), Some(3)).expect("long enough");
    let found = calibration.importances(&model, |_, _, _| {}).expect("runs");
    let full = LanguageModel::load(&model, None).expect("valid");
    let wanted = full.importances(&text(), CONTEXT as usize, Some(3), false, |_, _| {}).expect("runs");
    assert_eq!(found.len(), wanted.len());
    for tensor in model.tensors().iter().filter(|tensor| tensor.name.starts_with("blk.")) {
        let (Some(found), Some(wanted)) = (found.of(&tensor.name), wanted.of(&tensor.name)) else { continue };
        let [off, all] = found.iter().zip(&wanted).fold([0.0; 2], |[off, all], (found, wanted)| {
            [off + f64::from(found - wanted).powi(2), all + f64::from(*wanted).powi(2)]
        });
        assert!(off < 0.0025 * all, "{}: {}", tensor.name, (off / all).sqrt());
    }
}

#[test]
fn a_sensitivity_times_the_error_is_the_divergence_of_quantizing_one_kind() {
    let folder = tempfile::tempdir().expect("temporary directory");
    let model = Spec::llama().open();
    let calibration = TextCalibration::new(&model, &text(), None).expect("long enough");
    let recipe = Recipe::new(FormatChoice::Keep);
    let mut kinds = 0;
    let found = calibration.sensitivities(&model, &recipe, |_, _, all| kinds = all).expect("runs");
    assert_eq!(found.iter().count(), kinds);
    assert_eq!(kinds, 9, "token_embd, output, 4 of attention, 3 of feed-forward layers");
    let base = write(&model, &folder.path().join("base.gguf"), &Recipe::new(to("q8_0")));
    let base = LanguageModel::load(&base, None).expect("valid");
    for kind in ["attn_v", "ffn_down", "token_embd"] {
        let recipe = Recipe::new(to("q8_0")).rule(&format!("*{kind}.weight"), to("q4_0"));
        let path = folder.path().join(format!("{kind}.gguf"));
        let report = quantize(&model, &path, &recipe, &()).expect("writable");
        let errors: f64 = report
            .tensors
            .iter()
            .filter(|tensor| tensor.name.contains(kind))
            .map(|tensor| tensor.figures.expect("quantized").relative_rmse.powi(2))
            .sum();
        let changed = LanguageModel::open(&path).expect("valid");
        let options = PerplexityOptions { chunk: CONTEXT as usize, chunks: Some(3), cache: CacheFormat::F16 };
        let measured = changed.perplexity(&text(), Some(&base), options, |_, _, _| {}).expect("runs");
        let divergence = measured.divergence.expect("a reference").divergence.mean;
        let expected = found.of(&format!("blk.0.{kind}.weight")) * errors;
        // The calibration also scores the last token of each chunk.
        assert!((expected - divergence).abs() < 0.05 * divergence, "{kind}: {expected} {divergence}");
    }
}

#[test]
fn a_plan_for_a_text_diverges_less_than_one_for_the_error_at_the_same_size() {
    let folder = tempfile::tempdir().expect("temporary directory");
    let model = Spec { layers: 3, ..Spec::llama() }.open();
    let calibration = TextCalibration::new(&model, &text(), None).expect("long enough");
    let formats = candidates(bitgrain_nn::Container::Gguf);
    let mut blind = Recipe::new(FormatChoice::Keep);
    let budget = model.bytes() * 18 / 100;
    let planned = |recipe: &Recipe| {
        plan(&model, bitgrain_nn::Container::Gguf, &formats, Goal::Budget(budget), recipe, &()).expect("enough")
    };
    let plain = planned(&blind);
    assert_eq!(plain.expected_divergence, None);
    blind = plain.apply(&model, blind).expect("the same model");
    let mut recipe = Recipe::new(FormatChoice::Keep);
    recipe.importance = Some(calibration.importances(&model, |_, _, _| {}).expect("runs").matrix());
    recipe.sensitivities = Some(calibration.sensitivities(&model, &recipe, |_, _, _| {}).expect("runs"));
    let informed = planned(&recipe);
    assert!(informed.bytes <= budget && plain.bytes <= budget);
    let expected = informed.expected_divergence.expect("sensitivities");
    recipe = informed.apply(&model, recipe).expect("the same model");
    let divergence = |name: &str, recipe: &Recipe| {
        let made = write(&model, &folder.path().join(name), recipe);
        let found = calibration.divergence(&model, &made, |_, _, _| {}).expect("runs");
        found.divergence.expect("a reference").divergence.mean
    };
    let (blind, informed) = (divergence("blind.gguf", &blind), divergence("informed.gguf", &recipe));
    assert!(informed < 0.95 * blind, "{informed} {blind}");
    assert!((0.4..2.5).contains(&(informed / expected)), "{informed} {expected}");
}
