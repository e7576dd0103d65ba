//! Speed of the kernels on every backend, in GB/s of f32 or of codes, from the L2 cache.
//!
//! Natively, `cargo run --release -p bitgrain-kernels --example speed` prints a table. WebAssembly lacks a clock:
//! `cargo xtask bench wasm` builds this program with and without `simd128` and times its exported functions in Node.
//! `cargo xtask bench instructions` counts the instructions of each kernel with the arguments `KERNEL BACKEND TIMES`.

use std::hint::black_box;
use std::sync::Mutex;

use bitgrain_kernels::bins::bin_f32;
use bitgrain_kernels::blocks::{blocks_len, decode_blocks, encode_blocks};
use bitgrain_kernels::codes::{dot_i8, pack_i8, quantize, unpack_i8};
use bitgrain_kernels::floats::sigmoid;
use bitgrain_kernels::ggml::{GgmlBlock, dequantize_ggml, quantize_ggml};
use bitgrain_kernels::histograms::{GradientPair, Pair8, PairF32, SLOT_CELLS, Slot, add_pairs};
use bitgrain_kernels::product::{
    CodeLine, ElementGrids, ElementLines, Elements, FloatLine, FloatTile, HalfLine, PlaneCodes, PlaneScales, PlaneTile,
    Planes, StripBits, StripScales, Strips, Tile, half_sums, multiply_elements, multiply_planes, multiply_strips,
    quantize_activations,
};
use bitgrain_kernels::search::{QueryLine, RowLayout, RowQuery, StartLine, score_rows};
use bitgrain_kernels::trees::{CodeColumns, Operand, TreeStep, TreeSteps, add_leaf_values, tree_leaves};
use bitgrain_kernels::{Backend, BitWidth, BlockLen, KernelError, crc32c, max_abs};

/// Values per call: 64 KiB of f32.
const LEN: usize = 1 << 14;

/// Kernels by name, with the size in bytes of the input or output that a rate refers to.
const KERNELS: [(&str, usize); 31] = [
    ("max_abs", 4 * LEN),
    ("quantize to 8 bits", 4 * LEN),
    ("encode blocks at 8 bits", 4 * LEN),
    ("encode blocks at 5 bits", 4 * LEN),
    ("encode blocks at 3 bits", 4 * LEN),
    ("decode blocks at 8 bits", 4 * LEN),
    ("decode blocks at 5 bits", 4 * LEN),
    ("decode blocks at 3 bits", 4 * LEN),
    ("pack at 7 bits", LEN),
    ("pack at 5 bits", LEN),
    ("pack at 3 bits", LEN),
    ("unpack at 7 bits", LEN),
    ("unpack at 5 bits", LEN),
    ("unpack at 3 bits", LEN),
    ("dot of i8", LEN),
    ("bin to 256 bins", 4 * LEN),
    ("quantize to q4_0", 4 * LEN),
    ("dequantize q4_k", 4 * LEN),
    ("product of 4-bit strips, 1 row", LEN / 2),
    ("product of 8-bit strips, 4 rows", LEN),
    ("product of q4_1 planes, 1 row", LEN / 2),
    ("product of bf16, 1 row", 2 * LEN),
    ("scores of 8-bit rows, 1 query", LEN),
    ("scores of 4-bit rows, 1 query", LEN / 2),
    ("quantize to mxfp4", 4 * LEN),
    ("sigmoid", 4 * LEN),
    ("leaves of a tree with 16 splits", LEN),
    ("leaf values", LEN),
    ("histogram of 8-bit pairs", LEN),
    ("histogram of f32 pairs", LEN),
    ("checksum", LEN),
];

/// Inputs and outputs of all kernels.
struct Data {
    values: Vec<f32>,
    out: Vec<f32>,
    codes: [Vec<i8>; 2],
    bytes: Vec<u8>,
    blocks: [Vec<u8>; 3],
    packed: [Vec<u8>; 3],
    q4_k: Vec<u8>,
    cuts: Vec<f32>,
    bins: Vec<u8>,
    lines: Vec<CodeLine>,
    scales: Vec<HalfLine>,
    tiles: [TileData; 2],
    products: Vec<FloatLine>,
    rows: Vec<u8>,
    elements: Vec<HalfLine>,
    query: QueryData,
    half_sums: Vec<[i32; 2]>,
    tree: Vec<TreeStep>,
    leaf_values: Vec<f64>,
    sums: Vec<f64>,
    slots8: Vec<Slot<<Pair8 as GradientPair>::Cell>>,
    slots32: Vec<Slot<PairF32>>,
}

/// A query of one plane.
struct QueryData {
    codes: Vec<i8>,
    lines: Vec<QueryLine>,
    starts: Vec<StartLine>,
    scales: Vec<f32>,
}

struct TileData {
    width: usize,
    codes: Vec<i32>,
    scales: Vec<f32>,
    sums: Vec<i32>,
}

const WIDTHS: [BitWidth; 3] = [BitWidth::W8, BitWidth::W5, BitWidth::W3];
const PACKED: [BitWidth; 3] = [BitWidth::W7, BitWidth::W5, BitWidth::W3];
/// Blocks per strip: strips of 1024 columns.
const BLOCKS: usize = 32;

impl Data {
    /// Computes only the inputs of one kernel, so that few instructions are counted beside its own.
    fn new(kernel: usize) -> Result<Self, KernelError> {
        let backend = Backend::scalar();
        let mut state = 1_u32;
        let mut values = vec![0.0; LEN];
        for value in &mut values {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *value = (state >> 8) as f32 / 8_388_608.0 - 1.0;
        }
        let mut codes = vec![0; LEN];
        quantize(backend, BitWidth::W3, &values, 0.34, &mut codes)?;
        let block = BlockLen::new(64)?;
        let mut blocks = WIDTHS.map(|width| vec![0; blocks_len(width, block, LEN)]);
        for (width, bytes) in WIDTHS.into_iter().zip(&mut blocks).filter(|_| (5..=7).contains(&kernel)) {
            encode_blocks(backend, width, block, &values, bytes)?;
        }
        let mut packed = PACKED.map(|width| vec![0; width.packed_len(LEN)]);
        for (width, bytes) in PACKED.into_iter().zip(&mut packed).filter(|_| (11..=13).contains(&kernel)) {
            pack_i8(backend, width, &codes, bytes)?;
        }
        let mut q4_k = vec![0; LEN / 256 * 144];
        if kernel == 17 {
            quantize_ggml(backend, GgmlBlock::Q4_K, &values, 1024, None, &mut q4_k)?;
        }
        let tile = |width: usize| {
            let blocks = BLOCKS * width;
            TileData { width, codes: vec![0; 8 * blocks], scales: vec![0.0; blocks], sums: vec![0; blocks] }
        };
        let mut tiles = [tile(1), tile(4)];
        for (tile, bits) in tiles.iter_mut().zip([StripBits::Four, StripBits::Eight]) {
            for row in 0..tile.width {
                let values = &values[1024 * row..][..1024];
                let place = (row, tile.width);
                quantize_activations(backend, bits, values, place, &mut tile.codes, &mut tile.scales, &mut tile.sums)?;
            }
        }
        let mut lines = vec![CodeLine([0; 64]); LEN / 64];
        for (i, line) in lines.iter_mut().enumerate() {
            line.0 = core::array::from_fn(|byte| (i * 64 + byte).wrapping_mul(37).to_le_bytes()[0]);
        }
        let tile_sums = if kernel == 20 { 8 * BLOCKS } else { 0 };
        let mut sums = vec![[0; 2]; tile_sums / 8];
        half_sums(&tiles[0].codes[..tile_sums], &mut sums)?;
        Ok(Self {
            rows: rows(if kernel == 22 { BitWidth::W8 } else { BitWidth::W4 }, &lines)?,
            elements: vec![HalfLine([0x3F80; 16]); if kernel == 21 { LEN / 16 } else { 0 }],
            query: QueryData::new(),
            half_sums: sums,
            tree: tree(),
            leaf_values: (0..64_u8).map(f64::from).collect(),
            sums: vec![0.0; if kernel == 27 { LEN } else { 0 }],
            slots8: vec![[Default::default(); SLOT_CELLS]; if kernel == 28 { 16 } else { 0 }],
            slots32: vec![[PairF32::default(); SLOT_CELLS]; if kernel == 29 { 16 } else { 0 }],
            out: vec![0.0; LEN],
            codes: [codes.clone(), codes],
            bytes: vec![0; 2 * LEN],
            blocks,
            packed,
            q4_k,
            cuts: (0..255_u8).map(|i| f32::from(i) / 128.0 - 1.0).collect(),
            bins: vec![0; LEN],
            lines,
            scales: vec![HalfLine([0x3C00; 16]); LEN / 256],
            tiles,
            products: vec![FloatLine::ZERO; LEN / 64],
            values,
        })
    }

    /// Runs a kernel once.
    fn run(&mut self, kernel: usize, backend: Backend) -> Result<(), KernelError> {
        let values = black_box(&self.values[..]);
        let block = BlockLen::new(64)?;
        match kernel {
            0 => {
                black_box(max_abs(backend, values));
            }
            1 => {
                quantize(backend, BitWidth::W8, values, 0.01, &mut self.codes[1])?;
            }
            2..=4 => {
                encode_blocks(backend, WIDTHS[kernel - 2], block, values, &mut self.bytes)?;
            }
            5..=7 => {
                let at = kernel - 5;
                decode_blocks(backend, WIDTHS[at], block, black_box(&self.blocks[at]), &mut self.out)?;
            }
            8..=10 => {
                pack_i8(backend, PACKED[kernel - 8], black_box(&self.codes[0]), &mut self.bytes)?;
            }
            11..=13 => {
                let at = kernel - 11;
                unpack_i8(backend, PACKED[at], black_box(&self.packed[at]), &mut self.codes[1])?;
            }
            14 => {
                black_box(dot_i8(backend, black_box(&self.codes[0]), &self.codes[0])?);
            }
            15 => {
                bin_f32(backend, &self.cuts, values, 255, &mut self.bins)?;
            }
            16 => {
                quantize_ggml(backend, GgmlBlock::Q4_0, values, 1024, None, &mut self.bytes)?;
            }
            17 => {
                dequantize_ggml(backend, GgmlBlock::Q4_K, black_box(&self.q4_k), &mut self.out)?;
            }
            18 | 19 => {
                let (bits, each) = if kernel == 18 { (StripBits::Four, 4) } else { (StripBits::Eight, 8) };
                let lines = &self.lines[..if kernel == 18 { LEN / 128 } else { LEN / 64 }];
                let scales = StripScales::Halves(&self.scales[..lines.len() / each]);
                let strips = Strips::new(bits, BLOCKS, black_box(lines), scales)?;
                let tile = &self.tiles[kernel - 18];
                let tile = Tile::new(tile.width, &tile.codes, &tile.scales, &tile.sums)?;
                multiply_strips(backend, strips, &[tile], &mut self.products)?;
            }
            20 => {
                let lines = black_box(&self.lines[..LEN / 128]);
                let scales = PlaneScales::HalvesAndMins(self.scales.as_chunks().0);
                let planes = Planes::new(PlaneCodes::Bits(4), 0, BLOCKS, lines, scales)?;
                let tile = &self.tiles[0];
                let tile = Tile::new(tile.width, &tile.codes, &tile.scales, &tile.sums)?;
                multiply_planes(backend, planes, &[PlaneTile::new(tile, &self.half_sums)?], &mut self.products)?;
            }
            21 => {
                let lines = ElementLines::BF16(black_box(&self.elements));
                let elements = Elements::new(lines, 1024, ElementGrids::None, 1024)?;
                multiply_elements(backend, elements, &[FloatTile::new(1, &values[..1024])?], &mut self.products)?;
            }
            22 | 23 => {
                let width = if kernel == 22 { BitWidth::W8 } else { BitWidth::W4 };
                let layout = layout(width)?;
                let rows: [usize; ROWS] = core::array::from_fn(|row| row * layout.row_bytes());
                let QueryData { codes, lines, starts, scales } = &mut self.query;
                let query = RowQuery::lay_out(layout, &[codes], lines, starts, scales)?;
                score_rows(backend, &query, black_box(&self.rows), &rows, &mut self.out[..ROWS])?;
            }
            24 => {
                quantize_ggml(backend, GgmlBlock::MXFP4, values, 1024, None, &mut self.bytes)?;
            }
            25 => {
                sigmoid(backend, values, &mut self.out)?;
            }
            26 => {
                let steps = TreeSteps::new(&self.tree[..])?;
                let codes = CodeColumns::new(black_box(&self.rows), LEN / 16);
                tree_leaves(backend, &steps, codes, &mut self.bins[..LEN / 16])?;
            }
            27 => add_leaf_values(backend, &self.leaf_values, black_box(&self.rows[..LEN]), &mut self.sums)?,
            28 => add_pairs(black_box(&self.rows[..LEN]), &[Pair8 { grad: 3, hess: 5 }; LEN / 16], &mut self.slots8)?,
            29 => add_pairs(
                black_box(&self.rows[..LEN]),
                &[PairF32 { grad: 3.0, hess: 5.0 }; LEN / 16],
                &mut self.slots32,
            )?,
            _ => {
                black_box(crc32c(backend, 0, black_box(&self.rows[..LEN])));
            }
        }
        black_box(&mut self.out);
        Ok(())
    }
}

/// Rows of 1024 columns to score.
const ROWS: usize = LEN / 1024;

fn layout(width: BitWidth) -> Result<RowLayout, KernelError> {
    Ok(RowLayout { width, block: BlockLen::new(1024)?, columns: 1024 })
}

/// Returns at least `LEN` bytes that are rows of this width with a scale of 1.
fn rows(width: BitWidth, lines: &[CodeLine]) -> Result<Vec<u8>, KernelError> {
    let mut bytes: Vec<u8> = lines.iter().flat_map(|line| line.0).chain([0; 4 * ROWS]).collect();
    for row in bytes.chunks_mut(layout(width)?.row_bytes()).take(ROWS) {
        row[..4].copy_from_slice(&1_f32.to_le_bytes());
    }
    Ok(bytes)
}

impl QueryData {
    fn new() -> Self {
        let codes = (0..1024_u32).map(|i| (i.wrapping_mul(37).to_le_bytes()[0] >> 1).cast_signed()).collect();
        Self { codes, lines: vec![QueryLine::ZERO; 1024 / 64], starts: vec![StartLine::ZERO], scales: vec![1.0] }
    }
}

/// Returns a tree of 16 splits on as many columns, each on the right side of the one before.
fn tree() -> Vec<TreeStep> {
    let step = |column: u8| TreeStep {
        column: column.into(),
        at_most: 100 + column,
        out: 0,
        left: Operand::leaf(column),
        right: if column == 15 { Operand::leaf(16) } else { Operand::result(0) },
    };
    (0..16).rev().map(step).collect()
}

static DATA: Mutex<Option<(usize, Data)>> = Mutex::new(None);

/// Runs a kernel some times on a backend; false if it fails.
fn repeat(kernel: usize, backend: usize, times: usize) -> bool {
    let Ok(mut data) = DATA.lock() else { return false };
    if data.as_ref().is_none_or(|(of, _)| *of != kernel) {
        *data = Data::new(kernel).ok().map(|data| (kernel, data));
    }
    let (Some((_, data)), Some(&backend)) = (&mut *data, Backend::available().get(backend)) else { return false };
    (0..times).all(|_| data.run(kernel, backend).is_ok())
}

/// Functions for the program in JavaScript, which reads names as null-terminated strings.
#[cfg(target_family = "wasm")]
mod exports {
    use super::*;

    #[unsafe(no_mangle)]
    extern "C" fn kernels() -> usize {
        KERNELS.len()
    }

    #[unsafe(no_mangle)]
    extern "C" fn name_len(kernel: usize) -> usize {
        KERNELS[kernel].0.len()
    }

    #[unsafe(no_mangle)]
    extern "C" fn name(kernel: usize) -> *const u8 {
        KERNELS[kernel].0.as_ptr()
    }

    #[unsafe(no_mangle)]
    extern "C" fn size(kernel: usize) -> usize {
        KERNELS[kernel].1
    }

    #[unsafe(no_mangle)]
    extern "C" fn run(kernel: usize, times: usize) -> bool {
        repeat(kernel, Backend::available().len() - 1, times)
    }
}

#[cfg(target_family = "wasm")]
fn main() {}

/// Prints a table, or runs one kernel: `speed KERNEL BACKEND TIMES`, with the number of the kernel.
#[cfg(not(target_family = "wasm"))]
fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let [kernel, name, times] = &arguments[..] {
        let backend = Backend::available().iter().position(|backend| backend.name() == name);
        let done = match (kernel.parse(), backend, times.parse()) {
            (Ok(kernel), Some(backend), Ok(times)) => repeat(kernel, backend, times),
            _ => false,
        };
        assert!(done, "unknown kernel `{kernel}` or backend `{name}`");
        return;
    }
    if arguments == ["--kernels"] {
        for (name, size) in KERNELS {
            println!("{size} {name}");
        }
        return;
    }
    println!("GB/s:");
    for (kernel, (name, size)) in KERNELS.into_iter().enumerate() {
        print!("{name:32}");
        for (at, backend) in Backend::available().iter().enumerate() {
            print!("  {backend} {:6.2}", rate(kernel, at, size));
        }
        println!();
    }
}

/// Returns the best rate of five runs of at least 20 ms, in GB/s.
#[cfg(not(target_family = "wasm"))]
fn rate(kernel: usize, backend: usize, size: usize) -> f64 {
    use std::time::Instant;
    let mut times = 1;
    let mut best = 0.0_f64;
    let mut runs = 0;
    while runs < 5 {
        let start = Instant::now();
        assert!(repeat(kernel, backend, times), "kernel {kernel} fails");
        let seconds = start.elapsed().as_secs_f64();
        if seconds < 0.02 {
            times *= 2;
            continue;
        }
        best = best.max((size * times) as f64 / seconds / 1e9);
        runs += 1;
    }
    best
}
