//! Mapped and copied records are equal.

use bitgrain_store::{CompactOptions, StoreConfig, TensorStore};

use super::{small_segments, wave};

/// Returns everything that can be read of some tensors, as bits.
fn all(store: &TensorStore, count: usize) -> Vec<u32> {
    let mut bits = Vec::new();
    for i in 0..count {
        let tensor = store.get(i as u128).expect("there");
        let mut into = vec![0.0; tensor.values.len()];
        store.get_into(i as u128, &mut into).expect("there");
        assert_eq!(into, tensor.values);
        let rows = store.get_rows(i as u128, 1..3).expect("in range");
        let meta = store.meta(i as u128).expect("there");
        assert_eq!(meta.shape, tensor.shape);
        bits.extend(tensor.values.iter().chain(&rows.values).map(|value| value.to_bits()));
    }
    bits
}

#[test]
fn mapped_and_copied_reads_agree_while_a_store_grows_and_shrinks() {
    let folder = tempfile::tempdir().expect("a folder");
    let shape = |i: usize| [4, if i.is_multiple_of(5) { 9_000 } else { 50 + i }];
    let mut count = 0;
    for round in 0..3 {
        let mut seen = Vec::new();
        for mapped in [true, false] {
            let config = StoreConfig { mapped, ..small_segments() };
            let store = TensorStore::open(folder.path(), config).expect("opens");
            // Read the tensor, so that its segment is mapped before it grows.
            for i in count..count + 10 {
                store.put(i as u128, &shape(i), &wave(i + round, shape(i).iter().product())).expect("put");
                store.get(i as u128).expect("there");
            }
            count += 10;
            store.compact(CompactOptions::default()).expect("compacts");
            seen.push(all(&store, count));
            store.close().expect("closes");
        }
        let copied = StoreConfig { mapped: false, ..small_segments() };
        let store = TensorStore::open_read_only_with(folder.path(), copied).expect("opens");
        seen.push(all(&store, count));
        assert!(seen[1] == seen[2]);
        assert!(seen[1].starts_with(&seen[0]), "what was there before is as it was");
    }
}
