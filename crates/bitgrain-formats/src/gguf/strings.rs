//! `Strings`: a list of strings in one allocation.

use std::fmt;

/// List of strings stored contiguously.
///
/// A vocabulary has 150,000 strings; with one `String` each, opening a file would spend most of its time allocating.
///
/// ```
/// use bitgrain_formats::gguf::Strings;
/// let tokens: Strings = ["<s>", "", "grain"].into_iter().collect();
/// assert_eq!((tokens.len(), tokens.get(2)), (3, Some("grain")));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Strings {
    text: Box<str>,
    /// End offset of each string in `text`.
    ends: Box<[usize]>,
}

impl Strings {
    /// Validates `text` and splits it at `ends`; returns the first string that is not UTF-8 as an error.
    ///
    /// Validating the whole text once is faster than validating each string.
    pub(super) fn from_parts(text: Vec<u8>, ends: Vec<usize>) -> Result<Self, NotUtf8> {
        match String::from_utf8(text) {
            Ok(text) if ends.iter().all(|&end| text.is_char_boundary(end)) => {
                Ok(Self { text: text.into(), ends: ends.into() })
            }
            Ok(text) => Err(NotUtf8::find(text.as_bytes(), &ends)),
            Err(error) => Err(NotUtf8::find(error.as_bytes(), &ends)),
        }
    }

    /// Returns the number of strings.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether the list is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the string at `index`, or `None` if it is out of range.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(&self.text[start..end])
    }

    /// Iterates over the strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.text[std::mem::replace(&mut start, end)..end])
    }
}

/// Index of a string that is not UTF-8, and its offset in the text.
#[derive(Debug)]
pub(super) struct NotUtf8 {
    pub(super) string: usize,
    pub(super) start: usize,
}

impl NotUtf8 {
    fn find(text: &[u8], ends: &[usize]) -> Self {
        let mut start = 0;
        for (string, &end) in ends.iter().enumerate() {
            if str::from_utf8(&text[start..end]).is_err() {
                return Self { string, start };
            }
            start = end;
        }
        Self { string: ends.len(), start }
    }
}

impl<S: AsRef<str>> FromIterator<S> for Strings {
    fn from_iter<I: IntoIterator<Item = S>>(parts: I) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for part in parts {
            text.push_str(part.as_ref());
            ends.push(text.len());
        }
        Self { text: text.into(), ends: ends.into() }
    }
}

impl fmt::Debug for Strings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
