//! Reuse of record buffers per thread: the page faults of fresh memory for a large tensor take as long as encoding
//! into it.

use std::cell::Cell;

use bitgrain_formats::segment::Draft;

/// Maximum size in bytes of a body whose buffer is kept.
const KEPT: usize = 16 << 20;

thread_local! {
    static DRAFT: Cell<Option<Draft>> = const { Cell::new(None) };
}

/// Returns a draft with a body of `len` bytes of arbitrary content.
pub(super) fn take(len: usize) -> Draft {
    match DRAFT.take() {
        Some(mut draft) => {
            draft.reset(len);
            draft
        }
        None => Draft::new(len),
    }
}

/// Keeps the buffer of a written draft.
pub(super) fn keep(draft: Draft) {
    if draft.body().len() <= KEPT {
        DRAFT.set(Some(draft));
    }
}
