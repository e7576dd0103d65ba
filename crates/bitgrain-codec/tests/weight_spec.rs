//! Compares the tables of `spec/weights.md` with the code, and its rules with bytes.

use bitgrain_codec::weight::{DType, QuantizedTensor, WeightFormat};

const SPEC: &str = include_str!("../../../spec/weights.md");

#[test]
fn the_specification_lists_every_dtype_with_its_width() {
    let rows = SPEC.lines().skip_while(|line| !line.starts_with("| dtype |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|')).map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        (cells[1].trim_matches('`').to_owned(), cells[2].parse::<u8>().expect("bits"))
    });
    let listed: Vec<_> = rows.collect();
    assert_eq!(listed, DType::ALL.map(|dtype| (dtype.name().to_owned(), dtype.bits())));
}

/// Bytes worked out by hand from the text of the specification.
#[test]
fn bytes_are_those_of_the_specification() {
    let parts = |format: &str, values: &[f32], cols| {
        let format: WeightFormat = format.parse().expect("a format");
        let tensor = QuantizedTensor::quantize(format, values, cols).expect("finite");
        let parts = tensor.parts();
        (parts.codes.to_vec(), parts.scales.to_vec(), parts.zeros.to_vec())
    };
    // Two rows of three: low nibbles first, and each row starts a new byte.
    let six = [7.0, -3.0, 2.0, -14.0, 0.0, 2.0];
    assert_eq!(parts("int4/channel", &six, 3), (vec![0xD7, 0x02, 0x09, 0x01], vec![1.0, 2.0], vec![]));
    assert_eq!(parts("int4/tensor", &six, 3), (vec![0xE4, 0x01, 0x09, 0x01], vec![2.0], vec![]));
    // From -1 to 2 in three steps of 1: the zero point is 1.
    assert_eq!(parts("uint2/channel", &[-1.0, 0.0, 2.0], 3), (vec![0b11_01_00], vec![1.0], vec![1]));
    // Signs, least significant first, -0 positive; the mean of the magnitudes is 1.
    assert_eq!(parts("binary/channel", &[1.0, -2.0, -0.0], 3), (vec![0b101], vec![1.0], vec![]));
    // The two largest of four at their mean: 2 * 2 / 1 < 4 * 4 / 2 > 4.5 * 4.5 / 3.
    assert_eq!(parts("ternary/channel", &[2.0, -2.0, 0.5, 0.0], 4), (vec![0b00_00_11_01], vec![2.0], vec![]));
    assert_eq!(parts("fp4/channel", &[6.0, -1.5, 0.5], 3), (vec![0xB7, 0x01], vec![1.0], vec![]));
    assert_eq!(parts("int16", &[32767.0, -16384.0], 2).0, [0xFF, 0x7F, 0x00, 0xC0]);
    assert_eq!(parts("fp8_e4m3/none", &[1.0, 1000.0], 2), (vec![0x38, 0x7E], vec![], vec![]));
}
