//! Sentences embedded by a BERT model in three of our formats, compared with candle in f32.

use std::io;
use std::path::Path;

use bitgrain::codec::weight::{DType, GgmlBlock, WeightFormat};
use bitgrain::nn::network::embed::{SentenceEncoder, cosine};

use super::{on, progress};
use crate::measure::{Contestant, Pace, Timing, race};
use crate::report::{Figure, Row, Table, Unit};
use crate::rival::Encoder;

/// Short and long sentences that are embedded in one batch. The published figures were measured with exactly these.
const SENTENCES: [&str; 32] = [
    "A woman is slicing an onion.",
    "Two boys run across a field with a dog.",
    "The committee will meet again next month to discuss the budget.",
    "A man in a red jacket is climbing a steep wall of ice.",
    "Shares of the company fell four percent after the report was published.",
    "Somebody plays the violin on an empty street at night.",
    "The minister said that the talks were useful, but that a great deal remained to be done before an agreement could be signed.",
    "A cat sleeps on the warm hood of a car.",
    "How do I remove a stain of red wine from a white shirt?",
    "Rescuers searched the valley for a second day, hindered by heavy rain and by roads that the river had washed away.",
    "The train leaves at seven.",
    "Children are painting a long paper on the floor of their school.",
    "An old bridge over the river was closed because of cracks in its arches.",
    "You could try to boil the water first and let it stand for an hour.",
    "Three people are waiting for the bus under one umbrella.",
    "The court rejected the appeal of the two brothers, who had been sentenced in spring to several years in prison.",
    "A small plane landed safely on the motorway.",
    "Someone is pouring oil into a hot pan.",
    "Is it worth learning to type with ten fingers at my age?",
    "A crowd watches the fireworks above the harbour.",
    "The new museum shows paintings that were hidden in cellars for more than half a century.",
    "A goat stands on top of a rock and looks down.",
    "Prices for wheat rose to their highest level in ten years as the drought in the south went on.",
    "A girl in a blue dress jumps into the swimming pool.",
    "He folds the letter and puts it back into the drawer.",
    "Scientists found traces of water in rocks that are older than any seen before.",
    "The players are shaking hands after the match.",
    "A bird with a long beak is looking for food in shallow water.",
    "The president left for a visit of three days, during which he is to open a factory and to meet members of parliament.",
    "Two men are repairing the roof of a barn.",
    "It is easier to ask a neighbour than to read the manual.",
    "A young man on a bicycle carries a ladder through traffic.",
];

/// Our contenders and the formats of their weights.
fn ours() -> [(&'static str, WeightFormat); 3] {
    [("f32", DType::Float32.into()), ("q8_0", GgmlBlock::Q8_0.into()), ("int8", DType::Int8.into())]
}

/// Measures one sentence and all sentences with this number of threads.
///
/// # Errors
/// Returns an error if the model cannot be opened.
pub(super) fn rows(pace: Pace, folder: &Path, threads: usize) -> io::Result<Vec<Row>> {
    let mut encoders = Vec::new();
    for (name, format) in ours() {
        let mut encoder = SentenceEncoder::open(folder).map_err(io::Error::other)?;
        encoder.morph(format).map_err(io::Error::other)?;
        encoders.push((name, encoder));
    }
    let candle = candle(folder)?;
    // A sentence of average length.
    let batches = [("1 sentence", &SENTENCES[5..6]), ("32 sentences", &SENTENCES[..])];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(io::Error::other)?;
    let row = |(what, sentences): (&str, &[&str])| {
        let label = format!("{what}, {}", on(threads));
        progress(&format!("sentences: {label}"));
        Row::judged(label, pool.install(|| compete(pace, &encoders, candle.as_deref(), sentences)))
    };
    Ok(batches.map(row).into())
}

/// Collects the results with their targets.
pub(super) fn table(rows: Vec<Row>) -> Table {
    let figures = vec![
        Figure::ratio("q8_0", "candle").at_least(1.0),
        Figure::ratio("int8", "candle"),
        Figure::ratio("f32", "candle"),
        Figure::ratio("q8_0", "f32"),
    ];
    let note = "With all-MiniLM-L6-v2, the model is a BERT with six layers of width 384 and 12 heads. Our times \
                include tokenization; candle (a BERT of `candle-nn` layers in f32, with the same weights) starts \
                from tokens. The cosine similarity with candle's vectors is at least 0.9999 in f32 and 0.99 with 8 \
                bits."
        .to_owned();
    Table { title: "Sentences embedded", note, unit: Unit::Milliseconds, axis: "input", figures, rows }
}

fn compete(
    pace: Pace,
    encoders: &[(&'static str, SentenceEncoder)],
    candle: Option<&dyn Encoder>,
    sentences: &[&str],
) -> Vec<Timing> {
    let tokens: Vec<Vec<u32>> = sentences.iter().map(|text| encoders[0].1.tokens(text)).collect();
    let mut contestants = Vec::new();
    for (name, encoder) in encoders {
        if let Some(candle) = candle {
            check(name, &encoder.embed(sentences).expect("finite"), &candle.embed(&tokens));
        }
        contestants.push(Contestant::new(name, move |(): &mut ()| encoder.embed(sentences).expect("finite")));
    }
    if let Some(candle) = candle {
        let tokens = &tokens;
        contestants.push(Contestant::new("candle", move |(): &mut ()| candle.embed(tokens)));
    }
    race(pace.in_memory().apart(), &mut (), 1, contestants)
}

/// Panics unless the vectors are close to candle's; closer for f32 weights than for 8 bits.
fn check(name: &str, ours: &[Vec<f32>], theirs: &[Vec<f32>]) {
    assert_eq!(ours.len(), theirs.len());
    let least = ours.iter().zip(theirs).map(|(a, b)| cosine(a, b)).fold(1.0, f64::min);
    assert!(least > if name == "f32" { 0.9999 } else { 0.99 }, "{name} differs from candle: cosine {least}");
}

#[cfg(feature = "candle")]
fn candle(folder: &Path) -> io::Result<Option<Box<dyn Encoder>>> {
    crate::rival::candle::encoder(folder).map(Some).map_err(io::Error::other)
}

#[cfg(not(feature = "candle"))]
fn candle(_folder: &Path) -> io::Result<Option<Box<dyn Encoder>>> {
    Ok(None)
}
