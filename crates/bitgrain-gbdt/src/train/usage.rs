//! `TeamUsage`: loops and times of the threads of a training run, by phase.

use std::time::Duration;

/// Kind of work in a parallel loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Gradients of all rows, and scores of the previous tree.
    Gradients,
    /// Histograms of the root and of the children of large nodes.
    Histograms,
    /// Side of each row of large nodes.
    Flags,
    /// Moving the rows of large nodes.
    Swaps,
    /// Small nodes: flags, swaps, histogram and search in one task.
    Nodes,
    /// Split search of large nodes.
    Search,
    /// Leaf values from unquantized gradients.
    Leaves,
    /// Scores that are not updated together with gradients.
    Scores,
    /// Samples of rows.
    Sampling,
    /// Return of the rows to their original order after the last round.
    Order,
}

impl Phase {
    /// All phases.
    pub const ALL: [Self; 10] = [
        Self::Gradients,
        Self::Histograms,
        Self::Flags,
        Self::Swaps,
        Self::Nodes,
        Self::Search,
        Self::Leaves,
        Self::Scores,
        Self::Sampling,
        Self::Order,
    ];

    /// Name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gradients => "gradients and scores",
            Self::Histograms => "histograms",
            Self::Flags => "flags",
            Self::Swaps => "swaps",
            Self::Nodes => "small nodes",
            Self::Search => "split search",
            Self::Leaves => "leaf values",
            Self::Scores => "scores alone",
            Self::Sampling => "sampling",
            Self::Order => "row order",
        }
    }
}

/// Numbers of cores for which the time in loops is projected.
pub const PROJECTED_CORES: [usize; 3] = [8, 16, 64];

/// Loops of one phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PhaseUsage {
    /// Number of parallel loops; the training thread waits for all tasks at the end of each.
    pub loops: usize,
    /// Time that the training thread spent in these loops, waiting included.
    pub in_loops: Duration,
    /// Time that the training thread waited for other threads at the ends of loops.
    pub waiting: Duration,
    /// Time in tasks, over all threads.
    pub busy: Duration,
}

/// Use of threads by a training run.
#[derive(Debug, Clone, Copy, Default)]
pub struct TeamUsage {
    /// Number of threads: at most the number of cores available to the process, and one for a tiny table.
    pub threads: usize,
    /// Duration of the training run.
    pub total: Duration,
    /// Usage by phase, in the order of [`Phase::ALL`].
    pub phases: [PhaseUsage; Phase::ALL.len()],
    /// Shortest possible time in loops on each of [`PROJECTED_CORES`]: for every loop, the time of its longest task or
    /// an equal share of all tasks, whichever is longer. Meaningful if measured on one thread.
    pub projected: [Duration; PROJECTED_CORES.len()],
}

impl TeamUsage {
    /// Loops of all phases.
    #[must_use]
    pub fn all(&self) -> PhaseUsage {
        self.phases.iter().fold(PhaseUsage::default(), |all, phase| all.plus(*phase))
    }

    /// Loops of one phase.
    #[must_use]
    pub fn phase(&self, phase: Phase) -> PhaseUsage {
        self.phases[phase as usize]
    }

    /// Time outside loops, when only the training thread works.
    #[must_use]
    pub fn serial(&self) -> Duration {
        self.total.saturating_sub(self.all().in_loops)
    }

    /// Adds a loop whose longest task took `longest`.
    pub(super) fn add(&mut self, phase: Phase, of_loop: PhaseUsage, longest: Duration) {
        let phase = &mut self.phases[phase as usize];
        *phase = phase.plus(of_loop);
        for (projected, cores) in self.projected.iter_mut().zip(PROJECTED_CORES) {
            #[expect(clippy::cast_possible_truncation, reason = "small constants")]
            let share = of_loop.busy / cores as u32;
            *projected += share.max(longest);
        }
    }
}

impl PhaseUsage {
    fn plus(self, other: Self) -> Self {
        Self {
            loops: self.loops + other.loops,
            in_loops: self.in_loops + other.in_loops,
            waiting: self.waiting + other.waiting,
            busy: self.busy + other.busy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_takes_at_least_as_long_as_its_longest_task() {
        let ms = Duration::from_millis;
        let mut usage = TeamUsage { total: ms(300), ..TeamUsage::default() };
        let of_loop = |busy| PhaseUsage { loops: 1, in_loops: busy, waiting: ms(0), busy };
        usage.add(Phase::Flags, of_loop(ms(160)), ms(5));
        usage.add(Phase::Search, of_loop(ms(64)), ms(8));
        assert_eq!(usage.projected, [ms(28), ms(18), ms(13)]);
        assert_eq!((usage.all().loops, usage.serial(), usage.phase(Phase::Search).busy), (2, ms(76), ms(64)));
    }

    #[test]
    fn phases_are_listed_in_the_order_of_their_indices() {
        Phase::ALL.iter().enumerate().for_each(|(at, phase)| assert_eq!(*phase as usize, at));
    }
}
