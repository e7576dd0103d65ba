//! Removal of credentials from messages.

use std::env;

/// Maximum length of a message in characters: servers may answer with whole pages.
const LONGEST: usize = 400;

/// Secrets that must not appear in messages.
#[derive(Default)]
pub(super) struct Redactor(Vec<String>);

impl Redactor {
    /// Collects the secrets in the environment: keys, tokens and passwords of the storage services.
    pub(super) fn of_environment() -> Self {
        let ours = |name: &str| ["AWS_", "AZURE_", "GOOGLE_"].iter().any(|start| name.starts_with(start));
        let secret = |name: &str| ["KEY", "SECRET", "TOKEN", "SAS", "PASSWORD"].iter().any(|part| name.contains(part));
        let mut redactor = Self::default();
        for (name, value) in env::vars_os() {
            if let (Some(name), Some(value)) = (name.to_str(), value.to_str())
                && ours(name)
                && secret(name)
            {
                redactor.add(value);
            }
        }
        redactor
    }

    /// Adds a secret. Strings of one or two characters would make every message unreadable.
    pub(super) fn add(&mut self, secret: &str) {
        if secret.len() > 2 {
            self.0.push(secret.to_owned());
            // The longest first, so that a secret that contains another one is removed completely.
            self.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        }
    }

    /// Returns the message without secrets and without queries of URLs, which may contain signatures.
    pub(super) fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            text = text.replace(secret, "***");
        }
        let mut out = String::with_capacity(text.len());
        for (i, word) in text.split_whitespace().enumerate() {
            if i > 0 {
                out.push(' ');
            }
            out.push_str(word.split_once('?').filter(|(url, _)| url.contains("://")).map_or(word, |(url, _)| url));
        }
        match out.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &out[..end]),
            None => out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_queries_are_removed() {
        let mut secrets = Redactor::default();
        ["hunter2", "hunter22", "x"].into_iter().for_each(|secret| secrets.add(secret));
        let text = "PUT https://a.b/c?sig=abc&x=1 failed: key hunter22, token=hunter2;\n reason unknown";
        assert_eq!(secrets.redact(text), "PUT https://a.b/c failed: key ***, token=***; reason unknown");
        assert_eq!(secrets.redact(&"long ".repeat(500)).chars().count(), LONGEST + 1);
    }
}
