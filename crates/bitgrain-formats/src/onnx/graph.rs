//! Graphs of operators.

use super::message::Message;
use super::{Tensor, TensorKind};

/// Version of the file format that introduced what operator set 5 of `ai.onnx.ml` needs.
const IR_VERSION: i64 = 10;
/// Operator sets: the standard one, and the one with tree ensembles.
const OPERATOR_SETS: [(&str, i64); 2] = [("", 18), ("ai.onnx.ml", 5)];

/// A graph of operators with its inputs and outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// Name of the graph.
    pub name: String,
    /// Operators, in an order in which they can be computed.
    pub nodes: Vec<Node>,
    /// Constants by name.
    pub initializers: Vec<(String, Tensor)>,
    /// Inputs.
    pub inputs: Vec<TensorInfo>,
    /// Outputs.
    pub outputs: Vec<TensorInfo>,
}

/// An operator with one output.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Name of the operator.
    pub operator: &'static str,
    /// Domain of the operator: empty, or `ai.onnx.ml`.
    pub domain: &'static str,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Name of the output.
    pub output: String,
    /// Attributes by name.
    pub attributes: Vec<(&'static str, Attribute)>,
}

/// Value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    /// An integer.
    Integer(i64),
    /// Integers.
    Integers(Vec<i64>),
    /// A tensor.
    Tensor(Tensor),
}

/// Name, type and shape of an input or output. `None` is a dimension of any size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    name: String,
    kind: TensorKind,
    shape: Vec<Option<usize>>,
}

impl Node {
    /// Creates a standard operator without attributes.
    #[must_use]
    pub fn new(operator: &'static str, inputs: &[&str], output: &str) -> Self {
        let inputs = inputs.iter().map(|&input| input.to_owned()).collect();
        Self { operator, domain: "", inputs, output: output.to_owned(), attributes: Vec::new() }
    }

    /// Adds an attribute.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Attribute) -> Self {
        self.attributes.push((name, value));
        self
    }

    fn message(&self) -> Message {
        let mut message = Message::default();
        for input in &self.inputs {
            message.text(1, input);
        }
        message.text(2, &self.output).text(3, &self.output).text(4, self.operator);
        for (name, value) in &self.attributes {
            message.message(5, &value.message(name));
        }
        if !self.domain.is_empty() {
            message.text(7, self.domain);
        }
        message
    }
}

impl Attribute {
    fn message(&self, name: &str) -> Message {
        let mut message = Message::default();
        message.text(1, name);
        let kind = match self {
            Self::Integer(value) => {
                message.integer(3, *value);
                2
            }
            Self::Tensor(tensor) => {
                message.message(5, &tensor.message(name));
                4
            }
            Self::Integers(values) => {
                message.integers(8, values);
                7
            }
        };
        message.integer(20, kind);
        message
    }
}

impl TensorInfo {
    /// Creates a description.
    #[must_use]
    pub fn new(name: &str, kind: TensorKind, shape: &[Option<usize>]) -> Self {
        Self { name: name.to_owned(), kind, shape: shape.to_vec() }
    }

    fn message(&self) -> Message {
        let mut dimensions = Message::default();
        for size in &self.shape {
            let mut dimension = Message::default();
            match size {
                Some(size) => dimension.integer(1, i64::try_from(*size).unwrap_or(i64::MAX)),
                None => dimension.text(2, "rows"),
            };
            dimensions.message(1, &dimension);
        }
        let mut tensor = Message::default();
        tensor.integer(1, self.kind.code()).message(2, &dimensions);
        let mut of_tensor = Message::default();
        of_tensor.message(1, &tensor);
        let mut message = Message::default();
        message.text(1, &self.name).message(2, &of_tensor);
        message
    }
}

impl Graph {
    /// Returns the bytes of a model with this graph and metadata.
    #[must_use]
    pub fn to_model(&self, metadata: &[(&str, String)]) -> Vec<u8> {
        let mut graph = Message::default();
        for node in &self.nodes {
            graph.message(1, &node.message());
        }
        graph.text(2, &self.name);
        for (name, tensor) in &self.initializers {
            graph.message(5, &tensor.message(name));
        }
        for input in &self.inputs {
            graph.message(11, &input.message());
        }
        for output in &self.outputs {
            graph.message(12, &output.message());
        }
        let mut model = Message::default();
        model.integer(1, IR_VERSION).text(2, "bitgrain").text(3, env!("CARGO_PKG_VERSION")).message(7, &graph);
        for (domain, version) in OPERATOR_SETS {
            let mut set = Message::default();
            set.text(1, domain).integer(2, version);
            model.message(8, &set);
        }
        for (key, value) in metadata {
            let mut entry = Message::default();
            entry.text(1, key).text(2, value);
            model.message(14, &entry);
        }
        model.into_bytes()
    }
}
