//! Mixed precision: chooses a format per tensor from measured errors, for a size budget or an error target.
//!
//! All tensors are measured in all candidate formats, large ones by a sample of their rows if the goal is a size. `curve`
//! computes the trade-off between size and error; `knapsack` makes the choice. With [`Sensitivities`] in the recipe, the
//! error is the expected divergence of a language model's predictions.

mod curve;
mod knapsack;
mod sensitivity;

use std::collections::BTreeMap;
use std::path::Path;

use bitgrain_codec::Fidelity;
use bitgrain_codec::weight::WeightFormat;
use bitgrain_files::PartFile;
pub use sensitivity::Sensitivities;
use serde::{Deserialize, Serialize};

use crate::model::Progress;
use crate::model::convert::{FormatChoice, Recipe, bytes_kept, holds, measure};
use crate::model::{Container, ModelFile, ModelFileError, ModelTensor};

/// Objective of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// Minimizes the error with all tensors in at most this many bytes.
    Budget(u64),
    /// Minimizes the size with at most this relative RMS error over all planned weights.
    MaxError(f64),
}

/// A format per tensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrecisionPlan {
    /// Version of the file layout; 1.
    pub version: u32,
    /// Choices for the planned tensors, by name.
    pub formats: BTreeMap<String, FormatChoice>,
    /// Choices for the other tensors, which make the plan self-contained.
    #[serde(default)]
    pub others: BTreeMap<String, FormatChoice>,
    /// Size of all tensors under the plan in bytes, including tensors that are copied.
    pub bytes: u64,
    /// Relative RMS error of the planned tensors: each relative to its own values, averaged by the number of weights.
    pub relative_rmse: f64,
    /// Expected divergence of the predictions in nats, if the recipe has sensitivities: the sum of the relative squared
    /// errors of all tensors times their sensitivities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_divergence: Option<f64>,
    /// Trade-off between size and error, in order of increasing size.
    pub curve: Vec<Point>,
}

/// One point of the trade-off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Size of all tensors in bytes.
    pub bytes: u64,
    /// Relative RMS error of the planned tensors.
    pub relative_rmse: f64,
    /// Expected divergence of the predictions in nats, if the recipe has sensitivities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_divergence: Option<f64>,
}

/// Number of weights of a tensor that are measured for a budget. Errors of a sample of this size deviate by less than
/// 1 %, and a model with 1.5 billion weights is measured in seconds.
const SAMPLE: usize = 1 << 18;

/// Cost of a tensor in one format.
#[derive(Debug, Clone, Copy)]
struct Offer {
    format: WeightFormat,
    bytes: u64,
    /// The cost to minimize or to limit, which can be added over tensors: for a budget with sensitivities, the expected
    /// divergence; else the relative squared error times the number of weights, for a budget weighted by importance.
    error: f64,
    /// Relative squared error times the number of weights, without importances.
    squares: f64,
}

/// A tensor with its candidate formats.
#[derive(Debug)]
struct Choices<'a> {
    name: &'a str,
    /// In order of increasing size and decreasing error.
    offers: Vec<Offer>,
}

/// Returns the default candidate formats for a container.
#[must_use]
pub fn candidates(container: Container) -> Vec<WeightFormat> {
    const BLOCKS: [&str; 12] =
        ["q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "q8_0", "iq4_nl", "q4_0", "q4_1", "q5_0", "q5_1", "float16"];
    const SCALED: [&str; 10] =
        ["ternary", "int2", "int2/32", "uint2/32", "int4/128", "int4", "int4/32", "uint4/32", "int8", "float16"];
    let names = if container == Container::Gguf { &BLOCKS[..] } else { &SCALED[..] };
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

/// Plans the weight matrices that no rule of `recipe` matches, for a file of the kind `container`.
///
/// # Errors
/// Returns [`ModelFileError::BudgetTooSmall`] or [`ModelFileError::ErrorTooSmall`] for a goal out of reach, and I/O
/// errors.
pub fn plan(
    model: &ModelFile,
    container: Container,
    candidates: &[WeightFormat],
    goal: Goal,
    recipe: &Recipe,
    progress: &dyn Progress,
) -> Result<PrecisionPlan, ModelFileError> {
    if let Some(format) = candidates.iter().find(|format| !holds(container, **format)) {
        return Err(ModelFileError::Container {
            container: container.name(),
            format: format.to_string(),
            tensor: "*".to_owned(),
            hint: "; choose other candidates or another output container",
        });
    }
    let (mut fixed, mut weights, mut tensors, mut others) = (0, 0, Vec::new(), BTreeMap::new());
    for tensor in model.tensors() {
        let free = recipe.is_free(tensor);
        let offers = if free { offers(tensor, candidates, goal, recipe, progress)? } else { Vec::new() };
        if offers.is_empty() {
            fixed += bytes_kept(tensor, container, recipe)?;
            others.insert(tensor.name.clone(), recipe.choice(tensor));
        } else {
            weights += tensor.elements();
            tensors.push(Choices { name: &tensor.name, offers: worthwhile(offers) });
        }
    }
    let diverges = recipe.sensitivities.is_some() && matches!(goal, Goal::Budget(_));
    Ok(PrecisionPlan { others, ..choose(&tensors, fixed, weights, goal, diverges)? })
}

/// Returns the bytes that [`plan`] reports to a [`Progress`]: each planned tensor, once per candidate.
#[must_use]
pub fn progress_total(model: &ModelFile, candidates: &[WeightFormat], recipe: &Recipe) -> u64 {
    let free = model.tensors().iter().filter(|tensor| recipe.is_free(tensor));
    free.map(ModelTensor::bytes).sum::<u64>() * candidates.len() as u64
}

/// Measures a tensor in each format whose blocks divide its rows.
fn offers(
    tensor: &ModelTensor,
    candidates: &[WeightFormat],
    goal: Goal,
    recipe: &Recipe,
    progress: &dyn Progress,
) -> Result<Vec<Offer>, ModelFileError> {
    progress.tensor(&tensor.name);
    let (rows, cols) = tensor.matrix_shape()?;
    // A limit of the error must hold for all weights.
    let most = matches!(goal, Goal::Budget(_)).then_some(SAMPLE);
    let mut offers = Vec::new();
    for &format in candidates {
        let Ok(sizes) = format.sizes(rows, cols) else {
            progress.add(tensor.bytes());
            continue;
        };
        let lost = match measure(tensor, format, recipe, most, progress) {
            Ok(lost) => lost,
            // Skip formats that the values overflow.
            Err(ModelFileError::Overflow { .. }) => continue,
            Err(error) => return Err(error),
        };
        // A tensor of zeros has an infinite relative error as soon as one weight is not 0; count it as a total loss.
        let finite = |lost: f64| if lost.is_finite() { lost } else { 1.0 };
        let relative = finite(Fidelity::of(lost.sums, lost.weights).relative_rmse.powi(2));
        let weighted = lost.weighted().map_or(relative, finite);
        #[expect(clippy::cast_precision_loss, reason = "a weight in a sum")]
        let elements = (rows * cols) as f64;
        let error = match (goal, &recipe.sensitivities) {
            (Goal::MaxError(_), _) => relative * elements,
            (Goal::Budget(_), None) => weighted * elements,
            (Goal::Budget(_), Some(sensitivities)) => weighted * sensitivities.of(&tensor.name),
        };
        offers.push(Offer { format, bytes: sizes.bytes() as u64, error, squares: relative * elements });
    }
    Ok(offers)
}

/// Keeps the Pareto-optimal offers: drops those that are at least as large as another with less error.
fn worthwhile(mut offers: Vec<Offer>) -> Vec<Offer> {
    offers.sort_by(|a, b| a.bytes.cmp(&b.bytes).then(a.error.total_cmp(&b.error)));
    let mut best = f64::INFINITY;
    offers.retain(|offer| {
        let better = offer.error < best;
        best = best.min(offer.error);
        better
    });
    offers
}

fn choose(
    tensors: &[Choices<'_>],
    fixed: u64,
    weights: u64,
    goal: Goal,
    diverges: bool,
) -> Result<PrecisionPlan, ModelFileError> {
    #[expect(clippy::cast_precision_loss, reason = "a mean over weights in memory")]
    let weights = weights.max(1) as f64;
    let rmse = |error: f64| (error.max(0.0) / weights).sqrt();
    let least = fixed + tensors.iter().map(|tensor| tensor.offers[0].bytes).sum::<u64>();
    let chosen = match goal {
        Goal::Budget(budget) if least > budget => return Err(ModelFileError::BudgetTooSmall { budget, least }),
        Goal::Budget(budget) => knapsack::least_error(tensors, budget - fixed),
        Goal::MaxError(limit) => {
            let best = rmse(tensors.iter().filter_map(|tensor| Some(tensor.offers.last()?.error)).sum());
            if best > limit || limit.is_nan() {
                return Err(ModelFileError::ErrorTooSmall { wanted: limit, best });
            }
            knapsack::fewest_bytes(tensors, limit * limit * weights)
        }
    };
    let taken = || tensors.iter().zip(&chosen).map(|(tensor, at)| (tensor.name, tensor.offers[*at]));
    Ok(PrecisionPlan {
        version: 1,
        formats: taken().map(|(name, offer)| (name.to_owned(), FormatChoice::To(offer.format))).collect(),
        others: BTreeMap::new(),
        bytes: fixed + taken().map(|(_, offer)| offer.bytes).sum::<u64>(),
        relative_rmse: rmse(taken().map(|(_, offer)| offer.squares).sum()),
        expected_divergence: diverges.then(|| taken().map(|(_, offer)| offer.error).sum()),
        curve: curve::curve(tensors)
            .map(|at| Point {
                bytes: fixed + at.bytes,
                relative_rmse: rmse(at.squares),
                expected_divergence: diverges.then_some(at.error.max(0.0)),
            })
            .collect(),
    })
}

impl PrecisionPlan {
    /// Reads a saved plan.
    ///
    /// # Errors
    /// Returns [`ModelFileError::Io`] if the file cannot be read and [`ModelFileError::Plan`] if it is not a valid
    /// plan.
    pub fn load(path: &Path) -> Result<Self, ModelFileError> {
        let text = std::fs::read(path).map_err(ModelFileError::io(path))?;
        let wrong = |reason| ModelFileError::Plan { path: path.to_owned(), reason };
        let plan: Self = serde_json::from_slice(&text).map_err(|error| wrong(format!("not a plan: {error}")))?;
        if plan.version != 1 {
            return Err(wrong(format!("unsupported plan version {}; expected 1", plan.version)));
        }
        Ok(plan)
    }

    /// Saves the plan as JSON.
    ///
    /// # Errors
    /// Returns [`ModelFileError::Io`] if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), ModelFileError> {
        let text = serde_json::to_string_pretty(self).map_err(|error| ModelFileError::io(path)(error.into()))?;
        PartFile::write_atomic(path, (text + "\n").as_bytes()).map_err(ModelFileError::io(path))
    }

    /// Adds the choices of the plan to a recipe.
    ///
    /// # Errors
    /// Returns [`ModelFileError::NoTensor`] if the plan names a tensor that `model` lacks, because it was made for
    /// another model.
    pub fn apply(&self, model: &ModelFile, recipe: Recipe) -> Result<Recipe, ModelFileError> {
        let all = || self.formats.iter().chain(&self.others).map(|(name, choice)| (name.clone(), *choice));
        for (name, _) in all() {
            model.tensor(&name)?;
        }
        Ok(recipe.with_named(all()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn tensors(offers: &[&[(u64, f64)]]) -> Vec<Choices<'static>> {
        let format = "int8".parse().expect("known");
        let offer = |&(bytes, error): &(u64, f64)| Offer { format, bytes, error, squares: error };
        let names = ["a", "b", "c", "d"];
        let choices =
            |(all, name): (&&[(u64, f64)], _)| Choices { name, offers: worthwhile(all.iter().map(offer).collect()) };
        offers.iter().zip(names).map(choices).collect()
    }

    #[test]
    fn dominated_offers_are_dropped() {
        let kept = &tensors(&[&[(4, 9.0), (5, 9.5), (6, 8.0), (8, 2.0), (8, 1.0), (16, 0.0)]])[0].offers;
        assert_eq!(
            kept.iter().map(|o| (o.bytes, o.error)).collect::<Vec<_>>(),
            [(4, 9.0), (6, 8.0), (8, 1.0), (16, 0.0)]
        );
    }

    #[test]
    fn a_budget_is_spent_where_it_saves_the_most() {
        let tensors = tensors(&[&[(10, 100.0), (20, 10.0)], &[(10, 50.0), (20, 20.0)]]);
        let plan = choose(&tensors, 5, 100, Goal::Budget(35), false).expect("enough");
        assert_eq!((plan.bytes, plan.curve.len()), (35, 3));
        assert!((plan.relative_rmse - (60.0_f64 / 100.0).sqrt()).abs() < 1e-12);
        assert!(plan.curve.is_sorted_by(|a, b| a.bytes < b.bytes && a.relative_rmse > b.relative_rmse));
    }

    #[test]
    fn a_budget_just_short_of_all_steps_drops_the_least_useful_one() {
        // All second offers would take 41 bytes: one of the small tensors must give way, not the large one.
        let tensors =
            tensors(&[&[(10, 200.0), (20, 40.0)], &[(5, 100.0), (10, 20.0), (20, 5.0)], &[(5, 100.0), (10, 20.0)]]);
        let plan = choose(&tensors, 1, 100, Goal::Budget(40), false).expect("enough");
        assert!((plan.relative_rmse - (160.0_f64 / 100.0).sqrt()).abs() < 1e-12, "{plan:?}");
    }

    #[test]
    fn the_fewest_bytes_for_an_error() {
        let tensors = tensors(&[&[(10, 100.0), (20, 10.0)], &[(10, 50.0), (20, 20.0)]]);
        let bytes = |limit: f64| choose(&tensors, 0, 100, Goal::MaxError(limit), false).expect("reachable").bytes;
        assert_eq!([bytes(0.61_f64.sqrt()), bytes(10.0), bytes(0.31_f64.sqrt())], [30, 20, 40]);
    }

    #[test]
    fn unreachable_goals_report_the_reachable_range() {
        let tensors = tensors(&[&[(10, 100.0), (20, 10.0)]]);
        let small = choose(&tensors, 7, 100, Goal::Budget(16), false);
        assert!(matches!(small, Err(ModelFileError::BudgetTooSmall { budget: 16, least: 17 })));
        for limit in [0.1, f64::NAN, -1.0] {
            assert!(matches!(
                choose(&tensors, 7, 100, Goal::MaxError(limit), false),
                Err(ModelFileError::ErrorTooSmall { .. })
            ));
        }
    }
}
