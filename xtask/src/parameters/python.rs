//! Signatures, fields and docstrings of the Python package.

use bitgrain_gbdt::parameter::{HyperParameter, PARAMETERS, ParameterKind, ParameterStage, ParameterValue, Structure};

/// Maximum length of a docstring line without indentation.
const WIDTH: usize = 112;

/// Returns the fields of `Params`: `num_leaves: int = 31`.
pub(super) fn fields() -> Vec<String> {
    training().map(declared).collect()
}

/// Returns the keyword arguments of an estimator: all fields except the seed, which is `random_state` in scikit-learn,
/// and `max_bin`.
pub(super) fn signature() -> Vec<String> {
    of_estimators().map(|parameter| format!("{},", declared(parameter))).collect()
}

pub(super) fn attributes() -> Vec<String> {
    of_estimators().map(|parameter| format!("self.{0} = {0}", parameter.name)).collect()
}

/// Returns the parameters in the docstring of `Params`.
pub(super) fn docstring() -> Vec<String> {
    training().flat_map(documented).collect()
}

/// Returns the parameters in the docstring of an estimator.
pub(super) fn estimator_docstring() -> Vec<String> {
    of_estimators().flat_map(documented).collect()
}

fn documented(parameter: &HyperParameter) -> Vec<String> {
    let kind = match parameter.kind {
        ParameterKind::Choice(choices) => {
            let words: Vec<String> = choices.iter().map(|choice| format!("\"{}\"", choice.name)).collect();
            format!("{{{}}}", words.join(", "))
        }
        _ => annotation(parameter)
            .replace("Sequence[float] | None", "sequence of float, optional")
            .replace("int | None", "int, optional"),
    };
    let default = match (parameter.default)() {
        ParameterValue::Unset => String::new(),
        default => format!(", default {}", literal(&default)),
    };
    let mut lines = vec![format!("{} : {kind}{default}", parameter.name)];
    lines.extend(wrapped(&format!("{}.", parameter.help), WIDTH).into_iter().map(|line| format!("    {line}")));
    lines
}

fn training() -> impl Iterator<Item = &'static HyperParameter> {
    PARAMETERS.iter().filter(|parameter| parameter.stage == ParameterStage::Training)
}

fn of_estimators() -> impl Iterator<Item = &'static HyperParameter> {
    PARAMETERS.iter().filter(|parameter| {
        parameter.name == "max_bin" || parameter.stage == ParameterStage::Training && parameter.name != "seed"
    })
}

fn declared(parameter: &HyperParameter) -> String {
    format!("{}: {} = {}", parameter.name, annotation(parameter), literal(&(parameter.default)()))
}

fn annotation(parameter: &HyperParameter) -> &'static str {
    match parameter.kind {
        ParameterKind::Integer => "int",
        ParameterKind::OptionalInteger => "int | None",
        ParameterKind::Number => "float",
        ParameterKind::Flag => "bool",
        ParameterKind::Numbers => "Sequence[float] | None",
        ParameterKind::Structured(Structure::Directions) => "Sequence[int] | Mapping[str, int] | str | None",
        ParameterKind::Structured(Structure::Factors) => "Sequence[float] | Mapping[str, float] | str | None",
        ParameterKind::Structured(Structure::Groups) => "Sequence[Sequence[int | str]] | str | None",
        ParameterKind::Structured(_) => "Mapping[str, Any] | str | PathLike[str] | None",
        _ => "str",
    }
}

/// Formats a value as a Python literal.
fn literal(value: &ParameterValue) -> String {
    match value {
        ParameterValue::Flag(true) => "True".to_owned(),
        ParameterValue::Flag(false) => "False".to_owned(),
        ParameterValue::String(text) => format!("\"{text}\""),
        other => other.to_string(),
    }
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().map_or(0, |line| line.len());
        if line > 0 && line + 1 + word.len() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
