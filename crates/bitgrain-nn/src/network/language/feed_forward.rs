//! Feed-forward layers: gated, with one set of matrices or a choice of experts per token.

use bitgrain_kernels::Backend;
use bitgrain_kernels::floats::sigmoid;

use super::LanguageError;
use super::attention::softmax;
use super::config::{Architecture, Config, Experts};
use super::loader::Loader;
use super::pass::Pass;
use super::projection::Projection;

/// `sqrt(2 / pi)`, of the approximation of GELU by tanh.
const GELU: f32 = 0.797_884_6;

/// A feed-forward layer.
#[derive(Debug)]
pub(super) enum FeedForward {
    /// One set of matrices.
    Dense(Gated),
    /// A router, and the experts that it chooses from.
    Mixture { router: Projection, experts: Vec<Gated>, settings: Experts },
}

/// `down(activation(gate(x)) * up(x))`.
#[derive(Debug)]
pub(super) struct Gated {
    gate_up: GateUp,
    down: Projection,
    gelu: bool,
    expert: usize,
}

#[derive(Debug)]
enum GateUp {
    Joined(Projection),
    Separate { gate: Projection, up: Projection },
}

impl FeedForward {
    /// Loads the layer `at`.
    pub(super) fn load(loader: Loader<'_>, config: &Config, at: usize) -> Result<Self, LanguageError> {
        let (width, inner) = (config.width, config.inner);
        let name = |part: &str| format!("blk.{at}.ffn_{part}");
        let gelu = config.architecture == Architecture::Gemma3;
        let Some(settings) = config.experts else {
            let names = match config.architecture {
                Architecture::Phi3 => vec![name("up")],
                _ => vec![name("gate"), name("up")],
            };
            let gate_up = GateUp::Joined(Projection::load(loader, &names, &[inner, inner], width)?);
            let down = Projection::load(loader, &[name("down")], &[width], inner)?;
            return Ok(Self::Dense(Gated { gate_up, down, gelu, expert: 0 }));
        };
        let count = settings.count;
        let router = Projection::load(loader, &[name("gate_inp")], &[count], width)?;
        let gates = Projection::load_experts(loader, &name("gate_exps"), [count, inner, width])?;
        let ups = Projection::load_experts(loader, &name("up_exps"), [count, inner, width])?;
        let downs = Projection::load_experts(loader, &name("down_exps"), [count, width, inner])?;
        let experts = gates.into_iter().zip(ups).zip(downs).enumerate().map(|(expert, ((gate, up), down))| {
            let gate_up = GateUp::Separate { gate, up };
            Gated { gate_up, down, gelu, expert }
        });
        Ok(Self::Mixture { router, experts: experts.collect(), settings })
    }

    /// Returns the size of the matrices in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Dense(gated) => gated.bytes(),
            Self::Mixture { router, experts, .. } => router.bytes() + experts.iter().map(Gated::bytes).sum::<usize>(),
        }
    }

    /// Computes the outputs for rows of inputs.
    pub(super) fn forward(&self, x: &[f32], batch: usize, pass: &mut Pass<'_>) -> Result<Vec<f32>, LanguageError> {
        let (router, experts, settings) = match self {
            Self::Dense(gated) => return gated.forward(x, batch, pass),
            Self::Mixture { router, experts, settings } => (router, experts, settings),
        };
        let width = x.len() / batch;
        let mut scores = router.apply(x, batch, 0, pass)?;
        // Rows of each expert with their weights.
        let mut rows: Vec<Vec<(usize, f32)>> = vec![Vec::new(); experts.len()];
        for (row, scores) in scores.chunks_exact_mut(experts.len()).enumerate() {
            softmax(scores);
            for (expert, weight) in chosen(scores, settings.used) {
                rows[expert].push((row, weight * settings.scale));
            }
        }
        let mut out = vec![0.0; x.len()];
        for (expert, rows) in experts.iter().zip(rows).filter(|(_, rows)| !rows.is_empty()) {
            let inputs: Vec<f32> = rows.iter().flat_map(|(row, _)| &x[row * width..][..width]).copied().collect();
            let outputs = expert.forward(&inputs, rows.len(), pass)?;
            for ((row, weight), values) in rows.into_iter().zip(outputs.chunks_exact(width)) {
                out[row * width..][..width].iter_mut().zip(values).for_each(|(out, value)| *out += weight * value);
            }
        }
        Ok(out)
    }
}

/// Returns the `used` experts with the largest scores, with weights of sum 1. Of equal scores, the first wins.
fn chosen(scores: &[f32], used: usize) -> Vec<(usize, f32)> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    order.truncate(used);
    // A sum of tiny probabilities would divide by almost zero; this bound is llama.cpp's.
    let sum = order.iter().map(|expert| scores[*expert]).sum::<f32>().max(6.103_515_6e-5);
    order.into_iter().map(|expert| (expert, scores[expert] / sum)).collect()
}

impl Gated {
    fn bytes(&self) -> usize {
        self.down.bytes()
            + match &self.gate_up {
                GateUp::Joined(both) => both.bytes(),
                GateUp::Separate { gate, up } => gate.bytes() + up.bytes(),
            }
    }

    fn forward(&self, x: &[f32], batch: usize, pass: &mut Pass<'_>) -> Result<Vec<f32>, LanguageError> {
        let (gate, mut up) = match &self.gate_up {
            GateUp::Joined(both) => {
                let mut both = both.multiply(x, batch, self.expert, pass)?;
                let up = both.pop().unwrap_or_default();
                (both.pop().unwrap_or_default(), up)
            }
            GateUp::Separate { gate, up } => {
                (gate.apply(x, batch, self.expert, pass)?, up.apply(x, batch, self.expert, pass)?)
            }
        };
        activate(&gate, &mut up, self.gelu);
        self.down.apply(&up, batch, self.expert, pass)
    }
}

/// Multiplies `up` with the activations of `gate`: `SiLU`, or the approximation of GELU by tanh.
fn activate(gate: &[f32], up: &mut [f32], gelu: bool) {
    // Both are `x * sigmoid(s)`: with s = x for SiLU, and because (1 + tanh(y)) / 2 = sigmoid(2 y) for GELU.
    let inputs: Vec<f32>;
    let slopes = if gelu {
        inputs = gate.iter().map(|x| 2.0 * GELU * (x + 0.044_715 * x * x * x)).collect();
        &inputs
    } else {
        gate
    };
    let mut factors = vec![0.0; gate.len()];
    // The output has the length of the input, so that the kernel cannot fail.
    let _ = sigmoid(Backend::best(), slopes, &mut factors);
    for ((up, gate), factor) in up.iter_mut().zip(gate).zip(factors) {
        *up *= gate * factor;
    }
}
