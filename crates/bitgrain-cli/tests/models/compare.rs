//! `bitgrain compare`.

use std::fs;

use bitgrain::formats::safetensors::{Dtype, TensorSpec, Writer};

use crate::made::{at, folder, gguf, json, printed, quantized, refused, safetensors, two_layers, values};

#[test]
fn every_figure_of_a_quantized_model_is_present() {
    let folder = folder("compare_figures");
    let (model, small) = (at(&folder, "a.safetensors"), at(&folder, "b.safetensors"));
    two_layers(&model);
    quantized(&model, &small, "int4/32");
    let report = json(&["compare", &model, &small, "--json"]);
    let rows = report["tensors"].as_array().expect("a list");
    assert_eq!(rows.len(), 3);
    for row in rows.iter().filter(|row| row["second"] == "int4/32") {
        let number = |key: &str| row["figures"][key].as_f64().unwrap_or_else(|| panic!("{key} in {row}"));
        assert!(number("cosine") > 0.98 && number("cosine") < 1.0, "{row}");
        assert!(number("rmse") < number("max_error") && number("relative_rmse") < 0.2, "{row}");
        assert!((number("snr_db") + 20.0 * number("relative_rmse").log10()).abs() < 1e-9, "{row}");
        assert!((row["optimum_db"].as_f64().expect("a number") - 20.2).abs() < 0.1, "16 levels: {row}");
        assert!((row["limit_db"].as_f64().expect("a number") - 30.1).abs() < 0.1, "5 bits: {row}");
    }
    let bias = rows.iter().find(|row| row["name"] == "layer.1.bias").expect("it was kept");
    assert!(bias["figures"]["snr_db"].is_null() && bias["optimum_db"].is_null());
    let said = printed(&["compare", &model, &small]);
    for part in ["float32 > int4/32", "exact", "3 compared, 1 of them identical", "4.52 times smaller", "cosine    0.9"]
    {
        assert!(said.contains(part), "`{part}` is not in\n{said}");
    }
}

#[test]
fn a_model_compared_with_itself_has_no_error() {
    let folder = folder("compare_same");
    let model = at(&folder, "a.safetensors");
    two_layers(&model);
    let said = printed(&["compare", &model, &model, "--threads", "2"]);
    assert!(said.contains("3 compared, 3 of them identical") && said.contains("SNR       exact"), "{said}");
}

#[test]
fn positions_do_not_hide_the_errors_of_weights() {
    let folder = folder("compare_integers");
    let write = |name: &str, weight: f32| {
        let spec = |name: &str, dtype| TensorSpec { name: name.to_owned(), dtype, shape: vec![1] };
        let specs = [spec("position_ids", Dtype::I64), spec("w", Dtype::F32)];
        let mut writer = Writer::new(Vec::new(), &[], &specs).expect("a header");
        writer.write(&511_i64.to_le_bytes()).expect("room");
        writer.write(&weight.to_le_bytes()).expect("room");
        fs::write(folder.join(name), writer.finish().expect("complete")).expect("written");
        at(&folder, name)
    };
    let report = json(&["compare", &write("a.safetensors", 1.0), &write("b.safetensors", 0.5), "--json"]);
    assert_eq!(report["overall"]["relative_rmse"], 0.5);
    assert_eq!(report["tensors"].as_array().map(Vec::len), Some(2));
}

#[test]
fn threads_do_not_change_figures() {
    let folder = folder("compare_threads");
    let (model, small) = (at(&folder, "a.safetensors"), at(&folder, "b.safetensors"));
    safetensors(&model, &[("w", &[2048, 256], values(2048 * 256, 8))]);
    quantized(&model, &small, "int8");
    let with = |threads| printed(&["compare", &model, &small, "--json", "--threads", threads]);
    assert_eq!(with("1"), with("3"));
}

#[test]
fn tensors_are_listed_in_the_requested_order() {
    let folder = folder("compare_sort");
    let (model, small) = (at(&folder, "a.safetensors"), at(&folder, "b.safetensors"));
    two_layers(&model);
    quantized(&model, &small, "int4/32");
    let names = |sort: &str| {
        let report = json(&["compare", &model, &small, "--json", "--sort", sort]);
        let rows = report["tensors"].as_array().expect("a list").clone();
        rows.iter().map(|row| row["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    assert!(names("name").is_sorted());
    assert_eq!(names("size"), ["layer.0.weight", "layer.1.bias", "layer.1.weight"]);
    assert_eq!(names("error").last().map(String::as_str), Some("layer.1.bias"));
}

#[test]
fn tensors_without_a_counterpart_are_listed() {
    let folder = folder("compare_left_out");
    let (one, other) = (at(&folder, "a.safetensors"), at(&folder, "b.safetensors"));
    safetensors(&one, &[("w", &[4], values(4, 1)), ("shape", &[2, 3], values(6, 2)), ("left", &[1], vec![1.0])]);
    safetensors(&other, &[("w", &[4], values(4, 9)), ("shape", &[3, 2], values(6, 2)), ("right", &[1], vec![1.0])]);
    let said = printed(&["compare", &one, &other]);
    for part in ["only in the first model: left", "only in the second model: right", "shape: shapes [2, 3] and [3, 2]"]
    {
        assert!(said.contains(part), "`{part}` is not in\n{said}");
    }
    let blocks = at(&folder, "a.gguf");
    gguf(&blocks);
    assert!(printed(&["compare", &blocks, &blocks]).contains("blk.0.attn_k.weight: q8_k cannot be dequantized"));
}

#[test]
fn the_report_is_one_page_with_every_tensor_and_the_curve() {
    let folder = folder("compare_report");
    let (model, small, page) = (at(&folder, "a.safetensors"), at(&folder, "b.safetensors"), at(&folder, "report.html"));
    safetensors(&model, &[("<script>x", &[4, 64], values(256, 1)), ("plain", &[2, 64], values(128, 2))]);
    quantized(&model, &small, "int4/32");
    assert!(printed(&["compare", &model, &small, "--report", &page]).contains("wrote "));
    let html = fs::read_to_string(&page).expect("written");
    assert!(html.contains("data-name=\"&lt;script&gt;x\"") && html.contains("data-name=\"plain\""));
    assert!(!html.contains("<script>x") && !html.contains("http"));
    assert!(html.contains("class=\"curve\"") && html.contains("class=\"here\""));
    // Without the original values of a quantized first model, the curve cannot be measured.
    printed(&["compare", &small, &model, "--report", &page]);
    assert!(fs::read_to_string(&page).expect("written").contains("the first model is already quantized"));
}

#[test]
fn models_that_cannot_be_compared_are_errors() {
    let folder = folder("compare_bad");
    let (model, other, words) = (at(&folder, "a.safetensors"), at(&folder, "b.safetensors"), at(&folder, "a.txt"));
    two_layers(&model);
    safetensors(&other, &[("w", &[4], values(4, 1))]);
    fs::write(&words, "no model").expect("written");
    let said = refused(&["compare", &model, &other]);
    assert!(said.contains("nothing to compare") && said.contains("`layer.0.weight`") && said.contains("`w`"), "{said}");
    assert!(refused(&["compare", &model, &words]).contains("unknown model format"));
    assert!(refused(&["compare", &at(&folder, "missing"), &model]).contains("missing: "));
    let page = at(&folder, "nowhere/report.html");
    assert!(refused(&["compare", &model, &model, "--report", &page]).contains("nowhere"));
    assert!(refused(&["compare", &model, &model, "--report", &model]).contains("would overwrite the model"));
    let whole = fs::read(&model).expect("still there");
    fs::write(&other, &whole[..whole.len() / 2]).expect("written");
    assert!(refused(&["compare", &model, &other]).contains("b.safetensors"));
}

#[test]
fn an_exact_copy_and_an_infinite_error_are_distinguished() {
    let folder = folder("compare_not_finite");
    let (one, other, page) = (at(&folder, "a.safetensors"), at(&folder, "b.safetensors"), at(&folder, "report.html"));
    let (same, mut first) = (values(64, 2), values(64, 1));
    let mut second = first.clone();
    (first[0], second[0]) = (f32::NAN, f32::NAN);
    (second[7], second[40], second[63]) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY);
    safetensors(&one, &[("broken", &[2, 32], first), ("same", &[2, 32], same.clone())]);
    safetensors(&other, &[("broken", &[2, 32], second), ("same", &[2, 32], same)]);
    let report = json(&["compare", &one, &other, "--json", "--sort", "name"]);
    let [broken, same] = [0, 1].map(|i| &report["tensors"][i]["figures"]);
    assert!(broken["snr_db"].is_null() && same["snr_db"].is_null());
    assert_eq!(
        (&broken["exact"], &same["exact"], &report["overall"]["exact"]),
        (&false.into(), &true.into(), &false.into())
    );
    assert_eq!((&broken["non_finite"], &broken["non_finite_in_second"]), (&1.into(), &3.into()));
    assert_eq!((&same["non_finite_in_second"], &report["overall"]["non_finite_in_second"]), (&0.into(), &3.into()));
    let said = printed(&["compare", &one, &other, "--report", &page]);
    for part in ["not finite: broken: 3 values only in the second model", "infinite  3 errors", "skipped   1 values"] {
        assert!(said.contains(part), "`{part}` is not in\n{said}");
    }
    let html = fs::read_to_string(&page).expect("written");
    assert!(html.contains("NaN or infinite values") && html.contains("<li>broken: 3</li>"));
    assert!(!printed(&["compare", &one, &one]).contains("infinite  "));
}
