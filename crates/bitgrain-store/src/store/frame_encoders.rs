//! Cache of frame encoders between appends.

use std::collections::HashMap;

use super::Core;
use super::lookup::Found;
use crate::id::Key;
use crate::temporal::{FrameConfig, FrameEncoder};
use crate::{StoreError, TensorId};

/// Encoders of recently appended temporal tensors, so that the next append does not need to read earlier frames.
#[derive(Debug, Default)]
pub(super) struct Encoders {
    held: HashMap<Key, Held>,
    clock: u64,
}

#[derive(Debug)]
struct Held {
    encoder: FrameEncoder,
    /// Sequence number of the last frame, to detect that the frames were deleted or replaced.
    last: Option<u64>,
    used: u64,
}

/// Maximum total size of cached encoders in bytes.
const ENCODERS: usize = 64 << 20;

impl Encoders {
    fn take(&self, key: &[u8], found: &Found) -> Option<FrameEncoder> {
        let held = self.held.get(key)?;
        (held.last == last_frame(found)).then(|| held.encoder.clone())
    }

    fn keep(&mut self, key: &[u8], encoder: FrameEncoder, last: Option<u64>) {
        self.clock += 1;
        self.held.insert(key.into(), Held { encoder, last, used: self.clock });
        while self.held.len() > 1 && self.held.values().map(|held| held.encoder.memory()).sum::<usize>() > ENCODERS {
            let oldest = self.held.iter().min_by_key(|(_, held)| held.used).map(|(key, _)| key.clone());
            oldest.and_then(|key| self.held.remove(&key));
        }
    }
}

/// Returns the sequence number of the last frame.
fn last_frame(found: &Found) -> Option<u64> {
    found.frames.as_ref().and_then(|frames| frames.last()).map(|place| place.sequence)
}

impl Core {
    /// Returns the encoder for the next frame of a tensor: from the cache, or rebuilt from its last run.
    pub(super) fn encoder(&self, key: &[u8], found: &Found, id: &TensorId) -> Result<FrameEncoder, StoreError> {
        if let Some(encoder) = self.encoders().take(key, found) {
            return Ok(encoder);
        }
        let settings = FrameConfig { block: self.config.block_len, ..self.config.frames };
        self.reader().resume(found, id, settings)
    }

    /// Caches an encoder whose last frame is stored.
    pub(super) fn keep_encoder(&self, key: &[u8], encoder: FrameEncoder) {
        if let Some(found) = self.find(key) {
            self.encoders().keep(key, encoder, last_frame(&found));
        }
    }
}
