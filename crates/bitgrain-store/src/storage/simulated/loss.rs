//! What a disk may lose when the power goes: everything that was not synced, in any combination.

use std::ops::Range;
use std::sync::Arc;

use super::Dice;
use super::journal::Change;

/// Bytes of the smallest piece that a disk writes whole.
const SECTOR: usize = 512;

/// What becomes of a kind of change that was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// All of it reached the disk.
    Kept,
    /// None of it did.
    Dropped,
    /// Each change has a fate of its own, whatever came before or after it: kept with this chance in 100, otherwise
    /// dropped or torn.
    Each(u8),
}

/// What stands where a file got longer but its content was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// Zeros, as most file systems have it.
    Zeros,
    /// Anything.
    Garbage,
    /// What another file once held, since removed.
    Stale,
}

/// How the power goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PowerLoss {
    /// What becomes of names that were created or removed.
    pub names: Fate,
    /// What becomes of bytes that were written.
    pub content: Fate,
    /// True if a file's length is written apart from its content: it may be long without content, and content beyond
    /// it is lost.
    pub length: bool,
    /// What stands where a file is long without content.
    pub fill: Fill,
}

impl PowerLoss {
    /// The ends of the range: all kept, all dropped, names without content, lengths without content.
    pub const ENDS: [Self; 5] = [
        Self { names: Fate::Kept, content: Fate::Kept, length: false, fill: Fill::Zeros },
        Self { names: Fate::Dropped, content: Fate::Dropped, length: false, fill: Fill::Zeros },
        Self { names: Fate::Kept, content: Fate::Dropped, length: false, fill: Fill::Zeros },
        Self { names: Fate::Dropped, content: Fate::Kept, length: false, fill: Fill::Zeros },
        Self { names: Fate::Kept, content: Fate::Dropped, length: true, fill: Fill::Zeros },
    ];

    /// Any loss: an end of the range now and then, mostly something between.
    pub fn any(dice: &mut Dice) -> Self {
        if dice.chance(25) {
            return *dice.pick(&Self::ENDS);
        }
        let mut fate = || match dice.below(6) {
            0 => Fate::Kept,
            1 => Fate::Dropped,
            2 => Fate::Each(90),
            3 => Fate::Each(15),
            _ => Fate::Each(50),
        };
        let (names, content) = (fate(), fate());
        Self { names, content, length: dice.chance(50), fill: *dice.pick(&[Fill::Zeros, Fill::Garbage, Fill::Stale]) }
    }

    /// Whether a change of names reached the disk.
    pub(super) fn keeps_name(self, dice: &mut Dice) -> bool {
        match self.names {
            Fate::Kept => true,
            Fate::Dropped => false,
            Fate::Each(percent) => dice.chance(percent),
        }
    }

    /// What a file holds after the cut: `durable`, changed by what reached the disk of `pending`.
    pub(super) fn settle(
        self,
        durable: &Arc<Vec<u8>>,
        pending: &[Change],
        stale: &[u8],
        dice: &mut Dice,
    ) -> Arc<Vec<u8>> {
        if pending.is_empty() {
            return Arc::clone(durable);
        }
        let mut bytes = durable.to_vec();
        let mut lengths = vec![bytes.len()];
        for change in pending {
            match change {
                Change::Cut { len } => {
                    if !self.pieces(1, dice).is_empty() {
                        bytes.resize(*len, 0);
                        lengths = vec![*len];
                    }
                }
                Change::Write { offset, bytes: new } => {
                    lengths.push(*offset + new.len());
                    lengths.push(*offset + dice.below(new.len()));
                    for range in self.pieces(new.len(), dice) {
                        let (from, to) = (offset + range.start, offset + range.end);
                        if to > bytes.len() {
                            self.grow(&mut bytes, to, stale, dice);
                        }
                        bytes[from..to].copy_from_slice(&new[range]);
                    }
                }
            }
        }
        if self.length {
            let floor = lengths[0];
            let len = match self.content {
                // Content in full or not at all: so is the length that goes with it.
                Fate::Dropped => lengths.iter().copied().max().unwrap_or(floor),
                _ => (*dice.pick(&lengths)).max(floor),
            };
            if len > bytes.len() {
                self.grow(&mut bytes, len, stale, dice);
            }
            bytes.truncate(len);
        }
        Arc::new(bytes)
    }

    /// Which parts of `len` bytes reached the disk.
    fn pieces(self, len: usize, dice: &mut Dice) -> Vec<Range<usize>> {
        let percent = match self.content {
            Fate::Kept => 100,
            Fate::Dropped => return Vec::new(),
            Fate::Each(percent) => percent,
        };
        let piece = if dice.chance(percent) {
            0..len
        } else {
            match dice.below(4) {
                // The first bytes only, as of a process that was killed or a page that was half copied.
                0 if len > 1 => 0..1 + dice.below(len - 1),
                // All but the first bytes.
                1 if len > 1 => 1 + dice.below(len - 1)..len,
                // Sectors in any order.
                2 if len > SECTOR => {
                    let starts = (0..len).step_by(SECTOR).filter(|_| dice.chance(50));
                    return starts.map(|start| start..(start + SECTOR).min(len)).collect();
                }
                _ => return Vec::new(),
            }
        };
        vec![piece]
    }

    fn grow(self, bytes: &mut Vec<u8>, to: usize, stale: &[u8], dice: &mut Dice) {
        match self.fill {
            Fill::Stale if !stale.is_empty() => {
                let shift = dice.below(stale.len());
                // Mostly at the place where it stood, so that records of old stand where records are looked for.
                let shift = if dice.chance(70) { bytes.len() % stale.len() } else { shift };
                let more = to - bytes.len();
                bytes.extend(stale[shift..].iter().chain(stale).cycle().take(more));
            }
            Fill::Garbage => bytes.resize_with(to, || dice.roll().to_le_bytes()[0]),
            Fill::Zeros | Fill::Stale => bytes.resize(to, 0),
        }
    }
}
