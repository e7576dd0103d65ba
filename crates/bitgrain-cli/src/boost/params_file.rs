//! Files with training parameters: JSON, flat TOML, and LightGBM's configuration files.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::error::CliError;

/// Maximum size of a file with parameters.
const MAX_BYTES: u64 = 1 << 20;

/// Reads the parameters of a file, in order. The extension selects the format: `.json`, `.toml`, or `name = value` lines
/// for `.conf` and any other.
pub(crate) fn read(path: &Path) -> Result<Vec<(String, String)>, CliError> {
    let refused = |problem: String| CliError::Options {
        problem: format!("{}: {problem}", path.display()),
        fix: "use lines such as `learning_rate = 0.05`, or a JSON object",
    };
    let size = fs::metadata(path).map_err(|error| refused(error.to_string()))?.len();
    if size > MAX_BYTES {
        return Err(refused(format!("the file has {size} bytes, at most {MAX_BYTES} are read")));
    }
    let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    if extension == "json" { json(&text).map_err(refused) } else { lines(&text, extension == "toml").map_err(refused) }
}

fn json(text: &str) -> Result<Vec<(String, String)>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Value::Object(entries) = value else { return Err("the file is not a JSON object".into()) };
    Ok(entries.into_iter().map(|(name, value)| (name, written(&value))).collect())
}

/// Writes a value as on the command line: nested values stay JSON, lists of numbers or names are joined by commas.
fn written(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(|item| item.is_number() || item.is_string()) => {
            items.iter().map(written).collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    }
}

/// Parses `name = value` lines with `#` comments; values of TOML are quoted strings, numbers, booleans or arrays.
fn lines(text: &str, toml: bool) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = without_comment(line).trim();
        if line.is_empty() {
            continue;
        }
        let place = format!("line {} (1-based)", number + 1);
        let Some((name, value)) = line.split_once('=') else {
            return Err(format!("{place}: `{line}` is not a parameter and a value"));
        };
        let (name, value) = (name.trim().trim_matches('"'), value.trim());
        if name.is_empty() || value.is_empty() {
            return Err(format!("{place}: `{line}` lacks a name or a value"));
        }
        let value = if toml {
            of_toml(value).ok_or_else(|| format!("{place}: invalid value `{value}`"))?
        } else {
            value.to_owned()
        };
        found.push((name.to_owned(), value));
    }
    Ok(found)
}

/// Returns a line up to the first `#` outside quotes.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (None, '#') => return &line[..at],
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            _ => {}
        }
    }
    line
}

/// Converts a value of TOML on one line. Arrays and numbers of TOML that parameters use are JSON, except for quotes.
fn of_toml(value: &str) -> Option<String> {
    if let Some(text) = value.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        return Some(text.to_owned()).filter(|text| !text.contains('\''));
    }
    let parsed: Value = serde_json::from_str(&value.replace('\'', "\"")).ok()?;
    (!parsed.is_null() && !parsed.is_object()).then(|| written(&parsed))
}

/// Parameters of LightGBM's configuration files that are arguments of the command here.
const ARGUMENTS: &[(&[&str], &str)] = &[
    (&["data", "train", "train_data", "train_data_file", "data_filename"], "pass the table as the argument DATA"),
    (
        &["valid", "test", "valid_data", "valid_data_file", "test_data", "test_data_file", "valid_filenames"],
        "use --valid",
    ),
    (&["output_model", "model_output", "model_out"], "use --model"),
    (&["input_model", "model_input", "model_in"], "use --continue"),
    (&["label_column", "label"], "use --target"),
    (&["weight_column", "weight"], "use --weight"),
    (&["group_column", "group", "group_id", "query_column", "query", "query_id"], "use --group"),
    (&["ignore_column", "ignore_feature", "blacklist"], "use --ignore"),
    (&["categorical_feature", "cat_feature", "categorical_column", "cat_column"], "use --categorical"),
    (&["header", "has_header"], "use --no-header for tables without names of columns"),
    (
        &["num_machines", "num_machine", "machines", "machine_list_filename"],
        "run `mpiexec bitgrain train` of the Python package",
    ),
    (&["device_type", "device"], "only cpu is supported"),
    (&["tree_learner", "tree", "tree_type"], "only serial is supported"),
];

/// Values that the command accepts, because they are what it does without them.
const ALREADY: &[(&str, &[&str])] = &[
    ("task", &["train", "training"]),
    ("device_type", &["cpu"]),
    ("device", &["cpu"]),
    ("tree_learner", &["serial"]),
    ("num_machines", &["1"]),
    ("num_machine", &["1"]),
    ("local_listen_port", &["12400"]),
    ("is_training_metric", &["false"]),
    ("is_provide_training_metric", &["false"]),
];

/// Parameters of LightGBM's speed and output: models do not depend on them.
const WITHOUT_EFFECT_ON_MODELS: &[&str] = &[
    "metric_freq",
    "output_freq",
    "is_enable_sparse",
    "is_sparse",
    "enable_sparse",
    "sparse",
    "two_round",
    "use_two_round_loading",
    "is_save_binary_file",
    "save_binary",
    "is_save_binary",
    "force_col_wise",
    "force_row_wise",
    "histogram_pool_size",
    "deterministic",
    "verbosity",
    "verbose",
    "enable_bundle",
    "pre_partition",
    "is_pre_partition",
];

/// Returns why a parameter of LightGBM is not a training parameter, or `None` if it can be left out.
pub(crate) fn not_training(name: &str, value: &str) -> Option<Option<&'static str>> {
    let value = value.to_ascii_lowercase();
    if WITHOUT_EFFECT_ON_MODELS.contains(&name) {
        return Some(None);
    }
    if ALREADY.iter().any(|(known, values)| *known == name && values.contains(&&*value)) {
        return Some(None);
    }
    ARGUMENTS.iter().find(|(names, _)| names.contains(&name)).map(|(_, fix)| Some(*fix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(found: &[(&str, &str)]) -> Vec<(String, String)> {
        found.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn json_toml_and_conf_say_the_same() {
        let want = pairs(&[("learning_rate", "0.05"), ("metric", "auc,logloss"), ("extra_trees", "true")]);
        // The order of a JSON object depends on a feature of serde_json that other crates may enable.
        let mut of_json = json(r#"{"learning_rate": 0.05, "metric": ["auc", "logloss"], "extra_trees": true}"#);
        let of_name = |(name, _): &(String, String)| want.iter().position(|(wanted, _)| wanted == name);
        of_json.as_mut().expect("valid").sort_by_key(of_name);
        assert_eq!(of_json, Ok(want.clone()));
        let toml = "# a comment\nlearning_rate = 0.05\nmetric = ['auc', \"logloss\"] # two\n\nextra_trees = true\n";
        assert_eq!(lines(toml, true), Ok(want.clone()));
        assert_eq!(lines("learning_rate=0.05\n metric = auc,logloss\r\nextra_trees = true # yes", false), Ok(want));
    }

    #[test]
    fn nested_values_stay_json() {
        let found = json(r#"{"interaction_constraints": [[0, 1], [2]], "max_depth": null}"#);
        assert_eq!(found, Ok(pairs(&[("interaction_constraints", "[[0,1],[2]]"), ("max_depth", "none")])));
        assert_eq!(lines("a = '#1'", true), Ok(pairs(&[("a", "#1")])));
    }

    #[test]
    fn broken_files_name_the_line() {
        for (text, toml, problem) in [
            ("rate", false, "line 1 (1-based): `rate` is not a parameter and a value"),
            ("\n= 3", false, "line 2 (1-based): `= 3` lacks a name or a value"),
            ("a =", true, "line 1 (1-based): `a =` lacks a name or a value"),
            ("a = auc", true, "line 1 (1-based): invalid value `auc`"),
            ("[table]", true, "line 1 (1-based): `[table]` is not a parameter and a value"),
            ("a = {b = 1}", true, "line 1 (1-based): invalid value `{b = 1}`"),
        ] {
            assert_eq!(lines(text, toml), Err(problem.to_owned()));
        }
        assert_eq!(json("[1]"), Err("the file is not a JSON object".to_owned()));
        assert!(json("{").is_err());
    }
}
