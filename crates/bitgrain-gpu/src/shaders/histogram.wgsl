// Sums of gradient codes per bin over rows of packed symbols (ELLPACK). Each workgroup adds up 4,096 rows for a range of
// bins in its own memory, then adds its sums to those of the device. Sums are of integers, so their order does not matter.

struct Parameters {
    // Number of listed rows, 1 if `rows` lists them, first row of this part of the matrix, rows of this part.
    listed: u32, has_rows: u32, first: u32, rows: u32,
    // Symbols per row, bits per symbol, symbol that pads short rows, first row of the gradients.
    stride: u32, bits: u32, padding: u32, start: u32,
}

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> symbols: array<u32>;
@group(0) @binding(2) var<storage, read> pairs: array<u32>;
@group(0) @binding(3) var<storage, read> rows: array<u32>;
@group(0) @binding(4) var<storage, read_write> sums: array<atomic<i32>>;

// Gradient and hessian sums of 1,024 bins.
const BINS: u32 = 1024u;
var<workgroup> cells: array<atomic<i32>, 2048>;

fn symbol_at(index: u32) -> u32 {
    let bit = index * p.bits;
    let shift = bit & 31u;
    var word = symbols[bit >> 5u] >> shift;
    if shift + p.bits > 32u {
        word |= symbols[(bit >> 5u) + 1u] << (32u - shift);
    }
    if p.bits == 32u {
        return word;
    }
    return word & ((1u << p.bits) - 1u);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    for (var i = thread; i < 2u * BINS; i += 64u) {
        atomicStore(&cells[i], 0);
    }
    workgroupBarrier();
    let low = group.y * BINS;
    let end = min(p.listed, (group.x + 1u) * 4096u);
    for (var i = group.x * 4096u + thread; i < end; i += 64u) {
        var row = p.start + i;
        if p.has_rows == 1u {
            row = rows[row];
        }
        if row >= p.first && row - p.first < p.rows {
            let pair = pairs[row >> 1u] >> ((row & 1u) * 16u);
            let gradient = extractBits(bitcast<i32>(pair), 0u, 8u);
            let hessian = i32((pair >> 8u) & 255u);
            let base = (row - p.first) * p.stride;
            for (var at = 0u; at < p.stride; at++) {
                let symbol = symbol_at(base + at);
                // Symbols ascend, and padding is above all bins.
                if symbol >= low + BINS || symbol == p.padding {
                    break;
                }
                if symbol >= low {
                    atomicAdd(&cells[2u * (symbol - low)], gradient);
                    atomicAdd(&cells[2u * (symbol - low) + 1u], hessian);
                }
            }
        }
    }
    workgroupBarrier();
    for (var i = thread; i < 2u * BINS; i += 64u) {
        let sum = atomicLoad(&cells[i]);
        // Bins after the last one stay 0.
        if sum != 0 {
            atomicAdd(&sums[2u * low + i], sum);
        }
    }
}
