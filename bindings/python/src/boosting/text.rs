//! Encoding of string columns as category codes.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};

/// Code of missing values and unknown categories.
pub(super) const MISSING: u32 = u32::MAX;

/// Codes of a column, encoded chunk by chunk.
pub(super) struct Codes {
    codes: Vec<u32>,
    of_text: HashMap<String, u32>,
    /// Known categories; other strings become [`MISSING`].
    known: Option<Vec<String>>,
}

impl Codes {
    /// Creates an encoder with the `known` categories, or one that assigns new codes.
    pub(super) fn new(known: Option<&[String]>, n_rows: usize) -> Self {
        let of_text = (0..).zip(known.unwrap_or_default()).map(|(code, text)| (text.clone(), code)).collect();
        Self { codes: Vec::with_capacity(n_rows), of_text, known: known.map(<[String]>::to_vec) }
    }

    /// Encodes a chunk of strings, of a dictionary, or of numbers, which are converted to strings.
    pub(super) fn add(&mut self, chunk: &ArrayRef) -> Result<(), ArrowError> {
        if let Some(dictionary) = chunk.as_any_dictionary_opt() {
            let strings = strings(dictionary.values())?;
            // Only strings that occur get a code, because many columns may share one dictionary.
            let mut of_value = vec![None; strings.len()];
            let keys = if strings.is_empty() { vec![0; chunk.len()] } else { dictionary.normalized_keys() };
            for (row, key) in keys.into_iter().enumerate() {
                let code = match of_value.get_mut(key) {
                    Some(code) if dictionary.keys().is_valid(row) => {
                        *code.get_or_insert_with(|| self.code(strings.is_valid(key).then(|| strings.value(key))))
                    }
                    _ => MISSING,
                };
                self.codes.push(code);
            }
            return Ok(());
        }
        for text in &strings(chunk)? {
            let code = self.code(text);
            self.codes.push(code);
        }
        Ok(())
    }

    fn code(&mut self, text: Option<&str>) -> u32 {
        let Some(text) = text else { return MISSING };
        if let Some(&code) = self.of_text.get(text) {
            return code;
        }
        if self.known.is_some() {
            return MISSING;
        }
        let code = u32::try_from(self.of_text.len()).unwrap_or(MISSING);
        self.of_text.insert(text.to_owned(), code);
        code
    }

    /// Returns the code of each row and the string of each code; new codes are assigned in string order.
    pub(super) fn finish(mut self) -> (Vec<u32>, Vec<String>) {
        if let Some(known) = self.known {
            return (self.codes, known);
        }
        let mut sorted: Vec<(String, u32)> = self.of_text.into_iter().collect();
        sorted.sort_unstable();
        let mut new_code = vec![MISSING; sorted.len()];
        for (new, (_, old)) in (0..).zip(&sorted) {
            new_code[*old as usize] = new;
        }
        for code in &mut self.codes {
            *code = new_code.get(*code as usize).copied().unwrap_or(MISSING);
        }
        (self.codes, sorted.into_iter().map(|(text, _)| text).collect())
    }
}

/// Converts an array to strings. Integers have no decimal point, even if stored as floats.
fn strings(array: &ArrayRef) -> Result<StringArray, ArrowError> {
    if array.data_type().is_floating() {
        let numbers = cast(array, &DataType::Float64)?;
        return Ok(numbers
            .as_primitive::<Float64Type>()
            .iter()
            .map(|value| value.map(|value| value.to_string()))
            .collect());
    }
    Ok(cast(array, &DataType::Utf8)?.as_string::<i32>().clone())
}
