//! Chains of reconstructions: maximum depth and absence of cycles.

use super::DependentIndex;
use crate::{StoreError, TensorId};

/// Maximum number of reconstructions in a chain.
pub const MAX_DEPTH: u8 = 3;

/// Links from tensors to the base they are reconstructed from.
///
/// The set of links depends on the purpose: for reading, only tensors without data have one; for cycle detection, every
/// tensor with a policy does. A closure implements this trait.
pub trait Links {
    /// Returns the base of `id`, if it has one.
    fn link(&self, id: &TensorId) -> Option<TensorId>;
}

impl<F: Fn(&TensorId) -> Option<TensorId>> Links for F {
    fn link(&self, id: &TensorId) -> Option<TensorId> {
        self(id)
    }
}

/// Returns the tensors that `id` is reconstructed from, nearest first; the last one has data. Empty if `id` has data.
///
/// `links` must contain the tensors without data.
///
/// # Errors
/// Returns [`StoreError::ReconstructionDepthExceeded`] if the chain is longer than [`MAX_DEPTH`].
pub fn chain(links: &impl Links, id: &TensorId) -> Result<Vec<TensorId>, StoreError> {
    let mut chain = Vec::new();
    while let Some(base) = links.link(chain.last().unwrap_or(id)) {
        if chain.len() == usize::from(MAX_DEPTH) {
            return Err(StoreError::ReconstructionDepthExceeded { id: id.clone(), limit: MAX_DEPTH });
        }
        chain.push(base);
    }
    Ok(chain)
}

/// Checks that `id` may be reconstructed from `base`.
///
/// `links` must contain all tensors with a policy, with or without data. They have no cycle yet, so the walk
/// terminates.
///
/// # Errors
/// Returns [`StoreError::ReconstructionCycle`] if `base` is `id` or is reconstructed from it.
pub fn check_link(links: &impl Links, id: &TensorId, base: &TensorId) -> Result<(), StoreError> {
    let mut at = Some(base.clone());
    while let Some(next) = at {
        if next == *id {
            return Err(StoreError::ReconstructionCycle { id: id.clone(), base: base.clone() });
        }
        at = links.link(&next);
    }
    Ok(())
}

/// Checks that the data of `id`, which is reconstructed from `base`, can be dropped without any tensor ending up more
/// than [`MAX_DEPTH`] reconstructions away from data.
///
/// `links` must contain the tensors without data, `dependents` all of them.
///
/// # Errors
/// Returns [`StoreError::ReconstructionDepthExceeded`] with the tensor that would be too far away.
pub fn check_drop(
    links: &impl Links,
    dependents: &DependentIndex,
    id: &TensorId,
    base: &TensorId,
) -> Result<(), StoreError> {
    let below = 1 + chain(links, base)?.len();
    if below > usize::from(MAX_DEPTH) {
        return Err(StoreError::ReconstructionDepthExceeded { id: id.clone(), limit: MAX_DEPTH });
    }
    // Dependents of `id` without data, level by level; at most three levels exist.
    let mut level = vec![id.clone()];
    for _ in below..usize::from(MAX_DEPTH) {
        level = above(links, dependents, &level);
    }
    match above(links, dependents, &level).into_iter().next() {
        Some(id) => Err(StoreError::ReconstructionDepthExceeded { id, limit: MAX_DEPTH }),
        None => Ok(()),
    }
}

/// Returns the tensors that are currently reconstructed from one of `level`.
fn above(links: &impl Links, dependents: &DependentIndex, level: &[TensorId]) -> Vec<TensorId> {
    let needing = level.iter().flat_map(|id| dependents.of(id));
    needing.filter(|&id| links.link(id).is_some()).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Creates links from pairs of a tensor and its base.
    fn links(pairs: &[(&str, &str)]) -> impl Links + use<> {
        let map: HashMap<TensorId, TensorId> = pairs.iter().map(|&(id, base)| (id.into(), base.into())).collect();
        move |id: &TensorId| map.get(id).cloned()
    }

    fn dependents(pairs: &[(&str, &str)]) -> DependentIndex {
        let mut index = DependentIndex::default();
        pairs.iter().for_each(|&(id, base)| index.add(id.into(), base.into()));
        index
    }

    const THREE: [(&str, &str); 3] = [("a", "b"), ("b", "c"), ("c", "d")];

    #[test]
    fn a_chain_of_three_is_followed_and_one_of_four_is_not() {
        let ids = |names: &[&str]| names.iter().map(|&name| TensorId::from(name)).collect::<Vec<_>>();
        assert_eq!(chain(&links(&THREE), &"a".into()).expect("three"), ids(&["b", "c", "d"]));
        assert_eq!(chain(&links(&THREE), &"d".into()).expect("none"), ids(&[]));
        let four = links(&[("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")]);
        let far = chain(&four, &"a".into());
        assert!(matches!(far, Err(StoreError::ReconstructionDepthExceeded { limit: 3, .. })));
        assert!(chain(&four, &"b".into()).is_ok());
    }

    #[test]
    fn a_cycle_on_disk_is_reported_as_too_deep() {
        let round = links(&[("a", "b"), ("b", "a")]);
        assert!(matches!(chain(&round, &"a".into()), Err(StoreError::ReconstructionDepthExceeded { .. })));
    }

    #[test]
    fn cycles_of_any_length_are_rejected() {
        let cycle = |id: &str, base: &str| {
            let found = check_link(&links(&THREE), &id.into(), &base.into());
            matches!(found, Err(StoreError::ReconstructionCycle { .. }))
        };
        assert!(cycle("a", "a"));
        assert!(cycle("d", "a") && cycle("d", "c") && cycle("c", "a"));
        assert!(!cycle("a", "d") && !cycle("e", "a") && !cycle("d", "e"));
        let long: Vec<(String, String)> = (0..1000).map(|i| (i.to_string(), (i + 1).to_string())).collect();
        let long: Vec<(&str, &str)> = long.iter().map(|(id, base)| (&id[..], &base[..])).collect();
        assert!(check_link(&links(&long), &"1000".into(), &"0".into()).is_err());
        assert!(check_link(&links(&long), &"1001".into(), &"0".into()).is_ok());
    }

    #[test]
    fn data_stays_if_a_dependent_would_be_too_deep() {
        // a depends on b, b on c; c has data and could be reconstructed from d.
        let (absent, all) = (links(&THREE[..2]), dependents(&THREE));
        check_drop(&absent, &all, &"c".into(), &"d".into()).expect("three in all");
        // Too long with one more tensor at the start, ...
        let four = [("z", "a"), ("a", "b"), ("b", "c"), ("c", "d")];
        let refused = check_drop(&links(&four[..3]), &dependents(&four), &"c".into(), &"d".into());
        assert!(
            matches!(&refused, Err(StoreError::ReconstructionDepthExceeded { id, .. }) if *id == "z".into()),
            "{refused:?}"
        );
        // ... or with one more at the end.
        let four = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")];
        let absent = links(&[("a", "b"), ("b", "c"), ("d", "e")]);
        let refused = check_drop(&absent, &dependents(&four), &"c".into(), &"d".into());
        assert!(
            matches!(&refused, Err(StoreError::ReconstructionDepthExceeded { id, .. }) if *id == "a".into()),
            "{refused:?}"
        );
        // A dependent that still has data does not count.
        check_drop(&links(&[("b", "c"), ("d", "e")]), &dependents(&four), &"c".into(), &"d".into())
            .expect("a has data");
    }

    #[test]
    fn dropping_data_at_the_depth_limit_is_rejected() {
        let refused = check_drop(&links(&THREE), &dependents(&THREE), &"z".into(), &"a".into());
        assert!(matches!(refused, Err(StoreError::ReconstructionDepthExceeded { .. })));
        check_drop(&links(&THREE), &dependents(&THREE), &"z".into(), &"b".into()).expect("z, b, c, d");
    }
}
