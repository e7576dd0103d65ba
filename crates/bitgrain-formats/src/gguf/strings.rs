//! `Strings`: many strings in one piece of memory.

use std::fmt;

/// A list of strings that are stored one behind the other.
///
/// A vocabulary has 150 000 of them; as that many `String`s, opening a file would mostly be allocation.
///
/// ```
/// use bitgrain_formats::gguf::Strings;
/// let tokens: Strings = ["<s>", "", "grain"].into_iter().collect();
/// assert_eq!((tokens.len(), tokens.get(2)), (3, Some("grain")));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Strings {
    text: Box<str>,
    /// Where each string ends in `text`.
    ends: Box<[usize]>,
}

impl Strings {
    /// The strings in `text` that end at `ends`; or the first that is not UTF-8.
    ///
    /// Looking at the whole text at once is faster than looking at each string, as long as all is well.
    pub(super) fn from_parts(text: Vec<u8>, ends: Vec<usize>) -> Result<Self, NotUtf8> {
        match String::from_utf8(text) {
            Ok(text) if ends.iter().all(|&end| text.is_char_boundary(end)) => {
                Ok(Self { text: text.into(), ends: ends.into() })
            }
            Ok(text) => Err(NotUtf8::find(text.as_bytes(), &ends)),
            Err(error) => Err(NotUtf8::find(error.as_bytes(), &ends)),
        }
    }

    /// How many strings there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The string at `index`, or `None` behind the last.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(&self.text[start..end])
    }

    /// The strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.text[std::mem::replace(&mut start, end)..end])
    }
}

/// Which string is not UTF-8, and where it starts in the text.
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
