//! Training parameters as command-line options, generated from the engine's parameter table.
//!
//! Every alias is a separate, hidden option, so that an error names the option the user typed.

use std::path::PathBuf;

use bitgrain::gbdt::feature::Quantizer;
use bitgrain::gbdt::parameter::{
    HyperParameter, PARAMETERS, ParameterError, ParameterKind, ParameterSet, ParameterStage, ParameterValue, Structure,
    find,
};
use bitgrain::gbdt::train::Params;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};

use super::params_file;
use crate::error::CliError;

/// Option that is short for `--data-sample-strategy goss`.
const GOSS: &str = "goss";

/// Name of the option that reads parameters from a file.
const PARAMS: &str = "params";

/// Training parameters given on the command line or in a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    given: Vec<(String, String)>,
    /// File with further parameters.
    file: Option<PathBuf>,
}

impl Settings {
    /// Adds the parameters of the file; those given on the command line take precedence. Returns the parameters that the
    /// command has options for: objective, metric and threads.
    pub(crate) fn read_file(&mut self) -> Result<Vec<(&'static str, String)>, CliError> {
        let Some(path) = self.file.take() else { return Ok(Vec::new()) };
        let refused =
            |problem: String, fix| CliError::Options { problem: format!("{}: {problem}", path.display()), fix };
        let canonical = |name: &str| find(name).map(|parameter| parameter.name);
        let given: Vec<&str> = self.given.iter().filter_map(|(name, _)| canonical(name).ok()).collect();
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for (name, value) in params_file::read(&path)? {
            match params_file::not_training(&name, &value) {
                Some(Some(fix)) => return Err(refused(format!("`{name} = {value}` is not a training parameter"), fix)),
                Some(None) => continue,
                None => {}
            }
            let parameter = find(&name)?;
            if parameter.name == "boosting" && value.eq_ignore_ascii_case(GOSS) {
                // LightGBM's older name of the sampling.
                own.push(("data_sample_strategy".to_owned(), value));
                continue;
            }
            if parameter.stage == ParameterStage::Run {
                others.push((parameter.name, value));
            } else if !given.contains(&parameter.name) {
                own.push((name, value));
            }
        }
        self.given.extend(own);
        Ok(others)
    }

    /// Parses the parameters. The objective is needed because some objectives have their own `alpha`.
    fn given(&self, objective: Option<&str>) -> Result<ParameterSet, ParameterError> {
        let mut given = ParameterSet::default();
        for (name, value) in &self.given {
            given.insert(name, value.as_str())?;
        }
        if let Some(objective) = objective {
            given.check_objective(objective)?;
        }
        Ok(given)
    }

    pub(crate) fn params(&self, objective: Option<&str>) -> Result<Params, ParameterError> {
        self.given(objective)?.params()
    }

    pub(crate) fn quantizer(&self) -> Result<Quantizer, ParameterError> {
        self.given(None)?.quantizer()
    }
}

impl clap::Args for Settings {
    fn augment_args(command: Command) -> Command {
        let own = PARAMETERS.iter().filter(|parameter| parameter.stage != ParameterStage::Run);
        let goss = Arg::new(GOSS)
            .long(GOSS)
            .action(ArgAction::SetTrue)
            .help("Shorthand for --data-sample-strategy goss")
            .help_heading(HEADING);
        let file = Arg::new(PARAMS)
            .long(PARAMS)
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .help(
                "File with training parameters: .json, .toml, or name = value lines as in LightGBM's .conf files; options \
                 take precedence",
            )
            .help_heading(HEADING);
        command.args(own.flat_map(options)).arg(goss).arg(file)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Settings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut settings = Self::default();
        settings.update_from_arg_matches(matches)?;
        Ok(settings)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let own = PARAMETERS.iter().filter(|parameter| parameter.stage != ParameterStage::Run);
        for name in own.flat_map(|parameter| parameter.aliases.iter().chain([&parameter.name])) {
            // Defaults are left to the engine: only parameters given by the user can contradict each other.
            if matches.value_source(name) == Some(ValueSource::CommandLine) {
                let value = matches.get_one::<String>(name).cloned().unwrap_or_default();
                self.given.push(((*name).to_owned(), value));
            }
        }
        self.file = matches.get_one::<PathBuf>(PARAMS).cloned();
        if matches.get_flag(GOSS) {
            self.given.push(("data_sample_strategy".to_owned(), GOSS.to_owned()));
        }
        Ok(())
    }
}

const HEADING: &str = "Training parameters";

/// Returns the options of a parameter: one with its name, and a hidden one per alias.
fn options(parameter: &'static HyperParameter) -> impl Iterator<Item = Arg> {
    let aliases = parameter.aliases.iter().map(move |alias| option(parameter, alias).hide(true));
    let mut own = option(parameter, parameter.name);
    match (parameter.default)() {
        ParameterValue::Unset => {}
        default => own = own.default_value(default.to_string()),
    }
    [own].into_iter().chain(aliases)
}

fn option(parameter: &'static HyperParameter, name: &'static str) -> Arg {
    let value_name = match parameter.kind {
        ParameterKind::Integer | ParameterKind::OptionalInteger => "N",
        ParameterKind::Number => "X",
        ParameterKind::Flag => "BOOL",
        ParameterKind::Numbers => "X,Y",
        ParameterKind::Structured(Structure::Splits) => "FILE",
        ParameterKind::Structured(_) => "LIST",
        _ => "NAME",
    };
    let arg = Arg::new(name)
        .long(hyphenated(name))
        .value_name(value_name)
        .help(described(parameter))
        .help_heading(HEADING)
        .allow_negative_numbers(true)
        // `-1,0,1` is not a number.
        .allow_hyphen_values(matches!(parameter.kind, ParameterKind::Structured(_)));
    // Accept `--learning_rate` too, as LightGBM's configuration files spell it.
    if name.contains('_') { arg.alias(name) } else { arg }
}

/// Returns the help of a parameter, followed by its possible values.
fn described(parameter: &HyperParameter) -> String {
    match parameter.kind {
        ParameterKind::Choice(choices) => {
            let words: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
            format!("{} [possible values: {}]", parameter.help, words.join(", "))
        }
        _ => parameter.help.to_owned(),
    }
}

/// Returns additional spellings of an option that a command declares itself, such as `--objective`: the parameter's
/// aliases and its name, with hyphens and with underscores.
pub(crate) fn spellings(name: &str, except: &str) -> Vec<String> {
    let Some(parameter) = PARAMETERS.iter().find(|parameter| parameter.name == name) else { return Vec::new() };
    let names = parameter.aliases.iter().chain([&parameter.name]);
    let mut all: Vec<String> = names.flat_map(|name| [hyphenated(name), (*name).to_owned()]).collect();
    all.sort();
    all.dedup();
    all.retain(|name| name != except);
    all
}

fn hyphenated(name: &str) -> String {
    name.replace('_', "-")
}
