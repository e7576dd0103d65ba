//! The content of a store as read, and its comparison with the possible contents.

use std::collections::BTreeMap;
use std::sync::Arc;

use bitgrain_store::{StoreError, TensorId, TensorMeta, TensorStore, Tier};

use crate::world::{Part, Version, World};

/// A tensor as it was read.
#[derive(Debug, Clone)]
pub(crate) struct Sight {
    pub(crate) meta: TensorMeta,
    pub(crate) parts: Vec<Part>,
}

/// The contents of a store, read once.
#[derive(Debug, Clone, Default)]
pub(crate) struct View(pub(crate) BTreeMap<TensorId, Sight>);

impl View {
    /// Reads the whole store.
    ///
    /// # Errors
    /// Returns the first error of the store.
    pub(crate) fn of(store: &TensorStore) -> Result<Self, StoreError> {
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
    /// Returns the error of the store.
    pub(crate) fn parts(store: &TensorStore, meta: &TensorMeta) -> Result<Vec<Part>, StoreError> {
        if let Some(count) = meta.frames {
            let frames = store.frames(&meta.id, 0..count)?;
            let part = |frame: bitgrain_store::Frame| Part {
                values: frame.values.into(),
                recorded: Some(frame.provenance.into()),
            };
            return Ok(frames.into_iter().map(part).collect());
        }
        if meta.provenance.tier == Tier::Absent {
            if meta.reconstructable {
                store.get(&meta.id)?; // any result will do, as long as its dependencies exist
            }
            return Ok(Vec::new());
        }
        let tensor = store.get(&meta.id)?;
        Ok(vec![Part { values: tensor.values.into(), recorded: Some(tensor.provenance.into()) }])
    }

    /// Returns the tensors whose names start with `prefix`.
    pub(crate) fn of_prefix(&self, prefix: &str) -> Self {
        let own = |id: &TensorId| matches!(id, TensorId::Name(name) if name.starts_with(prefix));
        Self(self.0.iter().filter(|(id, _)| own(id)).map(|(id, sight)| (id.clone(), sight.clone())).collect())
    }

    /// Returns the matching one of `worlds`, with one version of each tensor.
    ///
    /// # Errors
    /// Returns the mismatch with the last of `worlds` if none of them matches.
    pub(crate) fn find(&self, worlds: &[World]) -> Result<World, String> {
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
    /// Checks that this is that version.
    ///
    /// # Errors
    /// Returns the difference.
    pub(crate) fn is(&self, version: &Version) -> Result<(), String> {
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
