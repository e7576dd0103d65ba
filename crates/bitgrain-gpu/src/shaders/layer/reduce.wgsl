// Sums and maxima over the 64 threads of a workgroup.

var<workgroup> shared_values: array<f32, 64>;

fn total(thread: u32, value: f32) -> f32 {
    shared_values[thread] = value;
    workgroupBarrier();
    for (var half_count = 32u; half_count > 0u; half_count >>= 1u) {
        if thread < half_count {
            shared_values[thread] += shared_values[thread + half_count];
        }
        workgroupBarrier();
    }
    let result = shared_values[0];
    // Before the next reduction overwrites the values.
    workgroupBarrier();
    return result;
}

fn largest(thread: u32, value: f32) -> f32 {
    shared_values[thread] = value;
    workgroupBarrier();
    for (var half_count = 32u; half_count > 0u; half_count >>= 1u) {
        if thread < half_count {
            shared_values[thread] = max(shared_values[thread], shared_values[thread + half_count]);
        }
        workgroupBarrier();
    }
    let result = shared_values[0];
    workgroupBarrier();
    return result;
}
