// Reduces each sequence to one vector: the mean of the positions that the mask includes, or the first position.

struct Parameters { outputs: u32, length: u32, len: u32, first: u32, has_mask: u32, pad0: u32, pad1: u32, pad2: u32 }

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> mask: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
    let at = (group.x + group.y * count.x) * 64u + thread;
    if at >= p.outputs {
        return;
    }
    let sample = at / p.len;
    let base = sample * p.length * p.len + at % p.len;
    if p.first == 1u {
        out[at] = x[base];
        return;
    }
    var number = 0u;
    for (var place = 0u; place < p.length; place++) {
        if p.has_mask == 0u || mask[sample * p.length + place] != 0u {
            number += 1u;
        }
    }
    let part = 1.0 / f32(max(number, 1u));
    var sum = 0.0;
    for (var place = 0u; place < p.length; place++) {
        if p.has_mask == 0u || mask[sample * p.length + place] != 0u {
            sum += part * x[base + place * p.len];
        }
    }
    out[at] = sum;
}
