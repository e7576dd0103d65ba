//! Acknowledged writes survive power failures, killed processes and failing disks.
//!
//! | module | content |
//! |---|---|
//! | `script` | operations generated from a seed |
//! | `execute` | runs operations on a store |
//! | `world` | possible contents of a store |
//! | `view` | contents as read, compared with the possible ones |
//! | `session` | a store on a simulated disk, and its model |
//! | `points` | power failures and kills after every disk operation |
//! | `faults` | failing disk operations |
//! | `closed` | missing parts of a closed store |
//! | `lies` | a disk that acknowledges a sync without syncing |
//! | `rot` | bit flips |
//! | `mutant` | storage with a deliberate fault |
//! | `mutants` | checks that each deliberate fault is found |
//! | `writers` | several threads |
//! | `objects` | crashes and faults of object storage |
//! | `rivals` | several processes that write to one remote store |
//! | `kill` | real processes that are killed |
//! | `endurance` | readers, writers and maintenance at once, with power failures |
//! | `stamped` | tensors whose values contain their version |
//! | `latency` | percentiles |
//! | `soak` | long runs |

mod closed;
mod endurance;
mod execute;
mod faults;
mod kill;
mod latency;
mod lies;
mod mutant;
mod mutants;
mod objects;
mod points;
mod rivals;
mod rot;
mod script;
mod session;
mod soak;
mod stamped;
mod view;
mod world;
mod writers;

use points::Tally;

#[test]
fn a_crash_loses_no_acknowledged_write() {
    let tally = soak::simulate(1, 5_000).unwrap_or_else(|why| panic!("{why}"));
    println!("{tally:?}");
}

#[test]
fn killing_a_process_loses_no_acknowledged_write() {
    let mut tally = Tally::default();
    kill::explore(1, 20, &mut tally).unwrap_or_else(|why| panic!("{why}"));
    println!("{tally:?}");
}
