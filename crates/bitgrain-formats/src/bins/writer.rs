//! Encoder of metadata and row columns.

use super::RowColumns;
use super::metadata::{BinCode, BinFeature, BinMember, FeatureCuts, Metadata};
use crate::crc32c;

impl Metadata {
    /// Encodes the metadata, without its checksum.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        count(&mut out, self.features.len());
        self.features.iter().for_each(|each| feature(&mut out, each));
        count(&mut out, self.tiles.len());
        for slots in &self.tiles {
            count(&mut out, slots.len());
            for members in slots {
                count(&mut out, members.len());
                members.iter().for_each(|each| member(&mut out, each));
            }
        }
        list(&mut out, &self.wide, |feature| feature.to_le_bytes());
        [&self.target, &self.objective, &self.reason].into_iter().for_each(|each| text(&mut out, each));
        texts(&mut out, &self.classes);
        out.push(u8::from(self.weighted));
        out.extend(self.n_groups.to_le_bytes());
        out.push(u8::from(self.positions));
        out.extend(self.max_bin.to_le_bytes());
        out.extend(self.sample_rows.to_le_bytes());
        out.extend(self.seed.to_le_bytes());
        out
    }
}

impl RowColumns {
    /// Encodes the columns, with their checksum.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let weights = self.weights.iter().flatten();
        let floats = self.targets.iter().chain(weights).map(|value| value.to_le_bytes());
        let integers = self.group_sizes.iter().chain(self.positions.iter().flatten()).map(|value| value.to_le_bytes());
        let mut out: Vec<u8> = floats.chain(integers).flatten().collect();
        out.extend(crc32c(&out).to_le_bytes());
        out
    }
}

/// Writes a length. Lists of more than 2^32 - 1 items do not occur: features, bins and classes are counted in u32.
fn count(out: &mut Vec<u8>, len: usize) {
    out.extend(u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
}

fn list<T: Copy, const N: usize>(out: &mut Vec<u8>, items: &[T], bytes: impl Fn(T) -> [u8; N]) {
    count(out, items.len());
    out.extend(items.iter().flat_map(|item| bytes(*item)));
}

fn text(out: &mut Vec<u8>, text: &str) {
    count(out, text.len());
    out.extend(text.as_bytes());
}

fn texts(out: &mut Vec<u8>, items: &[String]) {
    count(out, items.len());
    items.iter().for_each(|item| text(out, item));
}

fn feature(out: &mut Vec<u8>, feature: &BinFeature) {
    text(out, &feature.name);
    out.push(u8::from(feature.missing));
    match &feature.cuts {
        FeatureCuts::F32(cuts) => {
            out.push(0);
            list(out, cuts, f32::to_le_bytes);
        }
        FeatureCuts::F64(cuts) => {
            out.push(1);
            list(out, cuts, f64::to_le_bytes);
        }
        FeatureCuts::Categories { codes, labels } => {
            out.push(2);
            list(out, codes, u32::to_le_bytes);
            texts(out, labels);
        }
    }
}

fn member(out: &mut Vec<u8>, member: &BinMember) {
    out.extend(member.feature.to_le_bytes());
    out.extend(member.bins.to_le_bytes());
    let (kind, a, b) = match member.code {
        BinCode::Digit { stride } => (0, stride, 0),
        BinCode::Range { first, usual } => (1, first, usual),
    };
    out.push(kind);
    out.extend(a.to_le_bytes());
    out.extend(b.to_le_bytes());
}
