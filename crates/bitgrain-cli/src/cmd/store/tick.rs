//! `store tick`: applies the tier policy.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bitgrain::codec::TwoLevel;
use bitgrain::store::policy::{AbsentRule, PolicyConfig};
use bitgrain::store::{Clock, SimulatedClock, StoreConfig, SystemClock, TensorStore, TierMove};
use serde_json::json;

use super::arguments::{PolicyName, TierName};
use super::id::{shown, with_id};
use super::session::{close, opened};
use crate::error::CliError;
use crate::number::Size;
use crate::size;
use crate::table::Table;

/// Re-encode rarely used tensors with fewer bits; run it periodically.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store tick vectors.store --dry-run
  bitgrain store tick vectors.store --policy budget:2GB   as many bits as fit, most for what is read most
  bitgrain store tick vectors.store --policy budget:2GB --residency 0   new data too
  bitgrain store tick vectors.store --policy adr019       down to 3 bits
  bitgrain store tick vectors.store --absent never       keep all data, reconstructable or not
  bitgrain store tick cache.store --absent any           evict data unused for a day")]
pub(crate) struct Args {
    /// Folder of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Show the changes without making them.
    #[arg(long)]
    dry_run: bool,
    /// Policy: careful (at least 6 bits), adr019 (down to 3 bits) or budget:SIZE (the least error within a total size).
    #[arg(long, value_name = "NAME", default_value = "careful")]
    policy: PolicyName,
    /// Lowest tier, except absent [default: from the policy]
    #[arg(long, value_name = "TIER")]
    least_tier: Option<TierName>,
    /// Minimum time in a tier before a step down, in hours; with a budget, only for new data [default: 2, budget: 24]
    #[arg(long, value_name = "HOURS", allow_negative_numbers = true)]
    residency: Option<f64>,
    /// Use two scales per block for 3-bit tensors with outliers.
    #[arg(long)]
    two_level: bool,
    /// Tensors whose data may be evicted after a day without access.
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = Absent::Reconstructable)]
    absent: Absent,
    /// Maximum size of all warm tensors together, such as 64MiB.
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    warm_cap: Option<u64>,
    /// Time in milliseconds since 1970, at most a day from the system clock [default: the system clock]
    #[arg(long, value_name = "MS", alias = "now")]
    now_ms: Option<u64>,
    /// Accept any time with --now-ms, and record it as the time of the moves
    #[arg(long, requires = "now_ms", conflicts_with = "dry_run")]
    simulate: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Absent {
    /// No tensors.
    Never,
    /// Tensors with a reconstruction policy.
    Reconstructable,
    /// All tensors without a pin or an error limit; reading an evicted tensor is an error.
    Any,
}

/// Maximum number of moves listed.
const LISTED: usize = 20;

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let defaults = args.policy.0.config();
    let policy = PolicyConfig {
        absent: match args.absent {
            Absent::Never => AbsentRule::Never,
            Absent::Reconstructable => AbsentRule::Reconstructable,
            Absent::Any => AbsentRule::Any,
        },
        warm_byte_cap: args.warm_cap.unwrap_or(defaults.warm_byte_cap),
        least_tier: args.least_tier.map_or(defaults.least_tier, |tier| tier.0),
        residency: args.residency.map_or(Ok(defaults.residency), hours)?,
        ..defaults
    };
    let now = args.now_ms.unwrap_or_else(|| SystemClock.now());
    let clock: Arc<dyn Clock> = if args.simulate { Arc::new(SimulatedClock::new(now)) } else { Arc::new(SystemClock) };
    let two_level = if args.two_level { TwoLevel::AUTO } else { TwoLevel::Off };
    let config = StoreConfig { create: false, policy, clock, two_level, ..StoreConfig::default() };
    let failed = || CliError::store(&args.path);
    let (moves, wanted_tiers, skipped, saved, over_budget) = if args.dry_run {
        let store = TensorStore::open_read_only_with(&args.path, config).map_err(failed())?;
        let plan = store.plan(now).map_err(failed())?;
        (plan.moves, plan.wanted_tiers.len(), 0, None, plan.over_budget)
    } else {
        let store = opened(&args.path, config)?;
        let report = store.tick(now).map_err(failed())?;
        close(store, &args.path)?;
        let saved = (report.bytes_before, report.bytes_after);
        (report.moves, report.wanted_tiers, report.skipped, Some(saved), report.over_budget)
    };
    if args.json {
        let one = |step: &TierMove| {
            let about = json!({
                "from": step.from.name(),
                "to": step.to.name(),
                "frames": step.frames.as_ref().map(|frames| [frames.start, frames.end]),
                "reason": format!("{:?}", step.reason),
                "bytes": step.bytes,
            });
            with_id(&step.id, about)
        };
        let found = json!({
            "dry_run": args.dry_run,
            "moves": moves.iter().map(one).collect::<Vec<_>>(),
            "wanted_tiers": wanted_tiers,
            "skipped": skipped,
            "bytes_before": saved.map(|saved| saved.0),
            "bytes_after": saved.map(|saved| saved.1),
            "over_budget": over_budget,
        });
        return Ok(writeln!(out, "{found:#}")?);
    }
    let would = if args.dry_run { "would be" } else { "were" };
    writeln!(
        out,
        "{} tensors {would} re-encoded with fewer bits; {wanted_tiers} changes of wanted tiers",
        moves.len()
    )?;
    if over_budget > 0 {
        let left = Size(over_budget);
        writeln!(out, "{left} above the budget: new data, pins, error limits and lossless tensors keep their bits")?;
    }
    if moves.is_empty() {
        return Ok(());
    }
    let gone = moves.iter().filter(|step| step.to == bitgrain::store::Tier::Absent).count();
    if gone > 0 {
        let would = if args.dry_run { "would lose" } else { "lost" };
        writeln!(out, "{gone} of them {would} their data; `--absent never` keeps it")?;
    }
    let mut kinds: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    moves.iter().for_each(|step| *kinds.entry((step.from.name(), step.to.name())).or_default() += 1);
    let mut table = Table::new(&["from", "to", "tensors"], 2);
    kinds.iter().for_each(|((from, to), count)| table.row([(*from).to_owned(), (*to).to_owned(), count.to_string()]));
    writeln!(out, "\n{table}")?;
    if let Some((before, after)) = saved {
        writeln!(out, "\n{} became {}; `bitgrain store compact` frees the space", Size(before), Size(after))?;
    }
    if args.dry_run {
        let listed = moves.iter().take(LISTED).map(|step| shown(&step.id));
        writeln!(out, "\n{}{}", listed.collect::<Vec<_>>().join("\n"), if moves.len() > LISTED { "\n…" } else { "" })?;
    }
    Ok(())
}

fn hours(hours: f64) -> Result<Duration, CliError> {
    Duration::try_from_secs_f64(hours * 3600.0).map_err(|_| CliError::Hours { hours })
}
