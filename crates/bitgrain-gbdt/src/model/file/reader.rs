//! Decoder of model files.

use std::collections::BTreeMap;

use bitgrain_formats::crc32c;

use super::cursor::Cursor;
use super::{FileError, HEAD, INPUTS, MAGIC, METADATA, MISSING, OUTPUT, REQUIRED, TAIL, TREES, VERSION, bits};
use crate::model::{CategorySet, Child, Comparison, Input, InputKind, Leaf, Link, Model, Output, Rule, Split, Tree};

/// Minimum sizes of a split and of a leaf in bytes.
const SPLIT: u64 = 1 + 3 + 1 + 20 + 1;
const LEAF: u64 = 16 + 1;

/// Decodes a model without checking its consistency.
pub(super) fn read(bytes: &[u8]) -> Result<Model, FileError> {
    let mut head = Cursor::new(checked(bytes)?, HEAD);
    let mut found: BTreeMap<[u8; 4], Cursor<'_>> = BTreeMap::new();
    let count = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]);
    for _ in 0..count {
        let tag = head.array("section name")?;
        let flags = head.u32("section flags")?;
        let len = head.u64("section length")?;
        let offset = head.offset();
        let content = head.take("section", len)?;
        let known = [INPUTS, OUTPUT, TREES, METADATA].contains(&tag);
        if !known && flags & REQUIRED != 0 {
            return Err(FileError::UnknownSection { tag });
        }
        if found.insert(tag, Cursor::new(content, offset)).is_some() {
            return Err(FileError::DuplicateSection { tag });
        }
    }
    if head.left() != 0 {
        return Err(FileError::Length { expected: (head.offset() + TAIL) as u64, found: bytes.len() as u64 });
    }
    let section = |tag| found.get(&tag).copied().ok_or(FileError::MissingSection { tag });
    let (comparison, inputs) = whole(INPUTS, section(INPUTS)?, read_inputs)?;
    let output = whole(OUTPUT, section(OUTPUT)?, read_output)?;
    let trees = whole(TREES, section(TREES)?, |cursor| read_trees(cursor, comparison))?;
    let metadata = match found.get(&METADATA) {
        Some(&cursor) => whole(METADATA, cursor, read_metadata)?,
        None => BTreeMap::new(),
    };
    Ok(Model { inputs, comparison, output, trees, metadata })
}

/// Checks the header and the checksum; returns the bytes of the sections.
fn checked(bytes: &[u8]) -> Result<&[u8], FileError> {
    let found = bytes.len() as u64;
    if !MAGIC.starts_with(&bytes[..bytes.len().min(MAGIC.len())]) {
        return Err(FileError::Magic);
    }
    if bytes.len() < HEAD + TAIL {
        return Err(FileError::Length { expected: (HEAD + TAIL) as u64, found });
    }
    let mut head = Cursor::new(&bytes[MAGIC.len()..HEAD], MAGIC.len());
    let version = head.u32("version")?;
    if version != VERSION {
        return Err(FileError::Version { version });
    }
    head.u32("number of sections")?;
    let expected = head.u64("file length")?;
    if expected != found {
        return Err(FileError::Length { expected, found });
    }
    let (covered, sum) = bytes.split_at(bytes.len() - TAIL);
    let expected = Cursor::new(sum, covered.len()).u32("checksum")?;
    match crc32c(covered) {
        found if found != expected => Err(FileError::Checksum { expected, found }),
        _ => Ok(&covered[HEAD..]),
    }
}

/// Reads a section to its end.
fn whole<'a, T>(
    tag: [u8; 4],
    mut cursor: Cursor<'a>,
    read: impl FnOnce(&mut Cursor<'a>) -> Result<T, FileError>,
) -> Result<T, FileError> {
    let value = read(&mut cursor)?;
    match cursor.left() {
        0 => Ok(value),
        left => Err(FileError::Trailing { tag, left }),
    }
}

/// Reads `count` items; the caller has checked that the bytes left suffice.
fn many<'a, T>(
    cursor: &mut Cursor<'a>,
    count: usize,
    mut read: impl FnMut(&mut Cursor<'a>) -> Result<T, FileError>,
) -> Result<Vec<T>, FileError> {
    (0..count).map(|_| read(cursor)).collect()
}

fn strings(cursor: &mut Cursor<'_>, what: &'static str) -> Result<Vec<String>, FileError> {
    let count = cursor.count(what, 1)?;
    many(cursor, count, |cursor| cursor.text(what))
}

fn read_inputs(cursor: &mut Cursor<'_>) -> Result<(Comparison, Vec<Input>), FileError> {
    let comparison = if cursor.flag("comparison precision")? { Comparison::F64 } else { Comparison::F32 };
    let count = cursor.count("list of features", 2)?;
    Ok((comparison, many(cursor, count, read_input)?))
}

fn read_input(cursor: &mut Cursor<'_>) -> Result<Input, FileError> {
    let name = cursor.text("feature name")?;
    let kind = match cursor.u8("feature kind")? {
        0 => InputKind::Numeric,
        kind @ (1 | 2) => {
            let known = if kind == 2 { Some(read_codes(cursor)?) } else { None };
            InputKind::Categorical { known, labels: strings(cursor, "category labels")? }
        }
        value => return Err(FileError::Tag { what: "feature kind", offset: cursor.offset() - 1, value }),
    };
    Ok(Input { name, kind })
}

fn read_codes(cursor: &mut Cursor<'_>) -> Result<Vec<u32>, FileError> {
    let count = cursor.count("list of known codes", 1)?;
    let mut next = 0_u64;
    many(cursor, count, |cursor| {
        let (what, offset) = ("known code", cursor.offset());
        let code = next.checked_add(cursor.varint(what)?).and_then(|code| u32::try_from(code).ok());
        let code = code.ok_or(FileError::Number { what, offset })?;
        next = u64::from(code) + 1;
        Ok(code)
    })
}

fn read_output(cursor: &mut Cursor<'_>) -> Result<Output, FileError> {
    let objective = cursor.text("objective name")?;
    let link = match cursor.u8("link function")? {
        0 => Link::Identity,
        1 => Link::Logistic { slope: cursor.f64("slope of the link function")? },
        2 => Link::Softmax,
        3 => Link::Exponential,
        4 => Link::Softplus,
        5 => Link::SignedSquare,
        6 => Link::Step,
        value => return Err(FileError::Tag { what: "link function", offset: cursor.offset() - 1, value }),
    };
    let average = cursor.flag("averaging flag")?;
    let scores = cursor.count("list of base scores", 8)?;
    let base_scores = many(cursor, scores, |cursor| cursor.f64("base score"))?;
    Ok(Output { objective, link, base_scores, classes: strings(cursor, "class labels")?, average })
}

fn read_metadata(cursor: &mut Cursor<'_>) -> Result<BTreeMap<String, String>, FileError> {
    let mut metadata = BTreeMap::new();
    for _ in 0..cursor.count("metadata", 2)? {
        let key = cursor.text("metadata key")?;
        let value = cursor.text("metadata value")?;
        if metadata.contains_key(&key) {
            return Err(FileError::DuplicateKey { key });
        }
        metadata.insert(key, value);
    }
    Ok(metadata)
}

fn read_trees(cursor: &mut Cursor<'_>, comparison: Comparison) -> Result<Vec<Tree>, FileError> {
    let count = cursor.count("list of trees", 1 + LEAF)?;
    many(cursor, count, |cursor| {
        let splits = cursor.count("list of splits", SPLIT + LEAF)?;
        Ok(Tree {
            splits: many(cursor, splits, |cursor| read_split(cursor, comparison))?,
            leaves: many(cursor, splits + 1, read_leaf)?,
        })
    })
}

fn read_leaf(cursor: &mut Cursor<'_>) -> Result<Leaf, FileError> {
    Ok(Leaf {
        value: cursor.f64("leaf value")?,
        weight: cursor.f64("leaf weight")?,
        count: cursor.varint("leaf row count")?,
    })
}

fn read_split(cursor: &mut Cursor<'_>, comparison: Comparison) -> Result<Split, FileError> {
    let flags = cursor.u8("split flags")?;
    let wrong = FileError::Tag { what: "split flags", offset: cursor.offset() - 1, value: flags };
    let missing = MISSING.get(usize::from(flags >> bits::MISSING & 0b11)).copied();
    let (Some(missing), 0) = (missing, flags & bits::SPARE) else { return Err(wrong) };
    let feature = cursor.index("feature of a split")?;
    let mut child = |bit| -> Result<Child, FileError> {
        let index = cursor.index("child of a split")?;
        Ok(if flags & bit != 0 { Child::Leaf(index) } else { Child::Split(index) })
    };
    let (left, right) = (child(bits::LEFT_LEAF)?, child(bits::RIGHT_LEAF)?);
    let rule = match flags & bits::RULE {
        bits::AT_MOST if comparison == Comparison::F32 => Rule::AtMost(cursor.f32("threshold")?.into()),
        bits::AT_MOST => Rule::AtMost(cursor.f64("threshold")?),
        bits::IN => Rule::In(read_category_set(cursor)?),
        bits::NOT_IN => Rule::NotIn(read_category_set(cursor)?),
        _ => return Err(wrong),
    };
    Ok(Split {
        feature,
        rule,
        missing,
        missing_left: flags & bits::MISSING_LEFT != 0,
        left,
        right,
        gain: cursor.f32("gain of a split")?,
        value: cursor.f64("value of a split")?,
        weight: cursor.f64("weight of a split")?,
        count: cursor.varint("row count of a split")?,
    })
}

fn read_category_set(cursor: &mut Cursor<'_>) -> Result<CategorySet, FileError> {
    let len = cursor.count("category set", 1)?;
    let bytes = cursor.take("category set", len as u64)?;
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    Ok(CategorySet::from_words(bytes.chunks(8).map(word).collect()))
}
