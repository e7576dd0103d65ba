//! What a store may hold: a plain map with the original values, and how a store that was opened is held against it.

use std::collections::BTreeMap;
use std::sync::Arc;

use bitgrain_store::{Provenance, StoreError, TensorId, TensorMeta, TensorStore, Tier};

use crate::script::{Op, Put};

/// Values that were put or appended once, and what was said about them then.
#[derive(Debug, Clone)]
pub struct Part {
    pub values: Arc<[f32]>,
    /// What the store recorded; `None` if an error came instead, so that anything honest will do.
    pub recorded: Option<Recorded>,
}

/// What a record says of its data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recorded {
    pub tier: Tier,
    pub bound: f32,
    pub measured: f32,
}

impl From<Provenance> for Recorded {
    fn from(from: Provenance) -> Self {
        Self { tier: from.tier, bound: from.bound, measured: from.measured }
    }
}

/// A tensor as it was acknowledged: one part, or a part for each frame if it is temporal.
#[derive(Debug, Clone)]
pub struct Version {
    pub shape: Vec<usize>,
    pub parts: Vec<Part>,
    pub temporal: bool,
    pub pinned: Option<Tier>,
    pub user: Vec<(String, String)>,
}

/// Everything a store may hold at one time. Several versions of one id: any of them, whatever the others are.
#[derive(Debug, Clone, Default)]
pub struct World(pub BTreeMap<TensorId, Vec<Arc<Version>>>);

impl World {
    /// The newest version of `id`.
    pub fn version(&self, id: &TensorId) -> Option<&Arc<Version>> {
        self.0.get(id).and_then(|versions| versions.last())
    }

    pub fn set(&mut self, id: TensorId, version: Version) {
        self.0.insert(id, vec![Arc::new(version)]);
    }

    /// What it becomes by `op`, with nothing known of what the store records.
    pub fn after(&self, op: &Op) -> Self {
        let mut world = self.clone();
        match op {
            Op::Put(Put { id, shape, values, pin, user, .. }) => {
                let parts = vec![Part { values: Arc::clone(values), recorded: None }];
                // What the tensor had stays unless something else is said.
                let (pinned, noted) = world.version(id).map_or((None, vec![]), |old| (old.pinned, old.user.clone()));
                let (pinned, user) = (pin.or(pinned), user.clone().unwrap_or(noted));
                world.set(id.clone(), Version { shape: shape.clone(), parts, temporal: false, pinned, user });
            }
            Op::Append { id, shape, values } => {
                let empty = Version { shape: shape.clone(), parts: vec![], temporal: true, pinned: None, user: vec![] };
                let mut version = world.version(id).map_or(empty, |version| Version::clone(version));
                version.parts.push(Part { values: Arc::clone(values), recorded: None });
                world.set(id.clone(), version);
            }
            Op::Delete { id } => drop(world.0.remove(id)),
            Op::Pin { id, tier } => {
                if let Some(version) = world.version(id) {
                    let version = Version { pinned: *tier, ..Version::clone(version) };
                    world.set(id.clone(), version);
                }
            }
            Op::Note { id, pairs } => {
                if let Some(version) = world.version(id) {
                    let version = Version { user: pairs.clone(), ..Version::clone(version) };
                    world.set(id.clone(), version);
                }
            }
            Op::Batch(ops) => {
                // Of several changes of one tensor the last counts, whatever the others would have left of it.
                let replaced = |at: usize| ops[at + 1..].iter().any(|later| later.replaces(&ops[at]));
                let counting: Vec<&Op> = (0..ops.len()).filter(|at| !replaced(*at)).map(|at| &ops[at]).collect();
                // All or nothing: not even the rest, if there is nothing to delete.
                let missing = |op: &&Op| matches!(op, Op::Delete { id } if !self.0.contains_key(id));
                if !counting.iter().any(missing) {
                    world = counting.into_iter().fold(world, |world, op| world.after(op));
                }
            }
            Op::Read { .. } | Op::Tick { .. } | Op::Compact { .. } | Op::Flush | Op::Reopen | Op::Kill => {}
        }
        world
    }

    /// Any id as here or as there: work that is not atomic was under way.
    pub fn or(&self, other: &Self) -> Self {
        let mut both = self.clone();
        for (id, versions) in &other.0 {
            let known = both.0.entry(id.clone()).or_default();
            known.extend(
                versions
                    .iter()
                    .filter(|new| !known.iter().any(|old| Arc::ptr_eq(old, new)))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
        }
        both
    }
}

/// A tensor as it was read.
#[derive(Debug, Clone)]
pub struct Sight {
    pub meta: TensorMeta,
    pub parts: Vec<Part>,
}

/// Everything a store gives, read once.
#[derive(Debug, Clone, Default)]
pub struct View(pub BTreeMap<TensorId, Sight>);

impl View {
    /// Reads all of a store.
    ///
    /// # Errors
    /// The first that the store reports.
    pub fn of(store: &TensorStore) -> Result<Self, StoreError> {
        let mut view = Self::default();
        for meta in store.scan(None) {
            let meta = meta?;
            let parts = Self::parts(store, &meta)?;
            view.0.insert(meta.id.clone(), Sight { meta, parts });
        }
        Ok(view)
    }

    /// Reads the values of one tensor.
    ///
    /// # Errors
    /// Those of the store.
    pub fn parts(store: &TensorStore, meta: &TensorMeta) -> Result<Vec<Part>, StoreError> {
        if let Some(count) = meta.frames {
            let frames = store.frames(&meta.id, 0..count)?;
            let part = |frame: bitgrain_store::Frame| Part {
                values: frame.values.into(),
                recorded: Some(frame.provenance.into()),
            };
            return Ok(frames.into_iter().map(part).collect());
        }
        if meta.provenance.tier == Tier::Absent {
            return Ok(Vec::new());
        }
        let tensor = store.get(&meta.id)?;
        Ok(vec![Part { values: tensor.values.into(), recorded: Some(tensor.provenance.into()) }])
    }

    /// The tensors whose names begin with `prefix`.
    pub fn of_prefix(&self, prefix: &str) -> Self {
        let own = |id: &TensorId| matches!(id, TensorId::Name(name) if name.starts_with(prefix));
        Self(self.0.iter().filter(|(id, _)| own(id)).map(|(id, sight)| (id.clone(), sight.clone())).collect())
    }

    /// Which of `worlds` this is, with one version of each tensor.
    ///
    /// # Errors
    /// What is wrong with the last of them, if it is none.
    pub fn find(&self, worlds: &[World]) -> Result<World, String> {
        let mut wrong = Vec::new();
        for world in worlds.iter().rev() {
            match self.is(world) {
                Ok(found) => return Ok(found),
                Err(why) => wrong.push(why),
            }
        }
        let shown = wrong.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", and if not ");
        Err(format!("{shown} (newest of {} worlds first)", wrong.len()))
    }

    fn is(&self, world: &World) -> Result<World, String> {
        if let Some(id) = self.0.keys().find(|id| !world.0.contains_key(id)) {
            return Err(format!("{id} is there and must not be"));
        }
        let mut found = World::default();
        for (id, versions) in &world.0 {
            let sight = self.0.get(id).ok_or_else(|| format!("{id} was acknowledged and is lost"))?;
            let mut wrong = Vec::new();
            for version in versions.iter().rev() {
                match sight.is(version) {
                    Ok(()) => {
                        found.0.insert(id.clone(), vec![Arc::clone(version)]);
                        break;
                    }
                    Err(why) => wrong.push(why),
                }
            }
            if wrong.len() == versions.len() {
                return Err(format!("{id}: {}", wrong.join("; or ")));
            }
        }
        Ok(found)
    }
}

impl Sight {
    /// Whether this is that version.
    ///
    /// # Errors
    /// How it differs.
    pub fn is(&self, version: &Version) -> Result<(), String> {
        let Self { meta, parts } = self;
        let differs = |what: &str, got: String, want: String| Err(format!("{what} is {got}, not {want}"));
        if meta.shape != version.shape {
            return differs("the shape", format!("{:?}", meta.shape), format!("{:?}", version.shape));
        }
        if meta.pinned != version.pinned {
            return differs("the pin", format!("{:?}", meta.pinned), format!("{:?}", version.pinned));
        }
        if meta.user != version.user {
            return differs("what the user wrote", format!("{:?}", meta.user), format!("{:?}", version.user));
        }
        if meta.frames.is_some() != version.temporal {
            return differs("the kind", format!("{:?}", meta.frames), format!("temporal: {}", version.temporal));
        }
        if meta.provenance.tier == Tier::Absent && !version.temporal {
            return match version.parts[0].recorded {
                Some(recorded) if recorded.tier != Tier::Absent => {
                    differs("the tier", "absent".into(), format!("{recorded:?}"))
                }
                _ => Ok(()),
            };
        }
        if parts.len() != version.parts.len() {
            return differs("the number of parts", parts.len().to_string(), version.parts.len().to_string());
        }
        parts
            .iter()
            .zip(&version.parts)
            .enumerate()
            .try_for_each(|(at, (got, want))| got.is(want).map_err(|why| format!("part {at}: {why}")))
    }
}

impl Part {
    /// Whether values that were read are those that were put, as far as they must be.
    fn is(&self, original: &Self) -> Result<(), String> {
        let got = self.recorded.expect("what was read has a provenance");
        if let Some(want) = original.recorded
            && want != got
        {
            return Err(format!("{got:?} where {want:?} was acknowledged"));
        }
        if self.values.len() != original.values.len() {
            return Err(format!("{} values, not {}", self.values.len(), original.values.len()));
        }
        if !(got.measured <= got.bound && got.bound.is_finite()) {
            return Err(format!("{got:?} cannot be"));
        }
        for (at, (value, original)) in self.values.iter().zip(&*original.values).enumerate() {
            let error = (f64::from(*value) - f64::from(*original)).abs();
            // A NaN is not within any bound.
            if !(error <= f64::from(got.measured)) {
                return Err(format!("value {at} is {value}, was {original}, error {error:e} above {got:?}"));
            }
        }
        Ok(())
    }
}
