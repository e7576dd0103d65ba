//! Partial reads equal slices of full reads.

use bitgrain_store::{PutOptions, StoreError, Tier};

use super::{open, wave};

#[test]
fn rows_are_those_of_the_whole_tensor() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    // Larger than one checksum chunk, with rows that do not align with blocks.
    let (rows, columns) = (700, 331);
    for tier in [Tier::Lossless, Tier::Hot, Tier::WarmAggressive, Tier::Cold] {
        let options = PutOptions { tier: Some(tier), ..PutOptions::default() };
        store.put_with("x", &[rows, columns], &wave(2, rows * columns), &options).expect("put");
        let whole = store.get("x").expect("there");
        for range in [0..1, 0..rows, 5..5, 13..14, 300..420, rows - 1..rows] {
            let part = store.get_rows("x", range.clone()).expect("in range");
            assert_eq!(part.shape, [range.len(), columns]);
            assert!(part.values == whole.values[range.start * columns..range.end * columns], "{tier:?} {range:?}");
            assert_eq!(part.provenance, whole.provenance);
        }
    }
    assert!(matches!(store.get_rows("x", 0..rows + 1), Err(StoreError::RowsOutOfRange { rows: 700, .. })));
    store.put("scalar", &[], &[2.0]).expect("put");
    assert_eq!(store.get_rows("scalar", 0..1).expect("one row").values.len(), 1);
    store.put("empty", &[3, 0], &[]).expect("put");
    assert_eq!(store.get_rows("empty", 1..3).expect("rows").shape, [2, 0]);
}

#[test]
fn get_into_fills_a_slice_of_the_exact_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("x", &[3, 5], &wave(1, 15)).expect("put");
    let mut out = [f32::NAN; 15];
    let provenance = store.get_into("x", &mut out).expect("fits");
    assert_eq!(
        (&out[..], provenance),
        (&store.get("x").expect("there").values[..], store.get("x").expect("there").provenance)
    );
    assert!(matches!(store.get_into("x", &mut [0.0; 14]), Err(StoreError::ShapeMismatch { expected: 15, got: 14 })));
}
