//! Parser of the header's Python literal: a dictionary of one string, one boolean and one tuple.

use super::NpyError;

/// Fields of the header literal.
#[derive(Debug)]
pub(super) struct Literal<'a> {
    pub(super) descr: &'a str,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<u64>,
}

const DESCR: &str = "descr";
const FORTRAN_ORDER: &str = "fortran_order";
const SHAPE: &str = "shape";

impl<'a> Literal<'a> {
    /// Parses `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }` with its keys in any order.
    pub(super) fn parse(text: &'a [u8]) -> Result<Self, NpyError> {
        let mut scanner = Scanner { text, at: 0 };
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        scanner.expect(b'{', "`{`")?;
        while !scanner.eat(b'}') {
            let key = scanner.string("a key or `}`")?;
            scanner.expect(b':', "`:`")?;
            let twice = match key {
                DESCR => descr.replace(scanner.descr()?).map(|_| DESCR),
                FORTRAN_ORDER => fortran_order.replace(scanner.truth()?).map(|_| FORTRAN_ORDER),
                SHAPE => shape.replace(scanner.tuple()?).map(|_| SHAPE),
                _ => return Err(NpyError::UnknownKey { key: key.into() }),
            };
            if let Some(key) = twice {
                return Err(NpyError::DuplicateKey { key });
            }
            if !scanner.eat(b',') {
                scanner.expect(b'}', "`,` or `}`")?;
                break;
            }
        }
        scanner.end()?;
        Ok(Self {
            descr: descr.ok_or(NpyError::MissingKey { key: DESCR })?,
            fortran_order: fortran_order.ok_or(NpyError::MissingKey { key: FORTRAN_ORDER })?,
            shape: shape.ok_or(NpyError::MissingKey { key: SHAPE })?,
        })
    }
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let white = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.at += white;
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), NpyError> {
        if self.eat(byte) { Ok(()) } else { Err(self.wrong(expected)) }
    }

    fn end(&mut self) -> Result<(), NpyError> {
        if self.peek().is_none() { Ok(()) } else { Err(self.wrong("nothing")) }
    }

    fn wrong(&self, expected: &'static str) -> NpyError {
        NpyError::Syntax { expected, offset: self.at as u64, found: self.text.get(self.at).copied() }
    }

    /// Parses a string in single or double quotes, without escapes: NumPy never writes any.
    fn string(&mut self, expected: &'static str) -> Result<&'a str, NpyError> {
        let Some(quote @ (b'\'' | b'"')) = self.peek() else { return Err(self.wrong(expected)) };
        self.at += 1;
        let rest = &self.text[self.at..];
        let len = rest.iter().take_while(|&&byte| byte != quote && byte != b'\\' && byte >= b' ').count();
        let Ok(text) = str::from_utf8(&rest[..len]) else { return Err(self.wrong("UTF-8")) };
        self.at += len;
        self.expect(quote, "the closing quote of a string without escapes")?;
        Ok(text)
    }

    fn descr(&mut self) -> Result<&'a str, NpyError> {
        match self.peek() {
            Some(b'[' | b'(') => Err(NpyError::Structured),
            _ => self.string("a type in quotes"),
        }
    }

    fn truth(&mut self) -> Result<bool, NpyError> {
        self.peek();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong("`True` or `False`"))
    }

    /// Parses a tuple: `()`, `(3,)`, `(3, 4)`. `(3)` is an integer, not a tuple.
    fn tuple(&mut self) -> Result<Vec<u64>, NpyError> {
        let mut dims = Vec::new();
        self.expect(b'(', "`(`")?;
        while !self.eat(b')') {
            dims.push(self.number()?);
            if !self.eat(b',') {
                if dims.len() == 1 {
                    return Err(self.wrong("`,`"));
                }
                self.expect(b')', "`,` or `)`")?;
                break;
            }
        }
        Ok(dims)
    }

    fn number(&mut self) -> Result<u64, NpyError> {
        self.peek();
        let digits = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = str::from_utf8(&self.text[self.at..self.at + digits]).unwrap_or_default();
        let number = text.parse().map_err(|_| self.wrong("a number below 2^64"))?;
        self.at += digits;
        // Python 2 wrote long integers with an `L` suffix.
        self.at += usize::from(self.text.get(self.at) == Some(&b'L'));
        Ok(number)
    }
}
