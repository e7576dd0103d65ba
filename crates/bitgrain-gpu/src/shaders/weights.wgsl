// Access to packed weights. Decoders append `fn run(row, start)`, kernels append binding 4 and `fn main`.

struct Product {
    // Rows of this part of the matrix, columns, rows of activations, bytes per row of codes.
    rows: u32, cols: u32, batch: u32, row_bytes: u32,
    // Weights per scale, scales per row, bytes of zero points per row, 1 if all weights share one scale.
    group: u32, groups: u32, zero_bytes: u32, whole: u32,
    // First output of this part, outputs of the matrix, 1 with a bias, first row of activations of this dispatch.
    first: u32, outputs: u32, has_bias: u32, first_batch: u32,
    // Range that activations are clamped to.
    lo: f32, hi: f32, pad0: u32, pad1: u32,
}

@group(0) @binding(0) var<uniform> p: Product;
@group(0) @binding(1) var<storage, read> codes: array<u32>;
@group(0) @binding(2) var<storage, read> scales: array<u32>;
@group(0) @binding(3) var<storage, read> zeros: array<u32>;
@group(0) @binding(5) var<storage, read> bias: array<f32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;

// Eight consecutive weights of a row, decoded by `run`.
var<private> w: array<f32, 8>;

fn byte_at(at: u32) -> u32 {
    return (codes[at >> 2u] >> ((at & 3u) * 8u)) & 255u;
}

// Reads four bytes at any position. Buffers end with a word of padding.
fn word_at(at: u32) -> u32 {
    let shift = (at & 3u) * 8u;
    let low = codes[at >> 2u];
    if shift == 0u {
        return low;
    }
    return (low >> shift) | (codes[(at >> 2u) + 1u] << (32u - shift));
}

// Converts the low 16 bits from half precision. Subnormal halves are converted as integers, because devices may flush the
// subnormals of a float format to zero.
fn from_half(bits: u32) -> f32 {
    let magnitude = bits & 0x7fffu;
    var value = bitcast<f32>((magnitude << 13u) + (112u << 23u));
    if magnitude < 0x400u {
        value = f32(magnitude) * 5.960464477539063e-8;
    }
    return select(value, -value, (bits & 0x8000u) != 0u);
}

fn half_at(at: u32) -> f32 {
    return from_half(word_at(at));
}

// Splits a scale into two factors that no device flushes to zero: a subnormal scale is an integer times 2^-149.
fn factors(bits: u32) -> vec2<f32> {
    if (bits & 0x7f800000u) != 0u {
        return vec2<f32>(bitcast<f32>(bits), 1.0);
    }
    let value = f32(bits & 0x7fffffu) * bitcast<f32>(52u << 23u);
    return vec2<f32>(select(value, -value, (bits >> 31u) != 0u), bitcast<f32>(53u << 23u));
}

fn scale_of(row: u32, start: u32) -> vec2<f32> {
    if p.whole == 1u {
        return factors(scales[0]);
    }
    return factors(scales[row * p.groups + start / p.group]);
}

// A clamped code may land half a step beyond the largest f32.
fn scaled(code: f32, scale: vec2<f32>) -> f32 {
    let largest = 3.4028234663852886e38;
    return clamp(code * scale.x * scale.y, -largest, largest);
}

fn signed_bits(word: u32, at: u32, bits: u32) -> f32 {
    return f32(extractBits(bitcast<i32>(word), at, bits));
}
