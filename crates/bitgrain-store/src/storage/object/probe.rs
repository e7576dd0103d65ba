//! Test of conditional puts: several requests race for one key, and exactly one of them may succeed.

use std::thread;

use super::folder::random_id;
use super::{ObjectError, Objects};
use crate::StoreError;

/// Number of racing requests. Servers that check the condition before they lock the key fail with this many.
const RACERS: u8 = 16;

/// Checks that of several conditional puts under one key exactly one succeeds.
///
/// # Errors
/// Returns [`StoreError::NoConditionalPut`] if another number succeeds, and [`StoreError::Io`] if the server cannot be
/// reached.
pub(crate) fn probe(objects: &dyn Objects) -> Result<(), StoreError> {
    let key = format!("probe/{:032x}", u128::from_le_bytes(random_id()));
    let refused = |what: String| StoreError::NoConditionalPut { what };
    let race = |racer: u8| objects.put_new(&key, &[racer; 32]);
    let answers: Vec<(u8, Result<(), ObjectError>)> = thread::scope(|scope| {
        let racers: Vec<_> = (0..RACERS).map(|racer| (racer, scope.spawn(move || race(racer)))).collect();
        let failed = || Err(ObjectError::Failed("the thread of the request ended".into()));
        racers.into_iter().map(|(racer, thread)| (racer, thread.join().unwrap_or_else(|_| failed()))).collect()
    });
    let winners: Vec<u8> = answers.iter().filter(|(_, answer)| answer.is_ok()).map(|(racer, _)| *racer).collect();
    let found = objects.get(&key, None);
    // If this fails, a small object is left.
    let _ = objects.delete(&[key]);
    for (_, answer) in &answers {
        match answer {
            Err(ObjectError::Unsupported(what)) => return Err(refused(what.clone())),
            Err(error @ ObjectError::Rejected(_)) => {
                return Err(StoreError::Io { name: "probe".into(), source: error.clone().into() });
            }
            _ => {}
        }
    }
    let error = answers.iter().find_map(|(_, answer)| answer.as_ref().err().filter(|error| error.is_transient()));
    match (&winners[..], found) {
        ([], _) | (_, Err(_)) if error.is_some() => {
            let source = error.map_or(ObjectError::NotFound, ObjectError::clone).into();
            Err(StoreError::Io { name: "probe".into(), source })
        }
        ([winner], Ok(found)) if found == [*winner; 32] => Ok(()),
        // The answer of the winner was lost, which the object shows.
        ([], Ok(found)) if found.len() == 32 => Ok(()),
        ([_], Ok(_)) => Err(refused("a put changed an object that existed".into())),
        ([], _) => Err(refused("no put succeeded".into())),
        (many, _) => Err(refused(format!("{} of {RACERS} puts under one key succeeded", many.len()))),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::storage::object::MemoryObjects;
    use crate::storage::simulated::HookedObjects;

    #[test]
    fn a_server_that_lets_two_writers_win_is_refused() {
        // It checks whether the key is taken, and puts the object later.
        let careless = HookedObjects::new(MemoryObjects::default()).with_put_new(|objects, key, bytes| {
            if objects.get(key, None).is_ok() {
                return Err(ObjectError::AlreadyExists);
            }
            thread::sleep(Duration::from_millis(50));
            objects.put(key, bytes)
        });
        assert!(matches!(probe(&careless), Err(StoreError::NoConditionalPut { .. })));
        let careful = MemoryObjects::default();
        probe(&careful).expect("one of the puts succeeds");
        assert!(careful.list("").expect("a list").is_empty(), "the object of the race is deleted");
    }
}
