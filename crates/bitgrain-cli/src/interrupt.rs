//! Ctrl-C: work that can stop with what it has is asked to; a second one ends the command.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on, the first Ctrl-C only asks. Where that cannot be set up, it ends the command as ever.
pub(crate) fn ask_first() {
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("\nstopping after this round; press Ctrl-C again to leave at once");
    });
}

/// Whether somebody wants an end.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
