//! Lines of the text format and the numbers in them.

use std::str::FromStr;

use super::LightgbmError;

/// Lines of a file with their 1-based numbers.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

/// A `name=value` line with its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) line: usize,
    pub(super) name: &'a str,
    pub(super) value: &'a str,
}

impl<'a> Lines<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, number: 0 }
    }

    /// Returns the next line without its line ending, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Field<'a>>, LightgbmError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let end = self.rest.iter().position(|&byte| byte == b'\n').unwrap_or(self.rest.len());
        let text = str::from_utf8(&self.rest[..end]).map_err(|_| LightgbmError::NotUtf8 { line: self.number })?;
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        let text = text.strip_suffix('\r').unwrap_or(text);
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        Ok(Some(Field { line: self.number, name, value }))
    }
}

impl Field<'_> {
    /// Parses the line's single number.
    pub(super) fn number<T: FromStr>(self, field: &'static str) -> Result<T, LightgbmError> {
        parse(self.line, field, self.value.trim())
    }

    /// Parses the numbers of the line.
    pub(super) fn numbers<T: FromStr>(self, field: &'static str) -> Result<Vec<T>, LightgbmError> {
        self.value.split_ascii_whitespace().map(|text| parse(self.line, field, text)).collect()
    }
}

fn parse<T: FromStr>(line: usize, field: &'static str, text: &str) -> Result<T, LightgbmError> {
    text.parse().map_err(|_| LightgbmError::Number { line, field, text: text.chars().take(40).collect() })
}
