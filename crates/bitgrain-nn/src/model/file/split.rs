//! GGUF models in several files, as `llama-gguf-split` writes them: `NAME-00001-of-00003.gguf`. The first file holds the
//! metadata, each its own tensors.

use std::path::{Path, PathBuf};

use bitgrain_files::MappedFile;
use bitgrain_formats::gguf::{Metadata, Value};

use super::{ModelMetadata, ModelTensor, gguf};
use crate::model::ModelFileError;

/// Keys of the shards: their 0-based number, how many there are, and the number of tensors in all of them.
pub(crate) const SPLIT_NO: &str = "split.no";
pub(crate) const SPLIT_COUNT: &str = "split.count";
pub(crate) const SPLIT_TENSORS: &str = "split.tensors.count";

type Content = (ModelMetadata, Vec<ModelTensor>);

/// Adds the tensors of the other shards to those of the first. A file that is not a shard remains unchanged.
pub(super) fn complete(path: &Path, first: Content) -> Result<Content, ModelFileError> {
    let (mut metadata, mut tensors) = first;
    let number = |metadata: &Metadata, key| metadata.get(key).and_then(Value::as_u64);
    let Some(count) = number(&metadata.gguf, SPLIT_COUNT).filter(|count| *count > 1) else {
        forget(&mut metadata);
        return Ok((metadata, tensors));
    };
    let wrong = |reason: String| ModelFileError::Split { path: path.to_owned(), reason };
    if number(&metadata.gguf, SPLIT_NO) != Some(0) {
        return Err(wrong(format!(
            "not the first of {count} shards; open the file that ends in -00001-of-{count:05}.gguf"
        )));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let ending = format!("-00001-of-{count:05}.gguf");
    let stem = name.strip_suffix(&ending);
    let stem =
        stem.ok_or_else(|| wrong(format!("the first of {count} shards must end in {ending}; rename the file")))?;
    let total = number(&metadata.gguf, SPLIT_TENSORS);
    for shard in 1..count {
        let path: PathBuf = path.with_file_name(format!("{stem}-{:05}-of-{count:05}.gguf", shard + 1));
        let (own, more) = gguf::read(MappedFile::open(&path).map_err(ModelFileError::io(&path))?)?;
        if number(&own.gguf, SPLIT_NO) != Some(shard) || number(&own.gguf, SPLIT_COUNT) != Some(count) {
            let reason = format!("not shard {} of {count}; download the model again", shard + 1);
            return Err(ModelFileError::Split { path, reason });
        }
        tensors.extend(more);
    }
    if total.is_some_and(|total| total != tensors.len() as u64) {
        let reason =
            format!("the shards hold {} tensors, but `{SPLIT_TENSORS}` is {}", tensors.len(), total.unwrap_or(0));
        return Err(wrong(reason));
    }
    forget(&mut metadata);
    Ok((metadata, tensors))
}

/// Removes the keys of a shard, which do not describe the whole model.
fn forget(metadata: &mut ModelMetadata) {
    for key in [SPLIT_NO, SPLIT_COUNT, SPLIT_TENSORS] {
        metadata.gguf.remove(key);
    }
}
