//! Tensors without data.

use bitgrain_store::reconstruct::{DeltaValues, Factor, Reconstruction};
use bitgrain_store::{AbsentReads, Dependents, StoreConfig, StoreError, TensorStore, Tier};

use super::{distance, open, wave};

fn delta(base: &str, wanted: Vec<f32>) -> Reconstruction {
    Reconstruction::Delta { base: base.into(), values: DeltaValues::Wanted(wanted) }
}

fn factor(source: &str, scale: f32) -> Reconstruction {
    Reconstruction::Factor { source: source.into(), factor: Factor { scale, ..Factor::default() } }
}

#[test]
fn a_delta_reconstructs_the_wanted_values_after_reopening() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("base", &[100], &wave(1, 100)).expect("put");
    let wanted: Vec<f32> = wave(1, 100).iter().enumerate().map(|(i, v)| v + 0.01 * i as f32).collect();
    store.put_absent("tuned", &[100], &delta("base", wanted.clone())).expect("put");
    store.close().expect("closes");
    let store = open(folder.path());
    let tensor = store.get("tuned").expect("reconstructed");
    assert_eq!((tensor.provenance.tier, tensor.provenance.depth), (Tier::Absent, 1));
    assert!(distance(&tensor.values, &wanted) <= tensor.provenance.bound, "{:?}", tensor.provenance);
    assert!(tensor.provenance.bound < 0.02);
    assert!(store.meta("tuned").expect("there").reconstructable);
    // The base can be neither replaced nor deleted while it is in use.
    assert!(matches!(store.put("base", &[1], &[1.0]), Err(StoreError::HasDependents { .. })));
    assert!(matches!(store.delete("base", Dependents::Refuse), Err(StoreError::HasDependents { .. })));
    let mut batch = store.batch();
    batch.delete("base");
    assert!(matches!(batch.commit(), Err(StoreError::HasDependents { .. })));
    store.delete("base", Dependents::Materialize).expect("deleted");
    let own = store.get("tuned").expect("has data now");
    assert_eq!((own.provenance.tier, own.provenance.depth), (Tier::Hot, 0));
    assert!(distance(&own.values, &wanted) <= own.provenance.bound);
    assert!(!store.contains("base"));
    store.put("tuned", &[1], &[1.0]).expect("nothing needs it");
}

#[test]
fn chains_are_followed_three_deep_and_no_further() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("0", &[2, 2], &[1.0, 2.0, 3.0, 4.0]).expect("put");
    for i in 1..=3 {
        store.put_absent(i.to_string(), &[2, 2], &factor(&(i - 1).to_string(), 2.0)).expect("put");
    }
    let tensor = store.get("3").expect("reconstructed");
    assert_eq!(tensor.provenance.depth, 3);
    assert!(distance(&tensor.values, &[8.0, 16.0, 24.0, 32.0]) <= tensor.provenance.bound);
    assert_eq!(store.get_rows("3", 1..2).expect("a row").values, tensor.values[2..]);
    let mut out = [0.0; 4];
    store.get_into("3", &mut out).expect("fits");
    assert_eq!(out[..], tensor.values[..]);
    let deeper = store.put_absent("4", &[2, 2], &factor("3", 2.0));
    assert!(matches!(deeper, Err(StoreError::ReconstructionDepthExceeded { .. })), "{deeper:?}");
    assert!(matches!(store.attach("0", Some(&factor("2", 0.5))), Err(StoreError::ReconstructionCycle { .. })));
    assert!(matches!(store.put_absent("x", &[4], &factor("none", 1.0)), Err(StoreError::NotFound { .. })));
    assert!(matches!(store.put_absent("x", &[3, 2], &factor("0", 1.0)), Err(StoreError::ShapeMismatch { .. })));
    store.delete("3", Dependents::Refuse).expect("nobody needs it");
    store.delete("2", Dependents::Refuse).expect("nobody needs it");
}

#[test]
fn an_attached_policy_stays_until_a_put() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("base", &[10], &wave(1, 10)).expect("put");
    store.put("own", &[10], &wave(2, 10)).expect("put");
    let before = store.get("own").expect("there");
    store.attach("own", Some(&delta("base", wave(2, 10)))).expect("attached");
    assert_eq!(store.get("own").expect("there"), before, "it has data: that is read");
    assert!(store.meta("own").expect("there").reconstructable);
    assert!(matches!(store.delete("base", Dependents::Refuse), Err(StoreError::HasDependents { .. })));
    store.pin("own", Some(Tier::Hot)).expect("pinned");
    assert!(store.meta("own").expect("there").reconstructable, "a pin says nothing about that");
    store.put("own", &[10], &wave(3, 10)).expect("put");
    assert!(!store.meta("own").expect("there").reconstructable);
    store.delete("base", Dependents::Refuse).expect("nobody needs it");
}

#[test]
fn an_absent_tensor_without_a_policy_reads_as_zeros_or_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = super::with_clock(1_000_000);
    let zeros = StoreConfig { absent_reads: AbsentReads::Zeros, ..super::evicting(config.clone()) };
    let store = TensorStore::open(folder.path(), zeros).expect("opens");
    store.put("x", &[3], &[1.0, 2.0, 3.0]).expect("put");
    // Several days without access.
    for day in 1..8_u64 {
        clock.set(1_000_000 + day * 86_400_000);
        store.tick(1_000_000 + day * 86_400_000).expect("ticks");
    }
    assert_eq!(store.meta("x").expect("there").provenance.tier, Tier::Absent);
    let tensor = store.get("x").expect("zeros");
    assert_eq!((&tensor.values[..], tensor.provenance.bound), (&[0.0; 3][..], f32::INFINITY));
    let absent = store.stats().expect("readable").tiers[8];
    assert_eq!((absent.tier, absent.tensors, absent.worst_bound), (Tier::Absent, 1, f32::INFINITY));
    let limit = store.set_max_error("x", Some(1.0));
    assert!(matches!(limit, Err(StoreError::BoundExceeded { tier: Tier::Absent, .. })), "{limit:?}");
    store.close().expect("closes");
    let store = TensorStore::open(folder.path(), config).expect("opens");
    assert!(matches!(store.get("x"), Err(StoreError::TierZeroNoPolicy { .. })));
    store.put("x", &[3], &[1.0, 2.0, 3.0]).expect("put");
    assert!(store.get("x").expect("has data again").provenance.bound < 1.0);
}

#[test]
fn a_tick_does_not_make_reconstruction_chains_too_deep() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = super::with_clock(1_000_000);
    let store = TensorStore::open(folder.path(), config).expect("opens");
    store.put("0", &[10], &wave(0, 10)).expect("put");
    for i in 1..8 {
        // All tensors have data, so the length of the chain is not limited.
        store.put(i.to_string(), &[10], &wave(i, 10)).expect("put");
        store.attach(i.to_string(), Some(&delta(&(i - 1).to_string(), wave(i, 10)))).expect("attached");
    }
    for day in 1..8_u64 {
        clock.set(1_000_000 + day * 86_400_000);
        store.tick(1_000_000 + day * 86_400_000).expect("ticks");
    }
    let absent = (0..8).filter(|i| store.meta(i.to_string()).expect("there").provenance.tier == Tier::Absent).count();
    assert!(absent > 0, "some data went");
    for i in 0..8 {
        let tensor = store.get(i.to_string()).expect("readable, whatever went");
        assert!(distance(&tensor.values, &wave(i, 10)) <= tensor.provenance.bound);
    }
}
