// Element-wise functions of one or two arrays. The operation is the same for all threads.

struct Parameters { len: u32, operation: u32, pad0: u32, pad1: u32 }

@group(0) @binding(0) var<uniform> p: Parameters;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

fn sigmoid(x: f32) -> f32 {
    // e^88 is the largest power that f32 holds.
    return 1.0 / (1.0 + exp(-clamp(x, -88.0, 88.0)));
}

// The built-in function may overflow for large arguments, where the result is 1 to within rounding.
fn tanh_of(x: f32) -> f32 {
    let y = clamp(x, -10.0, 10.0);
    if abs(y) < 0.01 {
        return y - y * y * y / 3.0;
    }
    let power = exp(2.0 * y);
    return (power - 1.0) / (power + 1.0);
}

// The polynomial of the CPU's error function.
fn erf(argument: f32) -> f32 {
    var factors = array<f32, 17>(
        0.353531, -0.17657617, 0.131675, -0.107713364, 0.09021204, -0.07468753, 0.059855994, -0.04601432, 0.033217,
        -0.021662531, 0.013908146, -0.010085907, 0.0055773635, -0.0010769421, 0.00061661075, -0.0013728151, 0.0005964251);
    let x = clamp(argument, -4.0, 4.0);
    let u = x * x * 0.125 - 1.0;
    var sum = 0.0;
    for (var i = 17u; i > 0u; i--) {
        sum = sum * u + factors[i - 1u];
    }
    return x * sum;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
    let at = (group.x + group.y * count.x) * 64u + thread;
    if at >= p.len {
        return;
    }
    let x = a[at];
    var y = x;
    switch p.operation {
        case 0u: { y = x + b[at]; }
        case 1u: { y = x * sigmoid(x) * b[at]; }
        case 2u: { y = max(x, 0.0); }
        case 3u: { y = max(x, 0.01 * x); }
        case 4u: { y = x * (0.5 + 0.5 * erf(x * 0.70710678)); }
        case 5u: { y = 0.5 * x * (1.0 + tanh_of(0.79788456 * x * (1.0 + 0.044715 * x * x))); }
        case 6u: { y = x * sigmoid(x); }
        case 7u: { y = tanh_of(x); }
        default: { y = sigmoid(x); }
    }
    out[at] = y;
}
