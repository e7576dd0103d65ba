//! Decoding of the frames of one run.

use std::sync::Arc;

use super::EncodedFrameHead;
use super::run::{Key, Run, Scales, code_bytes, decode_group, groups};
use crate::StoreError;
use crate::temporal::FrameRole;

/// Decoder for the frames of one run. The key frame is decoded once, on creation; frames can then be read in any order
/// and from several threads. Frames that share the scales of a difference need those scales to be loaded first.
#[derive(Debug, Clone)]
pub struct RunDecoder {
    pub(super) run: Run,
}

impl RunDecoder {
    /// Creates a decoder from the key frame of a run of frames with `count` values. Checks the length of the body
    /// before it allocates.
    ///
    /// # Errors
    /// Returns [`StoreError::FrameOutOfRun`] if it is not a key frame, [`StoreError::FrameBody`], or an error of the
    /// codec.
    pub fn new(index: u64, head: &EncodedFrameHead, body: &[u8], count: usize) -> Result<Self, StoreError> {
        if head.role != FrameRole::Key {
            return Err(StoreError::FrameOutOfRun { index, needed: head.key_index(index), what: "key frame" });
        }
        let (scales, codes) = read(index, head, body, count)?;
        let mut values = vec![0.0; count];
        decode(head, &scales.values, codes, None, &mut values)?;
        Ok(Self { run: Run { key: Arc::new(Key::new(head.block, scales, values)), difference: None } })
    }

    /// Returns the index of the key frame.
    #[must_use]
    pub fn key_index(&self) -> u64 {
        self.run.key.scales.index
    }

    /// Returns the index of the frame whose scales were loaded last.
    #[must_use]
    pub fn scales_index(&self) -> Option<u64> {
        self.run.difference.as_ref().map(|scales| scales.index)
    }

    /// Loads the scales of a [`FrameRole::DifferenceKey`], replacing those loaded before.
    ///
    /// # Errors
    /// Returns [`StoreError::FrameOutOfRun`] if it is not a difference key of this run, [`StoreError::FrameBody`], or
    /// an error of the codec.
    pub fn load_scales(&mut self, index: u64, head: &EncodedFrameHead, body: &[u8]) -> Result<(), StoreError> {
        self.check_key(index, head)?;
        if head.role != FrameRole::DifferenceKey {
            return Err(StoreError::FrameOutOfRun { index, needed: index, what: "difference key" });
        }
        let (scales, _) = read(index, head, body, self.run.key.values.len())?;
        self.run.difference = Some(Arc::new(scales));
        Ok(())
    }

    /// Decodes a frame of the run into `out`, which must have the frame's number of values. All results are finite.
    ///
    /// # Errors
    /// Returns [`StoreError::FrameShape`] if the length of `out` differs from the key frame;
    /// [`StoreError::FrameOutOfRun`] if the frame belongs to another run or its scales are not loaded;
    /// [`StoreError::FrameBody`]; or an error of the codec.
    pub fn decode_into(
        &self,
        index: u64,
        head: &EncodedFrameHead,
        body: &[u8],
        out: &mut [f32],
    ) -> Result<(), StoreError> {
        let key = &self.run.key;
        let count = key.values.len();
        if out.len() != count {
            return Err(StoreError::FrameShape { expected: count, got: out.len() });
        }
        self.check_key(index, head)?;
        match head.role {
            FrameRole::Key => {
                head.split(body, count)?;
                out.copy_from_slice(&key.values);
                Ok(())
            }
            FrameRole::Shared => {
                let (_, codes) = head.split(body, count)?;
                check_scales(index, head, &key.scales, "key frame")?;
                decode(head, &key.scales.values, codes, None, out)
            }
            FrameRole::DifferenceKey => {
                let (scales, codes) = read(index, head, body, count)?;
                decode(head, &scales.values, codes, Some(&key.values), out)
            }
            FrameRole::DifferenceShared => {
                let (_, codes) = head.split(body, count)?;
                let (needed, what) = (head.scales_index(index), "difference key");
                let loaded = self.run.difference.as_ref();
                let scales = loaded.ok_or(StoreError::FrameOutOfRun { index, needed, what })?;
                check_scales(index, head, scales, what)?;
                decode(head, &scales.values, codes, Some(&key.values), out)
            }
        }
    }

    fn check_key(&self, index: u64, head: &EncodedFrameHead) -> Result<(), StoreError> {
        let (needed, key) = (head.key_index(index), &self.run.key);
        if needed != key.scales.index || head.block != key.block || (head.role == FrameRole::Key) != (needed == index) {
            return Err(StoreError::FrameOutOfRun { index, needed, what: "key frame" });
        }
        Ok(())
    }
}

/// Checks that the scales were made for this width: others could decode to infinity.
fn check_scales(index: u64, head: &EncodedFrameHead, scales: &Scales, what: &'static str) -> Result<(), StoreError> {
    let needed = head.scales_index(index);
    if needed != scales.index || head.width != scales.width {
        return Err(StoreError::FrameOutOfRun { index, needed, what });
    }
    Ok(())
}

/// Splits a body into the frame's own scales and its codes.
fn read<'a>(
    index: u64,
    head: &EncodedFrameHead,
    body: &'a [u8],
    count: usize,
) -> Result<(Scales, &'a [u8]), StoreError> {
    let (scales, codes) = head.split(body, count)?;
    let mut values = vec![0.0; count.div_ceil(head.block.get())];
    head.scale_type.read(head.width, scales, &mut values)?;
    Ok((Scales { index, width: head.width, scale_type: head.scale_type, values }, codes))
}

fn decode(
    head: &EncodedFrameHead,
    scales: &[f32],
    codes: &[u8],
    key: Option<&[f32]>,
    out: &mut [f32],
) -> Result<(), StoreError> {
    for (values, blocks) in groups(head.block, out.len()) {
        let codes = &codes[code_bytes(head.width, &values)];
        let key = key.map(|key| &key[values.clone()]);
        let start = values.start;
        decode_group(head.width, head.block, &scales[blocks], codes, key, &mut out[values])
            .map_err(|error| error.shifted(start))?;
    }
    Ok(())
}
