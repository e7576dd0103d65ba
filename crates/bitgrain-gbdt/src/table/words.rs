//! `Words`: dictionary encoder of strings.

use std::collections::HashMap;

use super::StringColumn;

/// Codes in order of first occurrence; sorted at the end.
#[derive(Debug, Default)]
pub(super) struct Words {
    codes: Vec<u32>,
    known: HashMap<String, u32>,
}

impl Words {
    pub(super) fn push(&mut self, text: Option<&str>) {
        let code = match text {
            None => StringColumn::MISSING,
            Some(text) => match self.known.get(text) {
                Some(code) => *code,
                None => {
                    // Distinct strings are fewer than rows, and rows fewer than bytes: memory runs out before the codes
                    // do.
                    let code = u32::try_from(self.known.len()).unwrap_or(StringColumn::MISSING);
                    self.known.insert(text.to_owned(), code);
                    code
                }
            },
        };
        self.codes.push(code);
    }

    pub(super) fn finish(self) -> StringColumn {
        let mut sorted: Vec<(String, u32)> = self.known.into_iter().collect();
        sorted.sort_unstable();
        let mut new_codes = vec![StringColumn::MISSING; sorted.len()];
        for (new, (_, old)) in (0..).zip(&sorted) {
            new_codes[*old as usize] = new;
        }
        let recode = |code: u32| new_codes.get(code as usize).copied().unwrap_or(StringColumn::MISSING);
        StringColumn {
            codes: self.codes.into_iter().map(recode).collect(),
            labels: sorted.into_iter().map(|(label, _)| label).collect(),
        }
    }
}
