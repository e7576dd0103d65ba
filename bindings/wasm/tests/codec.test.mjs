// Blocks and weights in Node, against the golden vectors of the specification.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import * as whole from "bitgrain";
import * as codec from "bitgrain/codec";

const vectors = new URL("vectors/", new URL(process.env.BITGRAIN_SPEC));
const read = (name) => readFileSync(new URL(name, vectors));
const floats = (bytes) => new Float32Array(Uint8Array.from(bytes).buffer);
const bits = (values) => [...new Uint32Array(Float32Array.from(values).buffer)];
const fromHex = (words) => new Float32Array(Uint32Array.from(words, (word) => Number.parseInt(word, 16)).buffer);
const refuses = (work, message) => assert.throws(work, (error) => error instanceof Error && message.test(error.message));

const cases = readdirSync(vectors)
  .filter((name) => name.endsWith(".json"))
  .map((name) => ({ name, ...JSON.parse(read(name)), bytes: new Uint8Array(read(name.replace(/json$/, "bin"))) }));

for (const [name, bitgrain] of [["bitgrain", whole], ["bitgrain/codec", codec]]) {
  test(`${name}: blocks have the bytes and values of the golden vectors`, () => {
    let checked = 0;
    for (const { kind, format, values, decoded, block_len, bytes, name } of cases.filter((c) => c.kind === "blocks")) {
      const [width, two] = [Number(format[1]), format.endsWith("x2")];
      const encoded = bitgrain.encodeBlocks(fromHex(values), width, block_len, two);
      assert.deepEqual(encoded, bytes, `${name}: ${kind}`);
      assert.deepEqual(bits(bitgrain.decodeBlocks(bytes, values.length, width, block_len, two)), bits(fromHex(decoded)), name);
      checked += 1;
    }
    assert.ok(checked >= 56, `${checked} vectors`);
  });

  test(`${name}: blocks that a reader must refuse are errors`, () => {
    const refused = cases.filter((c) => c.kind === "refused");
    assert.ok(refused.length >= 12);
    for (const { format, count, block_len, bytes } of refused) {
      const [width, two] = [Number(format[1]), format.endsWith("x2")];
      refuses(() => bitgrain.decodeBlocks(bytes, count, width, block_len, two), /./);
    }
  });

  test(`${name}: blocks of llama.cpp have its bytes and values`, () => {
    const values = floats(read("ggml/values.f32"));
    for (const format of ["q4_0", "q4_1", "q5_0", "q5_1", "q8_0"]) {
      assert.deepEqual(bitgrain.quantize(values, format, 256).codes, new Uint8Array(read(`ggml/${format}.bin`)), format);
    }
    let checked = 0;
    for (const format of bitgrain.formats()) {
      let expected, decoded;
      try {
        expected = new Uint8Array(read(`ggml/${format}.bin`));
        decoded = floats(read(`ggml/${format}.f32`));
      } catch {
        continue; // a format of another project, or one with vectors of its own
      }
      // Only the first weights are decoded in the file.
      const blocks = expected.slice(0, (expected.length * decoded.length) / values.length);
      const tensor = bitgrain.QuantizedTensor.fromParts(format, 1, decoded.length, blocks);
      assert.deepEqual(bits(tensor.dequantize()), bits(decoded), format);
      checked += 1;
    }
    assert.ok(checked >= 13, `${checked} formats`);
  });

  test(`${name}: weights round-trip within their error`, () => {
    const values = Float32Array.from({ length: 512 }, (_, i) => Math.sin(i * 0.1));
    const tensor = bitgrain.quantize(values, "int4/32", 256);
    assert.deepEqual([tensor.format, tensor.rows, tensor.cols, tensor.byteLength], ["int4/32", 2, 256, 256 + 16 * 4]);
    const back = bitgrain.dequantize("int4/32", 2, 256, tensor.codes, tensor.scales, tensor.zeros);
    assert.deepEqual(back, tensor.dequantize());
    const error = tensor.error(values);
    assert.ok(error.maxError < 0.08 && error.cosine > 0.99 && error.relativeRmse < 0.08);
    const bound = bitgrain.blockBound(bitgrain.encodeBlocks(values, 5), 512, 5);
    const decoded = bitgrain.decodeBlocks(bitgrain.encodeBlocks(values, 5), 512, 5);
    assert.ok(decoded.every((x, i) => Math.abs(x - values[i]) <= bound));
  });

  test(`${name}: invalid input is an error with a message, never a trap`, () => {
    const ones = new Float32Array(64).fill(1);
    refuses(() => bitgrain.quantize(ones, "int5"), /unknown|format/);
    refuses(() => bitgrain.quantize(ones, "q4_0", 24), /block|multiple|rows/);
    refuses(() => bitgrain.quantize(ones, "int4", 0), /./);
    refuses(() => bitgrain.quantize(Float32Array.of(NaN), "int8"), /finite|NaN/);
    refuses(() => bitgrain.encodeBlocks(ones, 9), /bits|width/);
    refuses(() => bitgrain.encodeBlocks(ones, 4, 7), /block/);
    refuses(() => bitgrain.encodeBlocks(ones, 4, 64, true), /3 bits/);
    refuses(() => bitgrain.encodeBlocks(Float32Array.of(Infinity), 4), /finite|inf/);
    refuses(() => bitgrain.decodeBlocks(new Uint8Array(3), 64, 4), /./);
    // Sizes whose products do not fit the 32 bits of WebAssembly.
    refuses(() => bitgrain.decodeBlocks(new Uint8Array(0), 0xffffffff, 8), /./);
    refuses(() => bitgrain.dequantize("int8", 0x10000, 0x10000, new Uint8Array(0)), /./);
    refuses(() => bitgrain.dequantize("q4_0", 0xffffffff, 0xffffffe0, new Uint8Array(18)), /./);
    refuses(() => bitgrain.dequantize("float32", 1, 0x40000000, new Uint8Array(0)), /./);
    assert.deepEqual(bitgrain.dequantize("int8/channel", 0, 8, new Uint8Array(0)), new Float32Array(0));
  });
}

test("the kernels use SIMD", () => {
  assert.equal(whole.backend(), "simd128");
  assert.equal(codec.backend(), "simd128");
});
