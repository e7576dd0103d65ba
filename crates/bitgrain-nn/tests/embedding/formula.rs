//! Reference implementation of BERT at f64, one sentence at a time, to compare the layers with.

use bitgrain_nn::network::embed::{SentenceEncoder, cosine};

use crate::tiny::{HEADS, HIDDEN, LAYERS, POSITIONS, SENTENCES, Tiny, write_tokenizer};

type Rows = Vec<Vec<f64>>;

impl Tiny {
    fn row(&self, name: &str, row: usize) -> Vec<f64> {
        let (shape, values) = &self.tensors[name];
        let cols = shape[shape.len() - 1];
        values[row * cols..][..cols].iter().map(|x| f64::from(*x)).collect()
    }

    fn linear_of(&self, name: &str, x: &Rows) -> Rows {
        let (weight, bias) = (format!("{name}.weight"), self.row(&format!("{name}.bias"), 0));
        let output = |x: &Vec<f64>, at: usize| dot(&self.row(&weight, at), x) + bias[at];
        x.iter().map(|x| (0..bias.len()).map(|at| output(x, at)).collect()).collect()
    }

    fn norm_of(&self, name: &str, x: &Rows) -> Rows {
        let (weight, bias) = (self.row(&format!("{name}.weight"), 0), self.row(&format!("{name}.bias"), 0));
        let one = |x: &Vec<f64>| {
            let mean = x.iter().sum::<f64>() / HIDDEN as f64;
            let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / HIDDEN as f64;
            (0..HIDDEN).map(|i| (x[i] - mean) / (variance + 1e-12).sqrt() * weight[i] + bias[i]).collect()
        };
        x.iter().map(one).collect()
    }

    /// Computes the attention of all heads.
    fn attention(&self, at: &str, x: &Rows) -> Rows {
        let [query, key, value] = ["query", "key", "value"].map(|part| self.linear_of(&format!("{at}.self.{part}"), x));
        let size = HIDDEN / HEADS;
        let mut seen = vec![vec![0.0; HIDDEN]; x.len()];
        for head in (0..HIDDEN).step_by(size).map(|start| start..start + size) {
            for (place, out) in seen.iter_mut().enumerate() {
                let score =
                    |key: &Vec<f64>| dot(&query[place][head.clone()], &key[head.clone()]) / (size as f64).sqrt();
                let scores: Vec<f64> = key.iter().map(|key| score(key).exp()).collect();
                for (score, value) in scores.iter().zip(&value) {
                    head.clone().for_each(|i| out[i] += score / scores.iter().sum::<f64>() * value[i]);
                }
            }
        }
        self.linear_of(&format!("{at}.output.dense"), &seen)
    }

    /// Returns the vector of one sentence.
    pub(crate) fn embed(&self, tokens: &[u32]) -> Vec<f64> {
        let table = |name: &str, row: usize| self.row(&format!("embeddings.{name}_embeddings.weight"), row);
        let place = |(place, token): (usize, &u32)| {
            let all = [table("word", *token as usize), table("position", place), table("token_type", 0)];
            (0..HIDDEN).map(|i| all.iter().map(|row| row[i]).sum()).collect()
        };
        let mut x: Rows = tokens.iter().enumerate().map(place).collect();
        x = self.norm_of("embeddings.LayerNorm", &x);
        for layer in 0..LAYERS {
            let at = format!("encoder.layer.{layer}");
            let seen = self.attention(&format!("{at}.attention"), &x);
            x = self.norm_of(&format!("{at}.attention.output.LayerNorm"), &sum(&x, &seen));
            let mut inner = self.linear_of(&format!("{at}.intermediate.dense"), &x);
            inner.iter_mut().flatten().for_each(|x| *x *= 0.5 * (1.0 + libm::erf(*x / 2.0_f64.sqrt())));
            let out = self.linear_of(&format!("{at}.output.dense"), &inner);
            x = self.norm_of(&format!("{at}.output.LayerNorm"), &sum(&x, &out));
        }
        let mean: Vec<f64> = (0..HIDDEN).map(|i| x.iter().map(|row| row[i]).sum::<f64>() / x.len() as f64).collect();
        let length = dot(&mean, &mean).sqrt();
        mean.into_iter().map(|x| x / length).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn sum(a: &Rows, b: &Rows) -> Rows {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
}

/// Returns the largest difference of two vectors.
pub(crate) fn far(a: &[f32], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max)
}

#[test]
fn vectors_are_those_of_the_formulas() {
    let tiny = Tiny::new();
    let folder = tiny.write();
    let encoder = SentenceEncoder::open(folder.path()).expect("valid BERT");
    assert_eq!((encoder.dims(), encoder.max_tokens()), (HIDDEN, POSITIONS));
    let vectors = encoder.embed(&SENTENCES).expect("vectors");
    for (text, vector) in SENTENCES.iter().zip(&vectors) {
        let wanted = tiny.embed(&encoder.tokenizer().encode(text, POSITIONS));
        assert!(far(vector, &wanted) < 2e-6, "{text}: {}", far(vector, &wanted));
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-6);
    }
    // The model must tell the sentences apart, or the comparison above would prove little.
    assert!(cosine(&vectors[0], &vectors[1]) < 0.99);
}

#[test]
fn the_batch_of_a_sentence_does_not_change_its_vector() {
    let folder = Tiny::new().write();
    let encoder = SentenceEncoder::open(folder.path()).expect("valid BERT");
    let together = encoder.embed(&SENTENCES).expect("vectors");
    for (text, vector) in SENTENCES.iter().zip(together) {
        let alone = encoder.embed(&[text]).expect("a vector").remove(0);
        let alone: Vec<f64> = alone.into_iter().map(f64::from).collect();
        assert!(far(&vector, &alone) < 1e-6, "{text}: {}", far(&vector, &alone));
    }
    assert_eq!(encoder.embed::<&str>(&[]).expect("nothing"), Vec::<Vec<f32>>::new());
}

#[test]
fn sentences_beyond_one_batch_keep_their_order() {
    let folder = Tiny::new().write();
    let encoder = SentenceEncoder::open(folder.path()).expect("valid BERT");
    let sentences: Vec<String> = (0..100).map(|i| "dog ".repeat(i % 7) + SENTENCES[i % 5]).collect();
    for (text, vector) in sentences.iter().zip(encoder.embed(&sentences).expect("vectors")) {
        let alone = encoder.embed(&[text]).expect("a vector").remove(0);
        assert!(cosine(&vector, &alone) > 0.999_999, "{text}");
    }
}

#[test]
fn both_files_of_a_vocabulary_give_the_same_vectors() {
    let folder = Tiny::new().write();
    let lines = SentenceEncoder::open(folder.path()).expect("valid BERT").embed(&SENTENCES).expect("vectors");
    write_tokenizer(folder.path(), |_| {});
    std::fs::remove_file(folder.path().join("vocab.txt")).expect("file exists");
    assert_eq!(SentenceEncoder::open(folder.path()).expect("valid BERT").embed(&SENTENCES).expect("vectors"), lines);
}

#[test]
fn weights_below_a_head_are_found() {
    let mut tiny = Tiny::new();
    let plain = SentenceEncoder::open(tiny.write().path()).expect("valid BERT").embed(&SENTENCES).expect("vectors");
    tiny.tensors = tiny.tensors.into_iter().map(|(name, tensor)| (format!("bert.{name}"), tensor)).collect();
    let below = SentenceEncoder::open(tiny.write().path()).expect("valid BERT").embed(&SENTENCES).expect("vectors");
    assert_eq!(below, plain);
}
