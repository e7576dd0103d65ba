//! `Request`: checked options of `bitgrain quantize`. An option that cannot be applied is an error; none is ignored.

use bitgrain::codec::weight::WeightFormat;
use bitgrain::nn::model::convert::{FormatChoice, FormatOptions, FormatOptionsError, Granularity, Recipe, Resolved};
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
        if args.shard_size.is_some() && !args.output.to_string_lossy().ends_with(INDEX) {
            return Err(CliError::Options {
                problem: format!("--shard-size has no effect on the output {}", args.output.display()),
                fix: "omit it, or name the output NAME.safetensors.index.json",
            });
        }
        let scale = args.scale.map(Granularity::from);
        let settings = FormatOptions { scale, group: args.group, calibration: args.calibrate };
        let to = args.to.as_ref().map(|name| settings.resolve(name)).transpose().map_err(contradiction)?;
        let rules = args.keep.iter().map(|rule| keep_rule(settings, rule)).collect::<Result<_, _>>()?;
        let request = Self { args, settings, to, rules };
        if !planning {
            request.reject_unused(&[])?;
        }
        Ok(request)
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
        if self.args.imatrix.is_none() {
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
    let name = super::format_name(name).map_err(|_| CliError::UnknownFormat { name: name.to_owned() })?;
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
