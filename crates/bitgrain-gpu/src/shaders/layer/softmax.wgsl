// Softmax, one row per workgroup.

struct Parameters { rows: u32, len: u32, pad0: u32, pad1: u32 }

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
    let row = group.x + group.y * count.x;
    if row >= p.rows {
        return;
    }
    let base = row * p.len;
    var most = -3.4028234663852886e38;
    for (var i = thread; i < p.len; i += 64u) {
        most = max(most, x[base + i]);
    }
    most = largest(thread, most);
    var sum = 0.0;
    for (var i = thread; i < p.len; i += 64u) {
        sum += exp(x[base + i] - most);
    }
    let factor = 1.0 / total(thread, sum);
    for (var i = thread; i < p.len; i += 64u) {
        out[base + i] = exp(x[base + i] - most) * factor;
    }
}
