//! Operations that fail on purpose.

use std::io;

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The device reports an error. A write leaves some of its first bytes, a sync leaves everything in doubt.
    Device,
    /// There is no room: creating, writing and syncing files fail, a write after some of its first bytes.
    NoSpace,
    /// The process was killed before the operation: nothing of it happens.
    Killed,
}

impl Fault {
    pub(super) fn error(self) -> io::Error {
        match self {
            Self::Device => io::Error::other("simulated device error"),
            Self::NoSpace => io::Error::new(io::ErrorKind::StorageFull, "simulated full disk"),
            Self::Killed => io::Error::other("this process was killed"),
        }
    }
}

/// Which operations are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Those that change or sync something.
    Changes,
    /// Those that look: list, open, length and read.
    Reads,
}

/// Operations that are going to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultPlan {
    /// How.
    pub fault: Fault,
    /// Which kind of operation.
    pub counted: Counted,
    /// The first one that fails, counted from the disk's beginning.
    pub at: usize,
    /// True if all that follow fail as well, until [`heal`](super::SimulatedDisk::heal).
    pub lasting: bool,
}

impl FaultPlan {
    /// Whether operation `index` of the kind `counted` fails.
    pub(super) fn hits(self, counted: Counted, index: usize) -> bool {
        self.counted == counted && if self.lasting { index >= self.at } else { index == self.at }
    }
}
