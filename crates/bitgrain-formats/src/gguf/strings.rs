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
    /// Puts `parts` together; `bytes` and `count` are what they come to.
    pub(super) fn with_capacity<'a, E>(
        count: usize,
        bytes: usize,
        parts: impl Iterator<Item = Result<&'a str, E>>,
    ) -> Result<Self, E> {
        let (mut text, mut ends) = (String::with_capacity(bytes), Vec::with_capacity(count));
        for part in parts {
            text.push_str(part?);
            ends.push(text.len());
        }
        Ok(Self { text: text.into(), ends: ends.into() })
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
