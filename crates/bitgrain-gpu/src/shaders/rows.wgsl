// Decodes rows of a table: output row i is row `indices[i]` of the table. With a bias flag of 1, adds it
// to the values of `bias`, which has as many rows as the output. Rows of other parts of the matrix are left alone.

@group(0) @binding(4) var<storage, read> indices: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
    let at = group.x + group.y * count.x;
    if at >= p.batch {
        return;
    }
    let wanted = indices[at];
    if wanted < p.first || wanted - p.first >= p.rows {
        return;
    }
    for (var start = thread * 8u; start < p.cols; start += 512u) {
        run(wanted - p.first, start);
        let end = min(8u, p.cols - start);
        for (var i = 0u; i < end; i++) {
            let index = at * p.cols + start + i;
            var value = w[i];
            if p.has_bias == 1u {
                value += bias[index];
            }
            out[index] = value;
        }
    }
}
