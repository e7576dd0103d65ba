//! `WeightNetwork`: neural networks that run in any format.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};

use bitgrain::nn::model::convert::Recipe;
use bitgrain::nn::network::observe::{Observer, observe, observe_products};
use bitgrain::nn::network::save::{Contents, layers_from_json, layers_to_json};
use bitgrain::nn::network::{InputBatch, Network, NetworkError, Shape, compare_networks};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::comparison::network_comparison;
use super::format::{full_name, parse, parse_choice};
use super::training::{self, Settings, Targets};
use super::{Floats, elements};
use crate::error::{Raised, Result};
use crate::process;

/// Maximum number of samples in a forward pass.
const PIECE: usize = 256;

/// Valid positions: one flag per position of each sample.
pub(super) type Mask<'py> = Option<PyReadonlyArrayDyn<'py, bool>>;

/// Name, rows, columns, whether it is a vector, format and size in bytes of a parameter.
type About = (String, usize, usize, bool, String, usize);

/// A network. A call uses the state of the network at its start; a change works on a copy and replaces it at the end.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct WeightNetwork {
    network: RwLock<Arc<Network>>,
    changing: Mutex<()>,
}

impl WeightNetwork {
    fn of(network: Network) -> Self {
        Self { network: RwLock::new(Arc::new(network)), changing: Mutex::new(()) }
    }

    pub(super) fn current(&self) -> Arc<Network> {
        Arc::clone(&self.network.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes a copy, which replaces the network on success.
    pub(super) fn change<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Network) -> Result<T> + Send,
    ) -> Result<T> {
        process::detached(py, || {
            // Fails instead of waiting: the current owner may be waiting for this call, as in a callback of `fit`.
            let _turn = match self.changing.try_lock() {
                Ok(turn) => turn,
                Err(TryLockError::Poisoned(turn)) => turn.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    return Err(Raised::input(
                        "the network is being trained or changed; wait until that call has returned",
                    ));
                }
            };
            let mut network = Network::clone(&self.current());
            let done = work(&mut network)?;
            *self.network.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(network);
            Ok(done)
        })
    }
}

#[pymethods]
impl WeightNetwork {
    /// Creates a network from layers as a JSON list and the shape of a sample, whose first dimension may be `None`.
    #[new]
    fn new(py: Python<'_>, input: Vec<Option<usize>>, layers: &str, seed: u64) -> Result<Self> {
        let fixed = |dims: &[Option<usize>]| dims.iter().copied().collect::<Option<Vec<usize>>>();
        let shape = match input.split_first() {
            Some((None, rest)) => fixed(rest).map(|rest| Shape::sequence(&rest)),
            _ => fixed(&input).map(|dims| Shape::new(&dims)),
        };
        let shape = shape.ok_or_else(|| Raised::input("only the first dimension of a sample can be None"))?;
        // The layers come from arguments here, so the error is an `InputError` instead of a `FormatError`.
        let layers = layers_from_json(layers).map_err(Raised::input)?;
        Ok(Self::of(process::detached(py, || Network::new(shape, layers, seed))?))
    }

    /// Reads a JSON or safetensors file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> Result<Self> {
        Ok(Self::of(process::detached(py, || Network::open(path))?))
    }

    /// Reads the bytes of a safetensors file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> Result<Self> {
        Ok(Self::of(process::detached(py, || Network::from_safetensors(data))?))
    }

    /// Returns the bytes of a safetensors file with masters and all versions.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        let network = self.current();
        Ok(PyBytes::new(py, &process::detached(py, || network.to_safetensors(Contents::All))?))
    }

    /// Writes a file with masters and all versions, or only with the weights in use.
    fn save(&self, py: Python<'_>, path: PathBuf, everything: bool) -> Result<()> {
        let network = self.current();
        let contents = if everything { Contents::All } else { Contents::Active };
        Ok(process::detached(py, || network.save(path, contents))?)
    }

    /// Returns the shape of a sample.
    #[getter]
    fn input(&self) -> Vec<Option<usize>> {
        self.current().input().dims().to_vec()
    }

    /// Returns the output shape of a sample.
    #[getter]
    fn output(&self) -> Vec<Option<usize>> {
        self.current().output().dims().to_vec()
    }

    /// Returns the layers as a JSON list.
    fn layers(&self) -> Result<String> {
        Ok(layers_to_json(self.current().layers())?)
    }

    /// Returns the parameters in the order of the layers.
    fn parameters(&self, py: Python<'_>) -> Result<Vec<About>> {
        let network = self.current();
        let rows = process::detached(py, || {
            let row = |parameter: &bitgrain::nn::network::Parameter| -> std::result::Result<_, NetworkError> {
                let (rows, cols) = parameter.store().shape();
                let (name, format) = (parameter.name().to_owned(), full_name(parameter.format()));
                Ok((name, rows, cols, parameter.is_vector(), format, parameter.active()?.bytes()))
            };
            network.parameters().iter().map(row).collect::<std::result::Result<Vec<_>, _>>()
        });
        Ok(rows?)
    }

    /// Returns the weights of a parameter: the master, or the weights in use.
    fn weights<'py>(&self, py: Python<'py>, name: &str, master: bool) -> Result<Bound<'py, PyArray1<f32>>> {
        let network = self.current();
        let parameter = network.parameter(name)?;
        let values =
            if master { parameter.store().master().to_vec() } else { process::detached(py, || parameter.values())? };
        Ok(values.into_pyarray(py))
    }

    /// Replaces the weights of a parameter.
    fn set_weights(&self, py: Python<'_>, name: &str, values: Floats<'_>) -> Result<()> {
        let values = elements(&values)?;
        self.change(py, |network| Ok(network.set_weights(name, values.to_vec())?))
    }

    /// Returns the outputs for samples and their shape, with every parameter in its current format, or all matrices in
    /// one.
    #[pyo3(signature = (x, format=None, mask=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: Floats<'py>,
        format: Option<&str>,
        mask: Mask<'py>,
    ) -> Result<(Bound<'py, PyArray1<f32>>, Vec<usize>)> {
        let mut network = self.current();
        if let Some(format) = format.map(parse).transpose()? {
            let mut other = process::detached(py, || Network::clone(&network));
            process::detached(py, || other.morph(format))?;
            network = Arc::new(other);
        }
        let batch = batch(&x, &mask)?;
        let count = batch.count();
        let (mut out, mut dims) = (Vec::new(), Vec::new());
        let indices: Vec<usize> = (0..count).collect();
        for piece in indices.chunks(PIECE) {
            py.check_signals()?;
            let part = process::detached(py, || network.forward(&batch.select(piece)?))?;
            dims = part.dims().to_vec();
            out.extend(part.into_values());
        }
        dims.insert(0, count);
        Ok((out.into_pyarray(py), dims))
    }

    /// Converts every matrix to a format.
    fn morph(&self, py: Python<'_>, format: &str) -> Result<()> {
        let format = parse(format)?;
        self.change(py, |network| Ok(network.morph(format)?))
    }

    /// Converts every parameter to the format of the first matching pattern, and other matrices to `default`.
    fn morph_by(&self, py: Python<'_>, default: &str, rules: Vec<(String, String)>) -> Result<()> {
        let mut recipe = Recipe::new(parse_choice(default)?);
        for (pattern, choice) in &rules {
            recipe = recipe.rule(pattern, parse_choice(choice)?);
        }
        self.change(py, |network| Ok(network.morph_by(&recipe)?))
    }

    /// Trains the network; returns the epochs, the chosen epoch, whether training stopped early, and whether it was
    /// interrupted.
    #[pyo3(signature = (x, targets, held_back, settings, notify=None, mask=None))]
    #[expect(clippy::too_many_arguments, reason = "training data, validation data and settings")]
    fn train<'py>(
        &self,
        py: Python<'py>,
        x: Floats<'py>,
        targets: Targets<'py>,
        held_back: Option<(Floats<'py>, Targets<'py>, Mask<'py>)>,
        settings: Settings,
        notify: Option<Py<PyAny>>,
        mask: Mask<'py>,
    ) -> Result<Bound<'py, PyDict>> {
        let data = training::dataset(&x, &targets, &mask)?;
        let held_back = match &held_back {
            Some((x, targets, mask)) => Some(training::dataset(x, targets, mask)?),
            None => None,
        };
        training::train(self, py, &data, held_back.as_ref(), &settings, notify.as_ref())
    }

    /// Returns the loss and, for classification, the accuracy.
    #[pyo3(signature = (x, targets, loss, mask=None))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        x: Floats<'py>,
        targets: Targets<'py>,
        loss: &str,
        mask: Mask<'py>,
    ) -> Result<(f64, Option<f64>)> {
        let (network, loss) = (self.current(), training::parse_loss(loss)?);
        let data = training::dataset(&x, &targets, &mask)?;
        let score = process::detached(py, || bitgrain::nn::network::train::evaluate(&network, &data, loss))?;
        Ok((score.loss, score.accuracy))
    }

    /// Observes the inputs of each matrix for later quantization: rounding with feedback, or importances only.
    #[pyo3(signature = (x, feedback, mask=None))]
    fn calibrate<'py>(&self, py: Python<'py>, x: Floats<'py>, feedback: bool, mask: Mask<'py>) -> Result<()> {
        let batch = batch(&x, &mask)?;
        self.change(py, |network| {
            let indices: Vec<usize> = (0..batch.count()).collect();
            let pieces =
                indices.chunks(PIECE).map(|piece| batch.select(piece)).collect::<std::result::Result<Vec<_>, _>>()?;
            if feedback {
                observe_products(network, &pieces, Observer::MinMax)?.apply_feedback(network)?;
            } else {
                observe(network, &pieces, Observer::MinMax)?.apply(network)?;
            }
            Ok(())
        })
    }

    /// Compares the weights in use and the outputs of two networks.
    #[pyo3(signature = (other, inputs=None, mask=None))]
    fn compare<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, Self>,
        inputs: Option<Floats<'py>>,
        mask: Mask<'py>,
    ) -> Result<Bound<'py, PyDict>> {
        let (first, second) = (self.current(), other.get().current());
        let inputs = inputs.as_ref().map(|x| batch(x, &mask)).transpose()?;
        let compared = process::detached(py, || compare_networks(&first, &second, inputs.as_ref()))?;
        Ok(network_comparison(py, &compared)?)
    }

    /// Drops the masters of quantized parameters, and all versions that the forward pass does not read.
    fn freeze(&self, py: Python<'_>) -> Result<()> {
        self.change(py, |network| Ok(network.freeze()?))
    }

    /// Returns parameter, format and size in bytes of every copy in memory.
    fn memory(&self, py: Python<'_>) -> Vec<(String, String, usize)> {
        let network = self.current();
        let all = process::detached(py, || network.memory());
        all.into_iter().map(|one| (one.parameter, full_name(one.format), one.bytes)).collect()
    }

    /// Returns the size in bytes of the weights in use.
    fn active_bytes(&self, py: Python<'_>) -> Result<usize> {
        let network = self.current();
        Ok(process::detached(py, || network.active_bytes())?)
    }
}

/// Returns the samples along the first axis of an array.
pub(super) fn batch(x: &Floats<'_>, mask: &Mask<'_>) -> Result<InputBatch> {
    let values = elements(x)?.to_vec();
    let dims = x.shape().split_first().map_or(&[][..], |(_, dims)| dims);
    let batch = InputBatch::new(values, dims)?;
    match mask {
        Some(mask) => Ok(batch.with_mask(elements(mask)?.to_vec())?),
        None => Ok(batch),
    }
}
