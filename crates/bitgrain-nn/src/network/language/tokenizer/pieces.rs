//! SentencePiece's encoding (Kudo and Richardson 2018): characters merge to the pieces with the highest scores.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};

/// Pieces with their ids and scores.
#[derive(Debug, Clone, Default)]
pub(super) struct Pieces {
    pub(super) ids: HashMap<Box<str>, u32>,
    pub(super) scores: Vec<f32>,
    /// Tokens of single bytes, for characters without a piece.
    pub(super) bytes: Vec<Option<u32>>,
    pub(super) unknown: Option<u32>,
}

/// A possible merge; the largest is done first.
#[derive(Debug, PartialEq, Eq)]
struct Merge {
    score: Score,
    /// Of equal scores, the leftmost merges first.
    left: Reverse<usize>,
    right: usize,
    /// Length in bytes, which identifies the merge as long as both parts are unchanged.
    len: usize,
}

#[derive(Debug, PartialEq)]
struct Score(f32);

impl Eq for Score {}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Merge {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.cmp(&other.score).then_with(|| self.left.cmp(&other.left))
    }
}

impl PartialOrd for Merge {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A part of the text; of length 0 after it became a part of the one before.
#[derive(Debug, Clone, Copy)]
struct Part {
    start: usize,
    len: usize,
    before: usize,
    next: usize,
}

impl Pieces {
    /// Appends the tokens of a text, in which spaces are written as `▁`.
    pub(super) fn encode(&self, text: &str, out: &mut Vec<u32>) {
        const NONE: usize = usize::MAX;
        let mut parts: Vec<Part> = Vec::new();
        for (at, (start, c)) in text.char_indices().enumerate() {
            parts.push(Part { start, len: c.len_utf8(), before: at.wrapping_sub(1), next: at + 1 });
        }
        if let Some(last) = parts.last_mut() {
            last.next = NONE;
        }
        let found = |parts: &[Part], left: usize, right: usize| {
            let (first, second) = (parts.get(left)?, parts.get(right)?);
            let len = first.len + second.len;
            let id = *self.ids.get(&text[first.start..][..len])?;
            let score = Score(self.scores.get(id as usize).copied().unwrap_or(0.0));
            Some(Merge { score, left: Reverse(left), right, len })
        };
        let mut queue: BinaryHeap<Merge> =
            (1..parts.len()).filter_map(|right| found(&parts, right - 1, right)).collect();
        while let Some(Merge { left: Reverse(left), right, len, .. }) = queue.pop() {
            let (first, second) = (parts[left], parts[right]);
            if first.len == 0 || second.len == 0 || first.len + second.len != len {
                continue;
            }
            parts[left] = Part { len, next: second.next, ..first };
            parts[right].len = 0;
            if let Some(after) = parts.get_mut(second.next) {
                after.before = left;
            }
            queue.extend(found(&parts, first.before, left));
            queue.extend(found(&parts, left, second.next));
        }
        for part in parts.iter().filter(|part| part.len > 0) {
            let text = &text[part.start..][..part.len];
            match self.ids.get(text) {
                Some(id) => out.push(*id),
                None => out.extend(
                    text.bytes()
                        .filter_map(|byte| self.bytes.get(usize::from(byte)).copied().flatten().or(self.unknown)),
                ),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_score_merges_first() {
        let mut pieces = Pieces { bytes: vec![None; 256], unknown: Some(0), ..Pieces::default() };
        for (id, (piece, score)) in
            (1..).zip([("a", 0.0), ("b", 0.0), ("c", 0.0), ("ab", -2.0), ("bc", -1.0), ("abc", -3.0), ("aa", -4.0)])
        {
            pieces.ids.insert(piece.into(), id);
            pieces.scores.resize(8, 0.0);
            pieces.scores[id as usize] = score;
        }
        pieces.bytes[usize::from(b'x')] = Some(9);
        let encode = |text: &str| {
            let mut out = Vec::new();
            pieces.encode(text, &mut out);
            out
        };
        assert_eq!(encode("abc"), [6]); // "bc" first, then "a" + "bc"
        assert_eq!(encode("abb"), [4, 2]);
        assert_eq!(encode("aaa"), [7, 1]);
        assert_eq!(encode("ax\u{e9}"), [1, 9, 0, 0]);
        assert_eq!(encode(""), Vec::<u32>::new());
    }
}
