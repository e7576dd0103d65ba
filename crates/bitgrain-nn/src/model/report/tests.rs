//! Tests of the rendered page.

use super::*;
use crate::model::compare::ErrorStats;
use crate::model::plan::Point;

fn figures(relative_rmse: f64) -> ErrorStats {
    let exact = relative_rmse == 0.0;
    ErrorStats {
        cosine: 0.99,
        max_error: 0.5,
        rmse: relative_rmse * 0.1,
        relative_rmse,
        exact,
        snr_db: (!exact).then(|| -20.0 * relative_rmse.log10()),
        non_finite: 0,
        non_finite_in_second: 0,
    }
}

fn row(name: &str, relative_rmse: f64, second: &str) -> Row {
    Row {
        name: name.to_owned(),
        shape: vec![4, 32],
        first: "float32".to_owned(),
        second: second.to_owned(),
        first_bytes: 512,
        second_bytes: 72,
        figures: figures(relative_rmse),
        optimum_db: Some(20.2),
        limit_db: 27.0,
        histograms: [vec![0, 5, 100, 23], vec![1, 4, 90, 33]],
        range: (-1.0, 2.0),
    }
}

fn comparison(tensors: Vec<Row>) -> ModelComparison {
    ModelComparison {
        tensors,
        overall: figures(0.1),
        only_in_first: vec!["lost<b>".to_owned()],
        only_in_second: Vec::new(),
        skipped: vec![("odd".to_owned(), "shapes [1] and [2]".to_owned())],
        first_bytes: 1024,
        second_bytes: 144,
    }
}

fn page(tensors: Vec<Row>, curve: TradeOff<'_>) -> String {
    let comparison = comparison(tensors);
    html(&Report { first: "a.safetensors", second: "b & c.gguf", comparison: &comparison, curve, predictions: &[] })
}

fn plan(curve: &[(u64, f64)]) -> PrecisionPlan {
    let curve =
        curve.iter().map(|&(bytes, relative_rmse)| Point { bytes, relative_rmse, expected_divergence: None }).collect();
    PrecisionPlan {
        version: 1,
        formats: [("w.0".into(), "int8".parse().expect("valid choice"))].into(),
        others: [].into(),
        bytes: 200,
        relative_rmse: 0.0,
        expected_divergence: None,
        curve,
    }
}

#[test]
fn the_page_loads_nothing_from_elsewhere() {
    let page = page(vec![row("w.0", 0.1, "int4")], TradeOff::Missing("not requested"));
    for word in ["http", "src=", "@import", "url(", "<link"] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn names_cannot_become_markup() {
    let name = "<script>alert('x')</script>\"&\u{1b}[31m";
    let page = page(vec![row(name, 0.1, "<i>")], TradeOff::Missing("<u>"));
    for word in ["<script>alert", "</script>\"", "<i>", "<u>", "lost<b>", "b & c", "\u{1b}"] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("&lt;script&gt;alert('x')&lt;/script&gt;&quot;&amp;"));
}

#[test]
fn every_tensor_is_in_the_table_and_has_a_histogram() {
    let rows: Vec<Row> = (0..60).map(|i| row(&format!("w.{i}"), f64::from(i % 7) * 0.02, "int4")).collect();
    let page = page(rows, TradeOff::Missing("not requested"));
    for i in 0..60 {
        let named = |tag: &str| page.contains(&format!("<{tag} data-name=\"w.{i}\""));
        assert!(named("tr"), "{i}");
        assert!(named("figure") || named("details"), "{i}");
    }
    assert_eq!(page.matches("<svg").count(), 60);
}

#[test]
fn the_worst_tensor_has_the_first_and_longest_bar() {
    let page = page(vec![row("good", 0.01, "int8"), row("bad", 0.4, "int2")], TradeOff::Missing("not requested"));
    let bars = page.split("class=\"bar\"").collect::<Vec<_>>();
    assert!(bars[1].contains("data-name=\"bad\"") && bars[1].contains("width:100.00%"), "{}", bars[1]);
    assert!(bars[2].contains("data-name=\"good\"") && bars[2].contains("width:2.50%"), "{}", bars[2]);
}

#[test]
fn the_curve_shows_where_the_second_model_stands() {
    let plan = plan(&[(100, 0.5), (140, 0.2), (160, 0.1), (200, 0.0)]);
    let candidates = ["int4".parse().expect("known")];
    let page = page(vec![row("w.0", 0.3, "int4")], TradeOff::Measured { plan: &plan, candidates: &candidates });
    assert!(page.contains("class=\"curve\"") && page.contains("class=\"here\""));
    // 0.3 is 10.5 dB. With 144 bytes, 0.2 is possible, which is 14.0 dB, and no smaller plan does better.
    assert!(page.contains("The second model has 10.5 dB in 144 B. A plan of the same size reaches 14.0 dB."));
    assert!(page.contains("A plan of the same quality takes 140 B."));
}

#[test]
fn tensors_with_nan_or_infinity_are_listed() {
    let mut odd = row("w<0>", f64::INFINITY, "int4");
    (odd.figures.non_finite, odd.figures.non_finite_in_second) = (2, 1234);
    let page = page(vec![odd, row("good", 0.1, "int4")], TradeOff::Missing("none"));
    assert!(
        page.contains("Only in the second model, infinite errors: 1</summary><ul><li>w&lt;0&gt;: 1\u{202f}234</li>")
    );
    assert!(page.contains("In the first model, excluded from the figures: 1</summary><ul><li>w&lt;0&gt;: 2</li>"));
}

#[test]
fn the_ends_of_a_narrow_range_differ() {
    let mut narrow = row("w.0", 0.1, "int4");
    narrow.range = (9999.96, 10_000.04);
    assert!(page(vec![narrow], TradeOff::Missing("none")).contains("<span>9999.960</span><span>10000.040</span>"));
}

#[test]
fn unusual_figures_do_not_break_the_markup() {
    let mut odd = row("w.0", f64::INFINITY, "float16");
    (odd.figures.snr_db, odd.optimum_db, odd.shape) = (Some(f64::NEG_INFINITY), None, vec![]);
    odd.histograms = [vec![], vec![0; 48]];
    let plan = plan(&[]);
    for curve in [TradeOff::Missing("none"), TradeOff::Measured { plan: &plan, candidates: &[] }] {
        let page = page(vec![odd.clone(), row("same", 0.0, "float32")], curve);
        assert!(!page.contains("NaN"), "{page}");
        assert!(!page.contains("inf%") && !page.contains("\"inf"), "{page}");
    }
    assert!(page(Vec::new(), TradeOff::Missing("none")).contains("All tensors are equal"));
}
