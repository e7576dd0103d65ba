//! The top of the page: sizes, likeness, the worst tensor, and what could not be compared.

use super::escape::{breakable, escape};
use super::number::{Size, digits};
use super::{Report, decibels, grouped, percent};
use crate::model::bits_per_weight;
use crate::model::compare::{ModelComparison, Row};

pub(super) fn section(report: &Report<'_>) -> String {
    let Report { comparison, .. } = report;
    let overall = &comparison.overall;
    let changed = comparison.tensors.iter().filter(|row| !row.is_equal()).count();
    let weights = comparison.tensors.iter().map(Row::elements).sum();
    let bytes = comparison.tensors.iter().map(|row| row.second_bytes).sum();
    let (ratio, change) = comparison.size_change();
    let mut out = format!(
        "<header>\n<h1>{first} <span class=\"arrow\">→</span> {second}</h1>\n\
         <p>{count} tensors with {weights} numbers compared; {changed} of the tensors changed.</p>\n</header>\n\
         <section class=\"cards\">\n",
        first = breakable(report.first),
        second = breakable(report.second),
        count = comparison.tensors.len(),
        weights = grouped(weights),
    );
    let size = format!("{} → {}", Size(comparison.first_bytes), Size(comparison.second_bytes));
    let bits = format!("{:.2} bits per weight", bits_per_weight(bytes, weights));
    out += &card(&format!("{ratio:.2}×"), change, &[&size, &bits]);
    let relative = format!("relative RMSE {}", percent(overall.relative_rmse));
    let snr = if overall.snr_db.is_some() { format!("{} dB", decibels(overall.snr_db)) } else { "exact".to_owned() };
    out += &card(&snr, "signal to noise", &[&relative, &format!("RMSE {}", digits(overall.rmse))]);
    let largest = format!("largest error {}", digits(overall.max_error));
    out += &card(&format!("{:.6}", overall.cosine), "cosine", &[&largest, "over all compared weights"]);
    let by_error = |a: &&Row, b: &&Row| a.figures.relative_rmse.total_cmp(&b.figures.relative_rmse);
    match comparison.tensors.iter().filter(|row| !row.is_equal()).max_by(by_error) {
        Some(worst) => {
            let lines =
                [breakable(&worst.name), escape(&format!("{}, cosine {:.6}", worst.second, worst.figures.cosine))];
            out += &card(&percent(worst.figures.relative_rmse), "worst tensor", &[&lines[0], &lines[1]]);
        }
        None => out += &card("none", "worst tensor", &["no value is different"]),
    }
    out + "</section>\n"
}

/// One figure, its name and what explains it, all as HTML.
fn card(figure: &str, name: &str, lines: &[&str]) -> String {
    let lines: String = lines.iter().map(|line| format!("<p>{line}</p>")).collect();
    format!("<div class=\"card\"><h3>{name}</h3><p class=\"figure\">{figure}</p>{lines}</div>\n")
}

/// What has no figures, and why.
pub(super) fn left_out(comparison: &ModelComparison) -> String {
    let plain = |names: &[String]| names.iter().map(|name| escape(name)).collect::<Vec<_>>();
    let reasons = comparison.skipped.iter().map(|(name, reason)| format!("{}: {}", escape(name), escape(reason)));
    let lists = list("Not comparable", &reasons.collect::<Vec<_>>())
        + &list("Only in the first model", &plain(&comparison.only_in_first))
        + &list("Only in the second model", &plain(&comparison.only_in_second));
    if lists.is_empty() { lists } else { format!("<section class=\"warn\">\n<h2>Left out</h2>\n{lists}</section>\n") }
}

/// Tensors with values that are no numbers: those of the first have no part in the figures, those that only the second
/// has make them infinite.
pub(super) fn not_finite(comparison: &ModelComparison) -> String {
    let with = |count: fn(&Row) -> u64| {
        let rows = comparison.tensors.iter().filter(|row| count(row) > 0);
        rows.map(|row| format!("{}: {}", escape(&row.name), grouped(count(row)))).collect::<Vec<_>>()
    };
    let lists = list("Only in the second model, infinite errors", &with(|row| row.figures.non_finite_in_second))
        + &list("In the first model, left out of the figures", &with(|row| row.figures.non_finite));
    if lists.is_empty() {
        return lists;
    }
    format!("<section class=\"warn\">\n<h2>NaN or infinite values</h2>\n{lists}</section>\n")
}

/// A list under its title, open unless it is long; nothing if it is empty.
fn list(title: &str, items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let open = if items.len() <= 8 { " open" } else { "" };
    let lines: String = items.iter().map(|item| format!("<li>{item}</li>")).collect();
    format!("<details{open}><summary>{title}: {}</summary><ul>{lines}</ul></details>\n", items.len())
}
