//! The forward pass of every architecture in f64, position by position and without a cache.

use bitgrain_nn::ModelFile;

use crate::tiny::{CONTEXT, EPSILON, Scaling, Spec};

type Rows = Vec<Vec<f64>>;

/// Returns the logits after each token.
pub(crate) fn logits(spec: &Spec, model: &ModelFile, tokens: &[u32]) -> Rows {
    let formula = Formula { spec, model };
    let table = formula.matrix("token_embd.weight");
    let scale = if spec.gemma { (spec.width as f64).sqrt() } else { 1.0 };
    let mut x: Rows = tokens.iter().map(|id| table[*id as usize].iter().map(|v| v * scale).collect()).collect();
    for layer in 0..spec.layers {
        formula.layer(layer, &mut x);
    }
    let output = if spec.tied { table } else { formula.matrix("output.weight") };
    let norm = formula.vector("output_norm.weight");
    let cap = |logit: f64| spec.cap.map_or(logit, |cap| f64::from(cap) * (logit / f64::from(cap)).tanh());
    x.iter().map(|x| times(&output, &normal(x, &norm)).into_iter().map(cap).collect()).collect()
}

struct Formula<'a> {
    spec: &'a Spec,
    model: &'a ModelFile,
}

impl Formula<'_> {
    fn vector(&self, name: &str) -> Vec<f64> {
        let tensor = self.model.tensor(name).expect("there");
        tensor.values().expect("readable").into_iter().map(f64::from).collect()
    }

    fn matrix(&self, name: &str) -> Rows {
        let cols = usize::try_from(self.model.tensor(name).expect("there").cols()).expect("small");
        self.vector(name).chunks(cols).map(<[f64]>::to_vec).collect()
    }

    /// Multiplies with a matrix and adds its bias, if it has one.
    fn linear(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let mut y = times(&self.matrix(&format!("{name}.weight")), x);
        if self.model.tensor(&format!("{name}.bias")).is_ok() {
            y.iter_mut().zip(self.vector(&format!("{name}.bias"))).for_each(|(y, bias)| *y += bias);
        }
        y
    }

    fn layer(&self, layer: usize, x: &mut Rows) {
        let spec = self.spec;
        let name = |part: &str| format!("blk.{layer}.{part}");
        let (q, kv) = (spec.heads * spec.head, spec.kv * spec.head);
        let local = spec.window.filter(|(_, group, _)| layer % group < group - 1);
        let still = spec.still.is_some_and(|group| (layer + 1).is_multiple_of(group));
        let norm = self.vector(&name("attn_norm.weight"));
        let (mut queries, mut keys, mut values) = (Rows::new(), Rows::new(), Rows::new());
        for (position, x) in x.iter().enumerate() {
            let x = normal(x, &norm);
            let mut parts = if spec.fused {
                let all = self.linear(&name("attn_qkv"), &x);
                [all[..q].to_vec(), all[q..q + kv].to_vec(), all[q + kv..].to_vec()]
            } else {
                ["attn_q", "attn_k", "attn_v"].map(|part| self.linear(&name(part), &x))
            };
            for (part, norm) in parts.iter_mut().zip(["attn_q_norm.weight", "attn_k_norm.weight"]) {
                for head in part.chunks_mut(spec.head) {
                    if spec.head_norms {
                        head.copy_from_slice(&normal(head, &self.vector(&name(norm))));
                    }
                    if !still {
                        self.rotate(head, position, local.map(|(_, _, base)| base));
                    }
                }
            }
            let [query, key, value] = parts;
            queries.push(query);
            keys.push(key);
            values.push(value);
        }
        for (position, x) in x.iter_mut().enumerate() {
            let first = local.map_or(0, |(length, _, _)| (position + 1).saturating_sub(length));
            let mut heads = Vec::new();
            for head in 0..spec.heads {
                let range = |head: usize| head * spec.head..(head + 1) * spec.head;
                let (query, shared) = (&queries[position][range(head)], range(head * spec.kv / spec.heads));
                let scores: Vec<f64> = (first..=position)
                    .map(|other| dot(query, &keys[other][shared.clone()]) / (spec.head as f64).sqrt())
                    .collect();
                let weights = softmax(&scores);
                heads.extend(shared.map(|at| {
                    (first..=position).zip(&weights).map(|(other, weight)| weight * values[other][at]).sum::<f64>()
                }));
            }
            let mut y = self.linear(&name("attn_output"), &heads);
            if spec.gemma {
                y = normal(&y, &self.vector(&name("post_attention_norm.weight")));
            }
            x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
            let inputs = normal(x, &self.vector(&name("ffn_norm.weight")));
            let mut y = self.feed_forward(layer, &inputs);
            if spec.gemma {
                y = normal(&y, &self.vector(&name("post_ffw_norm.weight")));
            }
            x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
        }
    }

    fn feed_forward(&self, layer: usize, x: &[f64]) -> Vec<f64> {
        let (spec, name) = (self.spec, |part: &str| format!("blk.{layer}.ffn_{part}"));
        let activation = |x: f64| {
            if spec.gemma {
                let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
                0.5 * x * (1.0 + inner.tanh())
            } else {
                x / (1.0 + (-x).exp())
            }
        };
        let gated = |gate: &[f64], up: &[f64]| -> Vec<f64> {
            gate.iter().zip(up).map(|(gate, up)| activation(*gate) * up).collect()
        };
        let Some((count, used)) = spec.experts else {
            let (gate, up) = if spec.fused {
                let both = self.linear(&name("up"), x);
                (both[..spec.inner].to_vec(), both[spec.inner..].to_vec())
            } else {
                (self.linear(&name("gate"), x), self.linear(&name("up"), x))
            };
            return self.linear(&name("down"), &gated(&gate, &up));
        };
        let shares = softmax(&self.linear(&name("gate_inp"), x));
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
        let sum: f64 = order[..used].iter().map(|expert| shares[*expert]).sum();
        let mut out = vec![0.0; spec.width];
        for expert in &order[..used] {
            let part = |part: &str, rows: usize| -> Rows {
                self.matrix(&name(&format!("{part}_exps.weight")))[expert * rows..][..rows].to_vec()
            };
            let (gate, up) = (times(&part("gate", spec.inner), x), times(&part("up", spec.inner), x));
            let y = times(&part("down", spec.width), &gated(&gate, &up));
            out.iter_mut().zip(y).for_each(|(out, y)| *out += y * shares[*expert] / sum);
        }
        out
    }

    /// Rotates a head to a position; `local` is the base of a layer with a window.
    fn rotate(&self, head: &mut [f64], position: usize, local: Option<f32>) {
        let (spec, half) = (self.spec, self.spec.rotated / 2);
        let base = f64::from(local.unwrap_or(spec.base));
        let scaling = if local.is_some() { Scaling::None } else { spec.scaling };
        let mut magnitude = 1.0;
        for i in 0..half {
            let mut speed = base.powf(-2.0 * i as f64 / spec.rotated as f64);
            match scaling {
                Scaling::None => {}
                Scaling::Linear(factor) => speed /= f64::from(factor),
                Scaling::Factors => speed /= self.vector("rope_freqs.weight")[i],
                Scaling::Long(trained, by) => {
                    assert!(trained < CONTEXT);
                    // Without a limit, models use the factors for short contexts.
                    speed /= self.vector("rope_factors_short.weight")[i];
                    magnitude = f64::from(by);
                }
                Scaling::Yarn(factor, trained) => {
                    let factor = f64::from(factor);
                    magnitude = 1.0 + 0.1 * factor.ln();
                    // Turns within the trained context decide how much a frequency is divided.
                    let dims = spec.rotated as f64;
                    let limit = |turns: f64| {
                        dims * (f64::from(trained) / (turns * 2.0 * std::f64::consts::PI)).ln() / (2.0 * base.ln())
                    };
                    let (low, high) = (limit(32.0).floor().max(0.0), limit(1.0).ceil().min(dims - 1.0));
                    let ramp = ((i as f64 - low) / (high - low).max(0.001)).clamp(0.0, 1.0);
                    speed = speed * (1.0 - ramp) + speed / factor * ramp;
                }
            }
            let (a, b) = if spec.halves { (i, i + half) } else { (2 * i, 2 * i + 1) };
            let (sin, cos) = (position as f64 * speed).sin_cos();
            let (x, y) = (head[a], head[b]);
            head[a] = (x * cos - y * sin) * magnitude;
            head[b] = (x * sin + y * cos) * magnitude;
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn times(matrix: &Rows, x: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| dot(row, x)).collect()
}

fn normal(x: &[f64], weight: &[f64]) -> Vec<f64> {
    let size = (dot(x, x) / x.len() as f64 + f64::from(EPSILON)).sqrt();
    x.iter().zip(weight).map(|(x, weight)| x / size * weight).collect()
}

fn softmax(scores: &[f64]) -> Vec<f64> {
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scores.iter().map(|score| (score - top).exp()).sum();
    scores.iter().map(|score| (score - top).exp() / sum).collect()
}
