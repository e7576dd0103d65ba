//! Tests of versions and the master weights.

use super::*;

fn weights(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 37 % 101) as f32 - 50.0) / 61.0).collect()
}

fn formats() -> Vec<WeightFormat> {
    let blocks = ["q4_0", "q8_0", "q4_k", "q4f32"].map(|name| name.parse().expect("known format"));
    DType::ALL.into_iter().map(WeightFormat::from).chain(blocks).collect()
}

#[test]
fn a_version_does_not_depend_on_earlier_formats() {
    for format in formats() {
        let direct = WeightStore::new(weights(6 * 64), 64).expect("finite");
        let detour = direct.clone();
        detour.morph(DType::Int8.into()).expect("finite");
        for store in [&direct, &detour] {
            store.morph(format).expect("finite");
        }
        assert_eq!(direct.morph_to_f32(format), detour.morph_to_f32(format), "{format}");
    }
}

#[test]
fn morphing_twice_keeps_the_first_version() {
    let store = WeightStore::new(weights(64), 32).expect("finite");
    let made = |store: &WeightStore| Arc::clone(store.active("q4_0".parse().expect("known")).version().expect("made"));
    store.morph("q4_0".parse().expect("known")).expect("finite");
    let first = made(&store);
    store.morph("q4_0".parse().expect("known")).expect("finite");
    assert!(Arc::ptr_eq(&first, &made(&store)));
    store.clear("q4_0".parse().expect("known"));
    store.morph("q4_0".parse().expect("known")).expect("finite");
    assert!(!Arc::ptr_eq(&first, &made(&store)));
}

#[test]
fn an_update_discards_all_versions() {
    for format in formats().into_iter().filter(|format| !is_master(*format)) {
        let mut store = WeightStore::new(weights(4 * 32), 32).expect("finite");
        let before = store.morph_to_f32(format).expect("finite");
        store.apply_gradients(&vec![3.0; 128], 0.25).expect("matching lengths");
        assert!(matches!(store.active(format), Active::Master(_)), "{format}");
        assert_ne!(store.morph_to_f32(format).expect("finite"), before, "{format}");
    }
}

#[test]
fn unpacked_weights_are_those_of_the_codes() {
    for format in formats().into_iter().filter(|format| !is_master(*format)) {
        let mut store = WeightStore::new(weights(4 * 32), 32).expect("finite");
        store.morph(DType::Binary.into()).expect("finite");
        let values = store.morph_to_f32(format).expect("finite");
        store.unpack(format).expect("valid codes");
        assert_eq!(store.master(), values, "{format}");
        assert_eq!(store.versions().len(), 1, "{format}: all versions but the unpacked one are stale");
    }
}

#[test]
fn products_on_codes_are_within_the_bound_of_products_on_decoded_weights() {
    let x = weights(3 * 70);
    for format in formats() {
        let store = WeightStore::new(weights(19 * 70), 70).expect("finite");
        let Active::Version(version) = store.get_or_create(format).expect("finite") else { continue };
        let values = store.morph_to_f32(format).expect("finite");
        let [mut on_codes, mut bound] = [(); 2].map(|()| vec![0.0; 3 * 19]);
        version.multiply(&x, &mut on_codes).expect("finite");
        version.bound(&x, &mut bound).expect("finite");
        for (i, (product, bound)) in on_codes.iter().zip(bound).enumerate() {
            let (x, row) = (&x[i / 19 * 70..][..70], &values[i % 19 * 70..][..70]);
            let exact: f64 = x.iter().zip(row).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum();
            assert!((f64::from(*product) - exact).abs() <= f64::from(bound), "{format}: {product}, exact {exact}");
        }
        assert_eq!(store.memory()[1].1, version.bytes(), "{format}");
        assert!(version.bytes() >= version.tensor().bytes(), "{format}");
    }
}

#[test]
fn threads_that_ask_at_once_get_one_version() {
    let store = WeightStore::new(weights(256 * 64), 64).expect("finite");
    let format = WeightFormat::from(DType::Int4);
    let versions: Vec<Arc<Version>> = std::thread::scope(|scope| {
        let ask = || store.get_or_create(format).expect("finite").version().cloned().expect("made");
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(versions.iter().all(|version| Arc::ptr_eq(version, &versions[0])));
}

#[test]
fn every_version_takes_the_memory_of_its_true_width() {
    let store = WeightStore::new(weights(64 * 64), 64).expect("finite");
    for name in ["float32", "int4", "binary", "q4_0"] {
        store.morph(name.parse().expect("known")).expect("finite");
    }
    let bytes: Vec<usize> = store.memory().into_iter().map(|(_, bytes)| bytes).collect();
    assert_eq!(bytes, [16384, 2048 + 256, 512 + 256, 64 * 36]);
}

#[test]
fn non_finite_weights_are_rejected() {
    let refused = WeightStore::new(vec![0.0, f32::NAN], 2).expect_err("a NaN");
    assert_eq!(refused, WeightsError::Codec(CodecErr::NonFinite { index: 1 }));
    let mut store = WeightStore::new(vec![1e30, 1.0], 2).expect("finite");
    let overflow = store.morph(DType::Float16.into()).expect_err("beyond 65504");
    assert_eq!(overflow, WeightsError::Overflow { format: "float16".into(), index: 0 });
    assert!(store.apply_gradients(&[f32::INFINITY, 0.0], 1.0).is_err());
    assert_eq!(store.master(), [1e30, 1.0]);
    assert!(WeightStore::new(vec![1.0; 3], 2).is_err() && WeightStore::new(vec![], 0).is_err());
}
