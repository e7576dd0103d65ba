//! `--budget`, `--max-rmse` and `--plan` with candidates, settings and rules.

use std::path::Path;

use bitgrain::nn::ModelFile;

use crate::model::folder;
use crate::{bitgrain, refusal, sampled};

/// Options that choose the formats; `plan.json` is created first.
const GOALS: [&[&str]; 8] = [
    &["--to", "int4"],
    &["--to", "q4_k"],
    &["--budget", "20kB"],
    &["--max-rmse", "0.5"],
    &["--plan", "plan.json"],
    &["--to", "int4", "--budget", "20kB"],
    &["--budget", "20kB", "--max-rmse", "0.5"],
    &["--to", "int4", "--plan", "plan.json"],
];
const CANDIDATES: [Option<&str>; 4] = [None, Some("int4,int8"), Some("int4/32,int8"), Some("q4_k,q8_0")];
const SETTINGS: [&[&str]; 4] = [&[], &["--group", "32"], &["--scale", "channel"], &["--calibrate", "mse"]];
const RULES: [&[&str]; 5] =
    [&[], &["--keep", "b"], &["--keep", "b=int8/16"], &["--keep", "w", "--keep", "w=q8_0"], &["--keep", "x*"]];
const OUTPUTS: [&str; 2] = ["gguf", "safetensors"];

/// Returns substrings of possible error messages, or the possible formats of `w`.
fn expected(
    goal: &[&str],
    candidates: Option<&str>,
    settings: &[&str],
    rules: &[&str],
    imatrix: bool,
    output: &str,
) -> Result<Vec<String>, Vec<&'static str>> {
    let mut wrong = Vec::new();
    let has = |name: &str| goal.contains(&name);
    let planning = has("--budget") || has("--max-rmse");
    if has("--to") && (planning || has("--plan")) {
        wrong.push("cannot be used with");
    }
    if has("--budget") && has("--max-rmse") {
        wrong.push("cannot be used with");
    }
    if candidates.is_some() && !planning {
        wrong.push("--candidates");
    }
    if rules.contains(&"x*") {
        wrong.push("--keep 'x*'");
    }
    if rules.contains(&"w=q8_0") {
        wrong.push("--keep 'w'");
    }
    let mut formats: Vec<String> = match (goal, candidates) {
        (["--to", to], _) => vec![(*to).to_owned()],
        _ if planning => match candidates {
            Some(names) => names.split(',').map(str::to_owned).collect(),
            None if output == "gguf" => ["q2_k", "q4_k", "q8_0", "float16"].map(str::to_owned).to_vec(),
            None => ["ternary", "int4", "int8", "float16"].map(str::to_owned).to_vec(),
        },
        _ => Vec::new(),
    };
    let followed = if planning || has("--to") { None } else { Some("int8".to_owned()) };
    let scaled = |name: &String| name.contains("int") || name == "ternary";
    // A rule with a granularity accepts a calibration, but neither --group nor --scale.
    let ruled = rules.contains(&"b=int8/16") && settings.first() == Some(&"--calibrate");
    let usable = |name: &String| scaled(name) && !(name == "ternary" && settings.contains(&"mse"));
    if let [option, value] = settings {
        if !formats.iter().any(usable) && !ruled {
            wrong.push(if *option == "--group" {
                "--group"
            } else if *option == "--scale" {
                "--scale"
            } else {
                "--calibrate"
            });
        }
        if *option == "--scale" && formats.iter().any(|name| name == "int4/32") {
            wrong.push("--scale channel contradicts");
        }
        let suffix = match *option {
            "--group" => "/32",
            "--scale" => "/channel",
            _ => "",
        };
        for name in formats.iter_mut().filter(|name| scaled(name) && !name.contains('/') && !suffix.is_empty()) {
            name.push_str(suffix);
        }
        if *value == "channel" {
            formats.iter_mut().for_each(|name| *name = name.replace("int8/channel", "int8"));
        }
    }
    let searched = settings.contains(&"mse") && formats.iter().any(|name| name.contains("int")) || ruled;
    let learned = formats.iter().any(|name| name.starts_with("ternary") || name == "q4_k");
    if imatrix && !searched && !learned {
        wrong.push("--imatrix");
    }
    if output == "gguf" && (formats.iter().chain(&followed).any(scaled) || rules.contains(&"b=int8/16")) {
        wrong.push("cannot hold");
    }
    formats.extend(followed);
    if wrong.is_empty() { Ok(formats) } else { Err(wrong) }
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn make_plan(folder: &Path) {
    let words = ["model.safetensors", "planned.safetensors", "--budget", "20kB", "--candidates", "int8", "--plan"];
    let words = strings(&[&words[..], &["plan.json"]].concat());
    assert_eq!(refusal(&bitgrain(folder, &words), &words), None);
}

#[test]
fn every_combination_of_goals_candidates_and_rules_is_honored_or_rejected() {
    let folder = folder();
    make_plan(folder.path());
    let total = GOALS.len() * CANDIDATES.len() * SETTINGS.len() * RULES.len() * 2 * OUTPUTS.len();
    sampled(total, 600, |index| {
        let mut rest = index;
        let mut digit = |base: usize| {
            let digit = rest % base;
            rest /= base;
            digit
        };
        let (goal, candidates) = (GOALS[digit(GOALS.len())], CANDIDATES[digit(CANDIDATES.len())]);
        let (settings, rules) = (SETTINGS[digit(SETTINGS.len())], RULES[digit(RULES.len())]);
        let (imatrix, output) = (digit(2) == 1, OUTPUTS[digit(OUTPUTS.len())]);
        let name = format!("out{index}.{output}");
        let candidate_words: Vec<&str> = candidates.into_iter().flat_map(|names| ["--candidates", names]).collect();
        let imatrix_words: &[&str] = if imatrix { &["--imatrix", "imatrix.safetensors"] } else { &[] };
        let words = ["model.safetensors", name.as_str()];
        let words = strings(&[&words, goal, &candidate_words, settings, rules, imatrix_words].concat());
        let said = refusal(&bitgrain(folder.path(), &words), &words);
        match (expected(goal, candidates, settings, rules, imatrix, output), said) {
            (Ok(formats), None) => {
                let model = ModelFile::open(folder.path().join(&name)).expect("written");
                let found = model.tensor("w").expect("there").storage.to_string();
                // The list above has only some of the default candidates.
                let named = goal.contains(&"--to") || candidates.is_some() || goal.contains(&"--plan");
                assert!(!named || formats.contains(&found), "{words:?}: {found} of {formats:?}");
                if settings == ["--scale", "channel"] {
                    assert!(!found.contains("/32") && !found.contains("/128"), "{words:?}: {found}");
                }
            }
            (Err(wrong), Some(said)) => {
                assert!(wrong.iter().any(|word| said.contains(word)), "{words:?}: {wrong:?} in {said}");
                assert!(!folder.path().join(&name).exists(), "{words:?}");
            }
            (wanted, said) => panic!("{words:?}: wanted {wanted:?}, it said {said:?}"),
        }
    });
}
