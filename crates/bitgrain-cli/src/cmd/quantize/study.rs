//! `Study`: the text of `bitgrain quantize --text`, and what a language model says about it.

use std::path::PathBuf;
use std::time::Instant;

use bitgrain::nn::ModelFile;
use bitgrain::nn::model::convert::Recipe;
use bitgrain::nn::model::plan::Sensitivities;
use bitgrain::nn::network::language::{CalibrationStage, Perplexity, TextCalibration};
use serde::{Serialize, Serializer};

use crate::cmd::language::{perplexity, read_text};
use crate::error::CliError;
use crate::progress::RoundBar;

/// A text, divided into a part for calibration and a part that measures the result.
pub(super) struct Study {
    text: TextCalibration,
}

/// Results for a text.
#[derive(Debug, Serialize)]
pub(super) struct Findings {
    pub(super) tokens_used: usize,
    pub(super) tokens_held_out: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sensitivities: Option<Sensitivities>,
    /// Predictions of the result on the held-out tokens, compared with those of the input.
    #[serde(serialize_with = "measures", skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<Perplexity>,
    pub(super) seconds: Seconds,
}

/// Time of each step in seconds.
#[derive(Debug, Default, Serialize)]
pub(super) struct Seconds {
    importances: Option<f64>,
    sensitivities: Option<f64>,
    pub(super) plan: Option<f64>,
    divergence: Option<f64>,
}

impl Study {
    /// Reads and divides the text.
    pub(super) fn new(model: &ModelFile, text: &PathBuf, chunks: usize) -> Result<Self, CliError> {
        Ok(Self { text: TextCalibration::new(model, &read_text(text)?, Some(chunks))? })
    }

    /// Measures importances, unless the recipe has them, and for a plan sensitivities, and adds them to the recipe.
    pub(super) fn prepare(&self, model: &ModelFile, recipe: &mut Recipe, plans: bool) -> Result<Findings, CliError> {
        let [tokens_used, tokens_held_out] = self.text.tokens();
        let mut seconds = Seconds::default();
        if recipe.importance.is_none() {
            let (start, bar) = (Instant::now(), Bars::new("measuring importances", "chunks"));
            recipe.importance = Some(self.text.importances(model, |_, done, all| bar.at(done, all))?.matrix());
            seconds.importances = Some(start.elapsed().as_secs_f64());
        }
        if plans {
            let (start, bar) = (Instant::now(), Bars::new("measuring sensitivities", "kinds of tensors"));
            recipe.sensitivities = Some(self.text.sensitivities(model, recipe, |_, done, all| bar.at(done, all))?);
            seconds.sensitivities = Some(start.elapsed().as_secs_f64());
        }
        let sensitivities = recipe.sensitivities.clone();
        Ok(Findings { tokens_used, tokens_held_out, sensitivities, result: None, seconds })
    }
}

impl Findings {
    /// Measures the result on the held-out part of the text.
    pub(super) fn measure(&mut self, study: &Study, from: &ModelFile, to: &ModelFile) -> Result<(), CliError> {
        let (start, bar) = (Instant::now(), Bars::new("measuring the result", "chunks"));
        self.result = Some(study.text.divergence(from, to, |_: CalibrationStage, done, all| bar.at(done, all))?);
        self.seconds.divergence = Some(start.elapsed().as_secs_f64());
        Ok(())
    }
}

/// A progress bar without metrics.
struct Bars(RoundBar);

impl Bars {
    fn new(verb: &str, what: &str) -> Self {
        Self(RoundBar::of(verb, what))
    }

    fn at(&self, done: usize, all: usize) {
        self.0.at(done, all, "");
    }
}

#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn measures<S: Serializer>(result: &Option<Perplexity>, serializer: S) -> Result<S::Ok, S::Error> {
    result.as_ref().map(perplexity::measures).serialize(serializer)
}
