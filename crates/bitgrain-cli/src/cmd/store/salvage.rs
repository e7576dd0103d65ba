//! `store salvage`: copies the readable part of a damaged store to a new one.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use bitgrain::store::{Damage, StoreConfig, StoreError, SyncMode, TensorId, TensorStore};
use serde_json::{Value, json};

use super::damage::{self, damage_of};
use super::id::{shown, with_id};
use super::session::{close, open_to_salvage};
use crate::error::CliError;
use crate::printable::counted;
use crate::progress::RoundBar;
use crate::table::Table;

/// Copy the readable part of a damaged store to a new one and report the losses. The damaged store is not changed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Values are not re-encoded: values, errors and limits are copied from the old store. Frames are copied up to the
first damaged one. If it is unknown which tensor a damaged record belonged to, an older version of that tensor may be copied.

Exit code: 0 everything was copied, 1 something was lost, 2 nothing was copied.

Examples:
  bitgrain store salvage vectors.store rescued.store
  bitgrain store salvage vectors.store rescued.store --json"
)]
pub(crate) struct Args {
    /// Folder of the damaged store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Folder of the new store; must be empty or not exist.
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Maximum number of losses listed.
const LISTED: usize = 100;

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let old = open_to_salvage(&args.path).map_err(CliError::store(&args.path))?;
    let occupied = args.new.read_dir().is_ok_and(|mut entries| entries.next().is_some()) || args.new.is_file();
    if occupied {
        return Err(CliError::NotEmpty { path: args.new.clone() });
    }
    let there = args.new.is_dir();
    let salvaged = salvage(&old, args).inspect_err(|_| remove(&args.new, there))?;
    let damages = &old.recovery().damages;
    if args.json {
        let found = json!({
            "copied": salvaged.copied,
            "frames": salvaged.frames,
            "lost": salvaged.lost.iter().map(Loss::to_json).collect::<Vec<_>>(),
            "damages": damages.iter().map(damage::to_json).collect::<Vec<_>>(),
            "store": args.new,
        });
        writeln!(out, "{found:#}")?;
    } else {
        write_text(&salvaged, damages, args, out)?;
    }
    out.flush()?;
    match salvaged.lost.len() + damages.len() {
        0 => Ok(()),
        _ => Err(CliError::Lost { tensors: salvaged.lost.len(), places: damages.len() }),
    }
}

/// Result of a salvage.
#[derive(Default)]
struct Salvaged {
    done: BTreeSet<TensorId>,
    copied: usize,
    frames: u64,
    lost: Vec<Loss>,
}

/// A tensor that was not copied, or only in part.
struct Loss {
    id: TensorId,
    /// Number of frames copied, and number of frames of the tensor.
    frames: Option<(u64, u64)>,
    what: String,
}

impl Loss {
    fn to_json(&self) -> Value {
        let about = json!({
            "frames_copied": self.frames.map(|frames| frames.0),
            "frames": self.frames.map(|frames| frames.1),
            "problem": self.what,
        });
        with_id(&self.id, about)
    }
}

fn salvage(old: &TensorStore, args: &Args) -> Result<Salvaged, CliError> {
    let config = StoreConfig { sync: SyncMode::OnSeal, ..StoreConfig::default() };
    let new = TensorStore::open(&args.new, config).map_err(CliError::store(&args.new))?;
    let ids = old.snapshot().ids();
    let bar = RoundBar::of("salvaging", "tensors");
    let mut salvaged = Salvaged::default();
    for (done, id) in ids.iter().enumerate() {
        bar.at(done, ids.len(), &shown(id));
        salvaged.copy(id, old, &new).map_err(CliError::store(&args.new))?;
    }
    bar.finish();
    salvaged.lost.sort_by(|a, b| a.id.cmp(&b.id));
    new.flush().map_err(CliError::store(&args.new))?;
    close(new, &args.new)?;
    Ok(salvaged)
}

impl Salvaged {
    /// Copies a tensor, after its base.
    fn copy(&mut self, id: &TensorId, old: &TensorStore, new: &TensorStore) -> Result<(), StoreError> {
        if !self.done.insert(id.clone()) {
            return Ok(());
        }
        if let Some(base) = old.base_of(id) {
            self.copy(&base, old, new)?;
        }
        let expected = old.frame_count(id).ok();
        let lost = match (old.copy_to(id, new), expected) {
            (Ok(frames), Some(expected)) if frames < expected => {
                self.frames += frames;
                let what = format!("frame {frames} is damaged; it and all later frames are lost");
                Loss { id: id.clone(), frames: Some((frames, expected)), what }
            }
            (Ok(frames), _) => {
                self.copied += 1;
                self.frames += frames;
                return Ok(());
            }
            (Err(StoreError::NotFound { id: missing }), _) => {
                let what = match &missing == id {
                    true => "it has no readable record, but another tensor is reconstructed from it".to_owned(),
                    false => format!("it is reconstructed from {}, which is lost", shown(&missing)),
                };
                Loss { id: id.clone(), frames: None, what }
            }
            (Err(error), _) => Loss { id: id.clone(), frames: None, what: damage_of(error)?.what },
        };
        self.lost.push(lost);
        Ok(())
    }
}

fn write_text(salvaged: &Salvaged, damages: &[Damage], args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let frames =
        if salvaged.frames == 0 { String::new() } else { format!(" and {}", counted(salvaged.frames, "frame")) };
    writeln!(out, "copied {}{frames} to {}", counted(salvaged.copied as u64, "tensor"), args.new.display())?;
    if !damages.is_empty() {
        writeln!(out, "\ndamage whose tensor is unknown:\n\n{}", damage::table(damages))?;
    }
    if salvaged.lost.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&["lost", "frames copied", "reason"], 1);
    for loss in salvaged.lost.iter().take(LISTED) {
        let frames = loss.frames.map_or_else(|| "–".to_owned(), |(copied, all)| format!("{copied} of {all}"));
        table.row([shown(&loss.id), frames, loss.what.clone()]);
    }
    let more = if salvaged.lost.len() > LISTED { "\n…; --json lists all" } else { "" };
    writeln!(out, "\n{table}{more}")?;
    Ok(())
}

/// Deletes the content of a folder that was empty before. Errors are ignored: the next attempt reports a non-empty
/// folder.
fn remove(path: &Path, there: bool) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        let _ = fs::remove_file(entry.path());
    }
    if !there {
        let _ = fs::remove_dir(path);
    }
}
