//! `Split`: division of a text into words, before byte pairs are merged within each.
//!
//! The rules of each model are a regular expression in its `tokenizer.json`. Here each is a function on characters and
//! their Unicode categories that reads a text once, so that no text takes more than linear time.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Rules of a family of models, named `tokenizer.ggml.pre` in GGUF files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Split {
    /// Letters, digits and other characters with a space before them, and contractions in lower case.
    Gpt2,
    /// As GPT-2, with each digit alone.
    SmolLm,
    /// Words with any one character before them, groups of up to `digits` digits.
    Words { digits: usize },
    /// Words that end where lower case turns to upper case, each digit alone.
    Tekken,
    /// As Tekken, with contractions and groups of up to three digits.
    Gpt4o,
    /// llama.cpp's rules for files that name none.
    Default,
}

/// Names in GGUF files, their rules, whether a word that is a token is left whole, and whether a text starts with a
/// separate token unless the file says otherwise.
const NAMES: [(&str, Split, bool, bool); 22] = [
    ("default", Split::Default, false, false),
    ("gpt-2", Split::Gpt2, false, false),
    ("phi-2", Split::Gpt2, false, false),
    ("mpt", Split::Gpt2, false, false),
    ("olmo", Split::Gpt2, false, false),
    ("smollm", Split::SmolLm, false, false),
    ("starcoder", Split::SmolLm, false, false),
    ("refact", Split::SmolLm, false, false),
    ("command-r", Split::SmolLm, false, false),
    ("llama-bpe", Split::Words { digits: 3 }, true, true),
    ("llama3", Split::Words { digits: 3 }, true, true),
    ("llama-v3", Split::Words { digits: 3 }, true, true),
    ("falcon3", Split::Words { digits: 3 }, true, true),
    ("pixtral", Split::Words { digits: 3 }, true, true),
    ("dbrx", Split::Words { digits: 3 }, false, false),
    ("smaug-bpe", Split::Words { digits: 3 }, false, false),
    ("qwen2", Split::Words { digits: 1 }, false, false),
    ("deepseek-r1-qwen", Split::Words { digits: 1 }, false, false),
    ("stablelm2", Split::Words { digits: 1 }, false, false),
    ("tekken", Split::Tekken, true, true),
    ("gpt-4o", Split::Gpt4o, false, false),
    ("llama4", Split::Gpt4o, false, false),
];

impl Split {
    /// Returns the rules of a name, whether words that are tokens stay whole, and whether a text starts with a token.
    pub(super) fn named(name: &str) -> Option<(Self, bool, bool)> {
        NAMES.iter().find(|known| known.0 == name).map(|known| (known.1, known.2, known.3))
    }

    /// Returns the known names.
    pub(super) fn names() -> String {
        NAMES.map(|known| known.0).join(", ")
    }

    /// Calls `word` for each word of a text, in order; together they are the text.
    pub(super) fn words<'a>(self, text: &'a str, word: &mut dyn FnMut(&'a str)) {
        match self {
            Self::Gpt2 => each(text, gpt2, word),
            Self::SmolLm => isolated(text, false, |c| Kind::of(c) == Kind::Number, &mut |part| each(part, gpt2, word)),
            Self::Words { digits } => each(text, |rest| words(rest, digits), word),
            Self::Tekken => each(text, |rest| cased(rest, 1, false), word),
            Self::Gpt4o => each(text, |rest| cased(rest, 3, true), word),
            Self::Default => {
                let sign = |c: char| Kind::of(c) == Kind::Punctuation || "$+<=>^~|".contains(c);
                let digit = |c: char| Kind::of(c) == Kind::Number;
                isolated(text, true, sign, &mut |part| {
                    each(part, gpt2, &mut |part| isolated(part, true, digit, &mut |part| threes(part, word)));
                });
            }
        }
    }
}

/// Classes of characters that the rules distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Number,
    Space,
    Punctuation,
    Other,
}

impl Kind {
    fn of(c: char) -> Self {
        if c.is_ascii() {
            return match c {
                'a'..='z' | 'A'..='Z' => Self::Letter,
                '0'..='9' => Self::Number,
                '\t'..='\r' | ' ' => Self::Space,
                '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~' => Self::Other,
                '!'..='~' => Self::Punctuation,
                _ => Self::Other,
            };
        }
        if c.is_whitespace() {
            return Self::Space;
        }
        match c.general_category_group() {
            GeneralCategoryGroup::Letter => Self::Letter,
            GeneralCategoryGroup::Number => Self::Number,
            GeneralCategoryGroup::Punctuation => Self::Punctuation,
            _ => Self::Other,
        }
    }

    /// Neither letter, number nor space.
    const fn is_sign(self) -> bool {
        matches!(self, Self::Punctuation | Self::Other)
    }
}

/// Cuts a text at the lengths that `next` returns for the rest, each at least one character.
fn each<'a>(text: &'a str, next: impl Fn(&str) -> usize, word: &mut dyn FnMut(&'a str)) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (one, after) = rest.split_at(next(rest).max(first.len_utf8()));
        word(one);
        rest = after;
    }
}

/// Separates characters of a class from the others; `joined` keeps runs of them together.
fn isolated<'a>(text: &'a str, joined: bool, class: impl Fn(char) -> bool, word: &mut dyn FnMut(&'a str)) {
    let next = |rest: &str| {
        let first = rest.chars().next().is_some_and(&class);
        if first && !joined { 0 } else { run(rest, |c| class(c) == first) }
    };
    each(text, next, word);
}

/// Cuts runs of ASCII digits into groups of three.
fn threes<'a>(text: &'a str, word: &mut dyn FnMut(&'a str)) {
    let next = |rest: &str| {
        let digits = run(rest, |c| c.is_ascii_digit());
        match digits {
            0 => {
                // The text up to the next group.
                let bytes = rest.as_bytes();
                let group = bytes.windows(3).position(|three| three.iter().all(u8::is_ascii_digit));
                group.unwrap_or(rest.len())
            }
            1 | 2 => digits + run(&rest[digits..], |c| !c.is_ascii_digit()),
            _ => 3,
        }
    };
    each(text, next, word);
}

/// Returns the length in bytes of the longest prefix of characters in a class.
fn run(text: &str, class: impl Fn(char) -> bool) -> usize {
    text.char_indices().find(|(_, c)| !class(*c)).map_or(text.len(), |(at, _)| at)
}

/// Length of a contraction at the start of a text, such as `'ll`; 0 without one.
fn contraction(text: &str, any_case: bool) -> usize {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'\'') {
        return 0;
    }
    let matches = |end: &&str| {
        let found = bytes.get(1..=end.len());
        found.is_some_and(
            |found| if any_case { found.eq_ignore_ascii_case(end.as_bytes()) } else { found == end.as_bytes() },
        )
    };
    ["s", "t", "re", "ve", "m", "ll", "d"].iter().find(|end| matches(end)).map_or(0, |end| 1 + end.len())
}

/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
fn gpt2(text: &str) -> usize {
    let short = contraction(text, false);
    if short > 0 {
        return short;
    }
    let space = usize::from(text.starts_with(' '));
    let kind = text[space..].chars().next().map(Kind::of);
    let same = |class: &dyn Fn(Kind) -> bool| space + run(&text[space..], |c| class(Kind::of(c)));
    match kind {
        Some(Kind::Letter) => same(&|kind| kind == Kind::Letter),
        Some(Kind::Number) => same(&|kind| kind == Kind::Number),
        Some(kind) if kind.is_sign() => same(&|kind| kind.is_sign()),
        _ => spaces(text),
    }
}

/// `\s+(?!\S)|\s+`: spaces up to the last one, which belongs to the next word.
fn spaces(text: &str) -> usize {
    let all = run(text, char::is_whitespace);
    if all == text.len() {
        return all;
    }
    let last = text[..all].chars().next_back().map_or(0, char::len_utf8);
    if all > last { all - last } else { all }
}

/// `\s*[\r\n]+`: spaces up to the last line break among them; 0 without one.
fn lines(text: &str) -> usize {
    let all = run(text, char::is_whitespace);
    text[..all].rfind(['\r', '\n']).map_or(0, |at| at + 1)
}

/// ` ?[^\s\p{L}\p{N}]+` and then any of `tail`; 0 without a match.
fn signs(text: &str, tail: &[char]) -> usize {
    let space = usize::from(text.starts_with(' '));
    let signs = run(&text[space..], |c| Kind::of(c).is_sign());
    if signs == 0 { 0 } else { space + signs + run(&text[space + signs..], |c| tail.contains(&c)) }
}

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
fn words(text: &str, digits: usize) -> usize {
    let letters = |from: usize| run(&text[from..], |c| Kind::of(c) == Kind::Letter);
    let found = contraction(text, true);
    if found > 0 {
        return found;
    }
    let before = prefix(text);
    let word = letters(before);
    if word > 0 {
        return before + word;
    }
    match numbers(text, digits) {
        0 => rest(text, &['\r', '\n']),
        number => number,
    }
}

/// Length of `[^\r\n\p{L}\p{N}]?` at the start.
fn prefix(text: &str) -> usize {
    let one = text.chars().next().filter(|c| !matches!(c, '\r' | '\n'));
    one.filter(|c| !matches!(Kind::of(*c), Kind::Letter | Kind::Number)).map_or(0, char::len_utf8)
}

/// `\p{N}{1,digits}`
fn numbers(text: &str, digits: usize) -> usize {
    text.chars().take(digits).take_while(|c| Kind::of(*c) == Kind::Number).map(char::len_utf8).sum()
}

/// The alternatives after words and numbers: signs, line breaks, spaces.
fn rest(text: &str, tail: &[char]) -> usize {
    let signs = signs(text, tail);
    if signs > 0 {
        return signs;
    }
    let lines = lines(text);
    if lines > 0 { lines } else { spaces(text) }
}

/// Letters and marks by case: `A` is `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, `B` is `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`.
fn cases(c: char) -> (bool, bool) {
    match c.general_category() {
        GeneralCategory::UppercaseLetter | GeneralCategory::TitlecaseLetter => (true, false),
        GeneralCategory::LowercaseLetter => (false, true),
        GeneralCategory::ModifierLetter
        | GeneralCategory::OtherLetter
        | GeneralCategory::NonspacingMark
        | GeneralCategory::SpacingMark
        | GeneralCategory::EnclosingMark => (true, true),
        _ => (false, false),
    }
}

/// `[^\r\n\p{L}\p{N}]?A*B+|[^\r\n\p{L}\p{N}]?A+B*|\p{N}{1,digits}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
/// with an optional contraction after words.
fn cased(text: &str, digits: usize, contractions: bool) -> usize {
    let before = prefix(text);
    // The prefix is optional: a mark may be the first character of the word instead.
    let starts = [before, 0];
    let starts = if before > 0 { &starts[..] } else { &starts[..1] };
    let lower = starts.iter().find_map(|start| lower_end(&text[*start..]).map(|len| start + len));
    let upper = || {
        starts.iter().find_map(|start| {
            let rest = &text[*start..];
            let upper = run(rest, |c| cases(c).0);
            (upper > 0).then(|| start + upper + run(&rest[upper..], |c| cases(c).1))
        })
    };
    if let Some(word) = lower.or_else(upper) {
        return word + if contractions { contraction(&text[word..], true) } else { 0 };
    }
    match numbers(text, digits) {
        0 => rest(text, &['\r', '\n', '/']),
        number => number,
    }
}

/// Length of `A*B+` as a regular expression matches it: `A*` takes as much as leaves one character for `B`.
fn lower_end(text: &str) -> Option<usize> {
    let upper = run(text, |c| cases(c).0);
    let lower = run(&text[upper..], |c| cases(c).1);
    if lower > 0 {
        return Some(upper + lower);
    }
    text[..upper].char_indices().rev().find(|(_, c)| cases(*c).1).map(|(at, c)| at + c.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(name: &str, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        Split::named(name).expect("known").0.words(text, &mut |word| words.push(word.to_owned()));
        assert_eq!(words.concat(), text);
        words
    }

    #[test]
    fn gpt2_keeps_a_space_with_the_next_word() {
        assert_eq!(
            split("gpt-2", "Hello  world's 123 !?\n\n x"),
            ["Hello", " ", " world", "'s", " 123", " !?", "\n\n", " x"]
        );
        assert_eq!(split("gpt-2", "a\u{a0}b I'LL \u{3000}"), ["a", "\u{a0}", "b", " I", "'", "LL", " \u{3000}"]);
    }

    #[test]
    fn smollm_separates_digits() {
        assert_eq!(split("smollm", "in 2024!"), ["in", " ", "2", "0", "2", "4", "!"]);
        assert_eq!(split("smollm", "x  7"), ["x", "  ", "7"]);
    }

    #[test]
    fn llama_and_qwen_group_digits_and_line_breaks() {
        assert_eq!(
            split("llama-bpe", "I'LL pay $12345.\n\n  ok \n"),
            ["I", "'LL", " pay", " $", "123", "45", ".\n\n", " ", " ok", " \n"]
        );
        assert_eq!(split("qwen2", "(x)12\t y"), ["(x", ")", "1", "2", "\t", " y"]);
        assert_eq!(split("qwen2", " \n \n  z"), [" \n \n", " ", " z"]);
    }

    #[test]
    fn tekken_splits_where_the_case_changes() {
        assert_eq!(split("tekken", "camelCase HTMLPage x/\n"), ["camel", "Case", " HTMLPage", " x", "/\n"]);
        assert_eq!(split("tekken", "\u{4e16}\u{754c}ABC"), ["\u{4e16}\u{754c}", "ABC"]);
        assert_eq!(split("gpt-4o", "It's 1234"), ["It's", " ", "123", "4"]);
    }

    #[test]
    fn long_runs_take_linear_time() {
        let text = format!("{}x", " ".repeat(1 << 20));
        let start = std::time::Instant::now();
        for name in ["gpt-2", "smollm", "llama-bpe", "tekken", "default"] {
            assert!(split(name, &text).len() < 4);
            assert_eq!(split(name, &"A".repeat(1 << 18)).len(), 1);
        }
        // A quadratic rule would take hours.
        assert!(start.elapsed().as_secs() < 60);
    }
}
