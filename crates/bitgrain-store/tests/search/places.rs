//! The same answers wherever the store is: in a folder, in object storage, opened for writing or only for reading.

use bitgrain_store::storage::object::RemoteConfig;
use bitgrain_store::{
    CompactOptions, Dependents, PutOptions, SearchMetric, SearchOptions, SearchResult, StoreConfig, SyncMode,
    TensorStore, Tier,
};

use crate::{Random, put};

/// Vectors of two shapes and three tiers in several segments, between tensors that are not searched.
fn fill(store: &TensorStore) {
    let mut random = Random(51);
    for i in 0..8400_usize {
        let tier = [Tier::Hot, Tier::B4, Tier::Lossless][i % 3];
        let options = PutOptions {
            tier: Some(tier),
            user: Some(vec![("third".to_owned(), (i % 3).to_string())]),
            ..PutOptions::default()
        };
        store.put_with(format!("v/{i}").as_str(), &[64], &random.vector(64), &options).expect("valid");
        if i.is_multiple_of(400) {
            put(store, &format!("other/{i}"), &[90, 100], &random.vector(9000), Tier::Lossless);
        }
    }
    (0..8400).step_by(7).for_each(|i| store.delete(format!("v/{i}").as_str(), Dependents::Refuse).expect("stored"));
}

/// Answers with and without a filter, proofs and estimates.
fn answers(store: &TensorStore) -> Vec<SearchResult> {
    let query = Random(52).vector(64);
    let all = SearchOptions { prefix: Some("v/".into()), metric: SearchMetric::Cosine, ..SearchOptions::default() };
    let some = SearchOptions { filter: vec![("third".into(), "1".into())], ..all.clone() };
    let listed = (0..8400).step_by(50).map(|i| format!("v/{i}").as_str().into()).collect();
    let list = SearchOptions { ids: Some(listed), metric: SearchMetric::SquaredL2, ..all.clone() };
    let exact = SearchOptions { exact: true, ..all.clone() };
    let approximate = SearchOptions { approximate: true, ..all.clone() };
    let search = |options: SearchOptions| store.search(&[&query], 12, &options).expect("valid").remove(0);
    [all, some, list, exact, approximate].map(search).to_vec()
}

fn config() -> StoreConfig {
    StoreConfig { segment_bytes: 2 << 20, sync: SyncMode::OnSeal, ..StoreConfig::default() }
}

#[test]
fn answers_do_not_depend_on_the_storage_or_the_mode() {
    let folder = tempfile::tempdir().expect("a folder");
    let local = TensorStore::open(folder.path(), StoreConfig { create: true, ..config() }).expect("a new store");
    fill(&local);
    let want = answers(&local);
    assert!(want.iter().all(|result| result.hits.len() == 12));
    assert!(want[3].certified >= want[0].certified);
    let reader = TensorStore::open_read_only(folder.path()).expect("a store");
    assert_eq!(answers(&reader), want, "read-only beside a writer");
    drop(reader);
    local.close().expect("closed");
    assert_eq!(answers(&TensorStore::open_read_only(folder.path()).expect("a store")), want, "read-only");

    let address = "memory://search";
    let remote = RemoteConfig { cache_bytes: 64 << 10, ..RemoteConfig::default() };
    let config = StoreConfig { remote, create: true, ..config() };
    let writer = TensorStore::open(address, config.clone()).expect("a new store");
    fill(&writer);
    assert_eq!(answers(&writer), want, "object storage");
    writer.compact(CompactOptions { all: true, ..CompactOptions::default() }).expect("space");
    assert_eq!(answers(&writer), want, "object storage, compacted");
    writer.close().expect("closed");
    let reader = TensorStore::open_read_only_with(address, config).expect("a store");
    assert_eq!(answers(&reader), want, "object storage, read-only");
}
