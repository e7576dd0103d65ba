//! Memory of networks without master weights: that of the codes, and of the activations during a pass, as the allocator sees it.
#![expect(unsafe_code, reason = "a global allocator that measures cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};

use bitgrain_nn::network::layer::Layer;
use bitgrain_nn::network::save::Contents;
use bitgrain_nn::network::{InputBatch, Network, Shape};

struct Measuring;

// Of all threads, because products run on a pool. This file has a single test, so that nothing else allocates much.
static NOW: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

// SAFETY: every call is passed on unchanged to the system allocator; measuring does not allocate.
unsafe impl GlobalAlloc for Measuring {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = layout.size().cast_signed();
        PEAK.fetch_max(NOW.fetch_add(size, Ordering::Relaxed) + size, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`, which is that of the system allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size().cast_signed(), Ordering::Relaxed);
        // SAFETY: the pointer came from `System` through `alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Measuring = Measuring;

fn now() -> isize {
    NOW.load(Ordering::Relaxed)
}

/// Width of the layers: each matrix has a million weights, 4 MB of master weights.
const WIDTH: usize = 1024;

#[test]
fn networks_without_masters_take_the_memory_of_their_codes_and_activations() {
    let layers = vec![Layer::dense(WIDTH), Layer::relu(), Layer::dense(WIDTH)];
    for (format, bytes) in [("int4/32", 2 * WIDTH * WIDTH * 5 / 8), ("q4_k", 2 * WIDTH * WIDTH * 9 / 16)] {
        // Some memory for names, biases and shapes, for the threads of the pool, and for the inputs and outputs below.
        let most = (bytes + bytes / 8 + (192 << 10)).cast_signed();
        let before = now();
        let mut network = Network::new(Shape::new(&[WIDTH]), layers.clone(), 1).expect("matching shapes");
        network.morph(format.parse::<bitgrain_codec::weight::WeightFormat>().expect("known")).expect("finite");
        let x = InputBatch::new(vec![0.5; 8 * WIDTH], &[WIDTH]).expect("eight rows");
        let wanted = network.forward(&x).expect("matching shapes");
        assert!(now() - before > (2 * WIDTH * WIDTH * 4).cast_signed(), "the masters are counted");
        let mut file = network.to_safetensors(Contents::Active).expect("finite");
        file.shrink_to_fit();
        network.freeze().expect("finite");
        let frozen = now() - before - file.len().cast_signed();
        assert!(frozen <= most, "{format}: {frozen} bytes after freezing, of at most {most}");
        let before = now();
        let loaded = Network::from_safetensors(&file).expect("just written");
        assert_eq!(loaded.forward(&x).expect("matching shapes"), wanted);
        let held = now() - before;
        assert!(held <= most, "{format}: {held} bytes after loading, of at most {most}");
        PEAK.store(now(), Ordering::Relaxed);
        let start = now();
        loaded.forward(&x).expect("matching shapes");
        let peak = PEAK.load(Ordering::Relaxed) - start;
        // Inputs and outputs of a few layers, in f32 and as codes; a decoded matrix would be four times as large.
        assert!(peak < (32 * 8 * WIDTH * 4).cast_signed(), "{format}: {peak} bytes during a pass");
    }
}
