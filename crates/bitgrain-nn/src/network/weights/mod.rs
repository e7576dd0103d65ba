//! `WeightStore`: the weights of one parameter at f32, and quantized versions of them.
//!
//! Training changes the master weights. Versions are made from the master on first use and dropped as soon as it
//! changes. The borrow checker enforces that no stale version is read: changing the master needs exclusive access to
//! the store.
//!
//! A store that was frozen, or loaded from codes alone, has no master. It decodes the master from the codes on demand:
//! for training, for another format, or for [`WeightStore::master`].

mod error;
mod feedback;
mod scales;
mod version;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use bitgrain_codec::CodecErr;
use bitgrain_codec::weight::{DType, QuantizedTensor, WeightFormat, check_finite};
use bitgrain_kernels::{Backend, error_sums};

pub use error::WeightsError;
pub use feedback::Moments;
pub use version::Version;

/// A weight matrix and quantized versions of it, each stored at its own width.
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
/// assert!(store.active(int8).version().is_none()); // dropped, because the weights changed
/// # Ok::<(), bitgrain_nn::network::weights::WeightsError>(())
/// ```
#[derive(Debug)]
pub struct WeightStore {
    rows: usize,
    cols: usize,
    /// Empty until needed if `origin` is set.
    master: OnceLock<Vec<f32>>,
    /// The version whose codes the master is decoded from.
    origin: Option<Arc<Version>>,
    importance: Option<Vec<f32>>,
    moments: Option<Arc<Moments>>,
    versions: RwLock<Vec<Entry>>,
}

/// A version, keyed by the requested format; `None` while a thread is creating it.
type Slot = Arc<Mutex<Option<Arc<Version>>>>;

#[derive(Debug, Clone)]
struct Entry {
    format: WeightFormat,
    slot: Slot,
}

/// The weights that a forward pass reads.
#[derive(Debug, Clone)]
pub enum Active<'a> {
    /// The weights at f32: no other format was requested, or the version does not exist yet.
    Master(&'a [f32]),
    /// A quantized version.
    Version(Arc<Version>),
}

impl Active<'_> {
    /// Returns the version, if this is one.
    #[must_use]
    pub const fn version(&self) -> Option<&Arc<Version>> {
        match self {
            Self::Master(_) => None,
            Self::Version(version) => Some(version),
        }
    }

    /// Returns the size of the weights in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Master(weights) => size_of_val(*weights),
            Self::Version(version) => version.stored_bytes(),
        }
    }
}

impl WeightStore {
    /// Creates a store of weights in rows of `cols`.
    ///
    /// # Errors
    /// Returns [`CodecErr::RaggedBlocks`] for incomplete rows, [`CodecErr::NonFinite`] for a weight that is not finite.
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

    /// Creates a store that decodes its master from the codes of `origin` on demand. The caller must also insert the
    /// version.
    pub(crate) fn without_master(origin: Arc<Version>) -> Self {
        let (rows, cols) = origin.shape();
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

    /// Drops the master, importances, moments and all versions except the one in `format`, which is created if
    /// necessary. The result is the same as saving only the codes and loading them: the master is decoded from them on
    /// demand. With float32, only the master remains.
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
    /// Same as [`morph`](Self::morph); the store is then unchanged.
    pub fn freeze(&mut self, format: WeightFormat) -> Result<(), WeightsError> {
        let version = self.get_or_create(format)?.version().cloned();
        let version = version.map(|version| version.compacted()).transpose()?;
        self.importance = None;
        self.moments = None;
        match version {
            None => self.versions_mut().clear(),
            Some(version) => self.keep_only(Arc::new(version)),
        }
        Ok(())
    }

    fn keep_only(&mut self, version: Arc<Version>) {
        self.master = OnceLock::new();
        self.origin = Some(Arc::clone(&version));
        let entry = Entry { format: version.format(), slot: Arc::new(Mutex::new(Some(version))) };
        *self.versions_mut() = vec![entry];
    }

    /// Returns the version that holds the weights while the master is not in memory.
    pub(crate) fn frozen(&self) -> Option<&Version> {
        self.origin.as_deref().filter(|_| self.master.get().is_none())
    }

    /// Returns the number of weights.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows * self.cols
    }

    /// Returns whether the matrix has no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns the number of rows and columns.
    #[must_use]
    pub const fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// Returns the master weights, which training changes and versions are made from. A store without a master decodes
    /// it from its codes and keeps it.
    #[must_use]
    pub fn master(&self) -> &[f32] {
        self.decode_master()
    }

    fn decode_master(&self) -> &[f32] {
        self.master.get_or_init(|| {
            let origin = self.origin.as_ref().expect("a store has a master or an origin");
            origin.tensor().dequantize().expect("creating the version decoded all rows")
        })
    }

    /// Creates a quantized version unless it exists. The float32 version is the master itself.
    ///
    /// If several threads request the same version at once, one creates it and the others wait.
    ///
    /// # Errors
    /// Returns [`WeightsError::Codec`] for settings out of range, [`WeightsError::Overflow`] if a weight becomes
    /// infinite.
    pub fn morph(&self, format: WeightFormat) -> Result<(), WeightsError> {
        self.get_or_create(format).map(|_| ())
    }

    /// Returns the version in `format`, creating it if necessary.
    ///
    /// # Errors
    /// Same as [`morph`](Self::morph).
    pub fn get_or_create(&self, format: WeightFormat) -> Result<Active<'_>, WeightsError> {
        if is_master(format) {
            return Ok(Active::Master(self.master()));
        }
        let slot = self.find(format).unwrap_or_else(|| self.entry(format));
        // The lock is held while quantizing, so that concurrent requests for this format wait instead of repeating the
        // work. Other formats have other slots.
        let mut version = locked(&slot);
        if let Some(version) = &*version {
            return Ok(Active::Version(Arc::clone(version)));
        }
        let made = Arc::new(Version::new(format, self.quantize_or_replace(format)?)?);
        *version = Some(Arc::clone(&made));
        Ok(Active::Version(made))
    }

    /// Quantizes to the format, or to its best fallback if the row length is not a multiple of the block length.
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
            // `least` is NaN or infinite if a code decodes to infinity; any other candidate is then better.
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

    /// Returns the version in `format` if it exists, else the master. Never creates a version.
    #[must_use]
    pub fn active(&self, format: WeightFormat) -> Active<'_> {
        let version = self.find(format).and_then(|slot| locked(&slot).clone());
        version.map_or_else(|| Active::Master(self.master()), Active::Version)
    }

    /// Returns the decoded weights of a version, which all computations on its codes use.
    ///
    /// # Errors
    /// Same as [`morph`](Self::morph).
    pub fn morph_to_f32(&self, format: WeightFormat) -> Result<Vec<f32>, WeightsError> {
        match self.get_or_create(format)? {
            Active::Master(weights) => Ok(weights.to_vec()),
            Active::Version(version) => Ok(version.tensor().dequantize()?),
        }
    }

    /// Quantizes the weights with scales that the caller chose, for example from representative inputs, instead of those
    /// that the format's calibration finds. [`morph`](Self::morph) then keeps this version. Like every version, it is
    /// dropped when the weights change.
    ///
    /// There is one scale per tensor, row or group, as the format has them, in row-major order. Codes are the weights
    /// divided by their scale, rounded and clamped to the range of the dtype.
    ///
    /// ```
    /// use bitgrain_codec::weight::{DType, WeightFormat};
    /// use bitgrain_nn::WeightStore;
    /// let mut store = WeightStore::new(vec![0.5, -0.25, 0.125, 5.0], 4)?;
    /// let int8 = WeightFormat::from(DType::Int8);
    /// store.set_scales(int8, &[1.0 / 128.0])?; // clamps the outlier to 127 / 128 for finer steps
    /// store.morph(int8)?;
    /// assert_eq!(store.morph_to_f32(int8)?, [0.5, -0.25, 0.125, 0.9921875]);
    /// # Ok::<(), bitgrain_nn::network::weights::WeightsError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`WeightsError::NoScales`] for blocks, plain floats and dtypes with zero points,
    /// [`WeightsError::Length`] for another number of scales, [`CodecErr::InvalidScale`] for one that is not a finite
    /// number above 0, and the errors of [`morph`](Self::morph); the store is then unchanged.
    pub fn set_scales(&mut self, format: WeightFormat, scales: &[f32]) -> Result<(), WeightsError> {
        let tensor = scales::quantize(format, self.master(), self.shape(), scales)?;
        let version = Arc::new(Version::new(format, tensor)?);
        // The codes of a frozen store may be the version that is replaced.
        self.thaw();
        self.insert(version);
        Ok(())
    }

    /// Returns the scales of a version, in row-major order; `None` if it does not exist. Empty for block formats, which
    /// store scales inside the blocks.
    #[must_use]
    pub fn scales(&self, format: WeightFormat) -> Option<Vec<f32>> {
        self.active(format).version().map(|version| version.tensor().parts().scales.to_vec())
    }

    /// Replaces the master by the decoded weights of a version and drops all other versions. Does nothing if the
    /// version does not exist.
    ///
    /// # Errors
    /// Returns [`WeightsError::Codec`] if codes are invalid.
    pub fn unpack(&mut self, format: WeightFormat) -> Result<(), WeightsError> {
        let Some(version) = self.active(format).version().cloned() else { return Ok(()) };
        self.put_master(version.tensor().dequantize()?);
        self.versions_mut().retain(|entry| entry.format == format);
        Ok(())
    }

    /// Takes a gradient step, `master -= rate * gradient`, and drops all versions.
    ///
    /// # Errors
    /// Returns [`CodecErr::LengthMismatch`], or [`CodecErr::NonFinite`] if a weight would become NaN or infinite; the
    /// store is then unchanged.
    pub fn apply_gradients(&mut self, gradients: &[f32], rate: f32) -> Result<(), WeightsError> {
        if gradients.len() != self.len() {
            return Err(CodecErr::LengthMismatch { left: self.len(), right: gradients.len() }.into());
        }
        let moved: Vec<f32> =
            self.master().iter().zip(gradients).map(|(weight, slope)| weight - rate * slope).collect();
        self.set_master(moved)
    }

    /// Replaces the weights and drops all versions.
    ///
    /// # Errors
    /// Same as [`apply_gradients`](Self::apply_gradients).
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

    /// Decodes the master if it is not in memory, so that versions can be dropped.
    fn thaw(&mut self) {
        self.decode_master();
        self.origin = None;
    }

    /// Changes weights in place and drops all versions. The weights must stay finite.
    pub(crate) fn update(&mut self, change: impl FnOnce(&mut [f32])) {
        self.thaw();
        if let Some(master) = self.master.get_mut() {
            change(master);
        }
        self.versions_mut().clear();
    }

    /// Sets the importance of each column for future versions and drops existing ones.
    ///
    /// # Errors
    /// Returns [`CodecErr::LengthMismatch`] unless there is one value per column, [`CodecErr::NonFinite`] for a value
    /// that is negative or not finite.
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

    /// Returns the importance of each column, if set.
    #[must_use]
    pub fn importance(&self) -> Option<&[f32]> {
        self.importance.as_deref()
    }

    /// Sets the second moments of the columns' inputs and drops all versions. Future versions in formats with scales
    /// per group or in blocks are rounded with error feedback.
    ///
    /// # Errors
    /// Returns [`CodecErr::LengthMismatch`] for another number of columns.
    pub fn set_moments(&mut self, moments: Option<Moments>) -> Result<(), WeightsError> {
        if let Some(found) = moments.as_ref().map(Moments::cols).filter(|found| *found != self.cols) {
            return Err(CodecErr::LengthMismatch { left: self.cols, right: found }.into());
        }
        self.thaw();
        self.moments = moments.map(Arc::new);
        self.versions_mut().clear();
        Ok(())
    }

    /// Returns the second moments of the columns' inputs, if set.
    #[must_use]
    pub fn moments(&self) -> Option<&Moments> {
        self.moments.as_deref()
    }

    /// Drops a version; it is created again on demand.
    pub fn clear(&self, format: WeightFormat) {
        self.versions.write().unwrap_or_else(PoisonError::into_inner).retain(|entry| entry.format != format);
    }

    /// Returns the existing versions, in the order of their creation.
    #[must_use]
    pub fn versions(&self) -> Vec<Arc<Version>> {
        let entries = self.versions.read().unwrap_or_else(PoisonError::into_inner);
        entries.iter().filter_map(|entry| locked(&entry.slot).clone()).collect()
    }

    /// Returns the size in bytes of each copy in memory: the master if decoded, then the versions.
    #[must_use]
    pub fn memory(&self) -> Vec<(WeightFormat, usize)> {
        let versions = self.versions();
        let versions = versions.iter().map(|version| (version.format(), version.bytes()));
        let master = self.master.get().map(|master| (DType::Float32.into(), size_of_val(master.as_slice())));
        master.into_iter().chain(versions).collect()
    }

    /// Inserts a version that was read from a file.
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

    /// Returns the slot of a format. Looks again under the write lock, because another thread may have added it.
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
    /// Shares the versions, which are immutable.
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

/// Returns whether the format is that of the master.
pub(crate) fn is_master(format: WeightFormat) -> bool {
    matches!(format, WeightFormat::Scaled(scaled) if scaled.dtype == DType::Float32)
}

fn locked(slot: &Slot) -> MutexGuard<'_, Option<Arc<Version>>> {
    // A thread that panics while quantizing leaves `None`, which is a valid state.
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
