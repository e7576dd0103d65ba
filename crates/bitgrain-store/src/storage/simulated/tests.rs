//! The disk loses only what it may lose, and every possible state occurs.

use std::collections::BTreeSet;

use super::*;

fn cut(disk: &SimulatedDisk, loss: PowerLoss, seed: u64) -> Image {
    let journal = disk.journal();
    let mut walk = journal.walk();
    walk.forward_to(journal.len());
    walk.power_cut(loss, &mut Dice::new(seed))
}

/// Returns all contents of a file after many power failures; `None` if it does not exist.
fn seen(disk: &SimulatedDisk, name: &str) -> BTreeSet<Option<Vec<u8>>> {
    (0..4000)
        .map(|seed| {
            let mut dice = Dice::new(seed);
            let loss = PowerLoss { fill: Fill::Zeros, ..PowerLoss::any(&mut dice) };
            cut(disk, loss, seed ^ 0x5eed).file(name).map(<[u8]>::to_vec)
        })
        .collect()
}

fn synced(content: &[u8]) -> (SimulatedDisk, Arc<dyn StorageFile>) {
    let disk = SimulatedDisk::default();
    let file = disk.create_new("a").expect("created");
    file.write_at(0, content).expect("written");
    file.sync_data().expect("synced");
    disk.sync_folder().expect("synced");
    (disk, file)
}

#[test]
fn synced_data_is_never_lost() {
    let (disk, _) = synced(b"kept");
    assert_eq!(seen(&disk, "a"), BTreeSet::from([Some(b"kept".to_vec())]));
}

#[test]
fn a_synced_file_without_a_synced_name_may_be_lost() {
    let disk = SimulatedDisk::default();
    let file = disk.create_new("a").expect("created");
    file.write_at(0, b"kept").expect("written");
    file.sync_data().expect("synced");
    assert_eq!(seen(&disk, "a"), BTreeSet::from([None, Some(b"kept".to_vec())]));
}

#[test]
fn a_removed_name_comes_back_unless_the_folder_was_synced() {
    let (disk, _) = synced(b"kept");
    disk.remove("a").expect("removed");
    assert_eq!(seen(&disk, "a"), BTreeSet::from([None, Some(b"kept".to_vec())]));
    disk.sync_folder().expect("synced");
    assert_eq!(seen(&disk, "a"), BTreeSet::from([None]));
}

#[test]
fn unsynced_bytes_are_kept_dropped_torn_and_reordered() {
    let (disk, file) = synced(b"x");
    file.write_at(1, b"ab").expect("written");
    file.write_at(3, b"cd").expect("written");
    let seen = seen(&disk, "a");
    for want in [&b"x"[..], b"xa", b"xab", b"xabcd", b"x\0\0cd", b"xab\0\0", b"xabc", b"xa\0cd"] {
        assert!(seen.contains(&Some(want.to_vec())), "{want:?} is not in {seen:?}");
    }
    assert!(seen.iter().all(|content| content.as_ref().is_some_and(|content| content[0] == b'x')), "{seen:?}");
}

#[test]
fn an_unsynced_truncation_may_be_lost() {
    let (disk, file) = synced(b"long");
    file.set_len(1).expect("cut");
    assert!(seen(&disk, "a").is_superset(&BTreeSet::from([Some(b"l".to_vec()), Some(b"long".to_vec())])));
}

#[test]
fn a_later_sync_does_not_make_up_for_a_failed_one() {
    let (disk, file) = synced(b"x");
    file.write_at(1, b"a").expect("written");
    let at = disk.operations(Counted::Changes);
    disk.plan(FaultPlan { fault: Fault::Device, counted: Counted::Changes, at, lasting: false });
    file.sync_data().expect_err("planned");
    file.write_at(2, b"b").expect("written");
    file.sync_data().expect("synced");
    assert_eq!(seen(&disk, "a"), BTreeSet::from([Some(b"x\0b".to_vec()), Some(b"xab".to_vec())]));
    file.write_at(1, b"c").expect("written");
    file.sync_data().expect("synced");
    assert_eq!(seen(&disk, "a"), BTreeSet::from([Some(b"xcb".to_vec())]), "newer bytes end the uncertainty");
}

#[test]
fn a_lying_sync_persists_nothing() {
    let (disk, file) = synced(b"x");
    disk.lie(true);
    file.write_at(1, b"a").expect("written");
    file.sync_data().expect("a lie");
    assert_eq!(cut(&disk, PowerLoss::ENDS[1], 0).file("a"), Some(&b"x"[..]));
}

#[test]
fn a_full_disk_accepts_part_of_a_write() {
    let (disk, file) = synced(b"x");
    let at = disk.operations(Counted::Changes);
    disk.plan(FaultPlan { fault: Fault::NoSpace, counted: Counted::Changes, at, lasting: true });
    let error = file.write_at(1, b"abcdef").expect_err("planned");
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert!(b"xabcdef".starts_with(disk.image().file("a").expect("there")));
    assert_eq!(disk.create_new("b").map(drop).map_err(|error| error.kind()), Err(io::ErrorKind::StorageFull));
    file.set_len(1).expect("cutting needs no room");
    disk.heal();
    file.write_at(1, b"b").expect("there is room again");
    assert_eq!(disk.image().file("a"), Some(&b"xb"[..]));
    assert_eq!(disk.hits(), 2);
}

#[test]
fn a_killed_process_changes_nothing_afterwards() {
    let (disk, file) = synced(b"x");
    file.write_at(1, b"a").expect("written");
    let next = disk.kill();
    file.write_at(2, b"b").expect_err("killed");
    disk.create_new("b").map(drop).expect_err("killed");
    assert_eq!(next.image().file("a"), Some(&b"xa"[..]));
    next.open("a").expect("there").write_at(2, b"c").expect("alive");
    assert!(seen(&next, "a").contains(&Some(b"x".to_vec())), "what the killed process did not sync may still be lost");
}

#[test]
fn a_kill_during_a_write_leaves_a_prefix() {
    let (disk, file) = synced(b"x");
    file.write_at(1, b"abc").expect("written");
    let journal = disk.journal();
    let mut walk = journal.walk();
    walk.forward_to(journal.len() - 1);
    let seen: BTreeSet<_> =
        (0..100).map(|seed| walk.kill(&mut Dice::new(seed)).file("a").map(<[u8]>::to_vec)).collect();
    assert_eq!(seen, BTreeSet::from([b"x".to_vec(), b"xa".to_vec(), b"xab".to_vec()].map(Some)));
}
