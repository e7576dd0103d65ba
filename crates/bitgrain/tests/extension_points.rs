//! Lists outside the engine that must grow with it: guides, CLI help, Python and comparisons with other libraries.
//!
//! `CONTRIBUTING.md` has a recipe for each kind of addition; these tests find the places that the compiler does not
//! check.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bitgrain::codec::weight::{DType, WeightFormat};
use bitgrain::gbdt::objective::{NameEntry, ObjectiveKind, kind_of};
use bitgrain::gbdt::{metric, objective};
use bitgrain::nn::network::layer::Layer;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the part of `text` between `start` and `end`.
fn section<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, after) = text.split_once(start).unwrap_or_else(|| panic!("no `{start}`"));
    after.split_once(end).unwrap_or_else(|| panic!("no `{end}` after `{start}`")).0
}

/// Returns the names in backquotes.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Asserts that the guide's table with `header` lists the entries in order, with their aliases.
fn assert_guide_lists(header: &str, entries: &[NameEntry]) {
    const GUIDE: &str = "docs/guide/train-on-a-table.md";
    let guide = read(GUIDE);
    let rows = guide.lines().skip_while(|line| !line.starts_with(header)).skip(2).take_while(|l| l.starts_with('|'));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split('|').map(str::trim).collect()).collect();
    let listed: Vec<&str> = rows.iter().map(|row| row[1].trim_matches('`')).collect();
    let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    assert_eq!(listed, names, "rows of the table `{header}` in {GUIDE}");
    for (row, entry) in rows.iter().zip(entries) {
        assert_eq!(quoted(row[4]), entry.aliases.iter().copied().collect(), "other names of `{}`", entry.name);
        assert_eq!(row[2].is_empty(), entry.parameter.is_none(), "parameter of `{}`", entry.name);
    }
}

#[test]
fn the_guide_lists_every_objective_and_metric() {
    assert_guide_lists("| objective |", objective::NAMES);
    assert_guide_lists("| metric |", metric::NAMES);
}

#[test]
fn the_docstrings_of_python_list_every_objective() {
    let documented = |path: &str, name: &str| {
        let source = read(path);
        let lines = source.lines().skip_while(|line| !line.starts_with("    objective : ")).skip(1);
        let parameter: String = lines.take_while(|line| line.starts_with("        ")).collect();
        let listed = parameter.contains(&format!("``\"{name}\"``")) || parameter.contains(&format!("``\"{name}:"));
        assert!(listed, "{path}: the docstring of `objective` does not name `{name}`");
    };
    for entry in objective::NAMES {
        documented("bindings/python/python/bitgrain/boosting/training.py", entry.name);
        let estimator = match kind_of(entry.name).expect("a built-in objective") {
            ObjectiveKind::Regression => "regressor",
            ObjectiveKind::Ranking => "ranker",
            ObjectiveKind::Binary | ObjectiveKind::Multiclass => "classifier",
        };
        documented(&format!("bindings/python/python/bitgrain/sklearn/{estimator}.py"), entry.name);
    }
}

#[test]
fn every_objective_is_compared_with_other_libraries() {
    let path = "bindings/python/differential/task.py";
    let source = read(path);
    let compared = section(&source, "OBJECTIVES = (", ")");
    let more = read("bindings/python/tests/test_boosting_objectives.py");
    let (ranking_path, ranking) =
        ("bindings/python/tests/test_boosting_ranking.py", read("bindings/python/tests/test_boosting_ranking.py"));
    for entry in objective::NAMES {
        let ranks = kind_of(entry.name) == Ok(ObjectiveKind::Ranking);
        let (path, compared) = if ranks { (ranking_path, &ranking[..]) } else { (path, compared) };
        let name = format!("\"{}\"", entry.name);
        assert!(compared.contains(&name) || more.contains(&name), "{path}: lacks `{}`", entry.name);
    }
}

#[test]
fn help_and_guide_name_every_weight_format() {
    let help = read("crates/bitgrain-cli/src/cmd/quantize/mod.rs");
    let help = section(&help, "FORMAT is one", "#[derive").replace("///", "");
    let named: BTreeSet<&str> = help.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let guide = read("docs/guide/python-weights.md");
    let guide = quoted(section(&guide, "| kind | formats |", "\n\n"));
    for format in WeightFormat::all() {
        let name = format.name();
        assert!(named.contains(name), "the help of `bitgrain quantize` does not name `{name}`");
        assert!(guide.contains(name), "the table of docs/guide/python-weights.md does not name `{name}`");
    }
}

/// Collects the files below `folder` whose names end in one of `endings`.
fn files_below(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("readable").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "decisions", "benchmarks", "tests", "__pycache__"].contains(&&*name) {
            files_below(&path, endings, found);
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
}

/// Decisions, benchmarks and the changelog describe the past and keep the counts of their time.
#[test]
fn the_number_of_dtypes_is_the_same_on_every_backend() {
    let mut files = vec![root().join("README.md")];
    for folder in ["docs", "spec", "crates", "bindings/python/python"] {
        files_below(&root().join(folder), &[".md", ".rs", ".py"], &mut files);
    }
    let mut found = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for (before, _) in text.match_indices(" dtypes").map(|(at, _)| text.split_at(at)) {
            let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            if let Ok(count) = before[before.len() - digits..].parse::<usize>() {
                assert_eq!(count, DType::ALL.len(), "{}: {count} dtypes", file.display());
                found += 1;
            }
        }
    }
    assert!(found > 8, "the scan found only {found} places");
}

#[test]
fn python_has_a_class_for_every_kind_of_layer() {
    let path = "bindings/python/python/bitgrain/weights/layers.py";
    let source = read(path);
    let exported = section(&source, "__all__ = [", "]");
    let mut kinds = BTreeSet::new();
    for class in source.split("\nclass ").skip(1) {
        let name = class.split(['(', ':']).next().unwrap_or_default();
        if let Some((_, kind)) = class.split_once("kind: ClassVar[str] = \"") {
            kinds.extend(kind.split('"').next());
            assert!(exported.contains(&format!("\"{name}\"")), "{path}: `{name}` is missing from __all__");
        }
    }
    assert_eq!(kinds, Layer::KINDS.into(), "values of `kind` in {path}");
    let tests = read("bindings/python/tests/test_weights_network.py");
    let built = section(&tests, "def test_every_kind_of_layer_can_be_built_and_round_trips", "\n\n\n");
    for name in exported.split('"').skip(1).step_by(2).filter(|name| *name != "Layer") {
        assert!(built.contains(&format!("layers.{name}(")), "the test of every kind of layer does not build `{name}`");
    }
}

#[test]
fn the_guide_of_exports_lists_every_format_with_its_extension() {
    let guide = read("docs/guide/export-a-model.md");
    for format in bitgrain::gbdt::model::ModelFormat::ALL {
        let extension = format.extension().map_or_else(String::new, |extension| format!(".{extension} "));
        let row = format!("| `{format}` | {extension}|");
        assert!(guide.contains(&row), "the table of docs/guide/export-a-model.md has no row `{row}`");
        let docstring = read("bindings/python/python/bitgrain/boosting/model.py");
        assert!(
            docstring.contains(&format!("``\"{format}\"``")),
            "the docstring of `Model.save` does not name `{format}`"
        );
    }
}
