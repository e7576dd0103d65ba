//! Machine and source revision of a run.

use std::fs;
use std::process::Command;

use bitgrain::kernels::Backend;
use serde::Serialize;

/// Machine and source revision.
#[derive(Serialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) backends: Vec<&'static str>,
    /// Current commit, with `-dirty` if the tree differs from it; `None` outside a checkout.
    pub(crate) commit: Option<String>,
}

impl Machine {
    pub(crate) fn read() -> Self {
        Self {
            cpu: cpu_model().unwrap_or_else(|| format!("unknown {} CPU", std::env::consts::ARCH)),
            backends: Backend::available().iter().copied().chain(Backend::with_tiles()).map(Backend::name).collect(),
            commit: commit(),
        }
    }
}

/// Returns the first CPU in `/proc/cpuinfo`, with family and model, because virtual machines hide the marketing name.
fn cpu_model() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let field = |name: &str| {
        let of =
            |line: &str| line.split_once(':').filter(|(key, _)| key.trim() == name).map(|(_, v)| v.trim().to_owned());
        info.lines().find_map(of)
    };
    let name = field("model name")?;
    match (field("cpu family"), field("model")) {
        (Some(family), Some(model)) => Some(format!("{name} (family {family}, model {model})")),
        _ => Some(name),
    }
}

fn commit() -> Option<String> {
    let git = Command::new("git")
        .args(["-C", env!("CARGO_MANIFEST_DIR"), "describe", "--always", "--dirty", "--exclude=*"])
        .output()
        .ok()?;
    let name = String::from_utf8(git.stdout).ok()?.trim().to_owned();
    (git.status.success() && !name.is_empty()).then_some(name)
}
