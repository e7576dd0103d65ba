//! Codec for temporal tensors: sequences of frames with one shape that share scales and are stored as differences.
//!
//! A **run** starts with a key frame, which has its own scales. Later frames are stored as codes at the key
//! frame's scales while those fit, or as differences to the decoded key frame where that takes fewer bytes. Any frame
//! can be read with at most two others: the key frame and the frame whose scales it shares. Values are never clamped,
//! and a difference never has a larger bound than the frame would have on its own. Layout:
//! `spec/blocks.md#separate-scales`.
//!
//! ```
//! use bitgrain_store::temporal::{FrameEncoder, FrameRole, FrameConfig, RunDecoder};
//! use bitgrain_codec::BitWidth;
//! // Temperatures in kelvin: far from zero, close to each other.
//! let frame = |t: f32| (0..256).map(|i| 290.0 + (i as f32 * 0.1 + t).sin()).collect::<Vec<f32>>();
//! let mut encoder = FrameEncoder::new(FrameConfig::new(BitWidth::W8), 256);
//! let key = encoder.encode(&frame(0.0))?;
//! let next = encoder.encode(&frame(0.1))?;
//! assert_eq!((key.head.role, key.body.len()), (FrameRole::Key, 4 * 2 + 256)); // four f16 scales, codes of 8 bits
//! assert_eq!((next.head.role, next.body.len()), (FrameRole::DifferenceKey, 4 * 2 + 64)); // codes of 2 bits
//! assert!(next.head.bound <= key.head.bound);
//!
//! let decoder = RunDecoder::new(0, &key.head, &key.body, 256)?;
//! let mut back = vec![0.0; 256];
//! decoder.decode_into(1, &next.head, &next.body, &mut back)?;
//! assert!(frame(0.1).iter().zip(&back).all(|(x, y)| (x - y).abs() <= next.head.measured));
//! # Ok::<(), bitgrain_store::StoreError>(())
//! ```

mod config;
mod decoder;
mod difference;
mod encoder;
mod frame;
mod run;

pub use config::FrameConfig;
pub use decoder::RunDecoder;
pub use encoder::FrameEncoder;
pub use frame::{EncodedFrame, EncodedFrameHead, FrameRole};
