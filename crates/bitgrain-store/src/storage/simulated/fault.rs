//! Injected faults.

use std::io;

/// Kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A device error. A write leaves some of its first bytes, a sync leaves the durability of earlier writes unknown.
    Device,
    /// A full disk: creating, writing and syncing files fail, a write after some of its first bytes.
    NoSpace,
    /// The process was killed before the operation, which has no effect.
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

/// Kind of operations to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Operations that change or sync something.
    Changes,
    /// Operations that only read: list, open, length and read.
    Reads,
}

/// Operations that will fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultPlan {
    /// Kind of failure.
    pub fault: Fault,
    /// Kind of operations.
    pub counted: Counted,
    /// 0-based index of the first operation that fails, since the creation of the disk.
    pub at: usize,
    /// Whether all following operations fail as well, until [`heal`](super::SimulatedDisk::heal).
    pub lasting: bool,
}

impl FaultPlan {
    /// Returns whether operation `index` of the kind `counted` fails.
    pub(super) fn hits(self, counted: Counted, index: usize) -> bool {
        self.counted == counted && if self.lasting { index >= self.at } else { index == self.at }
    }
}
