//! `SpecialTokens`: ids of special tokens, whether to add them to a text, and chat templates. Follows `SpecialVocab` of
//! gguf-py, so that files of both tools carry the same metadata.

use std::path::Path;

use bitgrain_formats::gguf::{Array, Metadata, Value};
use serde_json::Value as Json;

use super::file::TokenizerFile;
use super::set;
use crate::model::language::LanguageConversionError;
use crate::model::language::config::{Config, read_json};

/// Roles of special tokens in the order of the keys.
const ROLES: [&str; 7] = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"];

/// Roles with a key for the id, and the name in that key. The misspelling of separator is GGUF's.
const IDS: [(&str, &str); 8] = [
    ("bos", "bos_token_id"),
    ("eos", "eos_token_id"),
    ("unk", "unknown_token_id"),
    ("sep", "seperator_token_id"),
    ("pad", "padding_token_id"),
    ("mask", "mask_token_id"),
    ("eot", "eot_token_id"),
    ("eom", "eom_token_id"),
];

/// Special tokens of a model.
#[derive(Debug, Default)]
pub(super) struct SpecialTokens {
    ids: Vec<(&'static str, u32)>,
    add: Vec<(&'static str, bool)>,
    templates: Vec<(String, String)>,
    lowercase: Option<bool>,
    strip_accents: Option<bool>,
}

/// Contents of the special tokens, by role.
#[derive(Debug, Default)]
struct Contents(Vec<(&'static str, String)>);

impl Contents {
    fn get(&self, role: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| *own == role).map(|(_, content)| content.as_str())
    }

    fn set(&mut self, role: &'static str, content: &str) {
        self.0.retain(|(own, _)| *own != role);
        self.0.push((role, content.to_owned()));
    }
}

impl SpecialTokens {
    /// Reads the special tokens of a folder. Ids from `limit` are ignored.
    pub(super) fn read(
        folder: &Path,
        config: &Config,
        file: Option<&TokenizerFile>,
        options: Option<Config>,
        limit: Option<usize>,
    ) -> Result<Self, LanguageConversionError> {
        let mut special = Self::default();
        let mut roles = ROLES.to_vec();
        let mut contents = Contents::default();
        if let Some(options) = &options {
            for role in ROLES {
                let entry = options.get(&format!("{role}_token"));
                let content = entry.and_then(|entry| entry.as_str().or_else(|| entry["content"].as_str()));
                content.into_iter().for_each(|content| contents.set(role, content));
            }
        }
        if let Some(file) = file {
            special.read_normalizer(file.normalizer.as_ref());
            if options.is_some() {
                special.read_post_processor(file.post_processor.as_ref(), &mut contents, &mut roles);
            }
        }
        if let Some(options) = &options {
            special.read_templates(folder, options)?;
            for role in &roles {
                if let Some(flag) = options.flag(&format!("add_{role}_token")) {
                    special.set_add(role, flag);
                }
                let token = contents.get(role);
                let added = file.into_iter().flat_map(|file| &file.added_tokens);
                let id = token.and_then(|token| added.clone().find(|added| added.content == token));
                id.into_iter().for_each(|token| special.set_id(role, u64::from(token.id), limit));
            }
        }
        let raw = Config::read(config.path())?;
        let text = raw.as_ref().and_then(|raw| raw.object("text_config"));
        for role in &roles {
            let key = format!("{role}_token_id");
            let id = [raw.as_ref(), text.as_ref()].into_iter().flatten().find_map(|own| own.get(&key));
            if let Some(id) = id.and_then(Json::as_u64) {
                special.set_id(role, id, limit);
            }
        }
        Ok(special)
    }

    /// Sets the id of a role unless it has one.
    fn set_id(&mut self, role: &'static str, id: u64, limit: Option<usize>) {
        let Ok(id) = u32::try_from(id) else { return };
        let known = self.ids.iter().any(|(own, _)| *own == role);
        if !known && limit.is_none_or(|limit| (id as usize) < limit) {
            self.ids.push((role, id));
        }
    }

    fn set_add(&mut self, role: &'static str, flag: bool) {
        match self.add.iter_mut().find(|(own, _)| *own == role) {
            Some((_, old)) => *old = flag,
            None => self.add.push((role, flag)),
        }
    }

    fn read_normalizer(&mut self, normalizer: Option<&Json>) {
        let Some(normalizer) = normalizer else { return };
        match normalizer["type"].as_str() {
            Some("Lowercase") => self.lowercase = Some(true),
            Some("StripAccents") => self.strip_accents = Some(true),
            Some("BertNormalizer") => {
                self.lowercase = normalizer["lowercase"].as_bool().or(self.lowercase);
                self.strip_accents = normalizer["strip_accents"].as_bool().or(self.strip_accents);
            }
            Some("Sequence") => {
                let all = normalizer["normalizers"].as_array();
                all.into_iter().flatten().for_each(|one| self.read_normalizer(Some(one)));
            }
            _ => {}
        }
    }

    /// Reads which special tokens surround a text.
    fn read_post_processor(
        &mut self,
        processor: Option<&Json>,
        contents: &mut Contents,
        roles: &mut Vec<&'static str>,
    ) {
        let Some(processor) = processor else { return };
        for (role, like) in [("bos", "cls"), ("eos", "sep")] {
            if contents.get(role).is_none()
                && let Some(other) = contents.get(like).map(str::to_owned)
            {
                contents.set(role, &other);
            }
        }
        let one = [processor.clone()];
        let all = processor["processors"].as_array().map_or(&one[..], Vec::as_slice);
        for processor in all {
            match processor["type"].as_str() {
                Some("RobertaProcessing") => {
                    for role in ["bos", "eos", "sep"] {
                        self.set_add(role, true);
                    }
                    for (role, key) in [("cls", "cls"), ("sep", "sep")] {
                        if let (None, Some(token)) = (contents.get(role), processor[key][0].as_str()) {
                            contents.set(role, token);
                        }
                    }
                }
                Some("TemplateProcessing") => self.read_template(processor, contents, roles),
                _ => {}
            }
        }
    }

    fn read_template(&mut self, processor: &Json, contents: &mut Contents, roles: &mut Vec<&'static str>) {
        let special =
            |part: Option<&Json>| part.and_then(|part| part["SpecialToken"]["id"].as_str()).map(str::to_owned);
        let list = |key: &str| processor[key].as_array().cloned().unwrap_or_default();
        let (single, pair) = (list("single"), list("pair"));
        let enough = single.len() > 1;
        let first = special(single.first()).filter(|_| enough);
        let last = special(single.last()).filter(|_| enough);
        if let Some(first) = &first {
            let (bos, cls) = (contents.get("bos"), contents.get("cls"));
            let known = [bos, cls].contains(&Some(first));
            let (no_bos, no_cls) = (bos.is_none(), cls.is_none());
            if !known && no_bos {
                contents.set("bos", first);
            }
            if !known && no_cls {
                contents.set("cls", first);
            }
            let known = [contents.get("bos"), contents.get("cls")].contains(&Some(first));
            self.set_add("bos", known);
        }
        if let Some(last) = &last {
            if contents.get("eos") != Some(last) {
                let old = contents.get("eos").map(str::to_owned);
                if let Some(role) = ["eot", "eom"].into_iter().find(|role| !roles.contains(role)) {
                    roles.push(role);
                    old.into_iter().for_each(|old| contents.set(role, &old));
                }
                contents.set("eos", last);
            }
            self.set_add("eos", true);
        }
        self.read_pair(&pair, first.as_deref(), last.as_deref(), contents);
    }

    /// Reads whether a separator stands between the strings of a pair.
    fn read_pair(&mut self, pair: &[Json], first: Option<&str>, last: Option<&str>, contents: &mut Contents) {
        let special =
            |part: Option<&Json>| part.and_then(|part| part["SpecialToken"]["id"].as_str()).map(str::to_owned);
        let mut pair = pair;
        if first.is_some() && special(pair.first()).as_deref() == first {
            pair = &pair[1..];
        }
        if last.is_some() && special(pair.last()).as_deref() == last {
            pair = &pair[..pair.len() - 1];
        }
        let (Some(a), Some(b)) = (pair.first(), pair.last()) else { return };
        if a["Sequence"]["id"] != "A" || b["Sequence"]["id"] != "B" || pair.len() < 3 {
            return;
        }
        let between = &pair[1..pair.len() - 1];
        let separates = |token: &Option<String>| {
            token.is_some() && [contents.get("sep"), contents.get("eos")].contains(&token.as_deref())
        };
        let add = separates(&special(between.first())) && last.is_none()
            || between.len() == 2 && separates(&special(between.get(1)));
        self.set_add("sep", add);
        if add
            && contents.get("sep").is_none()
            && let Some(eos) = contents.get("eos").map(str::to_owned)
        {
            contents.set("sep", &eos);
        }
    }

    /// Reads the chat templates: of `tokenizer_config.json`, or of the files next to it.
    fn read_templates(&mut self, folder: &Path, options: &Config) -> Result<(), LanguageConversionError> {
        let text = |path: &Path| match std::fs::read_to_string(path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(LanguageConversionError::Io { path: path.to_owned(), source }),
        };
        let own = match options.get("chat_template") {
            Some(own) => Some(own.clone()),
            None => match text(&folder.join("chat_template.jinja"))? {
                Some(template) => Some(Json::String(template)),
                None => read_json(&folder.join("chat_template.json"))?.map(|json| json["chat_template"].clone()),
            },
        };
        match own {
            Some(Json::String(template)) => self.templates.push(("default".to_owned(), template)),
            Some(Json::Array(list)) => {
                let named = |one: &Json| Some((one["name"].as_str()?.to_owned(), one["template"].as_str()?.to_owned()));
                self.templates.extend(list.iter().filter_map(named));
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn add(&self, metadata: &mut Metadata) {
        for (role, id) in &self.ids {
            if let Some((_, key)) = IDS.iter().find(|(own, _)| own == role) {
                set(metadata, key, *id);
            }
        }
        for (role, flag) in self.add.iter().filter(|(role, _)| matches!(*role, "bos" | "eos" | "sep")) {
            set(metadata, &format!("add_{role}_token"), *flag);
        }
        let mut names = Vec::new();
        for (name, template) in &self.templates {
            if name == "default" {
                continue;
            }
            let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            metadata.set(format!("tokenizer.chat_template.{name}"), template.as_str());
            names.push(name);
        }
        if !names.is_empty() {
            metadata.set("tokenizer.chat_templates", Value::Array(Array::String(names.iter().collect())));
        }
        if let Some((_, template)) = self.templates.iter().find(|(name, _)| name == "default") {
            metadata.set("tokenizer.chat_template", template.as_str());
        }
        for (key, flag) in [("lowercase", self.lowercase), ("strip_accents", self.strip_accents)] {
            flag.into_iter().for_each(|flag| set(metadata, &format!("normalizer.{key}"), flag));
        }
    }
}
