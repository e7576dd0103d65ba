//! `Gathered`: the rows of all workers on worker 0, for metrics and base scores that need them at once.

use super::{Peers, Reader, Writer};
use crate::Groups;
use crate::train::{Dataset, Targets, TrainError};

/// Targets, weights and queries of all workers, in the order of the workers.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) targets: Targets,
    pub(crate) weights: Option<Vec<f32>>,
    pub(crate) groups: Option<Groups>,
    /// Number of rows of each worker.
    rows: Vec<usize>,
}

impl Gathered {
    /// Gathers the rows of a dataset. `None` on other workers than the first.
    pub(crate) fn of(peers: &Peers<'_>, data: &Dataset) -> Result<Option<Self>, TrainError> {
        let mut own = Writer::default();
        let single = matches!(data.targets, Targets::F32(_));
        own.u64(u64::from(single));
        match &data.targets {
            Targets::F32(targets) => own.f32s(targets),
            Targets::F64(targets) => own.f64s(targets),
        };
        own.u64(u64::from(data.weights.is_some())).f32s(data.weights.as_deref().unwrap_or_default());
        #[expect(clippy::cast_precision_loss, reason = "a query has at most 65,536 rows")]
        let sizes = |groups: &Groups| -> Vec<f32> { groups.ranges().map(|rows| rows.len() as f32).collect() };
        own.u64(u64::from(data.groups().is_some())).f32s(&data.groups().map(sizes).unwrap_or_default());
        let Some(all) = peers.gather(&own.0)? else { return Ok(None) };
        let (mut single, mut double, mut is_single) = (Vec::new(), Vec::new(), true);
        let (mut weights, mut weighted, mut sizes, mut grouped) = (Vec::new(), false, Vec::new(), false);
        let mut rows = Vec::new();
        for bytes in &all {
            let mut reader = Reader(bytes);
            if reader.u64()? == 1 {
                let values = reader.f32s()?;
                rows.push(values.len());
                double.extend(values.iter().map(|&value| f64::from(value)));
                single.extend(values);
            } else {
                is_single = false;
                let values = reader.f64s()?;
                rows.push(values.len());
                double.extend(values);
            }
            weighted |= reader.u64()? == 1;
            let own = reader.f32s()?;
            let ones = rows.last().map_or(0, |rows| rows - own.len());
            weights.extend(own);
            // A worker without rows has no weights either.
            weights.extend(std::iter::repeat_n(1.0, ones));
            grouped |= reader.u64()? == 1;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes are small integers")]
            sizes.extend(reader.f32s()?.into_iter().map(|size| size as usize));
        }
        let n_rows = double.len();
        Ok(Some(Self {
            targets: if is_single { Targets::F32(single) } else { Targets::F64(double) },
            weights: weighted.then_some(weights),
            groups: if grouped { Some(Groups::from_sizes(&sizes, n_rows)?) } else { None },
            rows,
        }))
    }

    /// Gathers scores, grouped by output on each worker, and returns them grouped by output for all rows.
    pub(crate) fn scores(&self, of_workers: &[Vec<u8>], outputs: usize) -> Result<Vec<f64>, TrainError> {
        let parts = of_workers.iter().map(|bytes| Reader(bytes).f64s()).collect::<Result<Vec<_>, _>>()?;
        let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
        for output in 0..outputs {
            for (part, &rows) in parts.iter().zip(&self.rows) {
                all.extend_from_slice(&part[output * rows..(output + 1) * rows]);
            }
        }
        Ok(all)
    }
}
