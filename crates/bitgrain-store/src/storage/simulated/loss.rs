//! Loss of unsynced data on a power failure, in any combination.

use std::ops::Range;
use std::sync::Arc;

use super::Dice;
use super::journal::Change;

/// Size in bytes of the smallest unit that a disk writes atomically.
const SECTOR: usize = 512;

/// Fate of one kind of unsynced change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// All changes reached the disk.
    Kept,
    /// No change reached the disk.
    Dropped,
    /// Each change is decided independently: kept with this probability in percent, otherwise dropped or torn.
    Each(u8),
}

/// Content of the part of a file whose length was written but whose content was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// Zeros, as on most file systems.
    Zeros,
    /// Random bytes.
    Garbage,
    /// Content of a deleted file.
    Stale,
}

/// Parameters of a power failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PowerLoss {
    /// Fate of created and removed names.
    pub names: Fate,
    /// Fate of written bytes.
    pub content: Fate,
    /// Whether a file's length is written separately from its content: it may have length without content, and content
    /// beyond the length is lost.
    pub length: bool,
    /// Content where a file has length without content.
    pub fill: Fill,
}

impl PowerLoss {
    /// Extreme cases: all kept, all dropped, names without content, lengths without content.
    pub const ENDS: [Self; 5] = [
        Self { names: Fate::Kept, content: Fate::Kept, length: false, fill: Fill::Zeros },
        Self { names: Fate::Dropped, content: Fate::Dropped, length: false, fill: Fill::Zeros },
        Self { names: Fate::Kept, content: Fate::Dropped, length: false, fill: Fill::Zeros },
        Self { names: Fate::Dropped, content: Fate::Kept, length: false, fill: Fill::Zeros },
        Self { names: Fate::Kept, content: Fate::Dropped, length: true, fill: Fill::Zeros },
    ];

    /// Returns a random power failure: sometimes an extreme case, mostly something in between.
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

    /// Decides whether a change of names reached the disk.
    pub(super) fn keeps_name(self, dice: &mut Dice) -> bool {
        match self.names {
            Fate::Kept => true,
            Fate::Dropped => false,
            Fate::Each(percent) => dice.chance(percent),
        }
    }

    /// Returns the content of a file after the failure: `durable` plus the part of `pending` that reached the disk.
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
                // Content is kept or dropped as a whole, and the length with it.
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

    /// Returns the ranges of `len` bytes that reached the disk.
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
                // Only the first bytes, as when a process is killed or a page is half copied.
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
                // Mostly at its old position, so that stale records appear where recovery looks for records.
                let shift = if dice.chance(70) { bytes.len() % stale.len() } else { shift };
                let more = to - bytes.len();
                bytes.extend(stale[shift..].iter().chain(stale).cycle().take(more));
            }
            Fill::Garbage => bytes.resize_with(to, || dice.roll().to_le_bytes()[0]),
            Fill::Zeros | Fill::Stale => bytes.resize(to, 0),
        }
    }
}
