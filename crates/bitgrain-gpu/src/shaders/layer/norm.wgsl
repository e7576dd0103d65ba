// Layer norm and RMS norm, one row per workgroup: the mean, then the mean square, then the result.

struct Parameters { rows: u32, len: u32, centered: u32, epsilon: f32 }

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
    let row = group.x + group.y * count.x;
    if row >= p.rows {
        return;
    }
    let base = row * p.len;
    var mean = 0.0;
    if p.centered == 1u {
        var sum = 0.0;
        for (var i = thread; i < p.len; i += 64u) {
            sum += x[base + i];
        }
        mean = total(thread, sum) / f32(p.len);
    }
    var squares = 0.0;
    for (var i = thread; i < p.len; i += 64u) {
        let off = x[base + i] - mean;
        squares += off * off;
    }
    let factor = 1.0 / sqrt(total(thread, squares) / f32(p.len) + p.epsilon);
    for (var i = thread; i < p.len; i += 64u) {
        var y = (x[base + i] - mean) * factor * weight[i];
        if p.centered == 1u {
            y += bias[i];
        }
        out[base + i] = y;
    }
}
