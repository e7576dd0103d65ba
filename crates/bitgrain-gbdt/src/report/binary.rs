//! Two classes: calibration, ROC and precision-recall curves, confusion matrix.

use maud::{Markup, html};

use super::chart::{Axes, legend};
use super::classes::{matrix, scores};
use super::number::{float, percent, short};
use super::quality::Evaluated;

/// Number of bins of a calibration curve and of a histogram.
const BINS: usize = 10;
const BARS: usize = 20;

pub(super) fn charts(evaluated: &Evaluated<'_>) -> Markup {
    let rows = evaluated.rows;
    let cases: Vec<Case> = (0..rows.n_rows)
        .map(|row| Case {
            score: evaluated.predictions[row],
            positive: rows.targets[row] > 0.5,
            weight: rows.weight(row),
        })
        .collect();
    let mut counts = vec![0.0; 4];
    for case in &cases {
        counts[2 * usize::from(case.positive) + usize::from(case.score > 0.5)] += case.weight;
    }
    let labels = [evaluated.label(0), evaluated.label(1)];
    html! {
        div class="charts" {
            (roc(&[("f0", labels[1].clone(), &cases)]))
            (precision_recall(&cases, evaluated.figure("average_precision")))
            (calibration(&cases, &format!("share of class {}", labels[1])))
            (histogram(&cases, &labels))
        }
        h3 { "Confusion matrix" }
        p class="note" { "Rows are actual classes, columns are predicted classes, with a probability of 0.5 as the threshold." }
        (matrix(&labels, &counts))
        (scores(&labels, &counts))
    }
}

/// A predicted probability and whether the row is of the class.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) score: f64,
    pub(super) positive: bool,
    pub(super) weight: f64,
}

/// Returns the weights of true and false positives at each threshold, descending.
fn cumulated(cases: &[Case]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<&Case> = cases.iter().collect();
    sorted.sort_by(|a, b| b.score.total_cmp(&a.score));
    let (mut hits, mut alarms, mut all) = (0.0, 0.0, vec![(0.0, 0.0)]);
    for tied in sorted.chunk_by(|a, b| a.score == b.score) {
        for case in tied {
            *(if case.positive { &mut hits } else { &mut alarms }) += case.weight;
        }
        all.push((hits, alarms));
    }
    all
}

/// Returns the area under the ROC curve; `None` if there is only one class.
fn area(points: &[(f64, f64)]) -> Option<f64> {
    let (hits, alarms) = *points.last()?;
    let trapezoids = points.windows(2).map(|pair| (pair[1].1 - pair[0].1) * f64::midpoint(pair[0].0, pair[1].0));
    let sum: f64 = trapezoids.sum();
    (hits > 0.0 && alarms > 0.0).then(|| sum / (hits * alarms))
}

/// Renders ROC curves of several classes, each with its color and name.
pub(super) fn roc(curves: &[(&'static str, String, &[Case])]) -> Markup {
    let axes = Axes::rates();
    let mut drawn = Vec::new();
    for (class, name, cases) in curves {
        let points = cumulated(cases);
        let Some(area) = area(&points) else { continue };
        let (hits, alarms) = points.last().copied().unwrap_or((1.0, 1.0));
        let rates: Vec<(f64, f64)> = points.iter().map(|(hit, alarm)| (alarm / alarms, hit / hits)).collect();
        drawn.push((*class, format!("{name}: area {}", short(area)), axes.line(&rates)));
    }
    let label = format!("ROC curve; {}", drawn.iter().map(|(_, name, _)| name.as_str()).collect::<Vec<_>>().join(", "));
    let content = html! {
        path class="mark" d=(axes.line(&[(0.0, 0.0), (1.0, 1.0)])) {}
        @for (class, _, path) in &drawn { path class={ "line " (class) } d=(path) {} }
    };
    html! {
        figure {
            figcaption { "ROC curve" }
            @if drawn.is_empty() { p class="note" { "Not defined: all rows are of one class." } }
            @else {
                (axes.draw(&label, ("false positive rate", "true positive rate"), &content))
                (legend(drawn.iter().map(|(class, name, _)| (*class, name.clone()))))
            }
        }
    }
}

fn precision_recall(cases: &[Case], average: Option<f64>) -> Markup {
    let axes = Axes::rates();
    let points = cumulated(cases);
    let (hits, alarms) = points.last().copied().unwrap_or((0.0, 0.0));
    let rates: Vec<(f64, f64)> = points
        .iter()
        .skip(1)
        .filter(|(hit, alarm)| hit + alarm > 0.0)
        .map(|(hit, alarm)| (hit / hits, hit / (hit + alarm)))
        .collect();
    let share = hits / (hits + alarms);
    let average = average.map_or_else(|| "–".to_owned(), short);
    let content = html! {
        path class="mark" d=(axes.line(&[(0.0, share), (1.0, share)])) {}
        path class="line f0" d=(axes.line(&rates)) {}
    };
    html! {
        figure {
            figcaption { "Precision and recall" }
            @if hits > 0.0 {
                (axes.draw(&format!("precision-recall curve; average precision {average}"), ("recall", "precision"), &content))
                (legend([("f0", format!("average precision {average}")), ("mark", format!("share of the class: {}", percent(share)))]))
            } @else { p class="note" { "Not defined: no row is of the class." } }
        }
    }
}

/// Renders the mean outcome of rows with similar predictions: bins with equal numbers of rows.
pub(super) fn calibration(cases: &[Case], outcome: &str) -> Markup {
    let axes = Axes::rates();
    let mut sorted: Vec<&Case> = cases.iter().collect();
    sorted.sort_by(|a, b| a.score.total_cmp(&b.score));
    let mean = |bin: &[&Case]| {
        let weight: f64 = bin.iter().map(|case| case.weight).sum();
        let sum = |value: fn(&Case) -> f64| bin.iter().map(|case| case.weight * value(case)).sum::<f64>() / weight;
        (sum(|case| case.score), sum(|case| f64::from(u8::from(case.positive))))
    };
    let points: Vec<(f64, f64)> = sorted.chunks(sorted.len().div_ceil(BINS).max(1)).map(mean).collect();
    let largest = points.iter().map(|(x, y)| (x - y).abs()).filter(|gap| gap.is_finite()).fold(0.0, f64::max);
    let content = html! {
        path class="mark" d=(axes.line(&[(0.0, 0.0), (1.0, 1.0)])) {}
        path class="line f0" d=(axes.line(&points)) {}
        @for (x, y) in points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
            circle class="f0" cx=(format!("{:.1}", axes.x(*x))) cy=(format!("{:.1}", axes.y(*y))) r="3.5" {}
        }
    };
    html! {
        figure {
            figcaption { "Calibration" }
            (axes.draw(&format!("calibration in {BINS} bins; largest gap {}", short(largest)), ("mean predicted probability", outcome), &content))
            (legend([("f0", format!("{BINS} bins of equal size, largest gap {}", short(largest))), ("mark", "ideal".to_owned())]))
        }
    }
}

fn histogram(cases: &[Case], labels: &[String; 2]) -> Markup {
    let mut shares = [vec![0.0; BARS], vec![0.0; BARS]];
    let mut totals = [0.0, 0.0];
    for case in cases {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bin of a probability")]
        let bin = ((case.score * float(BARS)) as usize).min(BARS - 1);
        shares[usize::from(case.positive)][bin] += case.weight;
        totals[usize::from(case.positive)] += case.weight;
    }
    for (shares, total) in shares.iter_mut().zip(totals) {
        shares.iter_mut().for_each(|share| *share /= f64::max(total, f64::MIN_POSITIVE));
    }
    let top = shares.iter().flatten().fold(0.0, |a: f64, &b| a.max(b));
    let axes = Axes::new((0.0, 1.0), (0.0, top * 1.05));
    let content = html! {
        path class="area f0" d=(axes.bars(&shares[1])) {}
        path class="area f1" d=(axes.bars(&shares[0])) {}
    };
    html! {
        figure {
            figcaption { "Predicted probabilities by class" }
            (axes.draw("histogram of predicted probabilities of each class", ("predicted probability", "share of the class"), &content))
            (legend([("f0", labels[1].clone()), ("f1", labels[0].clone())]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_counts_pairs_in_the_right_order() {
        let case = |score, positive| Case { score, positive, weight: 1.0 };
        let cases = [case(0.1, false), case(0.8, true), case(0.4, false), case(0.3, true)];
        assert_eq!(area(&cumulated(&cases)), Some(0.75));
        let tied = [case(0.5, false), case(0.5, true)];
        assert_eq!(area(&cumulated(&tied)), Some(0.5));
        assert_eq!(area(&cumulated(&cases[..1])), None);
    }
}
