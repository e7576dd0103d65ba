//! `WeightStore`: the weights of one parameter at f32, and as many quantized versions of them as were asked for.
//!
//! The master is what training changes. Versions are made from it when they are first needed and are all gone as soon
//! as it changes, which the borrow checker sees to: changing the master takes the only reference to the store.
//!
//! A store that was frozen, or loaded from codes alone, holds no master. It is decoded from the codes when something
//! needs it: training, another format, or [`WeightStore::master`].

mod error;
mod feedback;
mod version;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use bitgrain_codec::CodecErr;
use bitgrain_codec::weight::{DType, QuantizedTensor, WeightFormat, check_finite};
use bitgrain_kernels::{Backend, error_sums};

pub use error::WeightsError;
pub use feedback::Moments;
pub use version::Version;

/// Weights as a matrix of rows, and quantized versions of it, each at its true width in memory.
///
/// ```
/// use bitgrain_codec::weight::{DType, WeightFormat};
/// use bitgrain_nn::WeightStore;
/// let mut store = WeightStore::new(vec![1.27, -0.5, 0.0, 0.25], 4)?;
/// let int8 = WeightFormat::from(DType::Int8);
/// store.morph(int8)?;
/// assert_eq!(store.active(int8).bytes(), 4 + 4); // four codes and a scale
/// assert_eq!(store.scales(int8), Some(vec![0.01]));
/// store.apply_gradients(&[1.0, 0.0, 0.0, 0.0], 0.5)?;
/// assert_eq!(store.master()[0], 0.77);
/// assert!(store.active(int8).version().is_none()); // made from weights that are no more
/// # Ok::<(), bitgrain_nn::network::weights::WeightsError>(())
/// ```
#[derive(Debug)]
pub struct WeightStore {
    rows: usize,
    cols: usize,
    /// Empty until it is needed if there is an `origin`.
    master: OnceLock<Vec<f32>>,
    /// The version whose codes the master stands for.
    origin: Option<Arc<Version>>,
    importance: Option<Vec<f32>>,
    moments: Option<Arc<Moments>>,
    versions: RwLock<Vec<Entry>>,
}

/// A version under the name it was asked for; empty while it is being made.
type Slot = Arc<Mutex<Option<Arc<Version>>>>;

#[derive(Debug, Clone)]
struct Entry {
    format: WeightFormat,
    slot: Slot,
}

/// What a forward pass reads.
#[derive(Debug, Clone)]
pub enum Active<'a> {
    /// The weights at f32: nothing else was asked for, or it does not exist yet.
    Master(&'a [f32]),
    /// A quantized version.
    Version(Arc<Version>),
}

impl Active<'_> {
    /// The version, if there is one.
    #[must_use]
    pub const fn version(&self) -> Option<&Arc<Version>> {
        match self {
            Self::Master(_) => None,
            Self::Version(version) => Some(version),
        }
    }

    /// Bytes of the weights it reads.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Master(weights) => size_of_val(*weights),
            Self::Version(version) => version.tensor().bytes(),
        }
    }
}

impl WeightStore {
    /// Weights in rows of `cols`.
    ///
    /// # Errors
    /// [`CodecErr::RaggedBlocks`] if they are not whole rows, [`CodecErr::NonFinite`].
    pub fn new(master: Vec<f32>, cols: usize) -> Result<Self, WeightsError> {
        if cols == 0 || !master.len().is_multiple_of(cols) {
            return Err(CodecErr::RaggedBlocks { len: master.len(), block: cols }.into());
        }
        check_finite(&master)?;
        Ok(Self {
            rows: master.len() / cols,
            cols,
            master: OnceLock::from(master),
            origin: None,
            importance: None,
            moments: None,
            versions: RwLock::default(),
        })
    }

    /// A store without a master, which becomes what the codes of `origin` stand for when it is needed. The version must
    /// be inserted as well.
    pub(crate) fn without_master(origin: Arc<Version>) -> Self {
        let (rows, cols) = origin.tensor().shape();
        Self {
            rows,
            cols,
            master: OnceLock::new(),
            origin: Some(origin),
            importance: None,
            moments: None,
            versions: RwLock::default(),
        }
    }

    /// Drops the master, importances, moments and all versions but that of `format`, which is made if need be: as
    /// saving the codes and loading them does. The master becomes what the codes stand for, and is decoded again when
    /// something needs it. With float32 the master is what remains.
    ///
    /// ```
    /// use bitgrain_codec::weight::DType;
    /// use bitgrain_nn::WeightStore;
    /// let mut store = WeightStore::new(vec![0.5; 1024], 256)?;
    /// store.freeze(DType::Int8.into())?;
    /// let bytes: usize = store.memory().iter().map(|(_, bytes)| bytes).sum();
    /// assert_eq!(bytes, 1024 + 4 * 4); // codes and a scale per row, not 4096
    /// # Ok::<(), bitgrain_nn::network::weights::WeightsError>(())
    /// ```
    ///
    /// # Errors
    /// As [`morph`](Self::morph); then nothing is changed.
    pub fn freeze(&mut self, format: WeightFormat) -> Result<(), WeightsError> {
        let version = self.fresh(format)?.version().cloned();
        self.importance = None;
        self.moments = None;
        match version {
            None => self.versions_mut().clear(),
            Some(version) => self.keep_only(version),
        }
        Ok(())
    }

    fn keep_only(&mut self, version: Arc<Version>) {
        self.master = OnceLock::new();
        self.origin = Some(Arc::clone(&version));
        let entry = Entry { format: version.format(), slot: Arc::new(Mutex::new(Some(version))) };
        *self.versions_mut() = vec![entry];
    }

    /// The version that holds the weights while the master is not in memory.
    pub(crate) fn frozen(&self) -> Option<&Version> {
        self.origin.as_deref().filter(|_| self.master.get().is_none())
    }

    /// Number of weights.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows * self.cols
    }

    /// Whether the matrix has no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Rows and columns.
    #[must_use]
    pub const fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// The weights that training changes and versions are made from. A store without a master decodes it from its codes
    /// and keeps it.
    #[must_use]
    pub fn master(&self) -> &[f32] {
        self.decode_master()
    }

    fn decode_master(&self) -> &[f32] {
        self.master.get_or_init(|| {
            let origin = self.origin.as_ref().expect("a store has a master or the codes it stands for");
            origin.tensor().dequantize().expect("every row was decoded when the version was made")
        })
    }

    /// Makes a quantized version, unless there is one. The master is its own float32 version.
    ///
    /// Of threads that ask at once, one makes it and the others wait.
    ///
    /// # Errors
    /// [`WeightsError::Codec`] for settings that are out of range, [`WeightsError::Overflow`] if weights become infinite.
    pub fn morph(&self, format: WeightFormat) -> Result<(), WeightsError> {
        self.fresh(format).map(|_| ())
    }

    /// The version of that format, made if need be.
    ///
    /// # Errors
    /// As [`morph`](Self::morph).
    pub fn fresh(&self, format: WeightFormat) -> Result<Active<'_>, WeightsError> {
        if is_master(format) {
            return Ok(Active::Master(self.master()));
        }
        let slot = self.find(format).unwrap_or_else(|| self.entry(format));
        let mut version = locked(&slot);
        if let Some(version) = &*version {
            return Ok(Active::Version(Arc::clone(version)));
        }
        let made = Arc::new(Version::new(format, self.quantize_or_replace(format)?)?);
        *version = Some(Arc::clone(&made));
        Ok(Active::Version(made))
    }

    /// Quantizes to the format, or to the best of its fallbacks where rows are not whole blocks of it.
    fn quantize_or_replace(&self, format: WeightFormat) -> Result<QuantizedTensor, WeightsError> {
        let mut fallbacks = format.fallbacks(self.cols, |_| true).into_iter();
        let mut best = self.quantize(fallbacks.next().unwrap_or(format))?;
        if fallbacks.len() == 0 {
            return Ok(best);
        }
        let mut least = self.squared_error(&best)?;
        for other in fallbacks {
            let tensor = self.quantize(other)?;
            let error = self.squared_error(&tensor)?;
            // Not a number where codes stand for infinities.
            if error < least || !least.is_finite() {
                (best, least) = (tensor, error);
            }
        }
        Ok(best)
    }

    fn squared_error(&self, tensor: &QuantizedTensor) -> Result<f64, WeightsError> {
        let back = tensor.dequantize()?;
        Ok(error_sums(Backend::best(), self.master(), &back).map_err(CodecErr::from)?.squares)
    }

    fn quantize(&self, format: WeightFormat) -> Result<QuantizedTensor, WeightsError> {
        let importance = self.importance.as_deref();
        let fed = match &self.moments {
            Some(moments) => feedback::quantize(format, self.master(), moments, importance)?,
            None => None,
        };
        match fed {
            Some(tensor) => Ok(tensor),
            None => Ok(QuantizedTensor::quantize_with(format, self.master(), self.cols, importance)?),
        }
    }

    /// The version of that format if it exists, else the master. Never makes one, never gives a stale one.
    #[must_use]
    pub fn active(&self, format: WeightFormat) -> Active<'_> {
        let version = self.find(format).and_then(|slot| locked(&slot).clone());
        version.map_or_else(|| Active::Master(self.master()), Active::Version)
    }

    /// The weights that a version stands for: quantized and back, as every computation on its codes sees them.
    ///
    /// # Errors
    /// As [`morph`](Self::morph).
    pub fn morph_to_f32(&self, format: WeightFormat) -> Result<Vec<f32>, WeightsError> {
        match self.fresh(format)? {
            Active::Master(weights) => Ok(weights.to_vec()),
            Active::Version(version) => Ok(version.tensor().dequantize()?),
        }
    }

    /// Scales of a version, row by row; `None` if it does not exist. Blocks hold their own.
    #[must_use]
    pub fn scales(&self, format: WeightFormat) -> Option<Vec<f32>> {
        self.active(format).version().map(|version| version.tensor().parts().scales.to_vec())
    }

    /// Makes the master what a version stands for. The version stays, all others were made from weights that are no
    /// more. Without such a version nothing happens.
    ///
    /// # Errors
    /// [`WeightsError::Codec`] if codes cannot be read.
    pub fn unpack(&mut self, format: WeightFormat) -> Result<(), WeightsError> {
        let Some(version) = self.active(format).version().cloned() else { return Ok(()) };
        self.put_master(version.tensor().dequantize()?);
        self.versions_mut().retain(|entry| entry.format == format);
        Ok(())
    }

    /// Takes a step against gradients: `master -= rate * gradient`. All versions are gone.
    ///
    /// # Errors
    /// [`CodecErr::LengthMismatch`], or [`CodecErr::NonFinite`] if a weight would become NaN or infinite; then nothing
    /// is changed.
    pub fn apply_gradients(&mut self, gradients: &[f32], rate: f32) -> Result<(), WeightsError> {
        if gradients.len() != self.len() {
            return Err(CodecErr::LengthMismatch { left: self.len(), right: gradients.len() }.into());
        }
        let moved: Vec<f32> =
            self.master().iter().zip(gradients).map(|(weight, slope)| weight - rate * slope).collect();
        self.set_master(moved)
    }

    /// Puts other weights in place. All versions are gone.
    ///
    /// # Errors
    /// As [`apply_gradients`](Self::apply_gradients).
    pub fn set_master(&mut self, master: Vec<f32>) -> Result<(), WeightsError> {
        if master.len() != self.len() {
            return Err(CodecErr::LengthMismatch { left: self.len(), right: master.len() }.into());
        }
        check_finite(&master)?;
        self.put_master(master);
        self.versions_mut().clear();
        Ok(())
    }

    fn put_master(&mut self, master: Vec<f32>) {
        self.master = OnceLock::from(master);
        self.origin = None;
    }

    /// Decodes the master if it is not in memory, so that versions can go.
    fn thaw(&mut self) {
        self.decode_master();
        self.origin = None;
    }

    /// Changes weights in place, which must stay finite. All versions are gone.
    pub(crate) fn update(&mut self, change: impl FnOnce(&mut [f32])) {
        self.thaw();
        if let Some(master) = self.master.get_mut() {
            change(master);
        }
        self.versions_mut().clear();
    }

    /// Says how much the errors of each column matter, for versions to come. All versions are gone.
    ///
    /// # Errors
    /// [`CodecErr::LengthMismatch`] unless there is a number per column; [`CodecErr::NonFinite`] for one that is
    /// negative or not finite.
    pub fn set_importance(&mut self, importance: Option<Vec<f32>>) -> Result<(), WeightsError> {
        if let Some(all) = &importance {
            if all.len() != self.cols {
                return Err(CodecErr::LengthMismatch { left: self.cols, right: all.len() }.into());
            }
            if let Some(index) = all.iter().position(|x| !x.is_finite() || *x < 0.0) {
                return Err(CodecErr::NonFinite { index }.into());
            }
        }
        self.thaw();
        self.importance = importance;
        self.versions_mut().clear();
        Ok(())
    }

    /// How much the errors of each column matter, if that was said.
    #[must_use]
    pub fn importance(&self) -> Option<&[f32]> {
        self.importance.as_deref()
    }

    /// Says how the inputs of the columns go together, for versions to come: their weights are then rounded with
    /// feedback where the format has scales per group or blocks. All versions are gone.
    ///
    /// # Errors
    /// [`CodecErr::LengthMismatch`] if they are not for as many columns.
    pub fn set_moments(&mut self, moments: Option<Moments>) -> Result<(), WeightsError> {
        if let Some(found) = moments.as_ref().map(Moments::cols).filter(|found| *found != self.cols) {
            return Err(CodecErr::LengthMismatch { left: self.cols, right: found }.into());
        }
        self.thaw();
        self.moments = moments.map(Arc::new);
        self.versions_mut().clear();
        Ok(())
    }

    /// How the inputs of the columns go together, if that was said.
    #[must_use]
    pub fn moments(&self) -> Option<&Moments> {
        self.moments.as_deref()
    }

    /// Forgets a version, so that it is made again when it is needed.
    pub fn clear(&self, format: WeightFormat) {
        self.versions.write().unwrap_or_else(PoisonError::into_inner).retain(|entry| entry.format != format);
    }

    /// Versions that exist, in the order they were asked for.
    #[must_use]
    pub fn versions(&self) -> Vec<Arc<Version>> {
        let entries = self.versions.read().unwrap_or_else(PoisonError::into_inner);
        entries.iter().filter_map(|entry| locked(&entry.slot).clone()).collect()
    }

    /// Bytes of each copy in memory: the master if it is there, then the versions.
    #[must_use]
    pub fn memory(&self) -> Vec<(WeightFormat, usize)> {
        let versions = self.versions();
        let versions = versions.iter().map(|version| (version.format(), version.bytes()));
        let master = self.master.get().map(|master| (DType::Float32.into(), size_of_val(master.as_slice())));
        master.into_iter().chain(versions).collect()
    }

    /// Puts a version in place that was read from somewhere.
    pub(crate) fn insert(&mut self, version: Arc<Version>) {
        let entry = Entry { format: version.format(), slot: Arc::new(Mutex::new(Some(version))) };
        let versions = self.versions_mut();
        versions.retain(|other| other.format != entry.format);
        versions.push(entry);
    }

    fn find(&self, format: WeightFormat) -> Option<Slot> {
        let entries = self.versions.read().unwrap_or_else(PoisonError::into_inner);
        entries.iter().find(|entry| entry.format == format).map(|entry| Arc::clone(&entry.slot))
    }

    /// The slot of a format, which another thread may have put there in the meantime.
    fn entry(&self, format: WeightFormat) -> Slot {
        let mut entries = self.versions.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.iter().find(|entry| entry.format == format) {
            return Arc::clone(&entry.slot);
        }
        let slot = Slot::default();
        entries.push(Entry { format, slot: Arc::clone(&slot) });
        slot
    }

    fn versions_mut(&mut self) -> &mut Vec<Entry> {
        self.versions.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for WeightStore {
    /// Versions are shared: they never change.
    fn clone(&self) -> Self {
        let entry =
            |version: Arc<Version>| Entry { format: version.format(), slot: Arc::new(Mutex::new(Some(version))) };
        Self {
            rows: self.rows,
            cols: self.cols,
            master: self.master.clone(),
            origin: self.origin.clone(),
            importance: self.importance.clone(),
            moments: self.moments.clone(),
            versions: RwLock::new(self.versions().into_iter().map(entry).collect()),
        }
    }
}

/// Whether the master is what that format asks for.
pub(crate) fn is_master(format: WeightFormat) -> bool {
    matches!(format, WeightFormat::Scaled(scaled) if scaled.dtype == DType::Float32)
}

fn locked(slot: &Slot) -> MutexGuard<'_, Option<Arc<Version>>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
