//! Comments and string literals of a Rust file.

use crate::passage::{Passage, Place};

/// Returns the passages of a file. Literals in tests are left out: they quote messages and input.
pub(crate) fn passages(source: &str, is_test: bool) -> Vec<Passage> {
    let mut found: Vec<Passage> = Vec::new();
    let mut scanner = Scanner::default();
    // Marker of the comment in the previous line.
    let mut before: Option<&str> = None;
    let mut is_test = is_test;
    let mut is_error = false;
    for (at, line) in source.lines().enumerate() {
        let trimmed = line.trim_start();
        let marker = ["///", "//!", "//"].into_iter().find(|marker| trimmed.starts_with(marker));
        if let (Some(marker), false) = (marker, scanner.is_inside()) {
            let text = trimmed[marker.len()..].trim();
            let continues = before == Some(marker);
            match found.last_mut() {
                Some(last) if continues && !text.is_empty() && !last.text.is_empty() => {
                    last.text.push(' ');
                    last.text.push_str(text);
                }
                _ => {
                    let place = if continues || marker == "//" { Place::Comment } else { Place::Doc };
                    found.push(Passage { place, line: at + 1, text: text.to_owned() });
                }
            }
            before = Some(marker);
            continue;
        }
        before = None;
        is_test |= trimmed.starts_with("mod tests");
        // A long message starts in the line after `#[error(`, or spans several lines.
        let continues = is_error && (scanner.is_inside() || trimmed.starts_with('"'));
        is_error = continues || trimmed.contains("error(\"");
        let place = if is_error { Place::Error } else { Place::Literal };
        for text in scanner.scan(line) {
            if !is_test && text.contains(' ') {
                found.push(Passage { place, line: at + 1, text });
            }
        }
        is_error |= trimmed == "#[error(";
    }
    found
}

/// Finds string literals line by line; a literal may span several lines.
#[derive(Debug, Default)]
struct Scanner {
    open: Option<Literal>,
}

/// A literal whose end was not seen yet.
#[derive(Debug)]
struct Literal {
    text: String,
    /// Number of `#` of a raw literal.
    raw: Option<usize>,
}

impl Scanner {
    fn is_inside(&self) -> bool {
        self.open.is_some()
    }

    /// Returns the literals that end in this line.
    fn scan(&mut self, line: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut rest = if self.is_inside() { line.trim_start() } else { line };
        loop {
            if let Some(literal) = &mut self.open {
                let Some(after) = literal.take(rest) else { return found };
                found.extend(self.open.take().map(|literal| literal.text));
                rest = after;
            }
            let Some((literal, after)) = start(rest) else { return found };
            self.open = Some(literal);
            rest = after;
        }
    }
}

impl Literal {
    /// Appends the literal's part of a line; returns what follows its end, or `None` if it continues on the next line.
    fn take<'a>(&mut self, line: &'a str) -> Option<&'a str> {
        let end = match self.raw {
            Some(hashes) => line.find(&format!("\"{}", "#".repeat(hashes))),
            None => unescaped_quote(line),
        };
        let part = &line[..end.unwrap_or(line.len())];
        self.text.push_str(part.strip_suffix('\\').unwrap_or(part));
        let Some(end) = end else {
            self.text.push(' ');
            return None;
        };
        Some(&line[end + 1 + self.raw.unwrap_or(0)..])
    }
}

fn unescaped_quote(line: &str) -> Option<usize> {
    let mut is_escaped = false;
    line.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

/// Returns the next literal that starts in `code`, and what follows its opening quote.
fn start(code: &str) -> Option<(Literal, &str)> {
    let mut from = 0;
    loop {
        let quote = from + code[from..].find('"')?;
        let (before, after) = (&code[..quote], &code[quote + 1..]);
        // `'"'` and `'\"'` are characters.
        if after.starts_with('\'') && (before.ends_with('\'') || before.ends_with("'\\")) {
            from = quote + 1;
            continue;
        }
        let hashes = before.len() - before.trim_end_matches('#').len();
        let is_raw = before.trim_end_matches('#').ends_with('r');
        return Some((Literal { text: String::new(), raw: is_raw.then_some(hashes) }, after));
    }
}
