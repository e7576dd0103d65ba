//! Datasets of workers.

use super::{CommunicationError, Communicator, Peers, Reader, Writer};
use crate::Groups;
use crate::feature::{Features, Quantizer, shared_cuts};
use crate::train::{Dataset, Targets, TrainError};

/// Rows of a worker.
#[derive(Debug)]
pub struct Shard<'a> {
    features: Option<&'a Features<'a>>,
    targets: Targets,
    weights: Option<Vec<f32>>,
    groups: Option<Groups>,
    classes: Vec<String>,
}

impl<'a> Shard<'a> {
    /// Creates a shard with rows.
    #[must_use]
    pub fn new(features: &'a Features<'a>, targets: impl Into<Targets>, weights: Option<Vec<f32>>) -> Self {
        Self { features: Some(features), targets: targets.into(), weights, groups: None, classes: Vec::new() }
    }

    /// Creates a shard without rows.
    #[must_use]
    pub fn empty() -> Self {
        let targets = Targets::F32(Vec::new());
        Self { features: None, targets, weights: None, groups: None, classes: Vec::new() }
    }

    /// Sets the class labels of all workers: target `i` is class `labels[i]`.
    #[must_use]
    pub fn with_classes(self, classes: Vec<String>) -> Self {
        Self { classes, ..self }
    }

    /// Sets the queries of the rows. A query may not span workers.
    #[must_use]
    pub fn with_groups(self, groups: Groups) -> Self {
        Self { groups: Some(groups), ..self }
    }
}

/// Bins the rows of every worker with the cuts that one machine would compute from the rows of worker 0, then those of
/// worker 1, and so on. Every worker must call this function with the same quantizer.
///
/// Features must be dense. Categories with labels are merged: in the order of the labels if the workers have the same
/// ones, else sorted.
///
/// # Errors
/// Returns the errors of [`Dataset::new`], those of any worker as
/// [`CommunicationError::Worker`], and
/// [`CommunicationError::Mismatch`] if the workers have different features.
pub fn dataset(group: &dyn Communicator, shard: Shard<'_>, quantizer: &Quantizer) -> Result<Dataset, TrainError> {
    let n_rows = shard.features.map_or(0, Features::n_rows);
    let peers = Peers::meet(Some(group), n_rows, &format!("{quantizer:?}"))?;
    let shared = shared_cuts(quantizer, shard.features, shard.weights.as_deref(), &peers)?;
    let ranks = shard.groups.is_some();
    let data = Dataset::of_shard(shared, shard.features, shard.targets, shard.weights, shard.classes);
    let data = match shard.groups {
        Some(groups) => data.and_then(|data| data.with_groups(groups)),
        None => data,
    };
    let mut told = Writer::default();
    told.u64(n_rows as u64).u64(u64::from(ranks)).texts(data.as_ref().map(Dataset::classes).unwrap_or_default());
    let told = peers.exchange(data.as_ref().map(|_| told.0).map_err(Clone::clone))?;
    let mut first = None;
    for bytes in &told {
        let mut reader = Reader(bytes);
        let (rows, of_rank) = (reader.u64()?, (reader.u64()?, reader.texts()?));
        if rows > 0 && *first.get_or_insert(of_rank.clone()) != of_rank {
            let message = "only some workers have queries, or their class labels differ".to_owned();
            return Err(CommunicationError::Mismatch { message }.into());
        }
    }
    let data = data?;
    match first {
        // Takes part in the exchanges of metrics and objectives that need queries.
        Some((1, _)) if n_rows == 0 => data.with_groups(Groups::from_sizes(&[], 0)?),
        Some((_, classes)) if n_rows == 0 => Ok(data.with_classes(classes)),
        _ => Ok(data),
    }
}
