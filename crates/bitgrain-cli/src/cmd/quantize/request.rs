//! `Request`: checked options of `bitgrain quantize`. An option that cannot be applied is an error; none is ignored.

use std::path::Path;

use bitgrain::codec::weight::WeightFormat;
use bitgrain::nn::model::convert::{
    FormatChoice, FormatOptions, FormatOptionsError, Granularity, Mix, Recipe, Resolved, Scheme, scheme_format,
};
use bitgrain::nn::model::plan::{PrecisionPlan, candidates};
use bitgrain::nn::{Container, ModelFile};

use super::Args;
use crate::error::CliError;

/// Ending of the index of a sharded output.
const INDEX: &str = ".safetensors.index.json";

/// Options without contradictions.
pub(super) struct Request<'a> {
    args: &'a Args,
    settings: FormatOptions,
    to: Option<Resolved>,
    mix: Option<Mix>,
    rules: Vec<(&'a str, Option<Resolved>)>,
}

impl<'a> Request<'a> {
    /// Checks the options that depend neither on the model nor on the output.
    pub(super) fn new(args: &'a Args) -> Result<Self, CliError> {
        let planning = args.budget.is_some() || args.max_rmse.is_some();
        if !args.candidates.is_empty() && !planning {
            return Err(CliError::Options {
                problem: "--candidates has no effect without --budget or --max-rmse".to_owned(),
                fix: "omit it or add one of them",
            });
        }
        let shards = [INDEX, ".gguf"].iter().any(|ending| args.output.to_string_lossy().ends_with(ending));
        if args.shard_size.is_some() && !shards && !is_folder(&args.output) {
            return Err(CliError::Options {
                problem: format!("--shard-size has no effect on the output {}", args.output.display()),
                fix: "omit it, or name the output NAME.gguf or NAME.safetensors.index.json",
            });
        }
        let scale = args.scale.map(Granularity::from);
        let settings = FormatOptions { scale, group: args.group, calibration: args.calibrate };
        if args.scheme.is_some() && !is_folder(&args.output) {
            return Err(CliError::Options {
                problem: format!("--scheme writes a folder, but {} is a file name", args.output.display()),
                fix: "name a folder, which gets config.json, the weights and the tokenizer",
            });
        }
        let mix = args.to.as_deref().and_then(Mix::from_name);
        let format = args.to.as_ref().filter(|_| mix.is_none());
        let to = format.map(|name| settings.resolve(name)).transpose().map_err(contradiction)?;
        let rules = args.keep.iter().map(|rule| keep_rule(settings, rule)).collect::<Result<_, _>>()?;
        let request = Self { args, settings, to, mix, rules };
        if !planning && args.scheme.is_none() {
            request.reject_unused(&[])?;
        }
        Ok(request)
    }

    /// Returns the format of a scheme's weights. Fails if the options do not suit it.
    pub(super) fn scheme_format(&self, scheme: Scheme) -> Result<WeightFormat, CliError> {
        let format = scheme_format(scheme, &self.settings).map_err(contradiction)?;
        if self.args.imatrix.is_some() && !format.uses_importance() {
            return Err(CliError::Options {
                problem: format!("--imatrix has no effect on {}", scheme.name()),
                fix: "add --calibrate mse, or omit it",
            });
        }
        Ok(format)
    }

    /// Returns whether the output is a folder.
    pub(super) fn exports(&self) -> bool {
        is_folder(&self.args.output)
    }

    /// Returns the format of a folder's weights, which must be a plain float. Fails if other options choose formats.
    pub(super) fn export_format(&self) -> Result<Option<WeightFormat>, CliError> {
        let Args { keep, imatrix, text, budget, max_rmse, plan, .. } = self.args;
        let chosen = !keep.is_empty()
            || imatrix.is_some()
            || text.is_some()
            || budget.is_some()
            || max_rmse.is_some()
            || plan.is_some();
        let format = self.to.map(|to| to.format);
        let float = format.is_none_or(|format| matches!(format.name(), "float16" | "bfloat16" | "float32"));
        if chosen || !float || self.mix.is_some() {
            return Err(CliError::Options {
                problem: "all weights of a Hugging Face folder must have the same float format".to_owned(),
                fix: "use --to bfloat16, float16 or float32 and no other option that chooses formats",
            });
        }
        Ok(format)
    }

    /// Fails without a format unless the command changes the model in another way: by converting it to GGUF's names, by
    /// splitting it or by merging its shards.
    pub(super) fn require_format(&self, model: &ModelFile) -> Result<(), CliError> {
        let Args { to, budget, max_rmse, plan, shard_size, lora, .. } = self.args;
        let chosen = to.is_some() || lora.is_some() || budget.is_some() || max_rmse.is_some() || plan.is_some();
        // Only a converted model has GGUF metadata without being a GGUF file.
        let converted = model.container() != Container::Gguf && !model.metadata().gguf.is_empty();
        if chosen || converted || shard_size.is_some() || model.files().len() > 1 {
            return Ok(());
        }
        Err(CliError::Options {
            problem: "missing format".to_owned(),
            fix: "add --to FORMAT, --budget SIZE, --max-rmse X or --plan FILE",
        })
    }

    /// Returns the recipe for --to and --keep. Every --keep must apply to at least one tensor.
    pub(super) fn recipe(&self, model: &ModelFile) -> Result<Recipe, CliError> {
        let mut recipe = Recipe::new(self.to.map_or(FormatChoice::Keep, |to| FormatChoice::To(to.format)));
        let mut decided: Vec<&str> = Vec::new();
        for (pattern, format) in &self.rules {
            let nothing = |_| CliError::NothingMatches { pattern: (*pattern).to_owned() };
            let matching = model.matching(pattern).map_err(nothing)?;
            let free: Vec<_> = matching.into_iter().filter(|one| !decided.contains(&one.name.as_str())).collect();
            if free.is_empty() {
                return Err(CliError::Options {
                    problem: format!("--keep '{pattern}' has no effect: earlier --keep options match the same tensors"),
                    fix: "put it first or omit it",
                });
            }
            if format.is_some() && free.iter().all(|tensor| tensor.storage.format().is_none()) {
                return Err(CliError::Options {
                    problem: format!("--keep '{pattern}=...' has no effect: `{}` is not a weight tensor", free[0].name),
                    fix: "omit it; integer tensors are always kept",
                });
            }
            decided.extend(free.iter().map(|tensor| tensor.name.as_str()));
            recipe = recipe.rule(pattern, format.map_or(FormatChoice::Keep, |one| FormatChoice::To(one.format)));
        }
        Ok(recipe)
    }

    /// Returns the named mix, if --to names one.
    pub(super) const fn mix(&self) -> Option<Mix> {
        self.mix
    }

    /// Returns the formats that a plan chooses from, or none without planning.
    pub(super) fn candidates(&self, container: Container, planning: bool) -> Result<Vec<WeightFormat>, CliError> {
        if !planning {
            return Ok(Vec::new());
        }
        // The default candidates have fixed group lengths; --scale and --group replace them.
        let default = |format: WeightFormat| {
            let base = if self.settings.scale.is_some() || self.settings.group.is_some() {
                format.name().to_owned()
            } else {
                format.to_string()
            };
            self.settings.resolve(&base)
        };
        let resolved: Result<Vec<Resolved>, FormatOptionsError> = if self.args.candidates.is_empty() {
            candidates(container).into_iter().map(default).collect()
        } else {
            self.args.candidates.iter().map(|name| self.settings.resolve(name)).collect()
        };
        let resolved = resolved.map_err(contradiction)?;
        self.reject_unused(&resolved)?;
        let mut formats: Vec<WeightFormat> = Vec::with_capacity(resolved.len());
        for Resolved { format, .. } in resolved {
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
        Ok(formats)
    }

    /// Fails if none of the possible output formats uses --imatrix.
    pub(super) fn reject_unused_importance(
        &self,
        candidates: &[WeightFormat],
        followed: Option<&PrecisionPlan>,
    ) -> Result<(), CliError> {
        // Some format of every mix uses importances.
        if self.args.imatrix.is_none() || self.mix.is_some() {
            return Ok(());
        }
        let planned = followed.into_iter().flat_map(|plan| plan.formats.values().chain(plan.others.values()));
        let planned = planned.filter_map(|choice| match choice {
            FormatChoice::To(format) => Some(*format),
            FormatChoice::Keep => None,
        });
        let formats: Vec<WeightFormat> =
            self.named().map(|one| one.format).chain(candidates.iter().copied()).chain(planned).collect();
        if formats.iter().any(|format| format.uses_importance()) {
            return Ok(());
        }
        let mut names: Vec<String> = formats.iter().map(ToString::to_string).collect();
        names.dedup();
        Err(CliError::Options {
            problem: format!("--imatrix has no effect on {}", names.join(", ")),
            fix: "use one of q4_0 to q6_k, iq4_nl or a dtype with --calibrate mse, or omit it",
        })
    }

    fn named(&self) -> impl Iterator<Item = Resolved> {
        self.to.into_iter().chain(self.rules.iter().filter_map(|(_, format)| *format))
    }

    fn reject_unused(&self, candidates: &[Resolved]) -> Result<(), CliError> {
        let all: Vec<Resolved> = self.named().chain(candidates.iter().copied()).collect();
        self.settings.reject_unused(&all).map_err(contradiction)
    }
}

/// Parses a pattern and the format of matching tensors; `None` keeps them unchanged.
fn keep_rule(settings: FormatOptions, rule: &str) -> Result<(&str, Option<Resolved>), CliError> {
    let Some((pattern, name)) = rule.rsplit_once('=') else { return Ok((rule, None)) };
    let name = super::weight_format_name(name).map_err(|_| CliError::UnknownFormat { name: name.to_owned() })?;
    Ok((pattern, Some(settings.resolve_override(&name).map_err(contradiction)?)))
}

/// Converts the error to the option names of the command line.
fn contradiction(error: FormatOptionsError) -> CliError {
    let fix = "omit one of them";
    match error {
        FormatOptionsError::Contradiction { setting, value, format } => {
            CliError::Options { problem: format!("--{setting} {value} contradicts the format `{format}`"), fix }
        }
        FormatOptionsError::GroupWithScale { group, scale } => {
            CliError::Options { problem: format!("--group {group} contradicts --scale {scale}"), fix }
        }
        FormatOptionsError::Unused { setting, value, formats, reason } => CliError::Options {
            problem: format!("--{setting} {value} has no effect on {formats}: {reason}"),
            fix: "omit it",
        },
        FormatOptionsError::Codec(source) => CliError::Codec(source),
        other => CliError::Options { problem: other.to_string(), fix },
    }
}

/// Returns whether the output is a folder: an existing one, or a name without an extension. The extension of a file is
/// never that of a folder.
fn is_folder(output: &Path) -> bool {
    let ending = output.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        Some("gguf" | "safetensors" | "json") => false,
        None => true,
        Some(_) => output.is_dir() || output.to_string_lossy().ends_with(['/', '\\']),
    }
}
