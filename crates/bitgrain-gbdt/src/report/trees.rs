//! Sizes and depths of the trees.

use maud::{Markup, html};

use super::chart::{Axes, legend, range};
use super::number::{float, grouped, short};
use crate::model::{Child, Model, Tree};

pub(super) fn section(model: &Model) -> Markup {
    if model.trees.is_empty() {
        return html! { section { h2 { "Trees" } p { "The model has no trees." } } };
    }
    let leaves: Vec<f64> = model.trees.iter().map(|tree| float(tree.leaves.len())).collect();
    let depths: Vec<f64> = model.trees.iter().map(|tree| float(depth(tree))).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / float(values.len());
    let summary = |name: &str, values: &[f64]| {
        let (low, high) = range(values.iter().copied());
        format!("{name}: {} to {}, {} on average", short(low), short(high), short(mean(values)))
    };
    html! {
        section {
            h2 { "Trees" }
            p class="note" { (grouped(model.trees.len())) " trees. " (summary("Leaves per tree", &leaves)) ". " (summary("Depth", &depths)) "." }
            div class="charts" {
                (chart("Leaves per tree", "leaves", "f0", &leaves))
                (chart("Depth of each tree", "depth", "f2", &depths))
            }
        }
    }
}

fn chart(title: &str, name: &str, class: &str, values: &[f64]) -> Markup {
    let top = range(values.iter().copied()).1.max(1.0);
    let axes = Axes::new((0.0, float(values.len())), (0.0, top * 1.05));
    let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(tree, &value)| (float(tree) + 0.5, value)).collect();
    let content = html! {
        // A line through a single tree would be invisible.
        @if values.len() < 60 { path class={ "area " (class) } d=(axes.bars(values)) {} }
        @else { path class={ "line " (class) } d=(axes.line(&points)) {} }
    };
    html! {
        figure {
            figcaption { (title) }
            (axes.draw(&format!("{title}: at most {}", short(top)), ("tree", name), &content))
            (legend([]))
        }
    }
}

/// Number of splits on the longest path.
fn depth(tree: &Tree) -> usize {
    let (mut depths, mut deepest) = (vec![0_usize; tree.splits.len()], 0);
    for (at, split) in tree.splits.iter().enumerate() {
        for child in [split.left, split.right] {
            match child {
                // Parents come before their children in valid models.
                Child::Split(child) => depths[child as usize] = depths[at] + 1,
                Child::Leaf(_) => deepest = deepest.max(depths[at] + 1),
            }
        }
    }
    deepest
}
