//! Memory of records that were written, kept by a thread for its next one: new memory of a large tensor is given by the
//! system page by page, which takes as long as encoding into it.

use std::cell::Cell;

use bitgrain_formats::segment::Draft;

/// Bytes of a body whose memory is kept.
const KEPT: usize = 16 << 20;

thread_local! {
    static DRAFT: Cell<Option<Draft>> = const { Cell::new(None) };
}

/// A draft with a body of `len` bytes, which begins as anything.
pub(super) fn take(len: usize) -> Draft {
    match DRAFT.take() {
        Some(mut draft) => {
            draft.reset(len);
            draft
        }
        None => Draft::new(len),
    }
}

/// Keeps the memory of a draft that was written.
pub(super) fn keep(draft: Draft) {
    if draft.body().len() <= KEPT {
        DRAFT.set(Some(draft));
    }
}
