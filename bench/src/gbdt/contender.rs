//! Contenders and the start of their runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::job::{Answer, Job};

/// A library with one training configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Contender {
    /// Name in tables.
    pub(super) name: &'static str,
    /// Name in jobs.
    pub(super) key: &'static str,
    pub(super) side: Side,
}

/// Owner of a contender and the comparison it takes part in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Ours: leaf-wise trees, f32 gradients.
    Full,
    /// Ours: leaf-wise trees, quantized gradients.
    Small,
    /// Ours: symmetric trees.
    Symmetric,
    Rival,
}

/// Competitor that defines equal quality and is the reference for binning, memory and prediction.
pub(super) const YARDSTICK: &str = "lightgbm";
/// Competitor with symmetric trees.
pub(super) const SYMMETRIC_RIVAL: &str = "catboost";

const fn ours(name: &'static str, key: &'static str, side: Side) -> Contender {
    Contender { name, key, side }
}

const fn rival(name: &'static str, key: &'static str) -> Contender {
    Contender { name, key, side: Side::Rival }
}

/// All contenders, in table order.
pub(super) const CONTENDERS: [Contender; 10] = [
    ours("**bitgrain** f32", "f32", Side::Full),
    ours("**bitgrain** pair8", "pair8", Side::Small),
    ours("**bitgrain** pair4", "pair4", Side::Small),
    ours("**bitgrain** symmetric, pair8", "symmetric", Side::Symmetric),
    rival("LightGBM", YARDSTICK),
    rival("LightGBM, quantized gradients", "lightgbm-quantized"),
    rival("XGBoost, by leaf", "xgboost-lossguide"),
    rival("XGBoost, by depth", "xgboost-depthwise"),
    rival("CatBoost", SYMMETRIC_RIVAL),
    rival("scikit-learn", "scikit-learn"),
];

/// Programs that run contenders.
pub(super) struct Starter {
    /// This program, which runs our contenders.
    program: PathBuf,
    /// Python interpreter; without one, the competitors fail with an error.
    python: Option<PathBuf>,
}

impl Starter {
    pub(super) fn new(python: Option<PathBuf>) -> std::io::Result<Self> {
        Ok(Self { program: std::env::current_exe()?, python })
    }

    /// Runs a contender in a separate process.
    ///
    /// # Errors
    /// Returns one line that describes the failure.
    pub(super) fn run(&self, side: Side, job: &Job) -> Result<Answer, String> {
        let text = serde_json::to_string(job).map_err(|e| e.to_string())?;
        let mut command = if side == Side::Rival {
            let python = self.python.as_ref().ok_or("no Python environment")?;
            let mut command = Command::new(python);
            command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("rivals/rival.py"));
            command
        } else {
            let mut command = Command::new(&self.program);
            command.arg("contend");
            command
        };
        // Some libraries take the number of threads from OpenMP instead of their parameters.
        command.arg(text).env("OMP_NUM_THREADS", job.threads.to_string()).env("PYTHONDONTWRITEBYTECODE", "1");
        let done = command.stdin(Stdio::null()).output().map_err(|e| format!("cannot start the process: {e}"))?;
        let answer = Answer::parse(&String::from_utf8_lossy(&done.stdout)).filter(|_| done.status.success());
        answer.ok_or_else(|| {
            let errors = String::from_utf8_lossy(&done.stderr);
            errors
                .lines()
                .rfind(|line| !line.trim().is_empty())
                .map_or(done.status.to_string(), |l| l.trim().to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rival_of_the_list_is_in_the_script() {
        let script = include_str!("../../rivals/rival.py");
        for contender in CONTENDERS.iter().filter(|contender| contender.side == Side::Rival) {
            assert!(script.contains(&format!("    \"{}\":", contender.key)), "{}", contender.key);
        }
    }
}
