//! Mixed precision: a format per tensor, chosen from measured errors for a budget or a quality.
//!
//! Every tensor is measured in every candidate format. The formats of a tensor that are worth having lie on the lower
//! convex hull of bytes and error; taking the steps of all hulls in the order of error saved per byte gives, for every
//! size, the least error that steps of hulls can have. That walk is the trade-off curve, and the plan is a point of it.

use std::collections::BTreeMap;
use std::path::Path;

use bitgrain_codec::Fidelity;
use bitgrain_codec::weight::WeightFormat;
use serde::{Deserialize, Serialize};

use crate::convert::{Recipe, bytes_kept, measure};
use crate::pieces::Progress;
use crate::{Container, Model, ModelError, Tensor};

/// What a plan is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// The least error with all tensors in at most so many bytes.
    Budget(u64),
    /// The fewest bytes with at most this relative RMS error over all planned weights.
    MaxError(f64),
}

/// A format per tensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Of this layout of the file; 1.
    pub version: u32,
    /// Formats by the names of tensors.
    pub formats: BTreeMap<String, String>,
    /// Bytes of all tensors of the model so planned, those that are kept included.
    pub bytes: u64,
    /// Relative RMS error of the planned tensors: each relative to its own values, weighed by its number of weights.
    pub relative_rmse: f64,
    /// Sizes and the errors they allow, from the smallest.
    pub curve: Vec<Point>,
}

/// One trade-off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Bytes of all tensors.
    pub bytes: u64,
    /// Relative RMS error of the planned ones.
    pub relative_rmse: f64,
}

/// What a tensor costs in one format.
#[derive(Debug, Clone, Copy)]
struct Offer {
    format: WeightFormat,
    bytes: u64,
    /// Relative squared error times weights, so that offers of different tensors add up.
    error: f64,
}

/// The formats that suit a container unless others are named.
#[must_use]
pub fn candidates(container: Container) -> Vec<WeightFormat> {
    const BLOCKS: [&str; 12] =
        ["q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "q8_0", "iq4_nl", "q4_0", "q4_1", "q5_0", "q5_1", "float16"];
    const SCALED: [&str; 10] =
        ["ternary", "int2", "int2/32", "uint2/32", "int4/128", "int4", "int4/32", "uint4/32", "int8", "float16"];
    let names = if container == Container::Gguf { &BLOCKS[..] } else { &SCALED[..] };
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

/// Plans the weight matrices that no rule of `recipe` names, for a file of the kind `container`.
///
/// # Errors
/// [`ModelError::BudgetTooSmall`], [`ModelError::ErrorTooSmall`], and what reading brings.
pub fn plan(
    model: &Model,
    container: Container,
    candidates: &[WeightFormat],
    goal: Goal,
    recipe: &Recipe,
    progress: &dyn Progress,
) -> Result<Plan, ModelError> {
    let (mut fixed, mut weights, mut hulls) = (0, 0, Vec::new());
    for tensor in model.tensors() {
        let hull =
            if recipe.is_free(tensor) { hull(offers(tensor, candidates, recipe, progress)?) } else { Vec::new() };
        if hull.is_empty() {
            fixed += bytes_kept(tensor, container, recipe)?;
        } else {
            weights += tensor.elements();
            hulls.push((tensor.name.as_str(), hull));
        }
    }
    choose(&hulls, fixed, weights, goal)
}

/// Bytes that [`plan`] tells a [`Progress`] about: each tensor it plans, once for every candidate.
#[must_use]
pub fn work(model: &Model, candidates: &[WeightFormat], recipe: &Recipe) -> u64 {
    let free = model.tensors().iter().filter(|tensor| recipe.is_free(tensor));
    free.map(Tensor::bytes).sum::<u64>() * candidates.len() as u64
}

/// What a tensor costs in each format that its rows are whole blocks of.
fn offers(
    tensor: &Tensor,
    candidates: &[WeightFormat],
    recipe: &Recipe,
    progress: &dyn Progress,
) -> Result<Vec<Offer>, ModelError> {
    progress.tensor(&tensor.name);
    let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let (rows, cols, elements) = (size(tensor.rows()), size(tensor.cols()), size(tensor.elements()));
    let mut offers = Vec::new();
    for &format in candidates {
        let Ok(sizes) = format.sizes(rows, cols) else {
            progress.add(tensor.bytes());
            continue;
        };
        let lost = match measure(tensor, format, recipe, progress) {
            Ok(sums) => Fidelity::of(sums, elements).relative_rmse,
            // A format that cannot hold the values is no offer.
            Err(ModelError::Overflow { .. }) => continue,
            Err(error) => return Err(error),
        };
        let finite = if lost.is_finite() { lost } else { 1.0 };
        #[expect(clippy::cast_precision_loss, reason = "a weight in a sum")]
        offers.push(Offer { format, bytes: sizes.bytes() as u64, error: finite * finite * elements as f64 });
    }
    Ok(offers)
}

/// The offers worth having: each more bytes and less error than the one before, and falling ever less steeply.
fn hull(mut offers: Vec<Offer>) -> Vec<Offer> {
    offers.sort_by(|a, b| a.bytes.cmp(&b.bytes).then(a.error.total_cmp(&b.error)));
    let mut hull: Vec<Offer> = Vec::new();
    for offer in offers {
        if hull.last().is_some_and(|last| offer.error >= last.error) {
            continue;
        }
        while hull.len() > 1
            && steepness(hull[hull.len() - 2], offer) >= steepness(hull[hull.len() - 2], hull[hull.len() - 1])
        {
            hull.pop();
        }
        hull.push(offer);
    }
    hull
}

/// Error saved per byte from one offer to a larger one.
#[expect(clippy::cast_precision_loss, reason = "a slope to compare")]
fn steepness(from: Offer, to: Offer) -> f64 {
    (from.error - to.error) / (to.bytes - from.bytes).max(1) as f64
}

/// Walks from the smallest offers to the largest, the best step first, and stops where the goal is met.
fn choose(hulls: &[(&str, Vec<Offer>)], fixed: u64, weights: u64, goal: Goal) -> Result<Plan, ModelError> {
    let mut steps: Vec<(f64, usize, usize)> = Vec::new();
    for (tensor, (_, hull)) in hulls.iter().enumerate() {
        steps.extend(hull.windows(2).enumerate().map(|(i, pair)| (steepness(pair[0], pair[1]), tensor, i + 1)));
    }
    // Steps of one tensor fall ever less steeply, so this keeps them in their order.
    steps.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut chosen = vec![0; hulls.len()];
    let mut bytes = fixed + hulls.iter().map(|(_, hull)| hull[0].bytes).sum::<u64>();
    #[expect(clippy::cast_precision_loss, reason = "a mean over weights in memory")]
    let rmse = |error: f64| (error / weights.max(1) as f64).sqrt();
    let total = |chosen: &[usize]| hulls.iter().zip(chosen).map(|((_, hull), i)| hull[*i].error).sum::<f64>();
    let mut error = total(&chosen);
    let mut curve = vec![Point { bytes, relative_rmse: rmse(error) }];
    let within = |bytes: u64, error: f64| match goal {
        Goal::Budget(budget) => bytes <= budget,
        Goal::MaxError(limit) => rmse(error) > limit,
    };
    if let Goal::Budget(budget) = goal
        && bytes > budget
    {
        return Err(ModelError::BudgetTooSmall { budget, least: bytes });
    }
    let (mut walk_bytes, mut walk_error, mut stopped) = (bytes, error, !within(bytes, error));
    for (_, tensor, to) in steps {
        let (from, next) = (hulls[tensor].1[to - 1], hulls[tensor].1[to]);
        walk_bytes += next.bytes - from.bytes;
        walk_error += next.error - from.error;
        curve.push(Point { bytes: walk_bytes, relative_rmse: rmse(walk_error.max(0.0)) });
        match goal {
            // A step that is too large for what is left may be followed by one that is not.
            Goal::Budget(budget) => {
                if chosen[tensor] == to - 1 && bytes + next.bytes - from.bytes <= budget {
                    (chosen[tensor], bytes) = (to, bytes + next.bytes - from.bytes);
                }
            }
            Goal::MaxError(_) => {
                if !stopped {
                    (chosen[tensor], bytes) = (to, walk_bytes);
                    stopped = !within(walk_bytes, walk_error);
                }
            }
        }
    }
    error = total(&chosen);
    if let Goal::MaxError(wanted) = goal
        && rmse(error) > wanted
    {
        return Err(ModelError::ErrorTooSmall { wanted, best: rmse(error) });
    }
    let named = |((name, hull), i): (&(&str, Vec<Offer>), &usize)| ((*name).to_owned(), hull[*i].format.to_string());
    let formats = hulls.iter().zip(&chosen).map(named).collect();
    Ok(Plan { version: 1, formats, bytes, relative_rmse: rmse(error), curve })
}

impl Plan {
    /// Reads a plan that was saved.
    ///
    /// # Errors
    /// [`ModelError::Io`], or [`ModelError::Plan`] if it is none.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let text = std::fs::read(path).map_err(ModelError::io(path))?;
        let wrong = |reason| ModelError::Plan { path: path.to_owned(), reason };
        let plan: Self = serde_json::from_slice(&text).map_err(|error| wrong(format!("not a plan: {error}")))?;
        if plan.version != 1 {
            return Err(wrong(format!("a plan of version {}, this program knows 1", plan.version)));
        }
        for (tensor, format) in &plan.formats {
            if format.parse::<WeightFormat>().is_err() {
                return Err(wrong(format!("`{format}` for the tensor `{tensor}` is no format")));
            }
        }
        Ok(plan)
    }

    /// Saves it as JSON.
    ///
    /// # Errors
    /// [`ModelError::Io`].
    pub fn save(&self, path: &Path) -> Result<(), ModelError> {
        let text = serde_json::to_string_pretty(self).map_err(|error| ModelError::io(path)(error.into()))?;
        std::fs::write(path, text + "\n").map_err(ModelError::io(path))
    }

    /// Adds the formats of the plan to a recipe.
    ///
    /// # Errors
    /// [`ModelError::Plan`] if it names tensors that `model` does not have.
    pub fn apply(&self, path: &Path, model: &Model, recipe: Recipe) -> Result<Recipe, ModelError> {
        let known: std::collections::HashSet<&str> = model.tensors().iter().map(|t| t.name.as_str()).collect();
        if let Some(name) = self.formats.keys().find(|name| !known.contains(name.as_str())) {
            let reason = format!("the plan is for another model: there is no tensor `{name}`");
            return Err(ModelError::Plan { path: path.to_owned(), reason });
        }
        let choices = self.formats.iter().filter_map(|(name, format)| Some((name.clone(), format.parse().ok()?)));
        Ok(recipe.with_named(choices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(bytes: u64, error: f64) -> Offer {
        Offer { format: "int8".parse().expect("known"), bytes, error }
    }

    fn hulls(offers: &[&[(u64, f64)]]) -> Vec<(&'static str, Vec<Offer>)> {
        let names = ["a", "b", "c"];
        offers
            .iter()
            .zip(names)
            .map(|(all, name)| (name, hull(all.iter().map(|&(b, e)| offer(b, e)).collect())))
            .collect()
    }

    #[test]
    fn a_hull_leaves_out_what_another_offer_beats() {
        let hull = hull([(4, 9.0), (5, 9.5), (6, 8.0), (8, 1.0), (8, 2.0), (16, 0.0)].map(|(b, e)| offer(b, e)).into());
        assert_eq!(hull.iter().map(|o| o.bytes).collect::<Vec<_>>(), [4, 8, 16]); // 6 lies above the line from 4 to 8
    }

    #[test]
    fn a_budget_is_spent_where_it_saves_the_most() {
        let hulls = hulls(&[&[(10, 100.0), (20, 10.0)], &[(10, 50.0), (20, 20.0)]]);
        let plan = choose(&hulls, 5, 100, Goal::Budget(35)).expect("enough");
        assert_eq!((plan.bytes, plan.curve.len()), (35, 3));
        assert!((plan.relative_rmse - (60.0_f64 / 100.0).sqrt()).abs() < 1e-12);
        assert!(plan.curve.is_sorted_by(|a, b| a.bytes < b.bytes && a.relative_rmse > b.relative_rmse));
    }

    #[test]
    fn what_is_left_of_a_budget_goes_to_smaller_steps() {
        let hulls = hulls(&[&[(10, 100.0), (100, 0.0)], &[(10, 5.0), (12, 4.9)]]);
        let plan = choose(&hulls, 0, 100, Goal::Budget(30)).expect("enough");
        assert_eq!(plan.bytes, 22);
    }

    #[test]
    fn the_fewest_bytes_for_an_error() {
        let hulls = hulls(&[&[(10, 100.0), (20, 10.0)], &[(10, 50.0), (20, 20.0)]]);
        let plan = choose(&hulls, 0, 100, Goal::MaxError(0.6_f64.sqrt())).expect("reachable");
        assert_eq!(plan.bytes, 30);
        let plan = choose(&hulls, 0, 100, Goal::MaxError(10.0)).expect("reachable");
        assert_eq!(plan.bytes, 20);
    }

    #[test]
    fn goals_out_of_reach_say_what_is_in_reach() {
        let hulls = hulls(&[&[(10, 100.0), (20, 10.0)]]);
        let small = choose(&hulls, 7, 100, Goal::Budget(16));
        assert!(matches!(small, Err(ModelError::BudgetTooSmall { budget: 16, least: 17 })));
        assert!(matches!(choose(&hulls, 7, 100, Goal::MaxError(0.1)), Err(ModelError::ErrorTooSmall { .. })));
    }
}
