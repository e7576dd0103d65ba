//! Timing: the contenders of a comparison run alternately, so that noise affects all of them equally.

use std::borrow::Cow;
use std::hint::black_box;
use std::time::{Duration, Instant};

use bitgrain::kernels::Backend;
use serde::{Deserialize, Serialize};

use crate::data::{Random, SEED};

/// Minimum duration of a sample; shorter samples would measure the clock and interrupts.
const SHORTEST_SAMPLE: Duration = Duration::from_micros(200);

/// Pause after which threads that spin for work have gone to sleep.
const PAUSE: Duration = Duration::from_millis(3);

/// Time budget of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    Full,
    Quick,
}

impl Pace {
    /// For work that stays in L1: hundreds of rounds fit the budget.
    pub(crate) const fn in_cache(self) -> Effort {
        match self {
            Self::Full => Effort { rounds: 31, budget: Duration::from_millis(400), apart: false },
            Self::Quick => Effort { rounds: 11, budget: Duration::from_millis(60), apart: false },
        }
    }

    /// For work on data larger than the caches, where one call is a sample.
    pub(crate) const fn in_memory(self) -> Effort {
        match self {
            Self::Full => Effort { rounds: 9, budget: Duration::from_millis(2500), apart: false },
            Self::Quick => Effort { rounds: 5, budget: Duration::from_millis(250), apart: false },
        }
    }

    /// For work of which one call may take seconds.
    pub(crate) const fn seconds_a_call(self) -> Effort {
        match self {
            Self::Full => Effort { rounds: 5, budget: Duration::from_millis(1500), apart: false },
            Self::Quick => Effort { rounds: 3, budget: Duration::from_millis(100), apart: false },
        }
    }
}

/// Rounds continue until there are enough of them and the budget is spent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    rounds: usize,
    budget: Duration,
    /// Whether contenders are isolated from each other.
    apart: bool,
}

impl Effort {
    /// With a budget for many comparisons of milliseconds: a second, which is dozens of rounds.
    pub(crate) fn brief(self) -> Self {
        Self { budget: self.budget.min(Duration::from_secs(1)), ..self }
    }

    /// For contenders with their own threads: each sample starts with a pause, in which the threads of the previous
    /// contender stop spinning, and an uncounted call, which wakes the contender's threads.
    pub(crate) const fn apart(self) -> Self {
        Self { apart: true, ..self }
    }
}

/// Work to time, on the buffers `C` that all contenders of the comparison share.
pub(crate) struct Contestant<'a, C> {
    name: &'static str,
    run: Box<dyn FnMut(&mut C) + 'a>,
}

impl<'a, C> Contestant<'a, C> {
    /// The result of `run` counts as used, so that the work is not optimized away.
    pub(crate) fn new<R>(name: &'static str, mut run: impl FnMut(&mut C) -> R + 'a) -> Self {
        let run = move |context: &mut C| {
            black_box(run(context));
        };
        Self { name, run: Box::new(run) }
    }

    /// Returns one contender per backend of this CPU, slowest first.
    pub(crate) fn backends<R>(run: impl Fn(Backend, &mut C) -> R + Copy + 'a) -> Vec<Self> {
        let on = |backend: Backend| Self::new(backend.name(), move |context: &mut C| run(backend, context));
        Backend::available().iter().copied().map(on).collect()
    }

    /// Takes one sample: seconds per call, averaged over `calls` calls.
    fn sample(&mut self, context: &mut C, calls: u32) -> f64 {
        let start = Instant::now();
        for _ in 0..calls {
            (self.run)(black_box(&mut *context));
        }
        start.elapsed().as_secs_f64() / f64::from(calls)
    }

    /// Finds the calls per sample by doubling; also the warm-up.
    fn calls(&mut self, context: &mut C) -> u32 {
        let mut calls = 1;
        // The first call may still fault pages or build tables.
        self.sample(context, 1);
        while self.sample(context, calls) * f64::from(calls) < SHORTEST_SAMPLE.as_secs_f64() && calls < 1 << 20 {
            calls *= 2;
        }
        calls
    }
}

/// Timings of one contender.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Timing {
    pub(crate) contestant: Cow<'static, str>,
    /// Bytes credited to one call.
    pub(crate) bytes: usize,
    pub(crate) samples: usize,
    pub(crate) median_seconds: f64,
    pub(crate) best_seconds: f64,
}

impl Timing {
    /// Creates timings from seconds per call, with at least one sample.
    pub(crate) fn new(contestant: &'static str, bytes: usize, mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        Self {
            contestant: contestant.into(),
            bytes,
            samples: seconds.len(),
            median_seconds: seconds[seconds.len() / 2],
            best_seconds: seconds[0],
        }
    }

    pub(crate) fn median_gb_per_s(&self) -> f64 {
        self.bytes as f64 / self.median_seconds / 1e9
    }

    pub(crate) fn best_gb_per_s(&self) -> f64 {
        self.bytes as f64 / self.best_seconds / 1e9
    }
}

/// Times the contenders alternately; every call counts as `bytes`. Results must have been checked before.
pub(crate) fn race<C>(
    effort: Effort,
    context: &mut C,
    bytes: usize,
    mut contestants: Vec<Contestant<'_, C>>,
) -> Vec<Timing> {
    let calls: Vec<u32> = contestants.iter_mut().map(|c| c.calls(context)).collect();
    let mut samples = vec![Vec::new(); contestants.len()];
    let mut order: Vec<usize> = (0..contestants.len()).collect();
    let mut random = Random::new(SEED);
    let mut round = 0;
    let start = Instant::now();
    while round < effort.rounds || start.elapsed() < effort.budget {
        // A new random order each round, so that no contender always inherits the caches of the same predecessor.
        order.sort_by_cached_key(|_| random.next());
        for &at in &order {
            if effort.apart {
                std::thread::sleep(PAUSE);
                contestants[at].sample(context, 1);
            }
            samples[at].push(contestants[at].sample(context, calls[at]));
        }
        round += 1;
    }
    contestants.iter().zip(samples).map(|(c, seconds)| Timing::new(c.name, bytes, seconds)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_sample_and_the_best_the_shortest() {
        let timing = Timing::new("it", 2_000_000_000, vec![4.0, 1.0, 2.0]);
        assert_eq!((timing.median_seconds, timing.best_seconds), (2.0, 1.0));
        assert_eq!((timing.median_gb_per_s(), timing.best_gb_per_s()), (1.0, 2.0));
    }

    #[test]
    fn every_contestant_gets_every_round() {
        let effort = Effort { rounds: 3, budget: Duration::ZERO, apart: false };
        let count = |at: usize| Contestant::new("it", move |seen: &mut [u64; 2]| seen[at] += 1);
        let mut seen = [0; 2];
        let timings = race(effort, &mut seen, 1, vec![count(0), count(1)]);
        assert_eq!(timings.iter().map(|t| t.samples).collect::<Vec<_>>(), [3, 3]);
        assert!(seen[0] >= 5 && seen[1] >= 5);
    }
}
