//! `Tables`: the vectors of all segments, updated before each search.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};

use super::journal::Event;
use super::signs::{Frame, MIN_COLUMNS, MIN_VECTORS, SignPlane};
use super::table::{Group, Parsed, SegmentTable, TABLE_RECORDS, decode_vector, parse};
use crate::StoreError;
use crate::index::Index;
use crate::log::Segments;
use crate::segment::{Place, Segment};

/// Minimum number of records that are read on several threads.
const PARALLEL: usize = 1024;

/// Vectors of all segments. Empty until the first search, which reads and verifies every record once; later searches
/// read only new records.
#[derive(Debug, Default)]
pub(crate) struct Tables(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    known: BTreeMap<u64, Known>,
    /// Frame of the signs of vectors with this many values.
    frames: HashMap<usize, Arc<Frame>>,
}

/// A segment whose changes are tracked.
#[derive(Debug)]
struct Known {
    tables: Vec<Arc<SegmentTable>>,
}

/// Changes of a segment that are not in its tables yet.
struct Update {
    segment: Arc<Segment>,
    /// Live records without a table.
    new: Vec<Place>,
    dead: Vec<u64>,
}

impl Tables {
    /// Returns the tables of all segments at this moment, in order of segments and offsets; with the signs of vectors of
    /// `signs` values, if requested.
    ///
    /// # Errors
    /// Returns [`StoreError::Damaged`] or [`StoreError::Io`] if a new record cannot be read.
    pub(crate) fn refresh(
        &self,
        index: &Index,
        segments: &Segments,
        signs: Option<usize>,
    ) -> Result<Vec<Arc<SegmentTable>>, StoreError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let State { known, frames } = &mut *state;
        let updates = take_updates(known, index, segments);
        let current: BTreeSet<u64> = updates.iter().map(|update| update.segment.number()).collect();
        known.retain(|number, _| current.contains(number));
        for update in updates {
            let number = update.segment.number();
            let mut entry = known.remove(&number).unwrap_or(Known { tables: Vec::new() });
            if let Err(error) = entry.apply(update) {
                // The changes of later segments were taken and are lost: the next search reads all of them again.
                known.clear();
                return Err(error);
            }
            known.insert(number, entry);
        }
        if let Some(columns) = signs.filter(|&columns| columns >= MIN_COLUMNS) {
            add_signs(known, frames, columns)?;
        }
        Ok(known.values().flat_map(|known| known.tables.iter().cloned()).collect())
    }
}

/// Adds signs to tables with many vectors of `columns` values without signs. The threads are not those of the thread
/// pool, for the reason given at [`parse_all`].
fn add_signs(
    known: &mut BTreeMap<u64, Known>,
    frames: &mut HashMap<usize, Arc<Frame>>,
    columns: usize,
) -> Result<(), StoreError> {
    let missing = |table: &&mut Arc<SegmentTable>| table.groups.iter().any(|group| lacks_signs(group, columns));
    let tables = known.values_mut().flat_map(|known| &mut known.tables);
    let mut tables: Vec<&mut Arc<SegmentTable>> = tables.filter(missing).collect();
    if tables.is_empty() {
        return Ok(());
    }
    let frame = match frames.get(&columns) {
        Some(frame) => Arc::clone(frame),
        None => {
            let frame = Arc::new(Frame::new(mean(&tables, columns)?));
            frames.insert(columns, Arc::clone(&frame));
            frame
        }
    };
    let frame = &frame;
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get).min(rayon::current_num_threads());
    let each = tables.len().div_ceil(cores);
    let parts = tables.chunks_mut(each);
    std::thread::scope(|scope| {
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || extend_signs(part, frame, columns))).collect();
        for thread in threads {
            match thread.join() {
                Ok(done) => done?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(())
    })
}

fn extend_signs(tables: &mut [&mut Arc<SegmentTable>], frame: &Arc<Frame>, columns: usize) -> Result<(), StoreError> {
    for table in tables {
        for at in 0..table.groups.len() {
            let known: &SegmentTable = table;
            let group = &known.groups[at];
            if lacks_signs(group, columns) {
                let mut signs = group.signs.clone().unwrap_or_else(|| SignPlane::new(Arc::clone(frame)));
                signs.extend(known, group)?;
                Arc::make_mut(table).groups[at].signs = Some(signs);
            }
        }
    }
    Ok(())
}

/// Returns whether a group has many vectors of `columns` values without signs.
fn lacks_signs(group: &Group, columns: usize) -> bool {
    let covered = group.signs.as_ref().map_or(0, SignPlane::len);
    group.columns == columns && group.len() - covered >= MIN_VECTORS
}

/// Number of vectors whose mean becomes the center.
const SAMPLE: usize = 4096;

/// Returns the mean of vectors that are spread over the tables.
#[expect(clippy::cast_possible_truncation, reason = "rounded to f32")]
fn mean(tables: &[&mut Arc<SegmentTable>], columns: usize) -> Result<Vec<f32>, StoreError> {
    let groups = tables.iter().flat_map(|table| table.groups.iter().map(move |group| (table, group)));
    let groups: Vec<_> = groups.filter(|(_, group)| group.columns == columns).collect();
    let step = groups.iter().map(|(_, group)| group.len()).sum::<usize>().div_ceil(SAMPLE).max(1);
    let (mut sums, mut count) = (vec![0.0_f64; columns], 0.0_f64);
    let (mut values, mut buffer) = (vec![0.0; columns], Vec::new());
    for (table, group) in groups {
        for vector in (0..group.len()).step_by(step) {
            decode_vector(table, group, vector, &mut buffer, &mut values)?;
            sums.iter_mut().zip(&values).for_each(|(sum, &value)| *sum += f64::from(value));
            count += 1.0;
        }
    }
    Ok(sums.into_iter().map(|sum| (sum / count.max(1.0)) as f32).collect())
}

/// Takes the changes of all segments under the locks of the index, so that a search sees all of a batch or nothing.
fn take_updates(known: &mut BTreeMap<u64, Known>, index: &Index, segments: &Segments) -> Vec<Update> {
    let shards = index.freeze();
    let mut updates: Vec<Update> = Vec::new();
    let mut unknown: HashMap<u64, usize> = HashMap::new();
    for segment in segments.all() {
        let number = segment.number();
        let events = segment.journal.take().filter(|_| known.contains_key(&number));
        let mut update = Update { segment, new: Vec::new(), dead: Vec::new() };
        match events {
            Some(events) => {
                for Event { offset, len, sequence, live } in events {
                    if live {
                        let segment = Arc::clone(&update.segment);
                        update.new.push(Place { segment, offset, len, sequence });
                    } else {
                        update.dead.push(offset);
                    }
                }
            }
            None => {
                known.remove(&number);
                update.segment.journal.track();
                unknown.insert(number, updates.len());
            }
        }
        updates.push(update);
    }
    if !unknown.is_empty() {
        for entry in shards.iter().flat_map(|shard| shard.entries()) {
            if let Some(&at) = unknown.get(&entry.place.segment.number()) {
                updates[at].new.push(entry.place.clone());
            }
        }
    }
    updates
}

impl Known {
    fn apply(&mut self, mut update: Update) -> Result<(), StoreError> {
        if !update.dead.is_empty() {
            let dead: BTreeSet<u64> = update.dead.iter().copied().collect();
            update.new.retain(|place| !dead.contains(&place.offset));
        }
        for offset in update.dead {
            self.tables.iter_mut().any(|table| table.contains(offset) && table.remove(offset));
        }
        self.tables.retain(|table| table.dead < table.records.len() || table.records.is_empty());
        update.new.sort_by_key(|place| place.offset);
        update.new.dedup_by_key(|place| place.offset);
        for parsed in parse_all(&update.new)? {
            let full = |table: &Arc<SegmentTable>| table.records.len() >= TABLE_RECORDS;
            if self.tables.last().is_none_or(full) {
                self.tables.push(Arc::new(SegmentTable::new(Arc::clone(&update.segment))));
            }
            if let Some(table) = self.tables.last_mut() {
                Arc::make_mut(table).add(parsed);
            }
        }
        Ok(())
    }
}

/// Reads records, on several threads if there are many. The threads are not those of the thread pool: this thread holds
/// a lock, and while it waited for the pool it could run another search, which needs the same lock.
fn parse_all(places: &[Place]) -> Result<Vec<Parsed>, StoreError> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get).min(rayon::current_num_threads());
    let parse_some = |places: &[Place]| -> Result<Vec<Parsed>, StoreError> {
        places.iter().filter_map(|place| parse(place).transpose()).collect()
    };
    if places.len() < PARALLEL || cores == 1 {
        return parse_some(places);
    }
    let parts = places.chunks(places.len().div_ceil(cores));
    std::thread::scope(|scope| {
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || parse_some(part))).collect();
        let mut all = Vec::with_capacity(places.len());
        for thread in threads {
            match thread.join() {
                Ok(parsed) => all.extend(parsed?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(all)
    })
}
