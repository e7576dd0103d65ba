//! The tables of `docs/parameters.md`.

use bitgrain_gbdt::parameter::{HyperParameter, PARAMETERS, ParameterKind, ParameterStage, ParameterValue};

use super::Region;

pub(super) fn regions() -> Vec<Region> {
    let of = |start, stage| Region { start, end: "<!-- end -->", lines: table(stage) };
    vec![
        of("<!-- table training -->", ParameterStage::Training),
        of("<!-- table binning -->", ParameterStage::Binning),
        of("<!-- table run -->", ParameterStage::Run),
    ]
}

fn table(stage: ParameterStage) -> Vec<String> {
    let mut lines =
        vec!["| parameter | default | values | meaning | aliases |".to_owned(), "|---|---|---|---|---|".to_owned()];
    lines.extend(PARAMETERS.iter().filter(|parameter| parameter.stage == stage).map(row));
    lines
}

fn row(parameter: &HyperParameter) -> String {
    let default = match (parameter.default)() {
        ParameterValue::Unset => "none".to_owned(),
        default => format!("`{default}`"),
    };
    let takes = match parameter.kind {
        ParameterKind::Any => String::new(),
        ParameterKind::Choice(choices) => {
            let words = choices.iter().map(|choice| {
                let aliases: Vec<String> = choice.aliases.iter().map(|alias| format!("`{alias}`")).collect();
                let also = if aliases.is_empty() { String::new() } else { format!(" ({})", aliases.join(", ")) };
                format!("`{}`{also}", choice.name)
            });
            words.collect::<Vec<_>>().join(", ")
        }
        _ => parameter.takes(),
    };
    let aliases: Vec<String> = parameter.aliases.iter().map(|alias| format!("`{alias}`")).collect();
    format!("| `{}` | {default} | {takes} | {} | {} |", parameter.name, parameter.help, aliases.join(", "))
}
