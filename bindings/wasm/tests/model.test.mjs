// Model files and networks in Node.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { Model, Network } from "bitgrain";

const containers = new URL("vectors/containers/", new URL(process.env.BITGRAIN_SPEC));
const read = (name) => new Uint8Array(readFileSync(new URL(name, containers)));
const refuses = (work, message) => assert.throws(work, (error) => error instanceof Error && message.test(error.message));

// A safetensors file of one matrix.
function safetensors(name, shape, values) {
  const header = JSON.stringify({ [name]: { dtype: "F32", shape, data_offsets: [0, values.length * 4] } });
  const bytes = new Uint8Array(8 + header.length + values.length * 4);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(header.length), true);
  bytes.set(new TextEncoder().encode(header), 8);
  bytes.set(new Uint8Array(Float32Array.from(values).buffer), 8 + header.length);
  return bytes;
}

const values = Float32Array.from({ length: 32 * 256 }, (_, i) => Math.sin(i * 0.37) * 0.1);
const file = safetensors("w", [32, 256], values);

test("every golden container is listed or refused with a message", () => {
  let listed = 0;
  for (const name of readdirSync(containers)) {
    let model;
    try {
      model = Model.fromBytes(read(name), name);
    } catch (error) {
      assert.ok(error instanceof Error && error.message.startsWith(name), `${name}: ${error.message}`);
      continue;
    }
    for (const tensor of model.tensors) {
      assert.equal(tensor.elements, tensor.shape.reduce((a, b) => a * b, 1), `${name}: ${tensor.name}`);
      try {
        assert.equal(model.values(tensor.name).length, tensor.elements);
        assert.equal(model.stats(tensor.name).histogram.length, 48);
      } catch (error) {
        assert.match(error.message, /cannot dequantize/, `${name}: ${tensor.name}`);
      }
    }
    listed += 1;
  }
  assert.ok(listed >= 25, `${listed} files`);
});

test("a file is quantized to a format, and its result opens", async () => {
  const model = await Model.open(new Blob([file]), "m.safetensors");
  assert.deepEqual(model.tensors, [
    { name: "w", shape: [32, 256], encoding: "float32", bytes: 32768, elements: 8192, bitsPerWeight: 32 },
  ]);
  assert.deepEqual(model.values("w"), values);
  let done = 0;
  for (const [output, to] of [["m.gguf", "q4_k"], ["m.safetensors", "int4/32@mse"], ["m.safetensors", "fp8_e4m3"]]) {
    done = 0;
    const { bytes, report, plan } = model.quantize(output, { to }, (more) => void (done += more));
    assert.equal(done, 32768);
    assert.equal(plan, null);
    assert.equal(report.file_bytes, bytes.length);
    assert.ok(report.overall.relative_rmse > 0 && report.overall.relative_rmse < 0.2);
    const back = Model.fromBytes(bytes, output);
    assert.equal(back.tensors[0].encoding, to.split("@")[0].replace("fp8_e4m3", report.tensors[0].to));
    const worst = back.values("w").reduce((most, x, i) => Math.max(most, Math.abs(x - values[i])), 0);
    assert.ok(Math.abs(worst - report.overall.max_error) < 1e-7);
  }
});

test("a budget chooses formats and gives the error curve", () => {
  const model = Model.fromBytes(file, "m.safetensors");
  const { bytes, plan, report } = model.quantize("m.safetensors", { budget: 6000 });
  assert.ok(plan.bytes <= 6000 && plan.curve.length > 3 && bytes.length < 7000);
  assert.ok(Math.abs(plan.relative_rmse - report.tensor_rmse) < 1e-9);
  const alone = model.plan("m.gguf", { maxRmse: 0.05 });
  assert.ok(alone.relative_rmse <= 0.05);
  assert.ok(alone.curve.every((point, i, all) => i === 0 || (point.bytes > all[i - 1].bytes && point.relative_rmse < all[i - 1].relative_rmse)));
  const kept = model.quantize("m.safetensors", { to: "int2", rules: [["w", "keep"]] });
  assert.equal(kept.report.tensors[0].to, "float32");
});

test("a callback can cancel, and its error reaches the caller", () => {
  const model = Model.fromBytes(file, "m.safetensors");
  refuses(() => model.quantize("m.gguf", { to: "q8_0" }, () => false), /canceled/);
  const thrown = new TypeError("mine");
  assert.throws(() => model.quantize("m.gguf", { to: "q8_0" }, () => { throw thrown; }), (error) => error === thrown);
});

test("every truncation of a file is an error", () => {
  const small = safetensors("w", [2, 4], new Float32Array(8));
  for (let end = 0; end < small.length; end += 1) refuses(() => Model.fromBytes(small.slice(0, end), "m.safetensors"), /m\.safetensors/);
});

test("invalid input is an error with a message, never a trap", async () => {
  const model = Model.fromBytes(file, "m.safetensors");
  refuses(() => Model.fromBytes(new Uint8Array(0), "x"), /unknown model format/);
  await assert.rejects(Model.open("text"), /Uint8Array/);
  await assert.rejects(Model.open(null), /Uint8Array/);
  refuses(() => model.values("v"), /unknown tensor/);
  refuses(() => model.stats("v"), /unknown tensor/);
  refuses(() => model.quantize("m.bin", { to: "int8" }), /extension/);
  refuses(() => model.quantize("m.safetensors.index.json", { to: "int8" }), /extension/);
  refuses(() => model.quantize("m.gguf", { to: "int4" }), /GGUF/);
  refuses(() => model.quantize("m.gguf", { to: "q9" }), /./);
  refuses(() => model.quantize("m.gguf", {}), /exactly one/);
  refuses(() => model.quantize("m.gguf", { to: "q8_0", budget: 5 }), /exactly one/);
  refuses(() => model.quantize("m.gguf", { format: "q8_0" }), /unknown field `format`/);
  refuses(() => model.quantize("m.gguf", { budget: 10 }), /too small/);
  refuses(() => model.quantize("m.gguf", { budget: -1 }), /budget/);
  refuses(() => model.quantize("m.gguf", { budget: NaN }), /exactly one|budget/);
  refuses(() => model.quantize("m.gguf", { maxRmse: 0 }), /cannot reach/);
  refuses(() => model.plan("m.gguf", { to: "q8_0" }), /goal/);
  // A header that claims more values than WebAssembly can address.
  const header = JSON.stringify({ w: { dtype: "F32", shape: [65536, 65536], data_offsets: [0, 0] } });
  const bytes = new Uint8Array(8 + header.length);
  bytes[0] = header.length;
  bytes.set(new TextEncoder().encode(header), 8);
  refuses(() => Model.fromBytes(bytes, "m.safetensors"), /./);
  refuses(() => Network.load(new Uint8Array(0)), /./);
  refuses(() => Network.load(file), /./);
});

test("a network runs in every format and round-trips through its file", () => {
  const network = Network.load(new Uint8Array(readFileSync(process.env.BITGRAIN_DIGITS)));
  // A handwritten 0 with pixels from 0 to 16, in base 17.
  const zero = "002c700000fef60006a42e10088008500780048002e00560009c4e30001df900";
  const pixels = Float32Array.from(zero, (letter) => Number.parseInt(letter, 17) / 16);
  const full = network.forward(pixels, Uint32Array.of(64));
  assert.equal(full.indexOf(Math.max(...full)), 0);
  let before = Infinity;
  for (const format of ["float32", "float16", "int8", "int4", "int2"]) {
    network.morph(format);
    assert.ok(network.activeBytes < before, format);
    before = network.activeBytes;
    const scores = network.forward(pixels, Uint32Array.of(64));
    const again = Network.load(network.save(true));
    assert.deepEqual(again.forward(pixels, Uint32Array.of(64)), scores, format);
    if (format !== "int2") assert.equal(scores.indexOf(Math.max(...scores)), 0, format);
  }
  refuses(() => network.morph("int5"), /./);
  refuses(() => network.forward(pixels, Uint32Array.of(63)), /./);
  refuses(() => network.forward(pixels, new Uint32Array(0)), /./);
  refuses(() => network.forward(pixels.fill(NaN), Uint32Array.of(64)), /./);
});
