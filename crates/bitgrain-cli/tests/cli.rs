//! The command line in general: the built binary, its output and its exit codes.

use std::process::{Command, Output, Stdio};

fn bitgrain(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bitgrain")).args(arguments).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("output is UTF-8")
}

#[test]
fn the_tour_prints_every_format_and_keeps_its_bounds() {
    let output = bitgrain(&["tour", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let formats = report["codec"]["formats"].as_array().expect("a list");
    assert_eq!(formats.len(), 7);
    for format in formats {
        let number = |key: &str| format[key].as_f64().unwrap_or_else(|| panic!("{key} is a number in {format}"));
        assert!(number("max_error") <= number("bound"), "{format}");
        assert!(number("compression") > 3.7 && number("cosine") > 0.9, "{format}");
        assert!(number("encode_gb_s") > 0.0 && number("decode_gb_s") > 0.0, "{format}");
    }
    let rms: Vec<f64> = formats.iter().take(6).map(|f| f["rms_error"].as_f64().expect("a number")).collect();
    assert!(rms.is_sorted(), "fewer bits cost more: {rms:?}");
    let (four_bit, two_level) = (&formats[4], &formats[6]);
    for key in ["rms_error", "bytes"] {
        assert!(four_bit[key].as_f64() < two_level[key].as_f64(), "the closing sentence of the chapter holds: {key}");
    }
}

#[test]
fn the_tour_of_weights_loses_more_with_fewer_bits_and_keeps_its_budget() {
    let output = bitgrain(&["tour", "weights", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let formats = report["weights"]["formats"].as_array().expect("a list");
    let error = |name: &str| {
        let row = formats.iter().find(|row| row["format"] == name).unwrap_or_else(|| panic!("{name} is shown"));
        row["relative_rmse"].as_f64().expect("a number")
    };
    let errors = ["float16", "q8_0", "q6_k", "q5_k", "q4_k", "q3_k", "q2_k", "ternary"].map(error);
    assert!(errors.is_sorted(), "fewer bits cost more: {errors:?}");
    assert!(error("q4_k") < error("q4_0"));
    let plan = &report["weights"]["plan"];
    assert!(plan["bytes"].as_u64() <= plan["budget"].as_u64(), "{plan}");
    let between = plan["relative_rmse"].as_f64().expect("a number");
    assert!(between > error("q4_k") && between < error("q3_k"), "{plan}");
}

#[test]
fn the_tour_of_networks_runs_every_dtype_and_loads_what_it_saved() {
    let output = bitgrain(&["tour", "networks", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let report = &report["networks"];
    let formats = report["formats"].as_array().expect("a list");
    assert_eq!(formats.len(), 26, "21 dtypes, two of them twice, and three kinds of blocks");
    assert!(formats.iter().all(|row| row["same_after_loading"] == true), "{report}");
    let of = |name: &str, key: &str| {
        let row = formats.iter().find(|row| row["format"] == name).unwrap_or_else(|| panic!("{name} is shown"));
        row[key].as_f64().unwrap_or_else(|| panic!("{key} of {name} is a number"))
    };
    let cosines = ["float32", "float16", "int8", "int4", "int2@mse", "binary"].map(|name| of(name, "output_cosine"));
    assert!(cosines.is_sorted_by(|more, fewer| more >= fewer), "fewer bits cost more: {cosines:?}");
    let sizes = ["float64", "float32", "float16", "int8", "int4", "int2", "binary"].map(|name| of(name, "bytes"));
    assert!(sizes.is_sorted_by(|more, fewer| more > fewer), "{sizes:?}");
    assert!(of("float32", "accuracy") > 0.9 && of("int8", "accuracy") > of("float32", "accuracy") - 0.01, "{report}");
    assert!(of("int8", "optimum") > of("int4", "optimum") && of("int4", "optimum") > of("binary", "optimum"));
    for row in report["calibration"].as_array().expect("a list").iter().filter(|row| row["format"] != "q3_k") {
        let error = |key: &str| row[key]["error"].as_f64().expect("a number");
        assert!(error("feedback") < 0.8 * error("plain"), "{row}");
    }
}

#[test]
fn the_tour_of_boosting_learns_at_every_precision_and_predicts_the_same_after_loading() {
    let output = bitgrain(&["tour", "boosting", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let report = &report["boosting"];
    let auc = |row: &serde_json::Value| row["auc"].as_f64().expect("a number");
    let precisions = report["precisions"].as_array().expect("a list");
    assert_eq!(
        precisions.iter().map(|row| row["precision"].as_str()).collect::<Vec<_>>(),
        ["f32", "pair8", "pair4"].map(Some)
    );
    assert!(precisions.iter().all(|row| auc(row) > 0.95), "{report}");
    assert!(precisions.iter().all(|row| (auc(row) - auc(&precisions[0])).abs() < 0.01), "{report}");
    assert!(report["bytes_per_row"].as_u64() < report["f32_bytes_per_row"].as_u64(), "{report}");
    assert_eq!(report["same_after_loading"], true);
}

#[test]
fn the_tour_of_the_store_keeps_bits_for_read_tensors_and_every_bound() {
    let output = bitgrain(&["tour", "store", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let store = &report["store"];
    let bits: Vec<f64> =
        store["groups"].as_array().expect("groups").iter().filter_map(|g| g["mean_bits"].as_f64()).collect();
    assert!(bits.len() == 4 && bits.is_sorted_by(|a, b| a >= b) && bits[0] > bits[3] + 1.0, "{bits:?}");
    assert_eq!(store["beyond_their_bound"], 0);
    assert!(store["bytes_after"].as_u64() < store["bytes_at_first"].as_u64());
    // At the size that ADR-019 reaches, the budget has the least error per read.
    let policy = |at: usize, key: &str| store["policies"][at][key].as_f64().expect("a number");
    assert_eq!(store["policies"][1]["policy"], "adr019");
    assert!(policy(2, "bytes") <= policy(1, "bytes"), "{}", store["policies"]);
    assert!(policy(2, "error_per_read") < policy(1, "error_per_read"), "{}", store["policies"]);
}

#[test]
fn the_tour_of_language_models_measures_the_cost_of_each_format() {
    let mut tour = std::process::Command::new(env!("CARGO_BIN_EXE_bitgrain"));
    // Without an installed model, the chapter makes one.
    let output = tour.args(["tour", "language", "--json"]).env_remove("VIRTUAL_ENV").output().expect("starts");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let chapter = &report["language"];
    let rows = chapter["rows"].as_array().expect("rows");
    let number = |row: &serde_json::Value, name: &str| row[name].as_f64().expect("a number");
    let costs: Vec<f64> = rows.iter().map(|row| number(row, "kl_divergence")).collect();
    let (plan, formats) = costs.split_last().expect("a plan");
    assert!(formats.is_sorted() && formats[0] < 1e-3 && formats[4] > 0.01, "{costs:?}");
    // A plan of the size of q4_k, the fourth format, costs at most as much.
    assert!(*plan <= formats[3] && number(&rows[5], "bytes") <= number(&rows[3], "bytes"), "{costs:?}");
    // Letters of a text of 60 words are much more predictable than random ones.
    assert!((1.5..8.0).contains(&number(chapter, "perplexity")), "{chapter}");
    assert!(chapter["continuation"].as_str().is_some_and(|text| text.len() > 20));
}

#[test]
fn the_tour_prints_a_table_for_people() {
    let output = bitgrain(&["tour", "codec"]);
    assert!(output.status.success());
    let text = text(&output.stdout);
    for word in ["format", "bound", "cosine", "decode GB/s", "8 bit", "3 bit two-level"] {
        assert!(text.contains(word), "{word} is missing in\n{text}");
    }
}

#[test]
fn the_tour_writes_a_page_that_needs_no_other_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tour.html");
    let output = bitgrain(&["tour", "codec", "--report", path.to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(&path).expect("written");
    let rows = page.matches("<tr>").count();
    assert_eq!(rows, 1 + 7, "a header and seven formats");
    assert!(page.contains("3 bit two-level") && page.matches("class=\"bar\"").count() == 14, "two charts");
    assert!(!page.contains("http") && !page.contains("src="), "loads nothing");
    assert!(text(&output.stdout).contains("3 bit two-level"), "the text is printed as well");
    let refused = bitgrain(&["tour", "codec", "--report", "no-such-folder/tour.html"]);
    assert!(refused.status.code() == Some(2) && refused.stdout.is_empty(), "before the work");
}

#[test]
fn the_tour_lists_its_chapters() {
    let output = bitgrain(&["tour", "--list"]);
    assert!(text(&output.stdout).starts_with("codec "));
    let report: serde_json::Value =
        serde_json::from_slice(&bitgrain(&["tour", "--list", "--json"]).stdout).expect("JSON");
    assert_eq!(
        report.as_object().expect("chapters").keys().collect::<Vec<_>>(),
        ["boosting", "codec", "language", "networks", "search", "store", "weights"]
    );
}

#[test]
fn the_error_for_an_unknown_chapter_lists_the_chapters() {
    let output = bitgrain(&["tour", "cooking"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        text(&output.stderr),
        "error: unknown chapter `cooking`; choose one of codec, weights, networks, language, boosting, store, search\n"
    );
}

#[test]
fn unknown_commands_and_flags_exit_with_two() {
    for arguments in [&["fly"][..], &["info", "--loud"], &["completions", "powersh"], &[]] {
        assert_eq!(bitgrain(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn info_names_the_backends() {
    let output = bitgrain(&["info", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["backends"][0], "scalar");
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert!(text(&bitgrain(&["info"]).stdout).contains("backends on this CPU: scalar"));
}

#[test]
fn completions_exist_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = bitgrain(&["completions", shell]);
        assert!(output.status.success());
        assert!(text(&output.stdout).contains("tour"), "{shell}");
    }
}

#[test]
fn every_help_page_has_an_example() {
    let commands = [
        "--help",
        "quantize",
        "inspect",
        "compare",
        "embed",
        "generate",
        "perplexity",
        "imatrix",
        "tour",
        "info",
        "completions",
    ];
    for command in commands {
        let arguments = if command == "--help" { vec![command] } else { vec![command, "--help"] };
        let output = bitgrain(&arguments);
        assert!(output.status.success());
        assert!(text(&output.stdout).contains("Examples:"), "{arguments:?}");
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_bitgrain"))
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
}
