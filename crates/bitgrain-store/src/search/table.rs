//! `SegmentTable`: the vectors of some records of a segment, grouped by encoding, with the offset, norm and error of each.

use std::collections::HashMap;
use std::sync::Arc;

use bitgrain_codec::BlockFormat;
use bitgrain_formats::segment::{Content, Encoding};
use bitgrain_kernels::search::RowLayout;

use super::signs::SignPlane;
use super::vector::{Facts, Row, ValueErrors, decode_row};
use crate::id::Key;
use crate::segment::{Place, Segment};
use crate::{StoreError, TensorId, record};

/// Maximum number of records per table: a search that runs during a write holds the old table, so a change copies one.
pub(super) const TABLE_RECORDS: usize = 8192;

/// Vectors of some records of a segment.
#[derive(Debug, Clone)]
pub(crate) struct SegmentTable {
    pub(crate) segment: Arc<Segment>,
    pub(crate) records: Vec<RecordInfo>,
    pub(crate) groups: Vec<Group>,
    by_offset: HashMap<u64, u32>,
    /// Records without values: frames, and tensors without data.
    pub(crate) derived: Vec<u32>,
    /// Records whose shape is neither a vector nor a matrix.
    pub(crate) other_shapes: Vec<u32>,
    pub(super) dead: usize,
}

/// A tensor in a table.
#[derive(Debug, Clone)]
pub(crate) struct RecordInfo {
    pub(crate) key: Key,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) sequence: u64,
    pub(crate) live: bool,
    /// Whether it has user metadata.
    pub(super) user: bool,
    /// Number of its tier.
    pub(crate) tier: u8,
    /// Number of values.
    pub(super) count: usize,
    /// Offset of its values in the segment.
    pub(super) data: usize,
    pub(super) errors: Option<ValueErrors>,
}

/// Vectors with the same number of values and the same encoding.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) columns: usize,
    pub(super) encoding: Encoding,
    /// Layout of the codes, if rows consist of whole blocks; other rows are decoded.
    pub(super) layout: Option<RowLayout>,
    /// Offset of each vector in the segment.
    pub(super) at: Vec<usize>,
    /// End of the last vector in the segment.
    pub(super) end: usize,
    /// Record of each vector.
    pub(crate) record: Vec<u32>,
    /// Row of each vector in its tensor.
    pub(super) row: Vec<u32>,
    pub(super) norm: Vec<f32>,
    pub(super) residual: Vec<f32>,
    pub(super) unit: Vec<f32>,
    /// Signs of the first vectors, once a search requested them.
    pub(super) signs: Option<SignPlane>,
}

/// Position of a vector in the tables of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct VectorRef {
    pub(crate) table: u32,
    pub(crate) group: u32,
    pub(crate) row: u32,
}

/// A record that was read for a table.
pub(super) struct Parsed {
    info: RecordInfo,
    rows: Rows,
}

enum Rows {
    Vectors { columns: usize, encoding: Encoding, facts: Vec<Facts> },
    Derived,
    OtherShape,
}

impl SegmentTable {
    pub(super) fn new(segment: Arc<Segment>) -> Self {
        Self {
            segment,
            records: Vec::new(),
            groups: Vec::new(),
            by_offset: HashMap::new(),
            derived: Vec::new(),
            other_shapes: Vec::new(),
            dead: 0,
        }
    }

    /// Marks a record as dead; returns whether the table contains it.
    pub(super) fn remove(self: &mut Arc<Self>, offset: u64) -> bool {
        let Some(&record) = self.by_offset.get(&offset) else { return false };
        let table = Arc::make_mut(self);
        let info = &mut table.records[record as usize];
        table.dead += usize::from(info.live);
        info.live = false;
        true
    }

    /// Returns whether the table contains a record at this offset.
    pub(super) fn contains(&self, offset: u64) -> bool {
        self.by_offset.contains_key(&offset)
    }

    /// Adds the vectors of a record.
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 records, and rows that fit in memory as f32")]
    pub(super) fn add(&mut self, parsed: Parsed) {
        let record = self.records.len() as u32;
        let Parsed { info, rows } = parsed;
        match rows {
            Rows::Derived => self.derived.push(record),
            Rows::OtherShape => self.other_shapes.push(record),
            Rows::Vectors { columns, encoding, facts } => {
                let group = self.group(columns, encoding, facts.len());
                let stride = group.layout.map_or_else(|| encoding.bytes(columns), |layout| layout.row_bytes());
                for (row, facts) in facts.into_iter().enumerate() {
                    let at = info.data + if group.is_decoded() { 0 } else { row * stride };
                    group.at.push(at);
                    group.end = group.end.max(at + group.span(&info));
                    group.record.push(record);
                    group.row.push(row as u32);
                    group.norm.push(facts.norm);
                    group.residual.push(facts.residual);
                    group.unit.push(facts.unit);
                }
            }
        }
        self.by_offset.insert(info.offset, record);
        self.records.push(info);
    }

    /// Returns the group of an encoding, for tensors of `rows` rows.
    fn group(&mut self, columns: usize, encoding: Encoding, rows: usize) -> &mut Group {
        // The rows of a matrix follow each other without padding, so they start with a block only if blocks divide them.
        let whole = |format: BlockFormat| rows <= 1 || columns.is_multiple_of(format.block_len().get());
        let layout = match encoding {
            Encoding::Blocks(format) if !format.is_two_level() && whole(format) => {
                Some(RowLayout { width: format.width(), block: format.block_len(), columns })
            }
            _ => None,
        };
        let is = |group: &Group| (group.columns, group.encoding, group.layout) == (columns, encoding, layout);
        let at = self.groups.iter().position(is).unwrap_or_else(|| {
            self.groups.push(Group {
                columns,
                encoding,
                layout,
                at: Vec::new(),
                end: 0,
                record: Vec::new(),
                row: Vec::new(),
                norm: Vec::new(),
                residual: Vec::new(),
                unit: Vec::new(),
                signs: None,
            });
            self.groups.len() - 1
        });
        &mut self.groups[at]
    }

    /// Returns the location of a record.
    pub(crate) fn place(&self, record: u32) -> Place {
        let info = &self.records[record as usize];
        Place { segment: Arc::clone(&self.segment), offset: info.offset, len: info.len, sequence: info.sequence }
    }

    /// Returns the id of a record.
    pub(crate) fn id(&self, record: u32) -> TensorId {
        TensorId::of_key(&self.records[record as usize].key)
    }

    /// Returns bytes of the segment: in place, or copied to `buffer` if they are not mapped.
    pub(super) fn bytes<'a>(&'a self, at: usize, len: usize, buffer: &'a mut Vec<u8>) -> Result<&'a [u8], StoreError> {
        if let Some(bytes) = self.segment.mapped(at as u64, len) {
            return Ok(bytes);
        }
        buffer.resize(len, 0);
        self.segment.read(at as u64, buffer)?;
        Ok(buffer)
    }

    /// Returns the record and the row of a vector.
    pub(crate) fn vector(&self, group: u32, vector: u32) -> (u32, usize) {
        let group = &self.groups[group as usize];
        (group.record[vector as usize], group.row[vector as usize] as usize)
    }

    /// Returns whether the user metadata of a record contains all `pairs`.
    pub(super) fn has_pairs(&self, record: u32, pairs: &[(String, String)]) -> Result<bool, StoreError> {
        if !self.records[record as usize].user {
            return Ok(false);
        }
        let (place, id) = (self.place(record), self.id(record));
        record::with_buffer(|buffer| {
            let view = record::read_head(&place, Some(&id), buffer)?;
            let head = record::tensor_head(&view, &place, &id)?;
            Ok(pairs.iter().all(|(key, value)| head.user.contains(&(&**key, &**value))))
        })
    }
}

impl Group {
    /// Returns the number of vectors.
    pub(super) fn len(&self) -> usize {
        self.at.len()
    }

    /// Returns whether rows must be decoded to be scored, because they do not consist of whole blocks.
    pub(super) fn is_decoded(&self) -> bool {
        self.layout.is_none() && matches!(self.encoding, Encoding::Blocks(_))
    }

    /// Returns the format of the blocks.
    pub(super) fn format(&self) -> Option<BlockFormat> {
        match self.encoding {
            Encoding::Blocks(format) => Some(format),
            _ => None,
        }
    }

    /// Returns the number of bytes that contain a row: all values of the tensor if rows are decoded.
    pub(super) fn span(&self, info: &RecordInfo) -> usize {
        match self.layout {
            Some(layout) => layout.row_bytes(),
            None if self.is_decoded() => self.encoding.bytes(info.count),
            None => self.encoding.bytes(self.columns),
        }
    }

    /// Returns the position of a row in the bytes of [`span`](Self::span), and the number of values there.
    pub(super) fn within_span(&self, info: &RecordInfo, row: u32) -> (Row, usize) {
        if self.is_decoded() {
            (Row { start: row as usize * self.columns, columns: self.columns }, info.count)
        } else {
            (Row { start: 0, columns: self.columns }, self.columns)
        }
    }
}

/// Decodes a vector; its record was verified when it was added.
///
/// # Errors
/// Returns [`StoreError::Io`] or [`StoreError::Codec`] if its values cannot be read.
pub(super) fn decode_vector(
    table: &SegmentTable,
    group: &Group,
    vector: usize,
    buffer: &mut Vec<u8>,
    out: &mut [f32],
) -> Result<(), StoreError> {
    let info = &table.records[group.record[vector] as usize];
    let (row, count) = group.within_span(info, group.row[vector]);
    let bytes = table.bytes(group.at[vector], group.span(info), buffer)?;
    Ok(decode_row(group.encoding, bytes, count, row, out)?)
}

/// Reads and verifies a record, and computes norm and error of its vectors. Returns `None` unless it is a tensor.
pub(super) fn parse(place: &Place) -> Result<Option<Parsed>, StoreError> {
    record::with_buffer(|buffer| {
        let record::Whole { view, body } = record::read(place, None, record::Check::Alone, buffer)?;
        let head_len = view.head_len;
        let Content::Tensor(id, head) = view.head.content else { return Ok(None) };
        let id = TensorId::from(id);
        let damaged = |what: String| StoreError::Damaged {
            segment: place.segment.name(),
            offset: place.offset,
            id: Some(id.clone()),
            what,
        };
        let data = usize::try_from(place.offset).map_err(|error| damaged(error.to_string()))? + head_len;
        let mut info = RecordInfo {
            key: id.key(),
            offset: place.offset,
            len: place.len,
            sequence: place.sequence,
            live: true,
            user: !head.user.is_empty(),
            tier: head.tier,
            count: head.count(),
            data,
            errors: None,
        };
        let (rows, columns) = match *head.shape {
            [columns] => (1, columns),
            [rows, columns] => (rows, columns),
            _ => return Ok(Some(Parsed { info, rows: Rows::OtherShape })),
        };
        if matches!(head.encoding, Encoding::Absent | Encoding::Frames) {
            return Ok(Some(Parsed { info, rows: Rows::Derived }));
        }
        let bytes = &body[..head.encoding.bytes(info.count).min(body.len())];
        let errors = ValueErrors::new(head.accuracy, head.encoding, bytes, info.count);
        let errors = errors.map_err(|error| damaged(error.to_string()))?;
        info.errors = Some(errors);
        let format = if let Encoding::Blocks(format) = head.encoding { Some(format) } else { None };
        let mut values = vec![0.0; columns];
        let rows = if columns == 0 { 0 } else { rows };
        let facts = (0..rows).map(|row| {
            let row = Row { start: row * columns, columns };
            decode_row(head.encoding, bytes, info.count, row, &mut values)?;
            Ok(Facts::new(&values, &errors, format, bytes, row))
        });
        let facts: Result<Vec<Facts>, bitgrain_codec::CodecErr> = facts.collect();
        let facts = facts.map_err(|error| damaged(error.to_string()))?;
        Ok(Some(Parsed { info, rows: Rows::Vectors { columns, encoding: head.encoding, facts } }))
    })
}
