//! Parser of one line: a label, then `index:value` tokens.

use super::{LibsvmError, Rows};

/// Maximum number of characters of a wrong token that an error quotes.
const SHOWN: usize = 40;

/// Appends the row of a line. Blank lines and comments are skipped.
pub(super) fn parse(text: &[u8], line: usize, rows: &mut Rows) -> Result<(), LibsvmError> {
    let text = text.split(|byte| *byte == b'#').next().unwrap_or_default();
    let mut tokens = text.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty());
    let Some(label) = tokens.next() else { return Ok(()) };
    parse_label(label, line, rows)?;
    let (mut before, mut query): (Option<u32>, Option<u64>) = (None, None);
    for token in tokens {
        let wrong = || LibsvmError::Pair { line, found: shown(token) };
        let colon = token.iter().position(|byte| *byte == b':').ok_or_else(wrong)?;
        let (key, value) = (&token[..colon], &token[colon + 1..]);
        if key == b"qid" {
            // `qid` names the query of a ranking task; it is not a feature.
            if query.replace(number(value).ok_or_else(wrong)?).is_some() {
                return Err(LibsvmError::TwoQueries { line });
            }
            continue;
        }
        let index = number::<u64>(key).ok_or_else(wrong)?;
        let value = number::<f32>(value).ok_or_else(wrong)?;
        let small = u32::try_from(index).ok().filter(|index| *index <= Rows::MAX_INDEX);
        let index = small.ok_or(LibsvmError::Index { line, index, most: Rows::MAX_INDEX })?;
        if let Some(before) = before.filter(|before| *before >= index) {
            return Err(LibsvmError::Order { line, index, before });
        }
        before = Some(index);
        rows.columns.push(index);
        rows.values.push(value);
    }
    if query.is_some() != rows.queries.is_some() && rows.labels.len() > 1 {
        return Err(LibsvmError::SomeQueries { line });
    }
    if let Some(query) = query {
        rows.queries.get_or_insert_default().push(query);
    }
    rows.row_ptr.push(rows.columns.len());
    rows.n_features = rows.n_features.max(before.map_or(0, |last| last as usize + 1));
    Ok(())
}

/// Parses `1`, `-1.5`, or `1:0.3` with a weight.
fn parse_label(token: &[u8], line: usize, rows: &mut Rows) -> Result<(), LibsvmError> {
    let mut parts = token.splitn(2, |byte| *byte == b':');
    let label = parts.next().and_then(number::<f64>);
    let label = label.ok_or_else(|| LibsvmError::Label { line, found: shown(token) })?;
    let weight = parts.next();
    if weight.is_some() != rows.weights.is_some() && !rows.labels.is_empty() {
        return Err(LibsvmError::SomeWeights { line });
    }
    if let Some(weight) = weight {
        let value = number::<f32>(weight).ok_or_else(|| LibsvmError::Weight { line, found: shown(weight) })?;
        rows.weights.get_or_insert_default().push(value);
    }
    rows.labels.push(label);
    Ok(())
}

fn number<T: std::str::FromStr>(bytes: &[u8]) -> Option<T> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

fn shown(token: &[u8]) -> String {
    let short = &token[..token.len().min(SHOWN)];
    short.escape_ascii().to_string()
}
