//! Nothing acknowledged is lost: not when the power goes, not when the process is killed, not when the disk fails.
//!
//! | module | what it does |
//! |---|---|
//! | `script` | operations from a seed |
//! | `execute` | operations as calls of the store |
//! | `world` | what a store may hold |
//! | `view` | what a store gives, held against that |
//! | `session` | a store on a simulated disk beside its model |
//! | `points` | power cuts and kills after every operation of the disk |
//! | `faults` | operations of the disk that fail |
//! | `closed` | parts taken away from a store that was closed |
//! | `lies` | a disk that says it synced and did not |
//! | `rot` | bits that flip |
//! | `mutant` | a storage with a fault built in |
//! | `mutants` | each of these faults must be found |
//! | `writers` | several threads at once |
//! | `kill` | real processes, killed |
//! | `soak` | more of everything |

mod closed;
mod execute;
mod faults;
mod kill;
mod lies;
mod mutant;
mod mutants;
mod points;
mod rot;
mod script;
mod session;
mod soak;
mod view;
mod world;
mod writers;

use points::Tally;

#[test]
fn nothing_acknowledged_is_lost_in_a_crash() {
    let tally = soak::simulate(1, 5_000).unwrap_or_else(|why| panic!("{why}"));
    println!("{tally:?}");
}

#[test]
fn nothing_acknowledged_is_lost_when_a_process_is_killed() {
    let mut tally = Tally::default();
    kill::explore(1, 20, &mut tally).unwrap_or_else(|why| panic!("{why}"));
    println!("{tally:?}");
}
