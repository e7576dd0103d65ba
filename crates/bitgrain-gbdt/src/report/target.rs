//! Distribution of the target.

use maud::{Markup, html};

use super::chart::{Axes, legend, range};
use super::number::{clean, float, grouped, percent, short};
use super::rows::Rows;
use crate::explain::quantile;
use crate::model::Model;

/// Number of bars of the histogram, and maximum number of classes shown.
const BARS: usize = 40;
const CLASSES: usize = 30;

pub(super) fn section(model: &Model, train: &Rows) -> Markup {
    let classes = if model.output.is_classifier() { model.n_outputs().max(2) } else { 0 };
    let mut counts = vec![0_usize; classes];
    let all_classes = train.targets.iter().all(|&target| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared with the target below")]
        let class = target as usize;
        counts.get_mut(class).filter(|_| float(class) == target).map(|count| *count += 1).is_some()
    });
    html! {
        section {
            h2 { "Target" }
            @if classes > 0 && all_classes { (bars(model, &counts)) } @else { (histogram(&train.targets)) }
        }
    }
}

fn bars(model: &Model, counts: &[usize]) -> Markup {
    let (most, total) = (counts.iter().copied().max().unwrap_or(1).max(1), counts.iter().sum::<usize>().max(1));
    let mut order: Vec<usize> = (0..counts.len()).collect();
    if counts.len() > CLASSES {
        order.sort_by_key(|&class| std::cmp::Reverse(counts[class]));
        order.truncate(CLASSES);
    }
    html! {
        p class="note" {
            "Training rows of each class."
            @if counts.len() > CLASSES { " The " (CLASSES) " most frequent of " (counts.len()) " classes are shown." }
        }
        div class="bars" {
            @for class in order {
                div class="bar" {
                    span class="name" { (clean(&model.output.class_label(class))) }
                    span class="track" aria-hidden="true" { b class="f0" style=(format!("width:{:.2}%", 100.0 * float(counts[class]) / float(most))) {} }
                    span class="value" { (percent(float(counts[class]) / float(total))) }
                }
            }
        }
    }
}

fn histogram(targets: &[f64]) -> Markup {
    let mut sorted = targets.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let ends = range(sorted.iter().copied());
    let mut counts = vec![0.0; BARS];
    for target in &sorted {
        let place = (target - ends.0) / (ends.1 - ends.0).max(f64::MIN_POSITIVE) * float(BARS);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
        let bar = (place as usize).min(BARS - 1);
        counts[bar] += 1.0;
    }
    let axes = Axes::new(ends, (0.0, counts.iter().fold(1.0, |a: f64, &b| a.max(b)) * 1.05));
    let median = quantile(&sorted, 0.5);
    let content = html! { path class="area f0" d=(axes.bars(&counts)) {} };
    html! {
        figure {
            (axes.draw(&format!("histogram of {} targets, median {}", grouped(targets.len()), short(median)), ("target", "rows"), &content))
            (legend([("f0", format!("median {}, from {} to {}", short(median), short(ends.0), short(ends.1)))]))
        }
    }
}
