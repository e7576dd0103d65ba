//! `--to` with granularity, group, calibration, importance matrix, containers and shards.

use bitgrain::codec::weight::{QuantizedTensor, WeightFormat};
use bitgrain::nn::ModelFile;
use bitgrain::nn::model::convert::FormatChoice;

use crate::model::{COLS, folder, importance, weights};
use crate::{bitgrain, refusal, sampled};

const BLOCKS: [&str; 15] = [
    "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "iq4_nl", "tq1_0", "tq2_0",
    "mxfp4", "q4f32",
];
const PLAIN: [&str; 4] = ["float64", "float32", "float16", "bfloat16"];
const WIDE: [&str; 6] = ["int64", "int32", "int16", "uint64", "uint32", "uint16"];
const BYTES: [&str; 4] = ["fp8_e4m3", "fp8_e5m2", "int8", "uint8"];
const NARROW: [&str; 7] = ["fp4", "int4", "int2", "uint4", "uint2", "ternary", "binary"];
/// Formats with a granularity.
const SHAPED: [&str; 5] = ["int4/32", "int4/64", "int8/channel", "int8/tensor", "fp8_e4m3/none"];

const SCALES: [Option<&str>; 5] = [None, Some("none"), Some("tensor"), Some("channel"), Some("group")];
const GROUPS: [Option<&str>; 4] = [None, Some("32"), Some("64"), Some("12")];
const METHODS: [Option<&str>; 5] = [None, Some("absmax"), Some("percentile=90"), Some("mse"), Some("hqq")];
const OUTPUTS: [&str; 3] = ["gguf", "safetensors", "safetensors.index.json"];

#[derive(Debug, Clone, Copy)]
struct Options {
    to: &'static str,
    scale: Option<&'static str>,
    group: Option<&'static str>,
    calibrate: Option<&'static str>,
    imatrix: bool,
    output: &'static str,
    shards: bool,
}

fn names() -> Vec<&'static str> {
    [&BLOCKS[..], &PLAIN, &WIDE, &BYTES, &NARROW, &SHAPED].concat()
}

/// Returns the format that must be written, or the option that the error must name.
fn expected(o: Options) -> Result<String, &'static str> {
    if o.shards && o.output == "safetensors" {
        return Err("--shard-size");
    }
    if o.group == Some("12") && matches!(o.scale, None | Some("group")) {
        return Err("multiple of 8");
    }
    if o.group.is_some() && !matches!(o.scale, None | Some("group")) {
        return Err("--group");
    }
    let (dtype, own) = o.to.split_once('/').map_or((o.to, None), |(dtype, own)| (dtype, Some(own)));
    let (block, plain) = (BLOCKS.contains(&dtype), PLAIN.contains(&dtype));
    let usual = if plain {
        "none"
    } else if NARROW.contains(&dtype) {
        "64"
    } else {
        "channel"
    };
    let own_groups = own.unwrap_or(usual);
    let wanted = match (o.scale, o.group) {
        (_, Some(group)) => Some(group),
        (Some("group"), None) => Some(if own_groups.parse::<u8>().is_ok() { own_groups } else { "64" }),
        (scale, None) => scale,
    };
    if let Some(wanted) = wanted {
        let contradicts = own.is_some_and(|own| own != wanted);
        if block || (plain && wanted != "none") || contradicts {
            return Err(if o.group.is_some() { "--group" } else { "--scale" });
        }
    }
    let scaling = wanted.unwrap_or(own_groups);
    if let Some(how) = o.calibrate {
        let learned = ["ternary", "binary"].contains(&dtype);
        let searched = ["mse", "hqq"].contains(&how);
        if block || plain || scaling == "none" || learned || (WIDE.contains(&dtype) && searched) {
            return Err("--calibrate");
        }
    }
    if o.imatrix {
        let ignored = ["q8_0", "tq1_0", "tq2_0", "mxfp4", "q4f32"];
        let by_error = ["ternary", "binary"].contains(&dtype) || o.calibrate == Some("mse");
        let uses = if block { !ignored.contains(&dtype) } else { by_error && !["none", "tensor"].contains(&scaling) };
        if !uses {
            return Err("--imatrix");
        }
    }
    if o.output == "gguf"
        && (dtype == "q4f32" || !block && !["float32", "float16", "bfloat16", "float64"].contains(&dtype))
    {
        return Err("GGUF files cannot hold");
    }
    let shape = if block || scaling == usual { String::new() } else { format!("/{scaling}") };
    let how = o.calibrate.filter(|how| *how != "absmax").map_or(String::new(), |how| format!("@{how}"));
    Ok(format!("{dtype}{shape}{how}"))
}

fn arguments(o: Options, output: &str) -> Vec<String> {
    let mut all = vec!["model.safetensors".to_owned(), output.to_owned(), "--to".to_owned(), o.to.to_owned()];
    let options = [("--scale", o.scale), ("--group", o.group), ("--calibrate", o.calibrate)];
    let imatrix = ("--imatrix", o.imatrix.then_some("imatrix.safetensors"));
    for (name, value) in options.into_iter().chain([imatrix, ("--shard-size", o.shards.then_some("10B"))]) {
        all.extend(value.into_iter().flat_map(|value| [name.to_owned(), value.to_owned()]));
    }
    all
}

/// Checks the output against the requested format, calibration and importance matrix.
fn check_written(path: &std::path::Path, full: &str, o: Options) {
    let model = ModelFile::open(path).unwrap_or_else(|error| panic!("{o:?}: {error}"));
    let Ok(FormatChoice::To(format)) = full.parse() else { panic!("{full} is a format") };
    let tensor = model.tensor("w").expect("kept under its name");
    let stored: WeightFormat = tensor.storage.format().unwrap_or_else(|| panic!("{o:?}: {}", tensor.storage));
    assert_eq!(stored.to_string(), format.to_string(), "{o:?}");
    let importance = importance();
    let wanted =
        QuantizedTensor::quantize_with(format, &weights(), COLS, o.imatrix.then_some(&importance[..])).expect("finite");
    assert!(tensor.values().expect("readable") == wanted.dequantize().expect("readable"), "{o:?}: other values");
    assert_eq!(model.files().len(), if o.shards { 2 } else { 1 }, "{o:?}");
}

#[test]
fn every_combination_with_a_format_is_honored_or_rejected() {
    let folder = folder();
    let names = names();
    let total = names.len() * SCALES.len() * GROUPS.len() * METHODS.len() * 2 * OUTPUTS.len() * 2;
    sampled(total, 1500, |index| {
        let mut rest = index;
        let mut digit = |base: usize| {
            let digit = rest % base;
            rest /= base;
            digit
        };
        let options = Options {
            to: names[digit(names.len())],
            scale: SCALES[digit(SCALES.len())],
            group: GROUPS[digit(GROUPS.len())],
            calibrate: METHODS[digit(METHODS.len())],
            imatrix: digit(2) == 1,
            output: OUTPUTS[digit(OUTPUTS.len())],
            shards: digit(2) == 1,
        };
        let name = format!("out{index}.{}", options.output);
        let arguments = arguments(options, &name);
        let said = refusal(&bitgrain(folder.path(), &arguments), &arguments);
        match (expected(options), said) {
            (Ok(full), None) => {
                let split = options.shards && options.output == "gguf";
                let first = if split { format!("out{index}-00001-of-00002.gguf") } else { name };
                check_written(&folder.path().join(first), &full, options);
            }
            (Err(word), Some(said)) => {
                assert!(said.contains(word), "{arguments:?} should name {word}: {said}");
                assert!(!folder.path().join(&name).exists(), "{arguments:?}");
            }
            (wanted, said) => panic!("{arguments:?}: wanted {wanted:?}, it said {said:?}"),
        }
    });
}

#[test]
fn a_group_length_in_the_name_is_kept_with_group_scaling() {
    let folder = folder();
    let options = ["model.safetensors", "out.safetensors", "--to", "int4/32", "--scale", "group"].map(str::to_owned);
    assert_eq!(refusal(&bitgrain(folder.path(), &options), &options), None);
    let model = ModelFile::open(folder.path().join("out.safetensors")).expect("written");
    assert_eq!(model.tensor("w").expect("there").storage.to_string(), "int4/32");
}
