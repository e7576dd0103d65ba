//! Exchanges between the workers of a training in each round, apart from the growth of trees.

use super::sampling::Before;
use super::scores::Largest;
use super::{Dataset, Params, TrainError};
use crate::distributed::{CommunicationError, Peers, Reader, Writer};

/// Returns the rows and queries of the workers before this one.
pub(super) fn before(data: &Dataset, peers: &Peers<'_>) -> Result<Before, TrainError> {
    if peers.are_alone() {
        return Ok(Before::default());
    }
    let groups = data.groups.as_ref().map_or(0, |groups| groups.len() as u64);
    let all = peers.exchange(Ok(groups.to_le_bytes().to_vec()))?;
    let of_rank = |bytes: &Vec<u8>| Reader(bytes).u64().map_err(TrainError::from);
    let groups = all[..peers.rank()].iter().map(of_rank).sum::<Result<u64, _>>()?;
    Ok(Before { rows: peers.first_row(), groups })
}

/// Returns the largest gradients of all workers, or the error of one.
pub(super) fn shared_largest(
    peers: &Peers<'_>,
    own: Result<Vec<Largest>, TrainError>,
) -> Result<Vec<Largest>, TrainError> {
    if peers.are_alone() {
        return own;
    }
    let bytes = |own: Vec<Largest>| {
        let flat: Vec<f32> = own.iter().flat_map(|largest| [largest.grad, largest.hess]).collect();
        Writer::default().f32s(&flat).0.clone()
    };
    let mut all: Vec<Largest> = Vec::new();
    for bytes in peers.exchange(own.map(bytes))? {
        let flat = Reader(&bytes).f32s()?;
        let of_rank = flat.as_chunks::<2>().0.iter().map(|&[grad, hess]| Largest { grad, hess });
        all.resize(flat.len() / 2, Largest::default());
        all.iter_mut().zip(of_rank).for_each(|(all, own)| *all = all.max(own));
    }
    Ok(all)
}

/// Returns the residuals of the rows of all workers in each leaf. The objective does not depend on their order.
pub(super) fn shared_residuals(
    peers: &Peers<'_>,
    mut own: Vec<Vec<(f32, f32)>>,
) -> Result<Vec<Vec<(f32, f32)>>, TrainError> {
    if peers.are_alone() {
        return Ok(own);
    }
    let mut told = Writer::default();
    for leaf in &own {
        told.f32s(&leaf.iter().flat_map(|&(residual, weight)| [residual, weight]).collect::<Vec<_>>());
    }
    own.iter_mut().for_each(Vec::clear);
    for bytes in peers.exchange(Ok(told.0))? {
        let mut reader = Reader(&bytes);
        for leaf in &mut own {
            let flat = reader.f32s()?;
            leaf.extend(flat.as_chunks::<2>().0.iter().map(|&[residual, weight]| (residual, weight)));
        }
    }
    Ok(own)
}

/// Checks that a callback made the same changes to the parameters on all workers.
pub(super) fn same_params(
    peers: &Peers<'_>,
    changed: Result<(), TrainError>,
    params: &Params,
) -> Result<(), TrainError> {
    if peers.are_alone() {
        return changed;
    }
    let all = peers.exchange(changed.map(|()| format!("{params:?}").into_bytes()))?;
    match all.iter().position(|of_rank| *of_rank != all[0]) {
        None => Ok(()),
        Some(rank) => {
            let message = format!("a callback changed the parameters of worker {rank} in another way than worker 0's");
            Err(CommunicationError::Mismatch { message }.into())
        }
    }
}
