// Softmax attention, one query of one head per workgroup. Keys are visited in chunks of 64 with a running maximum and a
// running sum (Milakov and Gimelshein 2018), so that scores need no memory.

struct Parameters {
    length: u32, heads: u32, head: u32, causal: u32,
    queries: u32, has_mask: u32, factor: f32, pad: u32,
}

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> query: array<f32>;
@group(0) @binding(2) var<storage, read> key: array<f32>;
@group(0) @binding(3) var<storage, read> value: array<f32>;
@group(0) @binding(4) var<storage, read> mask: array<u32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;

var<workgroup> probabilities: array<f32, 64>;

const LOWEST: f32 = -3.4028234663852886e38;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
    let at = group.x + group.y * count.x;
    if at >= p.queries {
        return;
    }
    let head = at % p.heads;
    let row = at / p.heads;
    let position = row % p.length;
    let sample = row / p.length;
    let stride = p.heads * p.head;
    let from_query = row * stride + head * p.head;
    let from_keys = sample * p.length * stride + head * p.head;
    // Each thread computes at most four elements of the output: heads have at most 256.
    var sums = vec4<f32>(0.0);
    var most = LOWEST;
    var sum = 0.0;
    for (var start = 0u; start < p.length; start += 64u) {
        let other = start + thread;
        var visible = other < p.length && !(p.causal == 1u && other > position);
        if visible && p.has_mask == 1u {
            visible = mask[sample * p.length + other] != 0u;
        }
        var score = LOWEST;
        if visible {
            score = 0.0;
            for (var i = 0u; i < p.head; i++) {
                score += query[from_query + i] * key[from_keys + other * stride + i];
            }
            score *= p.factor;
        }
        let now = max(most, largest(thread, score));
        let shrink = exp(most - now);
        var probability = 0.0;
        if visible {
            probability = exp(score - now);
        }
        probabilities[thread] = probability;
        // The reduction ends with a barrier, so all probabilities are visible afterwards.
        sum = sum * shrink + total(thread, probability);
        most = now;
        sums *= shrink;
        let end = min(64u, p.length - start);
        for (var i = 0u; i < 4u; i++) {
            let element = thread + 64u * i;
            if element < p.head {
                for (var j = 0u; j < end; j++) {
                    sums[i] += probabilities[j] * value[from_keys + (start + j) * stride + element];
                }
            }
        }
        workgroupBarrier();
    }
    // A position that may attend to no other gets zeros.
    var factor = 0.0;
    if sum > 0.0 {
        factor = 1.0 / sum;
    }
    for (var i = 0u; i < 4u; i++) {
        let element = thread + 64u * i;
        if element < p.head {
            out[from_query + element] = sums[i] * factor;
        }
    }
}
