//! `store pin`: sets the pin and the error limit of a tensor.

use std::io::Write;
use std::path::PathBuf;

use serde_json::json;

use super::arguments::TierName;
use super::id::{Id, shown, with_id};
use super::session::{close, open};
use crate::error::CliError;

/// Pin a tensor to a tier or limit its error; both can be removed again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store pin vectors.store mean hot
  bitgrain store pin vectors.store mean none
  bitgrain store pin vectors.store mean --max-error 0.01")]
pub(crate) struct Args {
    /// Folder of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Id of the tensor.
    #[arg(value_name = "ID")]
    id: Id,
    /// Minimum tier: lossless, f16, hot, warm, b6, warm-aggressive, b4 or cold; `none` removes the pin.
    #[arg(value_name = "TIER", required_unless_present = "max_error")]
    tier: Option<Hold>,
    /// Largest error allowed from now on; `inf` removes the limit.
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    max_error: Option<f32>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A tier, or `none`.
#[derive(Debug, Clone, Copy)]
struct Hold(Option<TierName>);

impl std::str::FromStr for Hold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" { Ok(Self(None)) } else { text.parse().map(|tier| Self(Some(tier))) }
    }
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let store = open(&args.path)?;
    let failed = || CliError::store(&args.path);
    if let Some(Hold(tier)) = args.tier {
        store.pin(&args.id.0, tier.map(|tier| tier.0)).map_err(failed())?;
    }
    if let Some(most) = args.max_error {
        store.set_max_error(&args.id.0, (most != f32::INFINITY).then_some(most)).map_err(failed())?;
    }
    let meta = store.meta(&args.id.0).map_err(failed())?;
    close(store, &args.path)?;
    let pinned = meta.pinned.map(bitgrain::store::Tier::name);
    if args.json {
        let found = json!({"pinned": pinned, "max_error": meta.max_error});
        return Ok(writeln!(out, "{:#}", with_id(&args.id.0, found))?);
    }
    let limit = meta.max_error.map_or_else(String::new, |most| format!(", error limit {most}"));
    let id = shown(&args.id.0);
    match pinned {
        Some(tier) => writeln!(out, "{id} is pinned to {tier}{limit}")?,
        None => writeln!(out, "{id} is not pinned{limit}")?,
    }
    Ok(())
}
