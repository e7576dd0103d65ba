//! General metadata: such as name, size and license, from the model card, `config.json` and the folder's name. The
//! heuristics are those of llama.cpp's converter (`gguf-py/gguf/metadata.py`).

use std::path::Path;

use bitgrain_formats::gguf::{Array, Metadata, Value};

use super::LanguageConversionError;
use super::config::Config;
use super::front_matter::FrontMatter;
use super::model_name::ModelName;

/// Numbers of weights, for the size label.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weights {
    pub(super) shared: u64,
    /// Weights of one expert of each layer, summed over the layers.
    pub(super) per_expert: u64,
    pub(super) experts: u64,
    pub(super) all: u64,
}

/// Sampling parameters of `generation_config.json`: key there, key in GGUF, whether it is an integer.
const SAMPLING: [(&[&str], &str, bool); 10] = [
    (&["top_k"], "top_k", true),
    (&["top_p"], "top_p", false),
    (&["min_p"], "min_p", false),
    (&["xtc_probability"], "xtc_probability", false),
    (&["xtc_threshold"], "xtc_threshold", false),
    (&["temperature"], "temp", false),
    (&["penalty_last_n"], "penalty_last_n", true),
    (&["penalty_repeat", "repetition_penalty"], "penalty_repeat", false),
    (&["mirostat_tau"], "mirostat_tau", false),
    (&["mirostat_eta"], "mirostat_eta", false),
];

/// Adds the keys that come before the hyperparameters.
pub(super) fn add(
    folder: &Path,
    config: &Config,
    weights: Weights,
    metadata: &mut Metadata,
) -> Result<(), LanguageConversionError> {
    metadata.set("general.type", "model");
    add_sampling(folder, metadata)?;
    let card = FrontMatter::read(&folder.join("README.md"))?;
    let from_card = |keys: &[&str]| keys.iter().find_map(|key| card.text(key)).map(str::to_owned);
    // Names of the folder and of the repository, in order of preference.
    let own_path = config.text("_name_or_path").filter(|path| path.matches('/').count() <= 1);
    let folder_name =
        folder.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let names: Vec<ModelName> = own_path
        .map(str::to_owned)
        .into_iter()
        .chain(folder_name.clone())
        .map(|id| ModelName::parse(&id, weights.all))
        .collect();
    let guess =
        |card: Option<String>, part: fn(&ModelName) -> Option<String>| card.or_else(|| names.iter().find_map(part));
    let title = |name: &ModelName| name.name.as_deref().map(ModelName::title);
    let name = guess(from_card(&["name", "model_name"]), title).or(folder_name).unwrap_or_default();
    metadata.set("general.name", name);
    let organization = |name: &ModelName| name.organization.as_deref().map(ModelName::title);
    let entries = [
        ("author", from_card(&["author", "model_author", "model_creator"])),
        ("version", guess(from_card(&["version", "model_version"]), |name| name.version.clone())),
        ("organization", guess(from_card(&["organization", "model_organization"]), organization)),
        ("finetune", guess(from_card(&["finetune", "model_finetune"]), |name| name.finetune.clone())),
        ("basename", guess(from_card(&["basename", "model_basename", "model_type"]), |name| name.basename.clone())),
        ("description", from_card(&["description", "model_description"])),
    ];
    let entries = entries.into_iter().filter_map(|(key, text)| Some((key, text?)));
    entries.for_each(|(key, text)| drop(metadata.set(format!("general.{key}"), text)));
    let size = guess(from_card(&["size_label", "model_size_label"]), |name| name.size_label.clone());
    if weights.all > 0 || size.is_some() {
        metadata.set("general.size_label", size.unwrap_or_else(|| size_label(weights)));
    }
    if let Some(license) = card.list("license") {
        metadata.set("general.license", license.join(","));
    }
    for (key, name) in [("license.name", "license_name"), ("license.link", "license_link")] {
        card.text(name).into_iter().for_each(|text| drop(metadata.set(format!("general.{key}"), text)));
    }
    add_sources(&card, weights.all, metadata);
    Ok(())
}

fn add_sampling(folder: &Path, metadata: &mut Metadata) -> Result<(), LanguageConversionError> {
    let Ok(Some(generation)) = Config::read(&folder.join("generation_config.json")) else { return Ok(()) };
    for (keys, name, integer) in SAMPLING {
        let Some(value) = generation.number(keys)? else { continue };
        #[expect(clippy::cast_possible_truncation, reason = "GGUF stores these as i32 and f32")]
        let value = if integer { Value::I32(value as i32) } else { Value::F32(value as f32) };
        metadata.set(format!("general.sampling.{name}"), value);
    }
    Ok(())
}

/// Adds the models and datasets that the card names as sources, tags and languages.
fn add_sources(card: &FrontMatter, weights: u64, metadata: &mut Metadata) {
    let sources = [
        ("base_model", &["base_model", "base_models", "base_model_sources"]),
        ("dataset", &["datasets", "dataset", "dataset_sources"]),
    ];
    for (key, names) in sources {
        let Some(ids) = names.iter().find_map(|name| card.list(name)) else { continue };
        metadata.set(format!("general.{key}.count"), u32::try_from(ids.len()).unwrap_or(u32::MAX));
        for (i, id) in ids.iter().enumerate() {
            let url = id.starts_with("http://") || id.starts_with("https://") || id.starts_with("ssh://");
            let hosted = ["https://huggingface.co/", "http://huggingface.co/"];
            let hosted = hosted.iter().find_map(|host| id.strip_prefix(host)).filter(|id| id.matches('/').count() == 1);
            let name = match (url, hosted) {
                (true, None) => None,
                (_, own) => Some(ModelName::parse(own.unwrap_or(id), weights)),
            };
            let title = |text: &Option<String>| text.as_deref().map(ModelName::title);
            let name = name.as_ref();
            let repository = match name {
                Some(ModelName { name: Some(own), organization: Some(organization), .. }) if !url => {
                    Some(format!("https://huggingface.co/{organization}/{own}"))
                }
                _ => url.then(|| id.clone()),
            };
            let entries = [
                ("name", name.and_then(|name| title(&name.name))),
                ("version", name.and_then(|name| name.version.clone())),
                ("organization", name.and_then(|name| title(&name.organization))),
                ("repo_url", repository),
            ];
            for (part, text) in entries {
                text.into_iter().for_each(|text| drop(metadata.set(format!("general.{key}.{i}.{part}"), text)));
            }
        }
    }
    let joined = |names: [&str; 2]| {
        let lists: Vec<Vec<String>> = names.iter().filter_map(|name| card.list(name)).collect();
        (!lists.is_empty()).then(|| lists.concat())
    };
    for (key, list) in [("tags", joined(["tags", "pipeline_tag"])), ("languages", joined(["languages", "language"]))] {
        let Some(list) = list.filter(|list| !list.is_empty()) else { continue };
        metadata.set(format!("general.{key}"), Value::Array(Array::String(list.iter().collect())));
    }
}

/// Returns the number of weights as a short label: `135M`, `8x7B`.
#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
fn size_label(weights: Weights) -> String {
    let count = if weights.experts > 0 { weights.shared + weights.per_expert } else { weights.all } as f64;
    let units = [(1e12, "T"), (1e9, "B"), (1e6, "M"), (0.0, "K")];
    let (unit, suffix) = units.into_iter().find(|(least, _)| count > *least).unwrap_or((0.0, "K"));
    let scaled = if unit > 0.0 { count * (1.0 / unit) } else { count * 1e-3 };
    let rounded = scaled.round_ties_even().to_string();
    let digits = 2_usize.saturating_sub(rounded.trim_start_matches('0').len());
    let size = format!("{scaled:.digits$}{suffix}");
    if weights.experts > 0 { format!("{}x{size}", weights.experts) } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_labels_have_two_digits() {
        let label = |all| size_label(Weights { all, ..Weights::default() });
        let labels = [134_515_008, 1_543_714_304, 7_241_732_096, 70_553_706_496, 960, 12_400].map(label);
        assert_eq!(labels, ["135M", "1.5B", "7.2B", "71B", "1.0K", "12K"]);
        let mixture = Weights { shared: 1_000_000_000, per_expert: 6_000_000_000, experts: 8, all: 49_000_000_000 };
        assert_eq!(size_label(mixture), "8x7.0B");
    }
}
