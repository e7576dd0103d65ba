// A tile of 32 × 32 outputs per workgroup. Each step decodes 32 columns of 32 rows of weights into workgroup memory, once
// for 32 rows of activations; each of the 64 threads then adds to 16 outputs.

@group(0) @binding(4) var<storage, read> x: array<f32>;

var<workgroup> weights: array<f32, 1024>;
var<workgroup> inputs: array<f32, 1024>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let first_row = group.x * 32u;
    let first_sample = p.first_batch + group.y * 32u;
    let across = thread & 7u;
    let down = thread >> 3u;
    var sums: array<f32, 16>;
    for (var start = 0u; start < p.cols; start += 32u) {
        // 32 rows of four runs: two runs per thread.
        for (var half_count = 0u; half_count < 2u; half_count++) {
            let index = half_count * 64u + thread;
            let row = index >> 2u;
            let column = start + (index & 3u) * 8u;
            let inside = first_row + row < p.rows && column < p.cols;
            if inside {
                run(first_row + row, column);
            }
            for (var i = 0u; i < 8u; i++) {
                // Transposed, so that neighboring threads read neighboring words.
                weights[((index & 3u) * 8u + i) * 32u + row] = select(0.0, w[i], inside && column + i < p.cols);
            }
        }
        for (var i = 0u; i < 16u; i++) {
            let index = i * 64u + thread;
            let sample = first_sample + (index >> 5u);
            let column = start + (index & 31u);
            var value = 0.0;
            if sample < p.batch && column < p.cols {
                value = clamp(x[sample * p.cols + column], p.lo, p.hi);
            }
            inputs[(index & 31u) * 32u + (index >> 5u)] = value;
        }
        workgroupBarrier();
        for (var k = 0u; k < 32u; k++) {
            var from_weights: array<f32, 4>;
            for (var i = 0u; i < 4u; i++) {
                from_weights[i] = weights[k * 32u + across + 8u * i];
            }
            for (var j = 0u; j < 4u; j++) {
                let value = inputs[k * 32u + down + 8u * j];
                for (var i = 0u; i < 4u; i++) {
                    sums[4u * j + i] += value * from_weights[i];
                }
            }
        }
        workgroupBarrier();
    }
    for (var j = 0u; j < 4u; j++) {
        for (var i = 0u; i < 4u; i++) {
            let row = first_row + across + 8u * i;
            let sample = first_sample + down + 8u * j;
            if row < p.rows && sample < p.batch {
                var result = sums[4u * j + i];
                if p.has_bias == 1u {
                    result += bias[p.first + row];
                }
                out[sample * p.outputs + p.first + row] = result;
            }
        }
    }
}
