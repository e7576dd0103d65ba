//! `Ledger`: finished runs in a file, so that a suite can be measured in several sittings.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::machine::Machine;

/// Finished runs of this machine and commit, and the time after which no run starts.
pub(super) struct Ledger {
    file: Option<PathBuf>,
    machine: Machine,
    /// Results by key.
    runs: RefCell<BTreeMap<String, Value>>,
    end: Option<Instant>,
    postponed: Cell<usize>,
}

impl Ledger {
    /// Reads the runs that the file holds, if it exists. Without a file, every run is new.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or has a line that is not a run.
    pub(super) fn open(file: Option<&Path>, most: Option<Duration>) -> io::Result<Self> {
        let machine = Machine::read();
        let mut runs = BTreeMap::new();
        let text = match file.map(fs::read_to_string) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Some(Ok(text)) => text,
            _ => String::new(),
        };
        for line in text.lines() {
            let mut run: Value = serde_json::from_str(line)?;
            if run["cpu"] == json!(machine.cpu) && run["commit"] == json!(machine.commit) {
                runs.insert(run["key"].to_string(), run["result"].take());
            }
        }
        let end = most.map(|most| Instant::now() + most);
        Ok(Self { file: file.map(Path::to_owned), machine, runs: RefCell::new(runs), end, postponed: Cell::new(0) })
    }

    /// Returns the result that was kept under this key, or else that of `run`, which is kept. Failures are not kept.
    ///
    /// # Errors
    /// Returns the error of `run`, or one that says that the time is up.
    pub(super) fn result<T: Serialize + DeserializeOwned>(
        &self,
        key: &Value,
        run: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, String> {
        let name = key.to_string();
        if let Some(kept) = self.runs.borrow().get(&name) {
            return serde_json::from_value(kept.clone()).map_err(|error| error.to_string());
        }
        if self.end.is_some_and(|end| Instant::now() > end) {
            self.postponed.set(self.postponed.get() + 1);
            return Err("postponed".to_owned());
        }
        let result = run()?;
        let value = json!(result);
        if let Some(file) = &self.file {
            let line = json!({
                "cpu": self.machine.cpu, "commit": self.machine.commit, "key": key, "result": value,
            });
            let mut file =
                OpenOptions::new().create(true).append(true).open(file).map_err(|error| error.to_string())?;
            // In one write, so that an interruption leaves whole lines.
            file.write_all(format!("{line}\n").as_bytes()).map_err(|error| error.to_string())?;
        }
        self.runs.borrow_mut().insert(name, value);
        Ok(result)
    }

    /// Returns an error if runs were postponed.
    ///
    /// # Errors
    /// Says how to continue.
    pub(super) fn finished(&self) -> io::Result<()> {
        match self.postponed.get() {
            0 => Ok(()),
            _ => Err(io::Error::other("the time is up; run the same command again to continue")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_run_is_measured_once_and_failures_again() {
        let folder = Scratch::new("ledger").expect("a folder");
        let file = folder.file("runs.jsonl");
        let key = |name: &str| json!({ "name": name });
        let ledger = Ledger::open(Some(&file), None).expect("no file yet");
        assert_eq!(ledger.result(&key("a"), || Ok(1.5)), Ok(1.5));
        assert_eq!(ledger.result(&key("a"), || Ok(2.5)), Ok(1.5));
        assert_eq!(ledger.result::<f64>(&key("b"), || Err("broken".into())), Err("broken".into()));
        let again = Ledger::open(Some(&file), None).expect("one run");
        assert_eq!(again.result(&key("a"), || Ok(3.5)), Ok(1.5));
        assert_eq!(again.result(&key("b"), || Ok(3.5)), Ok(3.5));
        again.finished().expect("nothing was postponed");
    }

    #[test]
    fn runs_of_another_commit_are_not_used() {
        let folder = Scratch::new("ledger-commit").expect("a folder");
        let file = folder.file("runs.jsonl");
        let line = json!({ "cpu": Machine::read().cpu, "commit": "another", "key": "a", "result": 1.0 });
        fs::write(&file, format!("{line}\n")).expect("room");
        let ledger = Ledger::open(Some(&file), None).expect("one run");
        assert_eq!(ledger.result(&json!("a"), || Ok(2.0)), Ok(2.0));
        fs::write(&file, "not a run\n").expect("room");
        assert!(Ledger::open(Some(&file), None).is_err());
    }

    #[test]
    fn no_run_starts_after_the_end() {
        let ledger = Ledger::open(None, Some(Duration::ZERO)).expect("no file");
        std::thread::sleep(Duration::from_millis(1));
        assert!(ledger.result(&json!("a"), || Ok(1.0)).is_err());
        assert!(ledger.finished().is_err());
    }
}
