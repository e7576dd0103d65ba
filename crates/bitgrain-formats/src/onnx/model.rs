//! `Model`: the constants and operators of an ONNX model, read without executing anything.

use std::collections::HashSet;
use std::ops::Range;

use super::OnnxError;
use super::fields::{Value, for_each, varints};

/// Constants and operators of the main graph. Bodies of control flow are skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Model {
    /// Initializers, and the values of `Constant` operators, in file order. Strings are left out.
    pub initializers: Vec<Initializer>,
    /// Operators in file order.
    pub operators: Vec<Operator>,
}

/// A constant tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initializer {
    /// Name by which operators refer to the tensor.
    pub name: String,
    /// Dimensions, outermost first; empty for a scalar.
    pub shape: Vec<u64>,
    /// Type of the elements.
    pub element: Element,
    /// Location of the elements, little-endian and row by row; 4-bit elements have the first one in the low half of a byte.
    pub data: Data,
}

/// Location of the elements of an [`Initializer`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Bytes of the file.
    Range(Range<usize>),
    /// Bytes that were stored as a list of numbers.
    Owned(Vec<u8>),
    /// Bytes of another file.
    External {
        /// Path relative to the folder of the model, with `/` between its parts and without `..`.
        location: String,
        /// Offset of the first byte.
        offset: u64,
        /// Number of bytes.
        len: u64,
    },
}

/// An operator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Operator {
    /// Name of the operation: `MatMulNBits`.
    pub kind: String,
    /// Names of the inputs; empty for an omitted one.
    pub inputs: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// Integer attributes by name.
    pub integers: Vec<(String, i64)>,
}

impl Operator {
    /// Returns an integer attribute.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.integers.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// Returns the name of an input, unless it is omitted.
    #[must_use]
    pub fn input(&self, place: usize) -> Option<&str> {
        self.inputs.get(place).map(String::as_str).filter(|name| !name.is_empty())
    }
}

/// Type of elements, by ONNX's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
#[rustfmt::skip]
pub enum Element {
    F16, Bf16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Bool, I4, U4, E4m3, E5m2,
    /// Another type, with its size in bits.
    Other { name: &'static str, bits: u64 },
}

impl Element {
    /// Returns the size of an element in bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        match self {
            Self::I4 | Self::U4 => 4,
            Self::I8 | Self::U8 | Self::Bool | Self::E4m3 | Self::E5m2 => 8,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 16,
            Self::F32 | Self::I32 | Self::U32 => 32,
            Self::F64 | Self::I64 | Self::U64 => 64,
            Self::Other { bits, .. } => bits,
        }
    }

    /// Returns the type with this number; `None` for strings.
    fn of(code: u64, name: &str) -> Result<Option<Self>, OnnxError> {
        let other = |name, bits| Self::Other { name, bits };
        Ok(Some(match code {
            1 => Self::F32,
            2 => Self::U8,
            3 => Self::I8,
            4 => Self::U16,
            5 => Self::I16,
            6 => Self::I32,
            7 => Self::I64,
            8 => return Ok(None),
            9 => Self::Bool,
            10 => Self::F16,
            11 => Self::F64,
            12 => Self::U32,
            13 => Self::U64,
            14 => other("C64", 64),
            15 => other("C128", 128),
            16 => Self::Bf16,
            17 => Self::E4m3,
            18 => other("F8_E4M3FNUZ", 8),
            19 => Self::E5m2,
            20 => other("F8_E5M2FNUZ", 8),
            21 => Self::U4,
            22 => Self::I4,
            23 => other("F4_E2M1", 4),
            24 => other("F8_E8M0", 8),
            25 => other("U2", 2),
            26 => other("I2", 2),
            _ => return Err(OnnxError::ElementType { name: name.to_owned(), code }),
        }))
    }
}

impl Model {
    /// Reads the constants and operators of a model.
    ///
    /// # Errors
    /// Returns [`OnnxError`] for bytes that are not a model, sizes that contradict each other, and paths of external data
    /// that lead out of the model's folder.
    pub fn parse(file: &[u8]) -> Result<Self, OnnxError> {
        let mut graph = None;
        for_each(file, 0..file.len(), |field, value| {
            if let (7, Value::Bytes(range)) = (field, value) {
                graph = Some(range);
            }
            Ok(())
        })?;
        let mut model = Self::default();
        for_each(file, graph.ok_or(OnnxError::NoGraph)?, |field, value| {
            match (field, value) {
                (1, Value::Bytes(range)) => {
                    let (operator, constant) = operator(file, range)?;
                    if let (Some(range), Some(name)) = (constant, operator.outputs.first()) {
                        model.initializers.extend(initializer(file, range, Some(name))?);
                    }
                    model.operators.push(operator);
                }
                (5, Value::Bytes(range)) => model.initializers.extend(initializer(file, range, None)?),
                _ => {}
            }
            Ok(())
        })?;
        let mut names = HashSet::new();
        match model.initializers.iter().find(|initializer| !names.insert(initializer.name.as_str())) {
            Some(twice) => Err(OnnxError::Duplicate { name: twice.name.clone() }),
            None => Ok(model),
        }
    }
}

/// Reads an operator, and the location of the tensor of a `Constant`.
fn operator(file: &[u8], range: Range<usize>) -> Result<(Operator, Option<Range<usize>>), OnnxError> {
    let (mut operator, mut constant) = (Operator::default(), None);
    for_each(file, range, |field, value| {
        match (field, value) {
            (1, Value::Bytes(range)) => operator.inputs.push(string(file, range)),
            (2, Value::Bytes(range)) => operator.outputs.push(string(file, range)),
            (4, Value::Bytes(range)) => operator.kind = string(file, range),
            (5, Value::Bytes(range)) => {
                let (mut name, mut integer, mut tensor) = (String::new(), None, None);
                for_each(file, range, |field, value| {
                    match (field, value) {
                        (1, Value::Bytes(range)) => name = string(file, range),
                        (3, Value::Integer(value)) => integer = Some(value.cast_signed()),
                        (5, Value::Bytes(range)) => tensor = Some(range),
                        _ => {}
                    }
                    Ok(())
                })?;
                if name == "value" {
                    constant = tensor;
                }
                operator.integers.extend(integer.map(|value| (name, value)));
            }
            _ => {}
        }
        Ok(())
    })?;
    let constant = constant.filter(|_| operator.kind == "Constant");
    Ok((operator, constant))
}

fn string(file: &[u8], range: Range<usize>) -> String {
    String::from_utf8_lossy(&file[range]).into_owned()
}

/// Fields of a tensor.
#[derive(Default)]
struct Fields {
    name: String,
    shape: Vec<i64>,
    code: u64,
    /// Ranges of raw data or of fixed-size numbers, which have the same bytes.
    runs: Vec<Range<usize>>,
    numbers: Vec<u64>,
    external: bool,
    location: String,
    offset: u64,
    len: Option<u64>,
}

/// Reads a tensor; `None` for strings. `name` replaces its own name.
fn initializer(file: &[u8], range: Range<usize>, name: Option<&str>) -> Result<Option<Initializer>, OnnxError> {
    let mut fields = Fields::default();
    for_each(file, range, |field, value| {
        match (field, value) {
            (1, Value::Integer(dim)) => fields.shape.push(dim.cast_signed()),
            (1, Value::Bytes(range)) => {
                fields.shape.extend(varints(file, range)?.into_iter().map(u64::cast_signed));
            }
            (2, Value::Integer(code)) => fields.code = code,
            (4 | 9 | 10, Value::Bytes(range) | Value::Fixed(range)) => fields.runs.push(range),
            (5 | 7 | 11, Value::Bytes(range)) => fields.numbers.extend(varints(file, range)?),
            (5 | 7 | 11, Value::Integer(number)) => fields.numbers.push(number),
            (8, Value::Bytes(range)) => fields.name = string(file, range),
            (13, Value::Bytes(range)) => fields.external_entry(file, range)?,
            (14, Value::Integer(location)) => fields.external = location == 1,
            _ => {}
        }
        Ok(())
    })?;
    if let Some(name) = name {
        name.clone_into(&mut fields.name);
    }
    let Some(element) = Element::of(fields.code, &fields.name)? else { return Ok(None) };
    fields.finish(file, element).map(Some)
}

impl Fields {
    fn external_entry(&mut self, file: &[u8], range: Range<usize>) -> Result<(), OnnxError> {
        let (mut key, mut value) = (String::new(), String::new());
        for_each(file, range, |field, found| {
            match (field, found) {
                (1, Value::Bytes(range)) => key = string(file, range),
                (2, Value::Bytes(range)) => value = string(file, range),
                _ => {}
            }
            Ok(())
        })?;
        match key.as_str() {
            "location" => self.location = value,
            "offset" => self.offset = value.parse().unwrap_or(u64::MAX),
            "length" => self.len = value.parse().ok(),
            _ => {}
        }
        Ok(())
    }

    fn finish(self, file: &[u8], element: Element) -> Result<Initializer, OnnxError> {
        let Self { name, shape, runs, numbers, external, location, offset, len, .. } = self;
        let dims: Option<Vec<u64>> = shape.iter().map(|dim| u64::try_from(*dim).ok()).collect();
        let sizes = dims.and_then(|dims| {
            let count = dims.iter().try_fold(1_u64, |count, dim| count.checked_mul(*dim))?;
            Some((dims, count.checked_mul(element.bits())?.div_ceil(8)))
        });
        let Some((dims, needed)) = sizes else { return Err(OnnxError::Shape { name, shape }) };
        let data = if external {
            let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':']);
            if !location.split('/').all(plain) {
                return Err(OnnxError::Location { name, location });
            }
            Data::External { location, offset, len: len.unwrap_or(needed) }
        } else if let [range] = &runs[..] {
            Data::Range(range.clone())
        } else if !runs.is_empty() {
            Data::Owned(runs.iter().flat_map(|range| &file[range.clone()]).copied().collect())
        } else {
            // Elements of fewer than eight bits are stored as bytes of several.
            let width = usize::try_from(element.bits().div_ceil(8)).unwrap_or(8).min(8);
            Data::Owned(numbers.iter().flat_map(|number| number.to_le_bytes().into_iter().take(width)).collect())
        };
        let found = match &data {
            Data::Range(range) => range.len() as u64,
            Data::Owned(bytes) => bytes.len() as u64,
            Data::External { len, .. } => *len,
        };
        if found != needed {
            return Err(OnnxError::Size { name, needed, found });
        }
        Ok(Initializer { name, shape: dims, element, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx::message::Message;

    /// A model with one initializer.
    fn model(build: impl FnOnce(&mut Message) -> &mut Message) -> Vec<u8> {
        let (mut tensor, mut graph, mut model) = (Message::default(), Message::default(), Message::default());
        build(&mut tensor).text(8, "w");
        graph.message(5, &tensor);
        model.integer(1, 10).message(7, &graph);
        model.into_bytes()
    }

    fn only(bytes: &[u8]) -> Result<Initializer, OnnxError> {
        Model::parse(bytes).map(|mut model| model.initializers.remove(0))
    }

    #[test]
    fn elements_are_raw_or_numbers() {
        let raw = model(|w| w.integers(1, &[2]).integer(2, 3).bytes(9, &[1, 255]).text(12, ""));
        let found = only(&raw).expect("valid");
        let Data::Range(range) = &found.data else { panic!("{found:?}") };
        assert_eq!((&raw[range.clone()], found.element, found.shape), (&[1, 255][..], Element::I8, vec![2]));
        let numbers = only(&model(|w| w.integer(1, 2).integer(2, 3).integers(5, &[1, -1]))).expect("valid");
        assert_eq!(numbers.data, Data::Owned(vec![1, 255]));
        // Two numbers of four bits share a byte; the last byte is half empty.
        let nibbles = only(&model(|w| w.integer(1, 3).integer(2, 21).bytes(9, &[0x21, 3]))).expect("valid");
        assert_eq!((nibbles.element, nibbles.shape), (Element::U4, vec![3]));
    }

    #[test]
    fn contradictory_sizes_types_and_paths_are_refused() {
        let short = only(&model(|w| w.integer(1, 3).integer(2, 1).bytes(9, &[0; 8])));
        assert_eq!(short, Err(OnnxError::Size { name: "w".into(), needed: 12, found: 8 }));
        let negative = only(&model(|w| w.integer(1, -1).integer(2, 1)));
        assert!(matches!(negative, Err(OnnxError::Shape { .. })), "{negative:?}");
        let huge = only(&model(|w| w.integers(1, &[i64::MAX, i64::MAX]).integer(2, 1)));
        assert!(matches!(huge, Err(OnnxError::Shape { .. })), "{huge:?}");
        let unknown = only(&model(|w| w.integer(2, 99)));
        assert_eq!(unknown, Err(OnnxError::ElementType { name: "w".into(), code: 99 }));
        for (location, fits) in
            [("weights.bin", true), ("a/b.bin", true), ("../a", false), ("/etc/passwd", false), ("", false)]
        {
            let mut entry = Message::default();
            entry.text(1, "location").text(2, location);
            let found = only(&model(|w| w.integer(1, 1).integer(2, 1).integer(14, 1).message(13, &entry)));
            assert_eq!(found.is_ok(), fits, "{location}: {found:?}");
        }
        assert_eq!(Model::parse(&[]), Err(OnnxError::NoGraph));
        let mut graph = Message::default();
        graph.message(5, &Message::default()).message(5, &Message::default());
        let mut twice = Message::default();
        twice.message(7, &graph);
        assert!(Model::parse(&twice.into_bytes()).is_err());
    }
}
