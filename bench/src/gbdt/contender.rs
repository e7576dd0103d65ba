//! Contenders and the start of their runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::job::{Answer, Job};

/// One library with one way of training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Contender {
    /// In tables.
    pub(super) name: &'static str,
    /// In jobs.
    pub(super) key: &'static str,
    pub(super) side: Side,
}

/// Whose a contender is, and what it is compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Leaf by leaf; gradients in full.
    Full,
    /// Leaf by leaf; gradients as pairs of small codes.
    Small,
    /// One question for all nodes of a level.
    Symmetric,
    Rival,
}

/// The rival that defines equal quality, and that binning, memory and prediction are held against.
pub(super) const YARDSTICK: &str = "lightgbm";
/// The rival with symmetric trees.
pub(super) const SYMMETRIC_RIVAL: &str = "catboost";

const fn ours(name: &'static str, key: &'static str, side: Side) -> Contender {
    Contender { name, key, side }
}

const fn rival(name: &'static str, key: &'static str) -> Contender {
    Contender { name, key, side: Side::Rival }
}

/// All of them, in the order of the tables.
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

/// Commands that start processes.
pub(super) struct Starter {
    /// This program, which is also our contender.
    program: PathBuf,
    /// None if there is no Python: rivals fail, and say so.
    python: Option<PathBuf>,
}

impl Starter {
    pub(super) fn new(python: Option<PathBuf>) -> std::io::Result<Self> {
        Ok(Self { program: std::env::current_exe()?, python })
    }

    /// One run in a process of its own.
    ///
    /// # Errors
    /// Why there is no answer, in a line for the reader.
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
        // Libraries that ask OpenMP rather than their parameters.
        command.arg(text).env("OMP_NUM_THREADS", job.threads.to_string()).env("PYTHONDONTWRITEBYTECODE", "1");
        let done = command.stdin(Stdio::null()).output().map_err(|e| format!("it could not be started: {e}"))?;
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
