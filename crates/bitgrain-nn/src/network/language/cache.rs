//! `KeyValueCache`: keys and values of the positions that were read, in a chosen format.

use std::fmt;
use std::str::FromStr;

use bitgrain_codec::weight::{DType, Parts, PartsMut, WeightFormat};
use bitgrain_kernels::ggml::GgmlBlock;

use super::LanguageError;
use super::config::Config;

/// Format of cached keys and values.
///
/// ```
/// use bitgrain_nn::network::language::CacheFormat;
/// let format: CacheFormat = "q8_0".parse()?;
/// assert_eq!(format, CacheFormat::Q8_0);
/// assert!("q3_k".parse::<CacheFormat>().is_err());
/// # Ok::<(), bitgrain_nn::network::language::LanguageError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CacheFormat {
    /// Full precision.
    F32,
    /// Half precision.
    #[default]
    F16,
    /// 8 bits, with a scale per 32 values.
    Q8_0,
    /// 4 bits, with a scale per 32 values.
    Q4_0,
    /// 4 bits of unequal steps, with a scale per 32 values.
    Iq4Nl,
}

impl CacheFormat {
    /// All formats, the most precise first.
    pub const ALL: [Self; 5] = [Self::F32, Self::F16, Self::Q8_0, Self::Iq4Nl, Self::Q4_0];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Q8_0 => "q8_0",
            Self::Q4_0 => "q4_0",
            Self::Iq4Nl => "iq4_nl",
        }
    }

    fn weights(self) -> WeightFormat {
        match self {
            Self::F32 => DType::Float32.into(),
            Self::F16 => DType::Float16.into(),
            Self::Q8_0 => WeightFormat::Ggml(GgmlBlock::Q8_0),
            Self::Q4_0 => WeightFormat::Ggml(GgmlBlock::Q4_0),
            Self::Iq4Nl => WeightFormat::Ggml(GgmlBlock::IQ4_NL),
        }
    }
}

impl fmt::Display for CacheFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for CacheFormat {
    type Err = LanguageError;

    fn from_str(text: &str) -> Result<Self, LanguageError> {
        Self::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| LanguageError::Setting {
            name: "cache format",
            value: text.to_owned(),
            wanted: "f32, f16, q8_0, iq4_nl or q4_0",
        })
    }
}

/// Keys and values of all layers. Memory grows with the number of positions read.
#[derive(Debug, Clone)]
pub struct KeyValueCache {
    format: CacheFormat,
    head: usize,
    /// Bytes of one head of one position.
    bytes: usize,
    len: usize,
    layers: Vec<Layer>,
}

/// Encoded keys and values of one layer, for each head the positions in order.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    keys: Vec<Vec<u8>>,
    values: Vec<Vec<u8>>,
}

impl KeyValueCache {
    /// Creates an empty cache.
    pub(super) fn new(config: &Config, format: CacheFormat) -> Result<Self, LanguageError> {
        let (head, weights) = (config.head, format.weights());
        let sizes = weights.sizes(1, head).map_err(|_| LanguageError::CacheFormat {
            format: format.name().to_owned(),
            head,
            block: weights.block(),
        })?;
        let layer = Layer { keys: vec![Vec::new(); config.kv_heads], values: vec![Vec::new(); config.kv_heads] };
        Ok(Self { format, head, bytes: sizes.codes, len: 0, layers: vec![layer; config.layers] })
    }

    /// Returns the number of positions read.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether no position was read.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the format.
    #[must_use]
    pub const fn format(&self) -> CacheFormat {
        self.format
    }

    /// Returns the size of all keys and values in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.layers.iter().flat_map(|layer| layer.keys.iter().chain(&layer.values)).map(Vec::len).sum()
    }

    /// Removes all positions from index `len` to the end.
    pub fn truncate(&mut self, len: usize) {
        let kept = len.saturating_mul(self.bytes);
        for layer in &mut self.layers {
            layer.keys.iter_mut().chain(&mut layer.values).for_each(|bytes| bytes.truncate(kept));
        }
        self.len = self.len.min(len);
    }

    /// Counts `more` positions, whose keys and values were appended to all layers.
    pub(super) const fn advance(&mut self, more: usize) {
        self.len += more;
    }

    /// Appends the keys and values of new positions to a layer, all heads of a position next to each other.
    pub(super) fn append(&mut self, layer: usize, keys: &[f32], values: &[f32]) -> Result<(), LanguageError> {
        let (format, head, bytes) = (self.format.weights(), self.head, self.bytes);
        let layer = &mut self.layers[layer];
        let mut part = Vec::new();
        for (stored, new) in [(&mut layer.keys, keys), (&mut layer.values, values)] {
            let width = stored.len() * head;
            for (at, stored) in stored.iter_mut().enumerate() {
                part.clear();
                new.chunks_exact(width).for_each(|row| part.extend_from_slice(&row[at * head..][..head]));
                let start = stored.len();
                stored.resize(start + part.len() / head * bytes, 0);
                let out = PartsMut { codes: &mut stored[start..], scales: &mut [], zeros: &mut [] };
                let encoded = format.encode_rows(&part, head, None, None, out);
                encoded.map_err(|error| LanguageError::weights("attention cache")(error.into()))?;
            }
        }
        Ok(())
    }

    /// Decodes all keys and values of one head of a layer.
    pub(super) fn decode(&self, layer: usize, head: usize) -> Result<[Vec<f32>; 2], LanguageError> {
        let layer = &self.layers[layer];
        let decode = |stored: &[u8]| -> Result<Vec<f32>, LanguageError> {
            let mut out = vec![0.0; stored.len() / self.bytes * self.head];
            let parts = Parts { codes: stored, scales: &[], zeros: &[] };
            let decoded = self.format.weights().decode_rows(parts, self.head, &mut out);
            decoded.map_err(|error| LanguageError::weights("attention cache")(error.into()))?;
            Ok(out)
        };
        Ok([decode(&layer.keys[head])?, decode(&layer.values[head])?])
    }
}
