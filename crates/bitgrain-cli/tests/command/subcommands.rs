//! The subcommands, parsed from the help.

use std::process::Command;

pub(crate) fn help(words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bitgrain"));
    let output = command.args(words).arg("--help").output().expect("the binary runs");
    assert!(output.status.success(), "{words:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn listed(words: &[&str]) -> Vec<String> {
    let text = help(words);
    let lines = text.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Continuation lines of a description are indented further.
    let lines = lines.filter(|line| !line.starts_with("    "));
    lines.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Returns the path of every subcommand: `["quantize"]`, `["store", "put"]`.
pub(crate) fn subcommands() -> Vec<Vec<String>> {
    let inner = |name: String| match listed(&[&name]) {
        none if none.is_empty() => vec![vec![name]],
        all => all.into_iter().map(|one| vec![name.clone(), one]).collect(),
    };
    let all: Vec<Vec<String>> = listed(&[]).into_iter().flat_map(inner).collect();
    assert!(all.len() > 20, "{all:?}");
    all
}
