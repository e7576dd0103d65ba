//! `tokenizer.model`: SentencePiece's protocol buffer, as far as GGUF stores it.

use std::path::Path;

use super::TokenKind;
use crate::model::language::LanguageConversionError;

/// A piece of the vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) score: f32,
    pub(super) kind: TokenKind,
}

/// Field numbers and wire types of `ModelProto` and `SentencePiece`.
const PIECES: u64 = 1;
const TEXT: u64 = 1;
const SCORE: u64 = 2;
const KIND: u64 = 3;

/// Reads the pieces in order of their ids.
pub(super) fn read(path: &Path) -> Result<Vec<Piece>, LanguageConversionError> {
    let bytes = std::fs::read(path).map_err(|source| LanguageConversionError::Io { path: path.to_owned(), source })?;
    let wrong = |reason: &str| LanguageConversionError::Tokenizer { path: path.to_owned(), reason: reason.to_owned() };
    let pieces = parse(&bytes).ok_or_else(|| wrong("not a SentencePiece model, or a truncated one"))?;
    if pieces.is_empty() { Err(wrong("the SentencePiece model has no pieces")) } else { Ok(pieces) }
}

fn parse(bytes: &[u8]) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut fields = Fields(bytes);
    while let Some((number, field)) = fields.advance()? {
        if let (PIECES, Field::Bytes(inner)) = (number, field) {
            pieces.push(piece(inner)?);
        }
    }
    Some(pieces)
}

fn piece(bytes: &[u8]) -> Option<Piece> {
    let mut piece = Piece { text: String::new(), score: 0.0, kind: TokenKind::Normal };
    let mut fields = Fields(bytes);
    while let Some((number, field)) = fields.advance()? {
        match (number, field) {
            (TEXT, Field::Bytes(text)) => piece.text = str::from_utf8(text).ok()?.to_owned(),
            (SCORE, Field::Fixed32(bits)) => piece.score = f32::from_bits(bits),
            (KIND, Field::Integer(kind)) => {
                piece.kind = match kind {
                    2 => TokenKind::Unknown,
                    3 => TokenKind::Control,
                    5 => TokenKind::Unused,
                    6 => TokenKind::Byte,
                    // The reference writes user-defined pieces as normal ones unless a JSON file adds them again.
                    _ => TokenKind::Normal,
                }
            }
            _ => {}
        }
    }
    Some(piece)
}

/// A field's value.
enum Field<'a> {
    Integer(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
    Other,
}

/// Fields of a message.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// Returns the next field, `Some(None)` at the end of the message, or `None` if the message is malformed.
    fn advance(&mut self) -> Option<Option<(u64, Field<'a>)>> {
        if self.0.is_empty() {
            return Some(None);
        }
        let key = self.varint()?;
        let field = match key & 7 {
            0 => Field::Integer(self.varint()?),
            1 => {
                self.take(8)?;
                Field::Other
            }
            2 => {
                let len = usize::try_from(self.varint()?).ok()?;
                Field::Bytes(self.take(len)?)
            }
            5 => Field::Fixed32(u32::from_le_bytes(self.take(4)?.try_into().ok()?)),
            _ => return None,
        };
        Some(Some((key >> 3, field)))
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_read_and_truncated_files_are_rejected() {
        // {pieces: [{text: "<unk>", score: 0, type: 2}, {text: "ab", score: -1.5}]}, then an unknown field.
        let file = b"\x0a\x0e\x0a\x05<unk>\x15\0\0\0\0\x18\x02\x0a\x09\x0a\x02ab\x15\0\0\xc0\xbf\x30\x05";
        let pieces = parse(file).expect("well formed");
        let unknown = Piece { text: "<unk>".into(), score: 0.0, kind: TokenKind::Unknown };
        assert_eq!(pieces, [unknown, Piece { text: "ab".into(), score: -1.5, kind: TokenKind::Normal }]);
        for len in 1..file.len() {
            let whole = [16, 27].contains(&len);
            assert_eq!(parse(&file[..len]).is_some(), whole, "{len}");
        }
    }
}
