//! Task of a contender's process, and the line it prints.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Settings of all contenders, as far as they support them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) rounds: usize,
    pub(crate) leaves: usize,
    /// Depth of symmetric and depth-wise trees.
    pub(crate) depth: usize,
    pub(crate) bins: u32,
    pub(crate) learning_rate: f64,
    pub(crate) min_child_samples: usize,
    /// Different for every run, so that quality does not depend on one seed.
    pub(crate) seed: u64,
}

/// Task of the model and its quality metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Objective {
    /// Measured by the area under the ROC curve.
    Binary,
    /// Measured by the root of the mean squared error.
    Squared,
}

/// Table, contender and number of threads of a run; passed as JSON to our process and to `bench/rivals/rival.py`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) contender: String,
    /// Folder with `x.npy` and `y.npy`, the training rows, and `xv.npy` and `yv.npy`, the validation rows.
    pub(crate) folder: PathBuf,
    pub(crate) objective: Objective,
    /// Indices of categorical features.
    pub(crate) categorical: Vec<usize>,
    pub(crate) threads: usize,
    #[serde(flatten)]
    pub(crate) settings: Settings,
    /// Whether prediction is timed on the training rows instead of the validation rows.
    pub(crate) predict_training_rows: bool,
    /// Minimum duration of the prediction calls, of which the mean is taken.
    pub(crate) predict_seconds: f64,
    /// Output file of the raw scores of the validation rows, as `.npy`.
    pub(crate) scores: PathBuf,
}

/// Duration of a step in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Seconds {
    pub(crate) wall: f64,
    /// CPU time of all threads, user and system.
    pub(crate) cpu: f64,
}

/// Costs of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) version: String,
    /// `None` if binning is part of training.
    pub(crate) bin: Option<Seconds>,
    pub(crate) train: Seconds,
    /// Mean of one call.
    pub(crate) predict: Seconds,
    /// Peak memory up to the end of training, minus the memory of input and libraries.
    pub(crate) peak_bytes: Option<u64>,
}

impl Answer {
    /// Parses the last line that is an answer; libraries may print lines before it.
    pub(crate) fn parse(output: &str) -> Option<Self> {
        output.lines().rev().find_map(|line| serde_json::from_str(line).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"version": "4.7.0", "bin": null, "train": {"wall": 2.5, "cpu": 4.5},
        "predict": {"wall": 0.25, "cpu": 0.5}, "peak_bytes": 1024}"#;

    #[test]
    fn an_answer_is_found_among_other_output() {
        let output = format!("[warning] something\n{}\n\nbye\n", LINE.replace('\n', " "));
        let answer = Answer::parse(&output).expect("the second line");
        assert_eq!((answer.version.as_str(), answer.bin, answer.peak_bytes), ("4.7.0", None, Some(1024)));
        assert_eq!(answer.train, Seconds { wall: 2.5, cpu: 4.5 });
    }

    #[test]
    fn output_without_an_answer_gives_none() {
        assert_eq!(Answer::parse("[warning] something\n{}\n"), None);
        assert_eq!(Answer::parse(&LINE.replace("\"train\"", "\"trained\"")), None);
    }

    #[test]
    fn a_job_survives_its_json_with_the_settings_among_the_other_fields() {
        let job = Job {
            contender: "lightgbm".into(),
            folder: "data".into(),
            objective: Objective::Binary,
            categorical: vec![1, 3],
            threads: 2,
            settings: super::super::settings(crate::measure::Pace::Full),
            predict_training_rows: true,
            predict_seconds: 0.5,
            scores: "scores.npy".into(),
        };
        let json = serde_json::to_value(&job).expect("json");
        assert_eq!((&json["leaves"], &json["objective"]), (&63.into(), &"binary".into()));
        assert_eq!(serde_json::from_value::<Job>(json).expect("the same"), job);
    }
}
