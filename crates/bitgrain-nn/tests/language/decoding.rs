//! Logits against the formulas, in every format and with every cache; the same bits however a text is split.

use bitgrain_codec::weight::WeightFormat;
use bitgrain_nn::ModelFile;
use bitgrain_nn::model::convert::{FormatChoice, Recipe, quantize};
use bitgrain_nn::network::language::{CacheFormat, Decoder, LanguageModel, Sampling, Stop};

use crate::formula;
use crate::tiny::{Scaling, Spec};

/// Tokens of a text longer than any window and any trained context of the small models.
pub(crate) fn text(count: u32) -> Vec<u32> {
    (0..count).map(|at| 3 + (at * at * 7 + at * 31) % 250).collect()
}

/// Relative RMS difference of logits from the formula.
fn difference(found: &[f32], wanted: &[Vec<f64>]) -> f64 {
    let wanted: Vec<f64> = wanted.concat();
    assert_eq!(found.len(), wanted.len());
    let squares: f64 = found.iter().zip(&wanted).map(|(a, b)| (f64::from(*a) - b).powi(2)).sum();
    (squares / wanted.iter().map(|x| x * x).sum::<f64>()).sqrt()
}

fn logits(model: &ModelFile, format: CacheFormat, tokens: &[u32]) -> Vec<f32> {
    let decoder = Decoder::load(model, None).expect("supported");
    decoder.forward(tokens, &mut decoder.cache(format).expect("fits"), 0).expect("in range")
}

#[test]
fn logits_of_every_architecture_are_those_of_its_formula() {
    for (name, spec) in Spec::all() {
        // Separate factors for long contexts limit the default context.
        let tokens = text(if matches!(spec.scaling, Scaling::Long(..)) { 16 } else { 41 });
        let model = spec.open();
        let far = difference(&logits(&model, CacheFormat::F32, &tokens), &formula::logits(&spec, &model, &tokens));
        assert!(far < 3e-6, "{name}: {far}");
    }
}

#[test]
fn a_text_may_be_read_in_any_parts() {
    for (name, spec) in Spec::all() {
        let tokens = text(16);
        let decoder = Decoder::load(&spec.open(), None).expect("supported");
        for format in [CacheFormat::F32, CacheFormat::F16, CacheFormat::Q8_0] {
            let Ok(mut cache) = decoder.cache(format) else { continue };
            let wanted = decoder.forward(&tokens, &mut cache, 0).expect("in range");
            for parts in [&[1; 16][..], &[5, 1, 10], &[15, 1]] {
                let mut cache = decoder.cache(format).expect("fits");
                let (mut found, mut rest) = (Vec::new(), &tokens[..]);
                for part in parts {
                    found.extend(decoder.forward(&rest[..*part], &mut cache, 0).expect("in range"));
                    rest = &rest[*part..];
                }
                assert!(found == wanted, "{name} {format} {parts:?}");
                assert_eq!(cache.len(), 16);
            }
        }
    }
}

#[test]
fn a_cache_continues_where_it_was_truncated() {
    let decoder = Decoder::load(&Spec::llama().open(), None).expect("supported");
    let mut cache = decoder.cache(CacheFormat::F16).expect("fits");
    let wanted = decoder.forward(&text(12), &mut cache, 11).expect("in range");
    cache.truncate(5);
    assert_eq!(cache.len(), 5);
    assert_eq!(decoder.forward(&text(12)[5..], &mut cache, 6).expect("in range"), wanted);
    // Two heads of 16 keys and values of two bytes in two layers.
    assert_eq!(cache.bytes(), 12 * 2 * 2 * 16 * 2 * 2);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (spec, tokens) = (Spec::llama(), text(150));
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| logits(&spec.open(), CacheFormat::F16, &tokens))
    };
    assert!(on(1) == on(3));
}

#[test]
fn smaller_caches_cost_precision() {
    // Heads of 32 values, which blocks of 4 and 8 bits need.
    let (_, spec) = Spec::all().into_iter().find(|(name, _)| *name == "qwen3").expect("listed");
    let (model, tokens) = (spec.open(), text(60));
    let wanted = formula::logits(&spec, &model, &tokens);
    let far = |format| difference(&logits(&model, format, &tokens), &wanted);
    let [full, half, eight, four] = [CacheFormat::F32, CacheFormat::F16, CacheFormat::Q8_0, CacheFormat::Q4_0].map(far);
    assert!(full < 3e-6 && full < half && half < 1e-3, "{full} {half}");
    assert!(half < eight && eight < 0.02 && eight < four && four < 0.3, "{eight} {four}");
    assert!(far(CacheFormat::Iq4Nl) < four * 1.2);
}

#[test]
fn every_block_format_runs() {
    let folder = tempfile::tempdir().expect("temporary directory");
    // Rows of a multiple of 256 values, which K-quants need.
    let spec = Spec { width: 256, head: 64, rotated: 64, heads: 4, inner: 256, layers: 1, ..Spec::llama() };
    let (model, tokens) = (spec.open(), text(24));
    let path = folder.path().join("out.gguf");
    let floats = ["float16", "bfloat16"].map(|name| name.parse::<WeightFormat>().expect("known"));
    let blocks = WeightFormat::all().filter(|format| matches!(format, WeightFormat::Ggml(_)));
    let mut count = 0;
    for format in blocks.chain(floats) {
        quantize(&model, &path, &Recipe::new(FormatChoice::To(format)), &()).expect("writable");
        let quantized = ModelFile::open(&path).expect("just written");
        assert_eq!(quantized.tensor("blk.0.attn_q.weight").expect("there").storage.format(), Some(format));
        // The formula on the dequantized weights differs only by the rounding of activations to 8 bits.
        let far =
            difference(&logits(&quantized, CacheFormat::F16, &tokens), &formula::logits(&spec, &quantized, &tokens));
        assert!(far < 0.03, "{format}: {far}");
        count += 1;
    }
    assert!(count >= 14);
}

#[test]
fn long_factors_are_used_for_long_texts() {
    let (_, spec) = Spec::all().into_iter().find(|(name, _)| *name == "phi3, long").expect("listed");
    let (short, long) = (Decoder::load(&spec.open(), None), Decoder::load(&spec.open(), Some(64)));
    let (short, long) = (short.expect("supported"), long.expect("supported"));
    assert_eq!((short.longest(), long.longest()), (16, 64));
    let first = |decoder: &Decoder| {
        decoder.forward(&text(4), &mut decoder.cache(CacheFormat::F32).expect("fits"), 3).expect("in range")
    };
    assert!(first(&short) != first(&long));
}

#[test]
fn greedy_text_follows_the_largest_logits() {
    let model = Spec::llama().model();
    let prompt = model.tokenizer().encode("the inner", false);
    let mut pieces = String::new();
    let made = model
        .generate(&prompt, 12, Sampling::GREEDY, CacheFormat::F16, |piece| {
            pieces.push_str(piece);
            true
        })
        .expect("in range");
    let mut all = prompt.clone();
    for token in &made.tokens {
        // The whole text again, without a cache that lives longer than one pass.
        let logits = model.logits(&all).expect("in range");
        let last = &logits[logits.len() - model.decoder().tokens()..];
        let best = (0..last.len()).max_by(|a, b| last[*a].total_cmp(&last[*b])).expect("not empty");
        assert_eq!(*token as usize, best);
        all.push(*token);
    }
    assert!(made.stop == Stop::End || made.tokens.len() == 12);
    assert_eq!(pieces, model.tokenizer().decode(&made.tokens));
}

#[test]
fn sampled_text_depends_on_the_seed_alone() {
    let model = Spec::llama().model();
    let generate = |seed| {
        let sampling = Sampling { seed, temperature: 1.5, ..Sampling::default() };
        model.generate(&[5, 6], 20, sampling, CacheFormat::F16, |_| true).expect("in range").tokens
    };
    assert_eq!(generate(3), generate(3));
    assert_ne!(generate(3), generate(4));
}

#[test]
fn generation_ends_for_each_reason() {
    let model = LanguageModel::load(&Spec::llama().open(), Some(8)).expect("valid");
    let generate = |prompt: &[u32], most: usize, wanted: bool| {
        let sampling = Sampling { repeat_penalty: 1e6, ..Sampling::GREEDY };
        model.generate(prompt, most, sampling, CacheFormat::F16, |_| wanted).expect("in range").stop
    };
    assert_eq!(generate(&[5], 0, true), Stop::Length);
    assert_eq!(generate(&[5], 2, true), Stop::Length);
    assert!(matches!(generate(&text(8), 9, true), Stop::Context | Stop::End));
    assert!(matches!(generate(&[5], 7, false), Stop::Caller | Stop::End));
    assert_eq!(model.decoder().longest(), 8);
}
