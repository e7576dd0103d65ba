//! Encoder of model files.

use bitgrain_formats::crc32c;

use super::{HEAD, INPUTS, MAGIC, METADATA, MISSING, OUTPUT, REQUIRED, TAIL, TREES, VERSION, bits, link_number};
use crate::model::{CategorySet, Child, Comparison, Input, InputKind, Link, Model, Rule, Split, Tree};

/// Encodes a model that was checked.
pub(super) fn write(model: &Model) -> Vec<u8> {
    let mut sections =
        vec![(INPUTS, REQUIRED, inputs(model)), (OUTPUT, REQUIRED, output(model)), (TREES, REQUIRED, trees(model))];
    if !model.metadata.is_empty() {
        sections.push((METADATA, 0, metadata(model)));
    }
    let len = HEAD + sections.iter().map(|(.., bytes)| 16 + bytes.len()).sum::<usize>() + TAIL;
    let mut file = Vec::with_capacity(len);
    file.extend(MAGIC);
    file.extend(VERSION.to_le_bytes());
    file.extend(if model.metadata.is_empty() { 3_u32 } else { 4 }.to_le_bytes());
    file.extend((len as u64).to_le_bytes());
    for (tag, flags, bytes) in sections {
        file.extend(tag);
        file.extend(flags.to_le_bytes());
        file.extend((bytes.len() as u64).to_le_bytes());
        file.extend(bytes);
    }
    file.extend(crc32c(&file).to_le_bytes());
    file
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            return out.push(low & 0x7f);
        }
        out.push(low | 0x80);
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    varint(out, text.len() as u64);
    out.extend(text.as_bytes());
}

fn strings(out: &mut Vec<u8>, list: &[String]) {
    varint(out, list.len() as u64);
    list.iter().for_each(|item| text(out, item));
}

fn inputs(model: &Model) -> Vec<u8> {
    let mut out = vec![match model.comparison {
        Comparison::F32 => 0,
        Comparison::F64 => 1,
    }];
    varint(&mut out, model.inputs.len() as u64);
    for Input { name, kind } in &model.inputs {
        text(&mut out, name);
        match kind {
            InputKind::Numeric => out.push(0),
            InputKind::Categorical { known, labels } => {
                out.push(1 + u8::from(known.is_some()));
                if let Some(known) = known {
                    varint(&mut out, known.len() as u64);
                    let mut next = 0;
                    for &code in known {
                        varint(&mut out, u64::from(code) - next);
                        next = u64::from(code) + 1;
                    }
                }
                strings(&mut out, labels);
            }
        }
    }
    out
}

fn output(model: &Model) -> Vec<u8> {
    let (mut out, output) = (Vec::new(), &model.output);
    text(&mut out, &output.objective);
    out.push(link_number(output.link));
    if let Link::Logistic { slope } = output.link {
        out.extend(slope.to_le_bytes());
    }
    out.push(u8::from(output.average));
    varint(&mut out, output.base_scores.len() as u64);
    out.extend(output.base_scores.iter().flat_map(|score| score.to_le_bytes()));
    strings(&mut out, &output.classes);
    out
}

fn metadata(model: &Model) -> Vec<u8> {
    let mut out = Vec::new();
    varint(&mut out, model.metadata.len() as u64);
    for (key, value) in &model.metadata {
        text(&mut out, key);
        text(&mut out, value);
    }
    out
}

fn trees(model: &Model) -> Vec<u8> {
    let mut out = Vec::new();
    varint(&mut out, model.trees.len() as u64);
    for Tree { splits, leaves } in &model.trees {
        varint(&mut out, splits.len() as u64);
        splits.iter().for_each(|item| split(&mut out, item, model.comparison));
        for leaf in leaves {
            out.extend(leaf.value.to_le_bytes());
            out.extend(leaf.weight.to_le_bytes());
            varint(&mut out, leaf.count);
        }
    }
    out
}

fn split(out: &mut Vec<u8>, split: &Split, comparison: Comparison) {
    let leaf = |child| matches!(child, Child::Leaf(_));
    let index = |child| match child {
        Child::Split(index) | Child::Leaf(index) => u64::from(index),
    };
    let rule = match split.rule {
        Rule::AtMost(_) => bits::AT_MOST,
        Rule::In(_) => bits::IN,
        Rule::NotIn(_) => bits::NOT_IN,
    };
    let missing = (0..).zip(MISSING).find(|&(_, missing)| missing == split.missing).map_or(0, |(number, _)| number);
    let flag = |is, bit| if is { bit } else { 0 };
    out.push(
        rule | missing << bits::MISSING
            | flag(split.missing_left, bits::MISSING_LEFT)
            | flag(leaf(split.left), bits::LEFT_LEAF)
            | flag(leaf(split.right), bits::RIGHT_LEAF),
    );
    varint(out, split.feature.into());
    varint(out, index(split.left));
    varint(out, index(split.right));
    match (&split.rule, comparison) {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be exact in f32")]
        (Rule::AtMost(threshold), Comparison::F32) => out.extend((*threshold as f32).to_le_bytes()),
        (Rule::AtMost(threshold), Comparison::F64) => out.extend(threshold.to_le_bytes()),
        (Rule::In(set) | Rule::NotIn(set), _) => category_set(out, set),
    }
    out.extend(split.gain.to_le_bytes());
    out.extend(split.value.to_le_bytes());
    out.extend(split.weight.to_le_bytes());
    varint(out, split.count);
}

/// Writes a bitmap of the codes up to the largest, in whole bytes.
fn category_set(out: &mut Vec<u8>, set: &CategorySet) {
    let bytes: Vec<u8> = set.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    let len = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    varint(out, len as u64);
    out.extend(&bytes[..len]);
}
