//! Several processes write to one store in object storage: the last one to open it can commit, the others fail.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use bitgrain_store::storage::object::{MemoryObjects, ObjectFolder, Objects, RemoteConfig};
use bitgrain_store::storage::simulated::{HookedObjects, ObjectFault, ObjectFaults, SimulatedObjects};
use bitgrain_store::{CompactOptions, StoreConfig, StoreError, TensorStore};

/// Number of processes.
const RIVALS: usize = 16;
/// Number of times each of them opens the store.
const ROUNDS: usize = 10;

fn remote() -> RemoteConfig {
    RemoteConfig { attempts: 3, delay: Duration::ZERO, ..RemoteConfig::default() }
}

fn open(objects: &Arc<dyn Objects>) -> Result<TensorStore, StoreError> {
    let folder = ObjectFolder::lock(Arc::clone(objects), remote(), true)?;
    TensorStore::open_on(Arc::new(folder), StoreConfig { segment_bytes: 3_000, ..StoreConfig::default() })
}

#[test]
fn opening_deletes_no_object_of_a_writer_that_took_over_meanwhile() {
    let objects = MemoryObjects::default();
    // Another writer takes over while a list of data is under way.
    let (lists, shared) = (AtomicUsize::new(0), objects.clone());
    let overtaken = HookedObjects::new(objects.clone()).with_before_list(move |_, folder| {
        if folder == "data" && lists.fetch_add(1, Ordering::Relaxed) == 0 {
            let objects: Arc<dyn Objects> = Arc::new(shared.clone());
            let rival = open(&objects).expect("takes over");
            for write in 0..20 {
                rival.put(format!("rival/{write}").as_str(), &[400], &[1.0; 400]).expect("the newest writer");
            }
            rival.close().expect("in order");
        }
    });
    // The folder lists the data of earlier writers while it is locked; by then the rival has committed.
    let first = ObjectFolder::lock(Arc::new(overtaken), remote(), true);
    assert!(first.is_ok());
    let shared: Arc<dyn Objects> = Arc::new(objects);
    let store = open(&shared).expect("opens");
    for write in 0..20 {
        let tensor = store.get(format!("rival/{write}").as_str()).expect("acknowledged");
        assert_eq!(tensor.shape, [400]);
    }
    assert!(store.verify().expect("readable").is_clean());
}

#[test]
fn a_writer_that_read_an_old_catalog_is_refused_even_if_its_number_is_free_again() {
    let objects = MemoryObjects::default();
    let shared: Arc<dyn Objects> = Arc::new(objects.clone());
    let writer = open(&shared).expect("opens");
    writer.put("first", &[4], &[1.0; 4]).expect("the only writer");
    // The writer makes many more commits after another one has read its catalog.
    let writer = Mutex::new(Some(writer));
    let outrun = HookedObjects::new(objects).with_after_get(move |_, _| {
        if let Some(writer) = writer.lock().expect("one thread").take() {
            for write in 0..60 {
                writer.put(format!("early/{write}").as_str(), &[4], &[1.0; 4]).expect("the only writer");
            }
            writer.close().expect("in order");
        }
    });
    let late = ObjectFolder::lock(Arc::new(outrun), remote(), true);
    assert!(matches!(late, Err(StoreError::Superseded { .. })), "{:?}", late.err());
    let store = open(&shared).expect("opens");
    for write in 0..60 {
        store.get(format!("early/{write}").as_str()).expect("acknowledged");
    }
}

/// Opens, writes and compacts with all rivals at once; returns the number of acknowledged writes, or what was lost.
fn race(objects: &Arc<dyn Objects>) -> Result<usize, String> {
    let (start, refusals) = (Barrier::new(RIVALS), AtomicUsize::new(0));
    let work = |rival: usize| -> Result<Vec<String>, StoreError> {
        let mut acknowledged = Vec::new();
        start.wait();
        for round in 0..ROUNDS {
            // Apart from each other, so that some of them finish a write before the next one takes over.
            thread::sleep(Duration::from_millis((rival * 7 + round * 13) as u64 % 40));
            let mut attempt = || -> Result<(), StoreError> {
                let store = open(objects)?;
                for write in 0..4 {
                    let id = format!("{rival}/{round}/{write}");
                    store.put(id.as_str(), &[40], &[rival as f32; 40])?;
                    acknowledged.push(id);
                }
                store.compact(CompactOptions::default())?;
                store.close()
            };
            match attempt() {
                Ok(()) => {}
                Err(StoreError::Superseded { epoch }) => {
                    assert!(epoch > 0);
                    refusals.fetch_add(1, Ordering::Relaxed);
                }
                Err(StoreError::Stopped { source, .. }) if matches!(*source, StoreError::Superseded { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(acknowledged)
    };
    let found: Vec<_> = thread::scope(|scope| {
        let work = &work;
        let rivals: Vec<_> = (0..RIVALS).map(|rival| scope.spawn(move || work(rival))).collect();
        rivals.into_iter().map(|rival| rival.join().map_err(|_| "a panic".to_owned())).collect()
    });
    let found: Vec<Result<Vec<String>, StoreError>> = found.into_iter().collect::<Result<_, String>>()?;
    let acknowledged: Result<Vec<Vec<String>>, StoreError> = found.into_iter().collect();
    let acknowledged: Vec<String> = acknowledged.map_err(|error| error.to_string())?.concat();
    if refusals.load(Ordering::Relaxed) == 0 {
        return Err("no writer was refused: nothing was tested".into());
    }
    let store = open(objects).map_err(|error| error.to_string())?;
    for id in &acknowledged {
        let rival: f32 = id.split('/').next().and_then(|rival| rival.parse().ok()).expect("a number");
        let tensor = store.get(id.as_str()).map_err(|error| format!("acknowledged and lost: {error}"))?;
        let worst = tensor.values.iter().map(|value| (value - rival).abs()).fold(0.0, f32::max);
        if worst > tensor.provenance.bound {
            return Err(format!("{id} has the wrong values"));
        }
    }
    let report = store.verify().map_err(|error| error.to_string())?;
    if report.is_clean() { Ok(acknowledged.len()) } else { Err(format!("{:?}", report.damages)) }
}

#[test]
fn sixteen_racing_writers_lose_no_acknowledged_write() {
    let objects: Arc<dyn Objects> = Arc::new(MemoryObjects::default());
    let acknowledged = race(&objects).unwrap_or_else(|why| panic!("{why}"));
    println!("{acknowledged} writes were acknowledged");
    assert!(acknowledged >= RIVALS, "too few to prove anything");
}

#[test]
fn a_server_without_conditional_puts_loses_writes_of_racing_writers() {
    let lost = (0..20).find_map(|_| {
        // The server does not check the condition of a put.
        let objects = HookedObjects::new(MemoryObjects::default());
        let objects: Arc<dyn Objects> = Arc::new(objects.with_put_new(|objects, key, bytes| objects.put(key, bytes)));
        race(&objects).err()
    });
    println!("{}", lost.expect("the race shows that conditional puts are needed"));
}

#[test]
fn a_superseded_writer_fails_with_its_own_error_and_can_still_read() {
    let objects: Arc<dyn Objects> = Arc::new(MemoryObjects::default());
    let first = open(&objects).expect("opens");
    first.put("a", &[2], &[1.0, 2.0]).expect("the only writer");
    let second = open(&objects).expect("takes over");
    second.put("b", &[1], &[3.0]).expect("the newest writer");
    for _ in 0..2 {
        let refused = first.put("c", &[1], &[4.0]);
        assert!(matches!(refused, Err(StoreError::Superseded { epoch: 2 })), "{refused:?}");
    }
    let refused = first.compact(CompactOptions { all: true, ..CompactOptions::default() });
    assert!(matches!(refused, Err(StoreError::Superseded { epoch: 2 })), "{refused:?}");
    assert_eq!(first.get("a").expect("reads succeed").shape, [2]);
    assert!(first.close().is_err(), "nothing of it may be committed");
    second.put("d", &[1], &[5.0]).expect("still the newest writer");
    second.close().expect("in order");
    let store = open(&objects).expect("opens");
    let names: Vec<String> = store.snapshot().ids().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["a", "b", "d"]);
}

#[test]
fn a_commit_whose_answer_was_lost_is_recognized() {
    let objects = SimulatedObjects::default();
    let shared: Arc<dyn Objects> = Arc::new(objects.clone());
    let store = open(&shared).expect("opens");
    store.put("a", &[1], &[1.0]).expect("the server is well");
    let at = objects.requests();
    objects.plan(ObjectFaults { fault: ObjectFault::AnswerLost, at, count: 1 });
    store.put("b", &[1], &[2.0]).expect("the retry finds its own catalog");
    assert_eq!(objects.hits(), 1);
    store.put("c", &[1], &[3.0]).expect("commits succeed");
}

#[test]
fn readers_see_a_snapshot_while_a_writer_compacts() {
    let objects: Arc<dyn Objects> = Arc::new(MemoryObjects::default());
    let writer = open(&objects).expect("opens");
    for i in 0..50 {
        writer.put(format!("t{i}").as_str(), &[100], &[i as f32; 100]).expect("memory");
    }
    let reader = ObjectFolder::read_only(Arc::clone(&objects), remote()).expect("opens");
    let kept = reader.epoch();
    for i in 0..50 {
        writer.put(format!("t{i}").as_str(), &[100], &[-1.0; 100]).expect("memory");
    }
    writer.compact(CompactOptions { all: true, ..CompactOptions::default() }).expect("memory");
    // The objects of the reader's catalog are kept for the time of grace.
    use bitgrain_store::storage::Storage;
    for name in reader.list().expect("names") {
        let file = reader.open(&name).expect("listed");
        let mut bytes = vec![0; usize::try_from(file.len().expect("known")).expect("small")];
        file.read_at(0, &mut bytes).expect("still there");
    }
    assert_eq!(kept, 1);
}

#[test]
fn objects_are_deleted_after_the_time_of_grace() {
    let objects: Arc<dyn Objects> = Arc::new(MemoryObjects::default());
    let config = RemoteConfig { grace: Duration::ZERO, ..remote() };
    let folder = ObjectFolder::lock(Arc::clone(&objects), config, true).expect("opens");
    let store = TensorStore::open_on(Arc::new(folder), StoreConfig { segment_bytes: 3_000, ..StoreConfig::default() });
    let store = store.expect("opens");
    for round in 0..40 {
        for i in 0..10 {
            store.put(format!("t{i}").as_str(), &[100], &[round as f32; 100]).expect("memory");
        }
        store.compact(CompactOptions::default()).expect("memory");
    }
    let count = objects.list("").expect("a list").len();
    assert!(count < 120, "{count} objects for ten tensors");
    store.close().expect("in order");
    let catalogs = objects.list("catalog").expect("a list").len();
    let data = objects.list("data").expect("a list").len();
    assert!(catalogs <= 10 && data < 20, "{catalogs} catalogs, {data} parts");
}
