//! Random user-level operations.

use bitgrain_store::Tier;
use bitgrain_store::storage::simulated::Dice;

use super::{HOUR, MINUTE};

/// Ids that operations use. The last ones are mostly temporal.
pub(crate) const IDS: [&str; 6] = ["a", "b", "c", "d", "frames/1", "frames/2"];

/// The reconstructed tensor and its base.
pub(crate) const DERIVED: [&str; 2] = ["derived", "base"];

/// The reconstructed series and its base.
pub(crate) const DERIVED_FRAMES: [&str; 2] = ["series/derived", "series/base"];

/// One operation.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
    Put {
        id: &'static str,
        seed: u64,
        tier: Option<Tier>,
        pin: Option<Tier>,
        max_error: Option<f32>,
        batch: bool,
    },
    Append {
        id: &'static str,
        seed: u64,
        batch: bool,
    },
    Get(&'static str),
    GetRows(&'static str),
    Pin(&'static str, Option<Tier>),
    Limit(&'static str, Option<f32>),
    Note(&'static str),
    Delete(&'static str),
    /// Puts both tensors again, and sets the reconstruction of one from the other.
    Derive(u64),
    /// Appends frames to both series again, and sets the reconstruction of one from the other.
    DeriveFrames(u64),
    Tick {
        after: u64,
    },
    Reopen {
        close: bool,
    },
    Compact {
        all: bool,
    },
}

const PINS: [Tier; Tier::COUNT] = Tier::ALL;

impl Operation {
    pub(crate) fn roll(dice: &mut Dice) -> Self {
        let id = if dice.chance(85) { *dice.pick(&IDS) } else { DERIVED[0] };
        let seed = dice.below(1 << 20) as u64;
        match dice.below(100) {
            0..18 => Self::Put {
                id,
                seed,
                tier: dice.chance(40).then(|| *dice.pick(&PINS[..5])),
                pin: dice.chance(20).then(|| *dice.pick(&PINS)),
                max_error: dice.chance(15).then(|| *dice.pick(&[0.001, 0.01, 0.05, 0.3])),
                batch: dice.chance(30),
            },
            18..34 => Self::Append { id: IDS[3 + dice.below(IDS.len() - 3)], seed, batch: dice.chance(30) },
            34..44 => Self::Get(id),
            44..48 => Self::GetRows(id),
            48..58 => Self::Pin(id, dice.chance(65).then(|| *dice.pick(&PINS))),
            58..63 => Self::Limit(id, dice.chance(60).then(|| *dice.pick(&[0.002, 0.01, 0.05, 0.3]))),
            63..65 => Self::Note(id),
            65..69 => Self::Delete(id),
            69..71 => Self::Derive(seed),
            71..73 => Self::DeriveFrames(seed),
            73..90 => {
                Self::Tick { after: *dice.pick(&[1000, MINUTE, 10 * MINUTE, HOUR, 3 * HOUR, 30 * HOUR, 80 * HOUR]) }
            }
            90..96 => Self::Reopen { close: dice.chance(60) },
            _ => Self::Compact { all: dice.chance(60) },
        }
    }
}
