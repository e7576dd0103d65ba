//! Real data to try things on: handwritten digits. Where they come from: `data/README.md`.

use bitgrain_formats::npy::Header;
use bitgrain_formats::npz::Archive;

use crate::network::{Batch, NetworkError};
use crate::train::{Dataset, Targets};

static DIGITS: &[u8] = include_bytes!("../data/digits.npz");

/// 1,797 handwritten digits by 13 people: images of 8×8 pixels from 0 to 1, and their classes. People follow one
/// another, so the last images are by hands that the first do not show.
///
/// ```
/// let digits = bitgrain_nn::sample::digits()?;
/// assert_eq!((digits.count(), digits.inputs().dims()), (1797, &[64][..]));
/// # Ok::<(), bitgrain_nn::network::NetworkError>(())
/// ```
///
/// # Errors
/// None, unless the data in the crate was changed.
pub fn digits() -> Result<Dataset, NetworkError> {
    let lacking = NetworkError::Nothing { what: "the digits it was built with" };
    let read = |name: &str| -> Option<Vec<u8>> {
        let archive = Archive::parse(DIGITS).ok()?;
        let bytes = archive.members.iter().find(|member| member.name == name)?.read(1 << 20).ok()?;
        let range = Header::parse(&bytes).ok()?.range();
        Some(bytes[range].to_vec())
    };
    let (images, labels) = read("images.npy").zip(read("labels.npy")).ok_or(lacking)?;
    let inputs = Batch::new(images.into_iter().map(|pixel| f32::from(pixel) / 16.0).collect(), &[64])?;
    Dataset::new(inputs, Targets::Classes(labels.into_iter().map(usize::from).collect()))
}
