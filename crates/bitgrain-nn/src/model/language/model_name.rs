//! `ModelName`: parts of a repository's name, such as `HuggingFaceTB/SmolLM2-135M-Instruct`.

use fancy_regex::Regex;

/// Parts of a name. Heuristics of llama.cpp's converter, so that files of both tools carry the same metadata.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ModelName {
    pub(super) name: Option<String>,
    pub(super) organization: Option<String>,
    pub(super) basename: Option<String>,
    pub(super) finetune: Option<String>,
    pub(super) version: Option<String>,
    pub(super) size_label: Option<String>,
}

const VERSION: &str = r"(?i)^(v|iter)?\d+([.]\d+)*$";
const QUANT: &str = r"(?i)^(i?q\d(_\w)*|b?fp?(16|32))$";
const SIZE: &str = r"(?i)^(([A]|\d+[x])?\d+([._]\d+)?[KMBT][\d]?|small|mini|medium|large|x?xl)$";
const FINETUNE: &str = r"(?i)^(chat|instruct|vision|lora)$";
const TITLE_AS_IS: &str = r"^(v\d+(?:\.\d+)*|\d.*)$";

/// Roles of a part of the name.
#[derive(Debug, Clone, Copy, Default)]
struct Roles {
    basename: bool,
    size: bool,
    finetune: bool,
    version: bool,
    kind: bool,
}

impl Roles {
    const fn count(self) -> usize {
        self.basename as usize
            + self.size as usize
            + self.finetune as usize
            + self.version as usize
            + self.kind as usize
    }
}

impl ModelName {
    /// Splits a name; `weights` is the number of weights of the model, which tells sizes from context lengths.
    pub(super) fn parse(id: &str, weights: u64) -> Self {
        if id.contains(' ') {
            return Self { name: Some(id.to_owned()), ..Self::default() };
        }
        let (organization, full) = match id.split_once('/') {
            Some((organization, full)) => (Some(organization).filter(|text| !text.starts_with('.')), full),
            None => (None, id),
        };
        let mut parts: Vec<String> = full.split('-').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let mut roles: Vec<Roles> = Vec::with_capacity(parts.len());
        for (i, part) in parts.iter_mut().enumerate() {
            roles.push(annotate(i, part, weights));
        }
        let digits = |part: &String| part.chars().any(|c| c.is_ascii_digit());
        if parts.iter().zip(&roles).any(|(part, roles)| roles.size && digits(part)) {
            for (part, roles) in parts.iter().zip(&mut roles) {
                roles.size &= !part.chars().all(char::is_alphabetic);
            }
        }
        let mut at_start = true;
        for (part, roles) in parts.iter().zip(&mut roles) {
            if at_start && (roles.count() == 0 && part.starts_with(char::is_alphabetic) || roles.version) {
                roles.basename = true;
            } else {
                at_start = false;
                roles.finetune |= roles.count() == 0;
            }
        }
        // A version at the end of the base name is not part of it.
        for roles in roles.iter_mut().rev() {
            if !roles.basename || roles.count() == 1 {
                break;
            }
            roles.basename = false;
        }
        let join = |has: fn(&Roles) -> bool, unique: bool| {
            let mut chosen: Vec<&str> = Vec::new();
            for (part, _) in parts.iter().zip(&roles).filter(|(_, roles)| has(roles)) {
                if !unique || !chosen.contains(&part.as_str()) {
                    chosen.push(part);
                }
            }
            (!chosen.is_empty()).then(|| chosen.join("-"))
        };
        let size_label = join(|roles| roles.size, true);
        let finetune = join(|roles| roles.finetune, false);
        let version = join(|roles| roles.version && !roles.basename, false);
        // A name without any other part is too ambiguous to be a base name.
        let known = size_label.is_some() || finetune.is_some() || version.is_some();
        let basename = join(|roles| roles.basename, false).filter(|_| known);
        let organization = organization.filter(|text| !text.is_empty()).map(str::to_owned);
        Self { name: Some(full.to_owned()), organization, basename, finetune, version, size_label }
    }

    /// Returns a name with spaces, and with capitals unless it has some or is a version or size.
    pub(super) fn title(id: &str) -> String {
        let words = id.trim().replace('-', " ");
        let word = |word: &str| {
            let lower = word.chars().any(char::is_lowercase) && !word.chars().any(char::is_uppercase);
            if lower && !matches(TITLE_AS_IS, word) { capitalized(word) } else { word.to_owned() }
        };
        words.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
    }
}

/// Raises the first letter of each run of letters.
fn capitalized(word: &str) -> String {
    let mut after_letter = false;
    let mut out = String::with_capacity(word.len());
    for c in word.chars() {
        if after_letter {
            out.extend(c.to_lowercase())
        } else {
            out.extend(c.to_uppercase())
        }
        after_letter = c.is_alphabetic();
    }
    out
}

fn matches(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).is_ok_and(|regex| regex.is_match(text).unwrap_or(false))
}

/// Determines the roles of a part and rewrites sizes to their usual form.
fn annotate(i: usize, part: &mut String, weights: u64) -> Roles {
    let mut roles = Roles::default();
    if matches(VERSION, part) {
        roles.version = true;
    } else if matches(QUANT, part) {
        roles.kind = true;
        *part = part.to_uppercase();
    } else if i > 0 && matches(SIZE, part) {
        let mut chars: Vec<char> = part.replace('_', ".").chars().collect();
        let last = chars.len() - 1;
        if chars[last].is_ascii_digit() && last > 0 {
            // Bloom's notation 7b1 for 7.1b.
            let (unit, digit) = (chars[last - 1], chars[last]);
            chars.truncate(last - 1);
            chars.extend(['.', digit, unit]);
        }
        let last = chars.len() - 1;
        if last > 0 && chars[last - 1].is_ascii_digit() && "kmbt".contains(chars[last]) {
            chars[last] = chars[last].to_ascii_uppercase();
        }
        let number: String = chars[..last].iter().collect();
        let exponent = " KMBT".find(chars[last]).and_then(|at| i32::try_from(at).ok()).unwrap_or(-1);
        if weights > 0
            && let Ok(number) = number.parse::<f64>()
        {
            #[expect(clippy::cast_precision_loss, reason = "compared within a factor")]
            let (size, weights) = (number * 1000_f64.powi(exponent), weights as f64);
            // Far from the size of the model: probably a context length.
            if (size - weights).abs() > (7.0 * weights / 8.0).floor() {
                roles.finetune = true;
                chars[last] = chars[last].to_ascii_lowercase();
            }
        }
        roles.size = !roles.finetune;
        *part = chars.into_iter().collect();
    } else if i > 0 && matches(FINETUNE, part) {
        roles.finetune = true;
    }
    roles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(text: &str) -> Option<String> {
        (!text.is_empty()).then(|| text.to_owned())
    }

    #[test]
    fn names_split_into_their_parts() {
        for (id, weights, [organization, basename, finetune, version, size]) in [
            ("HuggingFaceTB/SmolLM2-135M-Instruct", 135_000_000, ["HuggingFaceTB", "SmolLM2", "Instruct", "", "135M"]),
            ("Mistral-7B-Instruct-v0.3", 7_000_000_000, ["", "Mistral", "Instruct", "v0.3", "7B"]),
            ("Phi-3-mini-4k-instruct", 3_800_000_000, ["", "Phi-3", "4k-instruct", "", "mini"]),
            ("Qwen3-30B-A3B", 30_000_000_000, ["", "Qwen3", "", "", "30B-A3B"]),
            ("grain", 1000, ["", "", "", "", ""]),
        ] {
            let name = ModelName::parse(id, weights);
            let found = [name.organization, name.basename, name.finetune, name.version, name.size_label];
            assert_eq!(found, [organization, basename, finetune, version, size].map(some), "{id}");
        }
    }

    #[test]
    fn titles_keep_capitals_and_versions() {
        assert_eq!(ModelName::title("tiny-llama-v1.0-3b-chat"), "Tiny Llama v1.0 3b Chat");
        assert_eq!(ModelName::title("SmolLM2-135M"), "SmolLM2 135M");
        assert_eq!(ModelName::title("qwen2.5"), "Qwen2.5");
    }
}
