//! `Metadata`: features with their cuts, layout of the codes, and roles of the row columns.

use super::cursor::Cursor;
use super::header::checked;
use super::{BinsError, Header};

/// Everything about a binned table except the rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metadata {
    /// Features in order.
    pub features: Vec<BinFeature>,
    /// Members of each slot of each tile.
    pub tiles: Vec<Vec<Vec<BinMember>>>,
    /// Features with more than 256 bins, each with a column of u16 or u32.
    pub wide: Vec<u32>,
    /// Name of the target column.
    pub target: String,
    /// Name of the objective, with its parameter.
    pub objective: String,
    /// Reason for an inferred objective; empty if it was given.
    pub reason: String,
    /// Class labels; empty for regression and ranking.
    pub classes: Vec<String>,
    /// Whether rows have weights.
    pub weighted: bool,
    /// Number of queries; 0 without queries.
    pub n_groups: u32,
    /// Whether rows have positions.
    pub positions: bool,
    /// Maximum number of bins that the cuts were computed for.
    pub max_bin: u32,
    /// Maximum number of rows that quantiles were computed from.
    pub sample_rows: u64,
    /// Seed of the row sample.
    pub seed: u64,
}

/// A feature.
#[derive(Debug, Clone, PartialEq)]
pub struct BinFeature {
    /// Name of the column.
    pub name: String,
    /// Whether its last bin holds missing values only. Always true for categorical features.
    pub missing: bool,
    /// Bins of its values.
    pub cuts: FeatureCuts,
}

/// Bins of a feature's values.
#[derive(Debug, Clone, PartialEq)]
pub enum FeatureCuts {
    /// Ascending upper bounds of all value bins but the last.
    F32(Vec<f32>),
    /// Ascending upper bounds for values that are compared as f64.
    F64(Vec<f64>),
    /// Categorical feature.
    Categories {
        /// Ascending codes that have a bin.
        codes: Vec<u32>,
        /// String of each code; empty if the values are codes.
        labels: Vec<String>,
    },
}

/// Feature in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinMember {
    /// Index of the feature.
    pub feature: u32,
    /// Number of its bins.
    pub bins: u32,
    /// Meaning of the byte.
    pub code: BinCode,
}

/// Encoding of a feature's bins in the byte of its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinCode {
    /// The bin is `byte / stride % bins`.
    Digit {
        /// Product of the numbers of bins of the members before.
        stride: u32,
    },
    /// The bytes from `first` on are the bins except `usual`; all other bytes are the bin `usual`.
    Range {
        /// First byte of the feature.
        first: u32,
        /// Bin of nearly all rows.
        usual: u32,
    },
}

/// Maximum number of slots of a tile.
const MAX_SLOTS: usize = 16;

/// Number of values of a byte.
const BYTES: u32 = 256;

impl BinFeature {
    /// Number of bins, including the bin of missing values.
    #[must_use]
    pub fn n_bins(&self) -> u64 {
        let values = match &self.cuts {
            FeatureCuts::F32(cuts) => cuts.len() + 1,
            FeatureCuts::F64(cuts) => cuts.len() + 1,
            FeatureCuts::Categories { codes, .. } => codes.len(),
        };
        values as u64 + u64::from(self.missing)
    }
}

impl Metadata {
    /// Width of the records of a tile in bytes: one per slot, padded to a multiple of four.
    #[must_use]
    pub fn tile_width(slots: usize) -> usize {
        slots.next_multiple_of(4)
    }

    /// Size of a code of a wide feature in bytes.
    #[must_use]
    pub fn wide_width(&self, feature: u32) -> usize {
        let bins = self.features.get(feature as usize).map_or(0, BinFeature::n_bins);
        if bins > 1 << 16 { 4 } else { 2 }
    }

    /// Size of the codes of a row in bytes.
    #[must_use]
    pub fn row_bytes(&self) -> usize {
        let tiles: usize = self.tiles.iter().map(|slots| Self::tile_width(slots.len())).sum();
        tiles + self.wide.iter().map(|&feature| self.wide_width(feature)).sum::<usize>()
    }

    /// Size in bytes of the row columns of `n_rows` rows.
    #[must_use]
    pub fn column_bytes(&self, n_rows: u64) -> u64 {
        let columns = 1 + u64::from(self.weighted) + u64::from(self.positions);
        4 * (n_rows.saturating_mul(columns).saturating_add(self.n_groups.into()))
    }

    /// Decodes metadata, which its checksum follows.
    ///
    /// # Errors
    /// Returns a [`BinsError`] if the bytes are not valid or contradict the header.
    pub fn parse(bytes: &[u8], header: &Header) -> Result<Self, BinsError> {
        let content = checked("the metadata", bytes, header.metadata_bytes)?;
        let mut cursor = Cursor::new(content);
        let features =
            (0..cursor.count("the features", 10)?).map(|_| feature(&mut cursor)).collect::<Result<_, _>>()?;
        let mut tiles = Vec::new();
        for _ in 0..cursor.count("the tiles", 4)? {
            let offset = cursor.offset();
            let slots = cursor.count("the slots of a tile", 4)?;
            if !(1..=MAX_SLOTS).contains(&slots) {
                return Err(BinsError::Value { what: "number of slots of a tile", offset });
            }
            let slot = |_| (0..cursor.count("the members of a slot", 17)?).map(|_| member(&mut cursor)).collect();
            tiles.push((0..slots).map(slot).collect::<Result<_, _>>()?);
        }
        let metadata = Self {
            features,
            tiles,
            wide: cursor.list("the wide features", u32::from_le_bytes)?,
            target: cursor.text("the name of the target")?,
            objective: cursor.text("the name of the objective")?,
            reason: cursor.text("the reason for the objective")?,
            classes: cursor.texts("the class labels")?,
            weighted: cursor.flag("the flag of weights")?,
            n_groups: cursor.u32("the number of queries")?,
            positions: cursor.flag("the flag of positions")?,
            max_bin: cursor.u32("the maximum number of bins")?,
            sample_rows: cursor.u64("the number of sampled rows")?,
            seed: cursor.u64("the seed")?,
        };
        cursor.end("end of the metadata")?;
        metadata.check(header)?;
        Ok(metadata)
    }

    fn check(&self, header: &Header) -> Result<(), BinsError> {
        let invalid = |what| Err(BinsError::Value { what, offset: 0 });
        if self.features.is_empty() {
            return invalid("number of features");
        }
        if self.features.iter().map(BinFeature::n_bins).sum::<u64>() >= u64::from(u32::MAX) {
            return invalid("total number of bins");
        }
        let mut is_stored = vec![false; self.features.len()];
        let mut store = |feature: u32, fits: &dyn Fn(u64) -> bool| {
            let refused = |reason| Err(BinsError::Feature { feature, reason });
            let Some(stored) = is_stored.get_mut(feature as usize) else { return refused("does not exist") };
            if std::mem::replace(stored, true) {
                return refused("is stored twice");
            }
            let bins = self.features.get(feature as usize).map_or(0, BinFeature::n_bins);
            if fits(bins) { Ok(()) } else { refused("has a different number of bins in its slot") }
        };
        for slot in self.tiles.iter().flatten() {
            let (mut stride, mut first) = (1_u32, 1_u32);
            let all_digits = slot.iter().all(|member| matches!(member.code, BinCode::Digit { .. }));
            let all_ranges = slot.iter().all(|member| matches!(member.code, BinCode::Range { .. }));
            if slot.is_empty() || !(all_digits || all_ranges) {
                return invalid("members of a slot");
            }
            for member in slot {
                store(member.feature, &|bins| bins == u64::from(member.bins) && bins > 1)?;
                let fits = match member.code {
                    BinCode::Digit { stride: own } => {
                        let fits = own == stride;
                        stride = stride.saturating_mul(member.bins);
                        fits && stride <= BYTES
                    }
                    BinCode::Range { first: own, usual } => {
                        let fits = own == first && usual < member.bins;
                        first = first.saturating_add(member.bins - 1);
                        fits && first <= BYTES
                    }
                };
                if !fits {
                    return Err(BinsError::Feature { feature: member.feature, reason: "does not fit its slot" });
                }
            }
        }
        for &feature in &self.wide {
            store(feature, &|bins| bins > u64::from(BYTES))?;
        }
        let constant = |feature: &BinFeature| feature.n_bins() <= 1;
        let lost = self.features.iter().zip(&is_stored).position(|(feature, stored)| !stored && !constant(feature));
        if let Some(feature) = lost.and_then(|feature| u32::try_from(feature).ok()) {
            return Err(BinsError::Feature { feature, reason: "is not stored" });
        }
        if self.row_bytes() as u64 != u64::from(header.row_bytes) {
            return invalid("size of a row");
        }
        if self.column_bytes(header.n_rows) != header.column_bytes {
            return invalid("size of the row columns");
        }
        Ok(())
    }
}

fn feature(cursor: &mut Cursor<'_>) -> Result<BinFeature, BinsError> {
    let name = cursor.text("the name of a feature")?;
    let missing = cursor.flag("the flag of missing values")?;
    let offset = cursor.offset();
    let cuts = match cursor.u8("the kind of a feature")? {
        0 => FeatureCuts::F32(cursor.list("the cuts of a feature", f32::from_le_bytes)?),
        1 => FeatureCuts::F64(cursor.list("the cuts of a feature", f64::from_le_bytes)?),
        2 => FeatureCuts::Categories {
            codes: cursor.list("the categories of a feature", u32::from_le_bytes)?,
            labels: cursor.texts("the labels of a feature")?,
        },
        _ => return Err(BinsError::Value { what: "kind of a feature", offset }),
    };
    let valid = match &cuts {
        FeatureCuts::F32(cuts) => cuts.is_sorted_by(|a, b| a < b) && !cuts.iter().any(|cut| cut.is_nan()),
        FeatureCuts::F64(cuts) => cuts.is_sorted_by(|a, b| a < b) && !cuts.iter().any(|cut| cut.is_nan()),
        FeatureCuts::Categories { codes, .. } => {
            missing && codes.is_sorted_by(|a, b| a < b) && codes.last().is_none_or(|code| *code < 1 << 24)
        }
    };
    if valid { Ok(BinFeature { name, missing, cuts }) } else { Err(BinsError::Value { what: "order of cuts", offset }) }
}

fn member(cursor: &mut Cursor<'_>) -> Result<BinMember, BinsError> {
    let (feature, bins) = (cursor.u32("the feature of a slot")?, cursor.u32("the bins of a slot")?);
    let offset = cursor.offset();
    let kind = cursor.u8("the encoding of a slot")?;
    let (a, b) = (cursor.u32("the encoding of a slot")?, cursor.u32("the encoding of a slot")?);
    let code = match (kind, b) {
        (0, 0) => BinCode::Digit { stride: a },
        (1, usual) => BinCode::Range { first: a, usual },
        _ => return Err(BinsError::Value { what: "encoding of a slot", offset }),
    };
    if bins == 0 {
        return Err(BinsError::Value { what: "number of bins of a slot", offset });
    }
    Ok(BinMember { feature, bins, code })
}
