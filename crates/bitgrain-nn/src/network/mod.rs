//! Networks: layers with weights that train at f32 and run in any weight format.
//!
//! | module | contents |
//! |---|---|
//! | [`language`] | language models from GGUF files: generation, perplexity, importances |
//! | [`layer`] | dense, convolution, recurrent, attention and norm layers, each with its forward and backward pass |
//! | [`weights`] | [`WeightStore`](weights::WeightStore): a parameter at f32 with its quantized versions |
//! | [`train`] | losses, optimizers, early stopping |
//! | [`observe`] | calibration passes, and the importances and moments computed from them |
//! | [`save`] | networks in JSON and safetensors files |
//! | [`embed`] | sentence embeddings with BERT models such as all-MiniLM-L6-v2 |
//! | [`sample`] | handwritten digits, and a network trained on them |
//! | [`trial`] | size, accuracy and speed of a network in each format |
//! | [`matrix`] | parallel encoding and decoding of a matrix in memory |
//! | [`product`] | matrix products on the codes of quantized weights |

mod batch;
mod compare;
pub mod embed;
mod error;
pub mod language;
pub mod layer;
mod matmul;
pub mod matrix;
mod morph;
pub mod observe;
mod parameter;
pub mod product;
mod random;
pub mod sample;
pub mod save;
mod shape;
mod site;
mod step;
pub mod train;
pub mod trial;
pub mod weights;

use std::sync::Arc;

use bitgrain_codec::weight::{WeightFormat, check_finite};

use crate::network::layer::{Chain, Layer};
pub use batch::InputBatch;
pub use compare::{NetworkComparison, OutputAgreement, ParameterRow, compare_networks};
pub use error::NetworkError;
pub use morph::{Memory, morph_network};
pub use parameter::Parameter;
use parameter::ParameterSpec;
pub use shape::Shape;
use site::Site;
use step::{Run, Step, Watch};

/// A sequence of layers with weights.
///
/// ```
/// use bitgrain_codec::weight::DType;
/// use bitgrain_nn::network::layer::Layer;
/// use bitgrain_nn::network::{InputBatch, Network, Shape};
/// let layers = vec![Layer::dense(8), Layer::relu(), Layer::dense(3)];
/// let mut network = Network::new(Shape::new(&[4]), layers, 1)?;
/// assert_eq!(network.output().to_string(), "[3]");
/// assert_eq!(network.parameters()[2].name(), "2.weight");
/// let x = InputBatch::new(vec![0.5, -1.0, 0.25, 2.0], &[4])?;
/// let full = network.forward(&x)?;
/// network.morph(DType::Int8)?;
/// let eight_bits = network.forward(&x)?;
/// let far = full.values().iter().zip(eight_bits.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
/// assert!(far > 0.0 && far < 0.05);
/// # Ok::<(), bitgrain_nn::network::NetworkError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Network {
    plan: LayerPlan,
    parameters: Vec<Parameter>,
}

/// A network without weights.
#[derive(Debug, Clone)]
pub(crate) struct LayerPlan {
    input: Shape,
    output: Shape,
    layers: Vec<Layer>,
    chain: Arc<Chain>,
    pub(crate) parameters: Vec<ParameterSpec>,
}

impl LayerPlan {
    /// Checks that the layers fit together and lists their parameters. Does not allocate weights.
    pub(crate) fn new(input: Shape, layers: Vec<Layer>) -> Result<Self, NetworkError> {
        if layers.is_empty() {
            return Err(NetworkError::Nothing { what: "at least one layer" });
        }
        let free = input.dims().iter().skip(1).any(Option::is_none);
        let empty = input.dims().is_empty() || input.dims().contains(&Some(0));
        if empty || !input.fits() || free {
            return Err(NetworkError::Nothing {
                what: "an input shape of positive dimensions, of which only the first may be variable",
            });
        }
        let mut parameters = Vec::new();
        let mut site = Site::new(input.clone(), &mut parameters);
        let chain = Arc::new(Chain::build(&layers, &mut site)?);
        let output = site.shape;
        Ok(Self { input, output, layers, chain, parameters })
    }

    /// Creates the network with these parameters, which must match the plan.
    pub(crate) fn with(self, parameters: Vec<Parameter>) -> Network {
        debug_assert_eq!(parameters.len(), self.parameters.len());
        Network { plan: self, parameters }
    }
}

impl Network {
    /// Creates a network for samples of shape `input`, with random weights that depend only on the seed.
    ///
    /// # Errors
    /// Returns [`NetworkError::Shape`], [`NetworkError::Branch`] or [`NetworkError::Setting`] with the layer that does
    /// not fit.
    pub fn new(input: Shape, layers: Vec<Layer>, seed: u64) -> Result<Self, NetworkError> {
        let plan = LayerPlan::new(input, layers)?;
        let start = |(index, spec): (usize, &ParameterSpec)| spec.start(seed, index);
        let parameters = plan.parameters.iter().enumerate().map(start).collect::<Result<_, _>>()?;
        Ok(plan.with(parameters))
    }

    /// Creates a network for samples of shape `input`, with weights from the function `weights`, which gets the name
    /// and the number of rows and columns of each parameter.
    ///
    /// ```
    /// use bitgrain_nn::network::layer::Layer;
    /// use bitgrain_nn::network::{InputBatch, Network, NetworkError, Shape};
    /// let weights = |name: &str, _: (usize, usize)| match name {
    ///     "0.weight" => Ok::<_, NetworkError>(vec![1.0, 2.0]),
    ///     _ => Ok(vec![0.5]),
    /// };
    /// let network = Network::with_weights(Shape::new(&[2]), vec![Layer::dense(1)], weights)?;
    /// assert_eq!(network.forward(&InputBatch::new(vec![10.0, 100.0], &[2])?)?.values(), [210.5]);
    /// # Ok::<(), NetworkError>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`new`](Self::new), the errors of `weights`, [`NetworkError::Count`] and
    /// [`NetworkError::NonFiniteWeight`].
    pub fn with_weights<E: From<NetworkError>>(
        input: Shape,
        layers: Vec<Layer>,
        mut weights: impl FnMut(&str, (usize, usize)) -> Result<Vec<f32>, E>,
    ) -> Result<Self, E> {
        let plan = LayerPlan::new(input, layers)?;
        let mut parameters = Vec::with_capacity(plan.parameters.len());
        for spec in &plan.parameters {
            parameters.push(spec.filled(weights(&spec.name, (spec.rows, spec.cols))?)?);
        }
        Ok(plan.with(parameters))
    }

    /// Returns the shape of an input sample.
    #[must_use]
    pub const fn input(&self) -> &Shape {
        &self.plan.input
    }

    /// Returns the shape of an output sample.
    #[must_use]
    pub const fn output(&self) -> &Shape {
        &self.plan.output
    }

    /// Returns the layers.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.plan.layers
    }

    /// Returns all parameters, in the order of the layers.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    pub(crate) fn parameters_mut(&mut self) -> &mut [Parameter] {
        &mut self.parameters
    }

    /// Returns the parameter `name`.
    ///
    /// # Errors
    /// Returns [`NetworkError::NoParameter`] if the name is unknown.
    pub fn parameter(&self, name: &str) -> Result<&Parameter, NetworkError> {
        self.parameters.iter().find(|parameter| parameter.name() == name).ok_or_else(|| self.unknown(name))
    }

    /// Replaces the weights of a parameter, in row-major order, and drops its quantized versions.
    ///
    /// # Errors
    /// Returns [`NetworkError::NoParameter`], [`NetworkError::Count`] or [`NetworkError::NonFiniteWeight`].
    pub fn set_weights(&mut self, name: &str, weights: Vec<f32>) -> Result<(), NetworkError> {
        let unknown = self.unknown(name);
        let found = self.parameters.iter_mut().find(|parameter| parameter.name() == name).ok_or(unknown)?;
        let wanted = found.store().len();
        if weights.len() != wanted {
            return Err(NetworkError::Count { parameter: name.to_owned(), wanted, found: weights.len() });
        }
        found.store_mut().set_master(weights).map_err(|error| found.error(error))
    }

    /// Quantizes a parameter to `format` with scales that the caller chose, before [`morph`](Self::morph) selects the
    /// format; see [`WeightStore::set_scales`](crate::WeightStore::set_scales).
    ///
    /// # Errors
    /// Returns [`NetworkError::NoParameter`], [`NetworkError::NoScales`] for a format whose scales cannot be set,
    /// [`NetworkError::Codec`] for scales of another number or out of range, or [`NetworkError::Overflow`].
    pub fn set_scales(
        &mut self,
        name: &str,
        format: impl Into<WeightFormat>,
        scales: &[f32],
    ) -> Result<(), NetworkError> {
        let unknown = self.unknown(name);
        let found = self.parameters.iter_mut().find(|parameter| parameter.name() == name).ok_or(unknown)?;
        found.store_mut().set_scales(format.into(), scales).map_err(|error| found.error(error))
    }

    fn unknown(&self, name: &str) -> NetworkError {
        let some: Vec<String> = self.parameters.iter().take(3).map(|known| format!("`{}`", known.name())).collect();
        let known = format!(
            "{}: {}{}",
            self.parameters.len(),
            some.join(", "),
            if self.parameters.len() > 3 { ", ..." } else { "" }
        );
        NetworkError::NoParameter { name: name.to_owned(), known }
    }

    /// Computes the outputs, with each parameter in its active format.
    ///
    /// # Errors
    /// Returns [`NetworkError::Input`] for samples of another shape, [`NetworkError::NonFiniteInput`], and errors of
    /// single layers: [`NetworkError::Token`], [`NetworkError::TooLong`].
    pub fn forward(&self, x: &InputBatch) -> Result<InputBatch, NetworkError> {
        self.check(x)?;
        self.plan.chain.forward(x.clone(), &mut Run::new(&self.parameters))
    }

    /// Like [`forward`](Self::forward), and passes the inputs of each matrix to `watch`.
    pub(crate) fn forward_watched(&self, x: &InputBatch, watch: Watch<'_>) -> Result<InputBatch, NetworkError> {
        self.check(x)?;
        self.plan.chain.forward(x.clone(), &mut Run::watched(&self.parameters, watch))
    }

    /// Computes the gradients of the master weights and of the samples. `slopes` maps the outputs to the gradients of
    /// the loss with respect to the outputs.
    ///
    /// # Errors
    /// Same as [`forward`](Self::forward), and the errors of `slopes`.
    pub fn gradients(
        &self,
        x: &InputBatch,
        slopes: impl FnOnce(&InputBatch) -> Result<Vec<f32>, NetworkError>,
    ) -> Result<NetworkGradients, NetworkError> {
        self.check(x)?;
        let mut run = Run::training(&self.parameters);
        let y = self.plan.chain.forward(x.clone(), &mut run)?;
        let slopes = slopes(&y)?;
        if slopes.len() != y.values().len() {
            let (wanted, found) = (y.values().len(), slopes.len());
            return Err(NetworkError::Targets { what: "number of output gradients must be", wanted, found });
        }
        let mut back = run.back();
        let input = self.plan.chain.backward(y.with_values(slopes), &mut back);
        Ok(NetworkGradients { output: y, input, parameters: back.into_gradients() })
    }

    fn check(&self, x: &InputBatch) -> Result<(), NetworkError> {
        if !self.plan.input.matches(x.dims()) {
            return Err(NetworkError::Input { wanted: self.plan.input.clone(), found: x.shape() });
        }
        check_finite(x.values()).map_err(|_| {
            let at = x.values().iter().position(|x| !x.is_finite()).unwrap_or(0);
            NetworkError::NonFiniteInput { sample: at / x.sample_len(), index: at % x.sample_len() }
        })
    }
}

/// Result of a forward and a backward pass.
#[derive(Debug, Clone)]
pub struct NetworkGradients {
    /// Outputs of the forward pass.
    pub output: InputBatch,
    /// Gradients of the inputs.
    pub input: InputBatch,
    /// Gradients of the parameters, in the order of [`Network::parameters`].
    pub parameters: Vec<Vec<f32>>,
}
