//! The rules, each with the reason it prints.

use crate::passage::{Passage, Place};

/// First words that a doc comment does not open with: it starts with a noun or a verb.
const OPENERS: &[&str] = &["what", "how", "where", "who", "which", "whoever", "there"];

/// Phrases and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("nobody", "name the thread, caller or process"),
    ("somebody", "name the thread, caller or process"),
    ("whoever", "name the thread, caller or process"),
    ("whole number", "integer"),
    ("whole numbers", "integers"),
    ("texts", "strings"),
    ("behind the header", "after the header"),
    ("are none", "negate the verb"),
    ("is none", "negate the verb"),
    ("has none", "negate the verb"),
    ("have none", "negate the verb"),
    ("of its own", "its own, or separate"),
    ("of their own", "their own, or separate"),
    ("of our own", "our own"),
    ("by itself", "alone, separately, or automatically"),
    ("by themselves", "alone, separately, or automatically"),
    ("asked for", "requested"),
    ("as it stands", "unchanged"),
    ("whatever", "regardless of"),
    ("so many rows", "state the number"),
    ("not whole blocks", "a row length that is not a multiple of the block length"),
    ("where they lie", "in place"),
    ("where it lies", "in place"),
    ("at even distances", "evenly spaced"),
    ("go on", "continue"),
    ("goes on", "continues"),
    ("went on", "continued"),
    ("stays as it is", "unchanged"),
    ("stay as they are", "unchanged"),
    ("count alike", "equally, or in the same way"),
    ("counts alike", "equally, or in the same way"),
    ("decide alike", "make the same decisions"),
    ("work alike", "in the same way"),
    ("come on top", "add to"),
    ("comes on top", "adds to"),
    ("waits for memory", "is limited by memory bandwidth or latency"),
    ("wait for memory", "are limited by memory bandwidth or latency"),
    ("looked at", "inspected, or another verb that says what is done"),
    ("and the like", "such as, before the examples"),
    ("held back", "held out"),
    ("anew", "again"),
    ("no counterpart", "not supported, or no equivalent"),
    ("without a counterpart", "without an equivalent"),
];

/// Starts of words in British spelling.
const BRITISH: &[&str] = &[
    "analyse",
    "artefact",
    "behaviour",
    "catalogue",
    "cancell",
    "centre",
    "colour",
    "defence",
    "favour",
    "flavour",
    "grey",
    "labell",
    "licence",
    "modell",
    "neighbour",
];

/// Stems whose verbs end in `ize` in American spelling.
const STEMS: &[&str] = &[
    "final", "general", "initial", "linear", "local", "material", "maxim", "memo", "minim", "normal", "optim", "organ",
    "parallel", "penal", "quant", "random", "real", "recogn", "regular", "serial", "special", "summar", "synchron",
    "token", "util", "vector", "visual",
];

/// British endings of such verbs and their nouns.
const ENDINGS: &[&str] = &["ise", "ised", "iser", "isers", "ises", "ising", "isation", "isations"];

/// Returns the violations in a passage.
pub(crate) fn check(passage: &Passage) -> Vec<String> {
    let text = outside_code(&passage.text);
    let words: Vec<String> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let mut found = Vec::new();
    if passage.place == Place::Doc && words.first().is_some_and(|word| OPENERS.contains(&&**word)) {
        found.push("opens with a question word or `there`".to_owned());
    }
    for (phrase, instead) in PHRASES {
        let phrase_words: Vec<&str> = phrase.split(' ').collect();
        if words.windows(phrase_words.len()).any(|window| window == phrase_words) {
            found.push(format!("`{phrase}` ({instead})"));
        }
    }
    found.extend(words.iter().filter(|word| is_british(word)).map(|word| format!("`{word}` (American spelling)")));
    found.extend(negated_nouns(&words, passage.place));
    if passage.place == Place::Error && passage.text.ends_with('.') && !passage.text.ends_with("..") {
        found.push("an error message ends with a full stop".to_owned());
    }
    if has_bare_decimal(&text) {
        found.push("a decimal without its leading zero".to_owned());
    }
    if has_limit_after_number(&text) {
        found.push("`at least` or `at most` after the number".to_owned());
    }
    found
}

/// Returns the text with each code span replaced by a letter, which keeps the words around it apart.
fn outside_code(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join(" x ")
}

fn is_british(word: &str) -> bool {
    let stems = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
    BRITISH.iter().any(|start| word.starts_with(start))
        || stems.into_iter().any(|stem| STEMS.iter().any(|known| stem.ends_with(known)))
}

/// Returns phrases such as `is no model`.
fn negated_nouns(words: &[String], place: Place) -> Vec<String> {
    let is_message = matches!(place, Place::Error | Place::Literal);
    let mut found = Vec::new();
    for (at, window) in words.windows(3).enumerate() {
        let is_negated = matches!(&*window[0], "is" | "are") && window[1] == "no";
        let is_idiom = matches!(&*window[2], "longer" | "more" | "less" | "fewer" | "larger" | "smaller" | "greater");
        // "There is no padding" is idiomatic in prose, but a message names what is missing or unknown.
        let follows_there = !is_message && at > 0 && words[at - 1] == "there";
        if is_negated && !is_idiom && !follows_there {
            found.push(format!("`{} no {}` (negate the verb)", window[0], window[2]));
        }
    }
    found
}

/// Returns whether a number is written as `.5`, as opposed to a file extension or the end of a range.
fn has_bare_decimal(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.windows(3).any(|window| matches!(window, [b' ' | b'(', b'.', b'0'..=b'9']))
}

fn has_limit_after_number(text: &str) -> bool {
    ["at most", "at least"].iter().any(|limit| {
        text.match_indices(limit).any(|(at, _)| text[at + limit.len()..].starts_with(['.', ',', ';', ':', ')']))
    })
}

#[test]
fn every_rule_finds_its_violation() {
    for (place, text, finding) in [
        (Place::Doc, "What a file holds.", "opens with"),
        (Place::Comment, "Nobody reads it.", "name the thread"),
        (Place::Literal, "a whole number", "integer"),
        (Place::Comment, "Of these, there are none.", "negate the verb"),
        (Place::Document, "The colour of a bar", "American"),
        (Place::Document, "Unoptimised code", "American"),
        (Place::Error, "`{name}` is no model", "is no model"),
        (Place::Literal, "there is no column", "is no column"),
        (Place::Error, "the file is empty.", "full stop"),
        (Place::Doc, "Rows per leaf, 20 at least.", "after the number"),
        (Place::Comment, "A frame with scales of its own.", "separate"),
        (Place::Comment, "The format that was asked for.", "requested"),
        (Place::Document, "An error of .05.", "leading zero"),
        (Place::Comment, "Scores codes where they lie.", "in place"),
        (Place::Doc, "Samples rows at even distances.", "evenly spaced"),
        (Place::Literal, "reads go on", "continue"),
        (Place::Document, "The training goes on.", "continues"),
        (Place::Comment, "The file stays as it is.", "unchanged"),
        (Place::Document, "Reads and writes count alike.", "equally"),
        (Place::Document, "The histograms come on top.", "add to"),
        (Place::Comment, "The scan waits for memory.", "limited by"),
        (Place::Comment, "Only these are looked at.", "inspected"),
        (Place::Doc, "Names, licenses and the like.", "such as"),
        (Place::Document, "Rows that are held back.", "held out"),
        (Place::Comment, "Parameters are read anew.", "again"),
        (Place::Document, "A parameter without a counterpart", "equivalent"),
    ] {
        let findings = check(&Passage { place, line: 1, text: text.to_owned() });
        assert!(findings.len() == 1 && findings[0].contains(finding), "{text}: {findings:?}");
    }
}

#[test]
fn plain_sentences_pass() {
    for (place, text) in [
        (Place::Doc, "Returns whether the file is a model."),
        (Place::Comment, "What matters is the order of sums."),
        (Place::Comment, "There is no padding, and the cache is no larger than `is none` of the pages."),
        (Place::Document, "Files that end in .csv, its own scale, from 0..5, and 0.5 of each."),
        (Place::Document, "An optimistic estimate, precise otherwise; at least 20 rows."),
        (Place::Error, "unknown format `{name}`; use one of a, b, ..."),
    ] {
        let findings = check(&Passage { place, line: 1, text: text.to_owned() });
        assert!(findings.is_empty(), "{text}: {findings:?}");
    }
}
