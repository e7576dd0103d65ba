// One output per workgroup: 64 threads decode eight weights each, 512 columns per step, and add up their sums.

@group(0) @binding(4) var<storage, read> x: array<f32>;

var<workgroup> sums: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
    let row = group.x + group.y * count.x;
    let sample = p.first_batch + group.z;
    var sum = 0.0;
    if row < p.rows {
        let from_x = sample * p.cols;
        for (var start = thread * 8u; start < p.cols; start += 512u) {
            run(row, start);
            // Behind the last column, `run` returns weights of other rows, which may be infinite.
            let end = min(8u, p.cols - start);
            for (var i = 0u; i < end; i++) {
                sum += clamp(x[from_x + start + i], p.lo, p.hi) * w[i];
            }
        }
    }
    sums[thread] = sum;
    workgroupBarrier();
    for (var half_count = 32u; half_count > 0u; half_count >>= 1u) {
        if thread < half_count {
            sums[thread] += sums[thread + half_count];
        }
        workgroupBarrier();
    }
    if thread == 0u && row < p.rows {
        var result = sums[0];
        if p.has_bias == 1u {
            result += bias[p.first + row];
        }
        out[sample * p.outputs + p.first + row] = result;
    }
}
