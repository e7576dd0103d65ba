// Rotary position embeddings. `angles` has cosine and sine of each pair of a head at each position.

struct Parameters { pairs: u32, length: u32, per_row: u32, head: u32, halves: u32, pad0: u32, pad1: u32, pad2: u32 }

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> angles: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
    let at = (group.x + group.y * count.x) * 64u + thread;
    if at >= p.pairs {
        return;
    }
    let half_len = p.head / 2u;
    let row = at / p.per_row;
    let in_row = at % p.per_row;
    let pair = in_row % half_len;
    let base = row * p.per_row * 2u + (in_row / half_len) * p.head;
    var first = base + 2u * pair;
    var second = first + 1u;
    if p.halves == 1u {
        first = base + pair;
        second = first + half_len;
    }
    let angle = angles[(row % p.length) * half_len + pair];
    out[first] = x[first] * angle.x - x[second] * angle.y;
    out[second] = x[first] * angle.y + x[second] * angle.x;
}
