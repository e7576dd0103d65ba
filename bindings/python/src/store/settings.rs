//! Conversion of settings.

use std::time::Duration;

use bitgrain::codec::{BlockLen, NonFinite, TwoLevel};
use bitgrain::store::policy::{AbsentRule, PolicyConfig, Preset};
use bitgrain::store::{AbsentReads, Dependents, OnDamage, PutOptions, StoreConfig, SyncMode, Tier};
use pyo3::prelude::*;

use super::clock::StoreClock;
use crate::error::{Raised, Result};

const SYNC: [(&str, SyncMode); 2] = [("always", SyncMode::Always), ("on_seal", SyncMode::OnSeal)];
const ON_DAMAGE: [(&str, OnDamage); 2] = [("refuse", OnDamage::Refuse), ("salvage", OnDamage::Salvage)];
const ABSENT_READS: [(&str, AbsentReads); 2] = [("zeros", AbsentReads::Zeros), ("refuse", AbsentReads::Refuse)];
const ABSENT: [(&str, AbsentRule); 3] =
    [("never", AbsentRule::Never), ("reconstructable", AbsentRule::Reconstructable), ("any", AbsentRule::Any)];
const NON_FINITE: [(&str, NonFinite); 3] =
    [("reject", NonFinite::Reject), ("zero", NonFinite::Zero), ("clamp", NonFinite::Clamp)];
const DEPENDENTS: [(&str, Dependents); 2] = [("refuse", Dependents::Refuse), ("materialize", Dependents::Materialize)];

/// Returns the choice of a name.
fn choice<T: Copy>(what: &str, name: &str, choices: &[(&str, T)]) -> Result<T> {
    let found = choices.iter().find(|(other, _)| *other == name);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names = choices.iter().map(|(name, _)| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        Raised::input(format_args!("{what} is {name:?}; it must be one of {names}"))
    })
}

/// Returns the tier of a name.
pub(super) fn tier(what: &str, name: &str) -> Result<Tier> {
    choice(what, name, &Tier::ALL.map(|tier| (tier.name(), tier)))
}

/// Returns the handling of dependents by name.
pub(super) fn dependents(name: &str) -> Result<Dependents> {
    // The British spelling is accepted, but not listed.
    choice("dependents", if name == "materialise" { "materialize" } else { name }, &DEPENDENTS)
}

/// Arguments of opening a store.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct OpenSettings {
    sync: String,
    segment_bytes: u64,
    block_len: usize,
    two_level: bool,
    mapped: bool,
    on_damage: String,
    absent_reads: String,
    policy: Option<PolicySettings>,
    clock: Option<Py<StoreClock>>,
}

impl OpenSettings {
    pub(super) fn config(self, create: bool) -> Result<StoreConfig> {
        let block_len = BlockLen::new(self.block_len).map_err(Raised::input)?;
        let defaults = StoreConfig::default();
        Ok(StoreConfig {
            clock: self.clock.map_or(defaults.clock, |clock| clock.get().shared()),
            create,
            sync: choice("sync", &self.sync, &SYNC)?,
            segment_bytes: self.segment_bytes,
            block_len,
            two_level: two_level(self.two_level),
            mapped: self.mapped,
            on_damage: choice("on_damage", &self.on_damage, &ON_DAMAGE)?,
            absent_reads: choice("absent_reads", &self.absent_reads, &ABSENT_READS)?,
            policy: self.policy.map_or_else(|| Ok(PolicyConfig::default()), PolicySettings::config)?,
            ..defaults
        })
    }
}

/// The fields of a `TierPolicy`.
#[derive(FromPyObject, IntoPyObject)]
pub(super) struct PolicySettings {
    period: Duration,
    ema_weight: f32,
    recency_half_life: Duration,
    weight_ema: f32,
    weight_recency: f32,
    weight_window: f32,
    hot_min: f32,
    warm_min: f32,
    score_hysteresis: f32,
    residency: Duration,
    absent_min_score: f32,
    absent_age_threshold: Duration,
    absent: String,
    first_tier: String,
    least_tier: String,
    budget: Option<u64>,
    warm_byte_cap: u64,
    warm_hysteresis: f32,
    warm_downgrade_interval: Duration,
}

impl PolicySettings {
    fn config(self) -> Result<PolicyConfig> {
        Ok(PolicyConfig {
            period: self.period,
            ema_weight: self.ema_weight,
            recency_half_life: self.recency_half_life,
            weight_ema: self.weight_ema,
            weight_recency: self.weight_recency,
            weight_window: self.weight_window,
            hot_min: self.hot_min,
            warm_min: self.warm_min,
            score_hysteresis: self.score_hysteresis,
            residency: self.residency,
            absent_min_score: self.absent_min_score,
            absent_age_threshold: self.absent_age_threshold,
            absent: choice("absent", &self.absent, &ABSENT)?,
            first_tier: tier("first_tier", &self.first_tier)?,
            least_tier: tier("least_tier", &self.least_tier)?,
            budget: self.budget,
            warm_byte_cap: self.warm_byte_cap,
            warm_hysteresis: self.warm_hysteresis,
            warm_downgrade_interval: self.warm_downgrade_interval,
        })
    }
}

/// Returns the policy with this name: `careful`, `adr019` or `budget:BYTES`.
#[pyfunction]
pub(super) fn named_policy(name: &str) -> Result<PolicySettings> {
    let policy = name.parse::<Preset>().map_err(Raised::input)?.config();
    let absent = ABSENT.iter().find(|(_, rule)| *rule == policy.absent).map_or("", |(name, _)| *name);
    Ok(PolicySettings {
        period: policy.period,
        ema_weight: policy.ema_weight,
        recency_half_life: policy.recency_half_life,
        weight_ema: policy.weight_ema,
        weight_recency: policy.weight_recency,
        weight_window: policy.weight_window,
        hot_min: policy.hot_min,
        warm_min: policy.warm_min,
        score_hysteresis: policy.score_hysteresis,
        residency: policy.residency,
        absent_min_score: policy.absent_min_score,
        absent_age_threshold: policy.absent_age_threshold,
        absent: absent.to_owned(),
        first_tier: policy.first_tier.name().to_owned(),
        least_tier: policy.least_tier.name().to_owned(),
        budget: policy.budget,
        warm_byte_cap: policy.warm_byte_cap,
        warm_hysteresis: policy.warm_hysteresis,
        warm_downgrade_interval: policy.warm_downgrade_interval,
    })
}

/// Arguments of `put`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct PutSettings {
    tier: Option<String>,
    pin: Option<String>,
    max_error: Option<f32>,
    lossless: bool,
    user: Option<Vec<(String, String)>>,
    non_finite: String,
    two_level: bool,
    replace: bool,
}

impl PutSettings {
    pub(super) fn options(settings: Option<Self>) -> Result<PutOptions> {
        let Some(settings) = settings else { return Ok(PutOptions { keep_frames: true, ..PutOptions::default() }) };
        Ok(PutOptions {
            tier: settings.tier.map(|name| tier("tier", &name)).transpose()?,
            pin: settings.pin.map(|name| tier("pin", &name)).transpose()?,
            max_error: settings.max_error,
            lossless: settings.lossless,
            user: settings.user,
            non_finite: choice("non_finite", &settings.non_finite, &NON_FINITE)?,
            two_level: two_level(settings.two_level),
            keep_frames: !settings.replace,
        })
    }
}

fn two_level(on: bool) -> TwoLevel {
    if on { TwoLevel::AUTO } else { TwoLevel::Off }
}
