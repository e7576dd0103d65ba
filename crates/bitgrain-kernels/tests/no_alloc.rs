//! No primitive allocates: a counting allocator observes every one of them, on every backend.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use bitgrain_kernels::bins::bin_f32;
use bitgrain_kernels::blocks::{decode_blocks, dot_blocks, encode_blocks, quantize_pack, unpack_dequantize};
use bitgrain_kernels::codes::{
    dequantize, dot_i8, pack_i8, pack_u8, pack_u16, quantize, unpack_i8, unpack_u8, unpack_u16,
};
use bitgrain_kernels::floats::{
    bf16_from_f32, bf16_to_f32, e2m1_from_f32, e2m1_to_f32, e4m3_from_f32, e4m3_to_f32, e5m2_from_f32, e5m2_to_f32,
    exp, f16_from_f32, f16_to_f32, sigmoid,
};
use bitgrain_kernels::gradients::{logistic_gradients, softmax_gradients};
use bitgrain_kernels::product::{
    FloatLine, FloatTile, StripBits, StripScales, Strips, Tile, multiply_floats, multiply_strips, pack_floats,
    quantize_activations,
};
use bitgrain_kernels::trees::{
    CodeColumns, Operand, TREE_ROWS, TreeLevel, TreeStep, TreeSteps, add_leaf_values, symmetric_leaves, tree_leaves,
    two_tree_leaves,
};
use bitgrain_kernels::{Backend, BitWidth, BlockLen, UnsignedWidth, max_abs};

struct Counting;

thread_local! {
    // Per thread, because the test runner allocates too.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on unchanged to the system allocator; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller upholds the contract of `alloc`, which is that of the system allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System` through `alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = COUNT.with(Cell::get);
    work();
    COUNT.with(Cell::get) - before
}

#[test]
fn the_allocation_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1_u8; 100]))), 1);
}

#[test]
fn no_primitive_allocates() {
    let values = vec![0.37_f32; 1000];
    let (mut floats, mut codes, mut words) = (vec![0.0_f32; 1000], vec![0_i8; 1000], vec![0_u16; 1000]);
    let (mut bytes, mut packed) = (vec![0_u8; 4096], vec![0_u8; 4096]);
    let mut hess = vec![0.0_f32; 1000];
    let mut sums = vec![0.0_f64; 200];
    for b in Backend::available().iter().copied().chain(Backend::with_tiles()) {
        let count = allocations(|| {
            for w in BitWidth::ALL {
                let u = UnsignedWidth::new(w.bits()).expect("in range");
                let _ = std::hint::black_box(max_abs(b, &values));
                quantize(b, w, &values, 0.3, &mut codes).expect("room");
                dequantize(b, &codes, 0.3, &mut floats).expect("room");
                pack_i8(b, w, &codes, &mut packed).expect("room");
                unpack_i8(b, w, &packed, &mut codes).expect("good");
                unpack_u8(b, u, &packed, &mut bytes[..1000]).expect("good");
                pack_u8(b, u, &bytes[..1000], &mut packed).expect("room");
                unpack_u16(b, u, &packed, &mut words).expect("good");
                pack_u16(b, u, &words, &mut packed).expect("room");
                quantize_pack(b, w, &values, 0.3, &mut bytes).expect("room");
                unpack_dequantize(b, w, &bytes, 0.3, &mut floats).expect("good");
                encode_blocks(b, w, BlockLen::DEFAULT, &values, &mut bytes).expect("finite");
                decode_blocks(b, w, BlockLen::DEFAULT, &bytes, &mut floats).expect("good");
                dot_blocks(b, w, BlockLen::DEFAULT, &values, &bytes).expect("good");
                dot_i8(b, &codes, &codes).expect("equal");
                bytes[..4].fill(0xFF);
                decode_blocks(b, w, BlockLen::DEFAULT, &bytes, &mut floats).expect_err("a bad scale");
            }
            bin_f32(b, &[0.1, 0.2], &values, 0, &mut bytes).expect("room");
            bin_f32(b, &[0.1, 0.2], &values, 0, &mut words).expect("room");
            exp(b, &values, &mut floats).expect("room");
            sigmoid(b, &values, &mut floats).expect("room");
            logistic_gradients(b, &values, &values, &mut floats, &mut hess).expect("room");
            softmax_gradients(b, &[&values], &values, 1.0, &mut [&mut floats], &mut [&mut hess]).expect("room");
            let step = TreeStep { column: 1, at_most: 3, out: 0, left: Operand::leaf(0), right: Operand::leaf(1) };
            let level = TreeLevel { column: 0, at_most: 3, weight: 1 };
            let (input, leaves) = bytes.split_at_mut(2048);
            let columns = CodeColumns::new(input, 1024);
            let steps = TreeSteps::new([step]).expect("a step");
            tree_leaves(b, &steps, columns, &mut leaves[..TREE_ROWS]).expect("room");
            let (one, two) = leaves.split_at_mut(TREE_ROWS);
            two_tree_leaves(b, [&steps, &steps], columns, [one, &mut two[..TREE_ROWS]]).expect("room");
            symmetric_leaves(b, &[level], columns, &mut leaves[..TREE_ROWS]).expect("room");
            add_leaf_values(b, &[0.5, 1.5], &leaves[..200], &mut sums).expect("room");
            let (lines, floats_line) = ([StripBits::Four.empty_line(); 4], [FloatLine::ZERO; 1]);
            let scales = StripScales::Groups { scales: &floats_line, blocks: 1 };
            let strips = Strips::new(StripBits::Four, 1, &lines, scales).expect("a strip");
            let mut line = [FloatLine::ZERO; 16];
            for width in [1, 16] {
                let (mut codes, mut scales, mut sums) = ([0; 128], [0.0; 16], [0; 16]);
                let (codes, scales, sums) = (&mut codes[..8 * width], &mut scales[..width], &mut sums[..width]);
                quantize_activations(b, StripBits::Four, &values[..32], (0, width), codes, scales, sums)
                    .expect("finite");
                let tile = Tile::new(width, codes, scales, sums).expect("a tile");
                multiply_strips(b, strips, &[tile], &mut line).expect("room");
            }
            let tile = FloatTile::new(1, &values[..1]).expect("a tile");
            multiply_floats(b, 1, &floats_line, &[tile], &mut line).expect("room");
            pack_floats(b, &values, 3, 16, &mut line).expect("there");
            f16_from_f32(b, &values, &mut words).expect("room");
            f16_to_f32(b, &words, &mut floats).expect("room");
            bf16_from_f32(b, &values, &mut words).expect("room");
            bf16_to_f32(b, &words, &mut floats).expect("room");
            e4m3_from_f32(b, &values, &mut bytes).expect("room");
            e4m3_to_f32(b, &bytes[..1000], &mut floats).expect("room");
            e5m2_from_f32(b, &values, &mut bytes).expect("room");
            e5m2_to_f32(b, &bytes[..1000], &mut floats).expect("room");
            e2m1_from_f32(b, &values, &mut bytes).expect("room");
            e2m1_to_f32(b, &bytes[..1000], &mut floats).expect("room");
        });
        assert_eq!(count, 0, "{b}");
    }
}
