//! `Saved`: a network as a list of arrays, the common form of all file formats.

use std::sync::Arc;

use bitgrain_codec::weight::{DType, PartsBuf, QuantizedTensor, Sizes, WeightFormat};

use super::{Contents, NetworkFileError};
use crate::model::convert::FormatChoice;
use crate::network::layer::Layer;
use crate::network::parameter::ParameterSpec;
use crate::network::weights::{Active, Moments, Version, WeightStore, is_master};
use crate::network::{LayerPlan, Network, NetworkError, Parameter, Shape};

/// A network as a list of arrays.
pub(super) struct Saved {
    pub(super) input: Shape,
    pub(super) layers: Vec<Layer>,
    pub(super) parameters: Vec<SavedParameter>,
}

pub(super) struct SavedParameter {
    pub(super) name: String,
    pub(super) rows: usize,
    pub(super) cols: usize,
    /// Active format.
    pub(super) active: WeightFormat,
    pub(super) master: Option<Vec<f32>>,
    pub(super) importance: Option<Vec<f32>>,
    /// Range that inputs are clamped to.
    pub(super) input_range: Option<[f32; 2]>,
    /// Triangle of the moments.
    pub(super) moments: Option<Vec<f32>>,
    pub(super) versions: Vec<SavedVersion>,
}

pub(super) struct SavedVersion {
    /// Requested format.
    pub(super) format: WeightFormat,
    /// Stored format.
    pub(super) stored: WeightFormat,
    pub(super) parts: PartsBuf,
}

impl Saved {
    pub(super) fn of(network: &Network, contents: Contents) -> Result<Self, NetworkFileError> {
        let parameters = network.parameters().iter().map(|one| SavedParameter::of(one, contents));
        Ok(Self {
            input: network.input().clone(),
            layers: network.layers().to_vec(),
            parameters: parameters.collect::<Result<_, NetworkError>>()?,
        })
    }

    /// Builds the network after checking the arrays against its layers.
    pub(super) fn into_network(self) -> Result<Network, NetworkFileError> {
        let plan = LayerPlan::new(self.input, self.layers)?;
        let wanted = |spec: &ParameterSpec| format!("`{}`, {} rows of {}", spec.name, spec.rows, spec.cols);
        let found = |one: &SavedParameter| format!("`{}`, {} rows of {}", one.name, one.rows, one.cols);
        for index in 0..plan.parameters.len().max(self.parameters.len()) {
            let wanted = plan.parameters.get(index).map_or_else(|| "none".to_owned(), wanted);
            let found = self.parameters.get(index).map_or_else(|| "none".to_owned(), found);
            if wanted != found {
                return Err(NetworkFileError::Parameter { index, wanted, found });
            }
        }
        let built = plan.parameters.iter().zip(self.parameters).map(|(spec, saved)| saved.into_parameter(spec));
        let built = built.collect::<Result<_, NetworkFileError>>()?;
        Ok(plan.with(built))
    }
}

impl SavedParameter {
    fn of(parameter: &Parameter, contents: Contents) -> Result<Self, NetworkError> {
        let store = parameter.store();
        let version = |version: &Version| {
            let tensor = version.tensor();
            let parts = tensor.parts();
            let [codes, zeros] = [parts.codes, parts.zeros].map(<[u8]>::to_vec);
            let parts = PartsBuf { codes, scales: parts.scales.to_vec(), zeros };
            SavedVersion { format: version.format(), stored: tensor.format(), parts }
        };
        let active = parameter.active()?;
        let (master, versions) = match (contents, &active) {
            (Contents::All, _) => {
                // A master that is left out is decoded from the active version when the file is read.
                let left_out = store.frozen().is_some_and(|version| version.format() == parameter.format());
                let master = (!left_out).then(|| store.master().to_vec());
                (master, store.versions().iter().map(|v| version(v)).collect())
            }
            (Contents::Active, Active::Master(master)) => (Some(master.to_vec()), Vec::new()),
            (Contents::Active, Active::Version(active)) => (None, vec![version(active)]),
        };
        let (rows, cols) = store.shape();
        let importance = store.importance().filter(|_| contents == Contents::All).map(<[f32]>::to_vec);
        let moments = store.moments().filter(|_| contents == Contents::All).map(Moments::triangle);
        let (name, active) = (parameter.name().to_owned(), parameter.format());
        // Outputs depend on it, so it is active.
        let input_range = parameter.input_range().map(Into::into);
        Ok(Self { name, rows, cols, active, master, importance, input_range, moments, versions })
    }

    fn into_parameter(self, spec: &ParameterSpec) -> Result<Parameter, NetworkFileError> {
        let name = self.name;
        let wrong = |what| NetworkFileError::Weights { parameter: name.clone(), what };
        let length = |what, wanted, found| NetworkFileError::Length { parameter: name.clone(), what, wanted, found };
        let mut versions: Vec<Arc<Version>> = Vec::with_capacity(self.versions.len());
        for SavedVersion { format, stored, parts } in self.versions {
            if versions.iter().any(|other| other.format() == format) {
                return Err(wrong("the same version twice"));
            }
            let sizes = stored.sizes(self.rows, self.cols).map_err(NetworkError::codec(&name))?;
            let Sizes { codes, scales, zeros } = sizes;
            let lengths = [
                ("codes", codes, parts.codes.len()),
                ("scales", scales, parts.scales.len()),
                ("zero points", zeros, parts.zeros.len()),
            ];
            if let Some((what, wanted, found)) = lengths.into_iter().find(|(_, wanted, found)| wanted != found) {
                return Err(length(what, wanted, found));
            }
            let tensor = QuantizedTensor::from_parts(stored, self.rows, self.cols, parts);
            let tensor = tensor.map_err(NetworkError::codec(&name))?;
            versions.push(Arc::new(Version::new(format, tensor).map_err(NetworkError::store(&name))?));
        }
        let mut store = match self.master {
            Some(master) if Some(master.len()) != self.rows.checked_mul(self.cols) => {
                return Err(length("weights", self.rows.saturating_mul(self.cols), master.len()));
            }
            Some(master) => WeightStore::new(master, self.cols).map_err(NetworkError::store(&name))?,
            None => {
                let active = versions.iter().find(|version| version.format() == self.active);
                let active = active.ok_or_else(|| wrong("neither master weights nor its active version"))?;
                // Keep one copy of the codes: the one that products read.
                let compacted = Arc::new(active.compacted().map_err(NetworkError::store(&name))?);
                for version in &mut versions {
                    if version.format() == compacted.format() {
                        *version = Arc::clone(&compacted);
                    }
                }
                WeightStore::without_master(compacted)
            }
        };
        if self.importance.is_some() {
            store.set_importance(self.importance).map_err(NetworkError::store(&name))?;
        }
        if let Some(triangle) = self.moments {
            let moments = Moments::from_triangle(&triangle, self.cols).map_err(NetworkError::store(&name))?;
            store.set_moments(Some(moments)).map_err(NetworkError::store(&name))?;
        }
        // Insert versions last: setting importances and moments drops them.
        versions.into_iter().for_each(|version| store.insert(version));
        let mut parameter = Parameter::new(spec, store, self.active);
        match self.input_range {
            // False for NaN.
            Some([lo, hi]) if lo <= hi && lo.is_finite() && hi.is_finite() => {
                parameter.set_input_range(Some((lo, hi)));
            }
            Some(_) => return Err(wrong("an input range that is not two finite numbers in ascending order")),
            None => {}
        }
        Ok(parameter)
    }
}

/// Returns the full name of a format, with its scaling and calibration.
pub(super) fn format_text(format: WeightFormat) -> String {
    if is_master(format) { DType::Float32.to_string() } else { FormatChoice::To(format).to_string() }
}

/// Parses the name of a format.
pub(super) fn parse_format(parameter: &str, text: &str) -> Result<WeightFormat, NetworkFileError> {
    let wrong = |source| NetworkFileError::Format { parameter: parameter.to_owned(), format: text.to_owned(), source };
    match text.parse::<FormatChoice>().map_err(wrong)? {
        FormatChoice::To(format) => Ok(format),
        FormatChoice::Keep => Err(wrong(bitgrain_codec::CodecErr::UnknownFormat)),
    }
}
