//! Ctrl-C: the first asks the command to stop with its results so far, the second ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Installs the handler. If that fails, Ctrl-C ends the process as usual.
pub(crate) fn install() {
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("\nstopping after this round; press Ctrl-C again to quit now");
    });
}

/// Returns whether Ctrl-C was pressed.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
