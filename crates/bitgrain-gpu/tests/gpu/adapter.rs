//! Adapters, limits and lost devices.

use std::process::Command;

use bitgrain_codec::weight::DType;
use bitgrain_gpu::{AdapterChoice, Adapters, Device, DeviceMatrix, DeviceOptions, GpuError};

use crate::{device, noise, open};

#[test]
fn the_open_adapter_is_in_the_list() {
    let adapters = Adapters::list();
    let ours = device().adapter();
    assert_eq!(&adapters.all()[ours.index], ours);
    assert!(ours.to_string().contains(&ours.name), "{ours}");
    let by_name = AdapterChoice::Name(ours.name.to_uppercase());
    assert!(Device::open(&DeviceOptions { adapter: by_name, max_binding: None }).is_ok());
}

#[test]
fn an_adapter_that_does_not_exist_is_an_error() {
    let adapter = AdapterChoice::Name("no such adapter".to_owned());
    let error = Device::open(&DeviceOptions { adapter, max_binding: None }).expect_err("an unknown name");
    assert!(matches!(&error, GpuError::UnknownAdapter { wanted, .. } if wanted == "no such adapter"), "{error}");
}

/// Vulkan reads the list of drivers once per process, so the test starts itself again with an empty list.
#[test]
#[cfg(target_os = "linux")]
fn without_a_driver_opening_a_device_is_an_error() {
    const ROLE: &str = "BITGRAIN_TEST_WITHOUT_DRIVER";
    if std::env::var_os(ROLE).is_some() {
        assert!(Adapters::list().all().is_empty());
        let error = Device::open(&DeviceOptions::default()).expect_err("no driver");
        assert!(matches!(error, GpuError::NoAdapter), "{error}");
        return;
    }
    let name = "adapter::without_a_driver_opening_a_device_is_an_error";
    let nothing = "/nonexistent.json";
    let child = Command::new(std::env::current_exe().expect("a running test"))
        .args(["--exact", name])
        .env(ROLE, "1")
        .env("VK_DRIVER_FILES", nothing)
        .env("VK_ICD_FILENAMES", nothing)
        .output()
        .expect("the test starts itself");
    let text = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn a_closed_device_reports_its_loss_in_every_call() {
    let device = open(None);
    let matrix = DeviceMatrix::from_values(&device, &noise(64, 1), 8).expect("finite weights");
    assert!(matrix.multiply(&noise(8, 2), 1).is_ok());
    device.close();
    for _ in 0..2 {
        let error = matrix.multiply(&noise(8, 2), 1).expect_err("a closed device");
        assert!(matches!(error, GpuError::Lost { .. }), "{error}");
    }
    let error = DeviceMatrix::from_values(&device, &noise(64, 1), 8).expect_err("a closed device");
    assert!(matches!(error, GpuError::Lost { .. }), "{error}");
}

#[test]
fn one_row_beyond_the_largest_array_is_an_error_that_names_both_sizes() {
    let device = open(Some(1024));
    let error = DeviceMatrix::from_values(&device, &noise(600, 1), 300).expect_err("1,200 bytes per row");
    assert!(matches!(error, GpuError::TooLarge { limit: 1024, .. }), "{error}");
}

#[test]
fn weights_and_activations_that_are_not_finite_are_errors() {
    let error = DeviceMatrix::from_values(device(), &[1.0, 2.0, f32::NAN, 4.0], 2).expect_err("NaN");
    assert!(matches!(error, GpuError::NonFiniteWeight { index: 2, .. }), "{error}");
    let matrix = DeviceMatrix::from_values(device(), &[1.0, 2.0], 2).expect("finite weights");
    let error = matrix.multiply(&[1.0, f32::INFINITY], 1).expect_err("infinity");
    assert!(matches!(error, GpuError::NonFiniteInput { index: 1 }), "{error}");
    assert!(matches!(matrix.multiply(&[1.0], 1), Err(GpuError::Length { wanted: 2, found: 1, .. })));
    assert!(matches!(matrix.rows(&[0, 1]), Err(GpuError::NoRow { row: 1, rows: 1 })));
}

#[test]
fn traffic_counts_every_byte_of_the_weights_once_per_product_with_one_row() {
    let device = open(None);
    let values = noise(512 * 64, 3);
    let tensor = bitgrain_codec::weight::QuantizedTensor::quantize(DType::Int4.into(), &values, 512).expect("finite");
    let before = device.traffic();
    let matrix = DeviceMatrix::upload(&device, &tensor).expect("finite weights");
    let uploaded = device.traffic();
    assert_eq!(uploaded.since(before).uploaded, tensor.bytes() as u64);
    matrix.multiply(&noise(512, 4), 1).expect("finite activations");
    let product = device.traffic().since(uploaded);
    assert_eq!((product.dispatches, product.submissions), (1, 1));
    assert_eq!((product.uploaded, product.downloaded), (4 * 512, 4 * 64));
    assert_eq!(product.moved, tensor.bytes() as u64 + 4 * 512 + 4 * 64);
}
