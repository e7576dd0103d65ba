// The package as it is published: sizes, types, and the module in a worker.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import * as bitgrain from "bitgrain";

const folder = new URL("../node_modules/bitgrain/", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder));

test("downloads are within their limits", (context) => {
  const zipped = (prefix) => ["bitgrain.js", "bitgrain_bg.wasm"].reduce((sum, name) => sum + gzipSync(read(prefix + name), { level: 9 }).length, 0);
  const [whole, codec] = [zipped(""), zipped("codec/")];
  context.diagnostic(`gzipped: everything ${whole} bytes, codec ${codec} bytes`);
  assert.ok(whole < 1_900_000, `everything: ${whole} bytes`);
  assert.ok(codec < 160_000, `codec: ${codec} bytes`);
});

test("the types declare everything that is exported", () => {
  const types = read("bitgrain.d.ts").toString();
  for (const name of Object.keys(bitgrain).filter((name) => !["default", "initSync"].includes(name))) {
    assert.match(types, new RegExp(`export (class|function) ${name}\\b`), name);
  }
  for (const name of ["TrainOptions", "TableOptions", "Round", "QuantizeOptions", "Plan", "TensorInfo", "PutOptions", "SearchOptions", "SearchResult"]) {
    assert.match(types, new RegExp(`export interface ${name}\\b`), name);
  }
  assert.equal(bitgrain.version(), JSON.parse(read("package.json")).version);
});

test("the package works in a worker", async () => {
  const source = `
    import { parentPort } from "node:worker_threads";
    import { Booster } from "bitgrain";
    const x = Float32Array.from({ length: 200 }, (_, i) => i);
    parentPort.postMessage(Booster.train(x, 200, x, { n_estimators: 5 }).save());
  `;
  const { Booster } = bitgrain;
  const x = Float32Array.from({ length: 200 }, (_, i) => i);
  const place = new URL("worker-source.mjs", import.meta.url);
  const { writeFileSync } = await import("node:fs");
  writeFileSync(place, source);
  const saved = await new Promise((resolve, reject) => {
    const worker = new Worker(place);
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  assert.deepEqual(new Uint8Array(saved), Booster.train(x, 200, x, { n_estimators: 5 }).save());
});

// In a worker, because the memory that the module has taken is never returned.
test("an allocation that fails is an error that says so", async () => {
  const source = `
    import { parentPort } from "node:worker_threads";
    import { TensorStore, version } from "bitgrain";
    const store = TensorStore.inMemory();
    const values = new Float32Array(1 << 25);
    let message = "none";
    try {
      for (let at = 0; at < 64; at += 1) store.put(String(at), values, undefined, { lossless: true });
    } catch (error) {
      message = String(error);
    }
    parentPort.postMessage([message, version()]);
  `;
  const { writeFileSync } = await import("node:fs");
  const place = new URL("memory-source.mjs", import.meta.url);
  writeFileSync(place, source);
  const [message, version] = await new Promise((resolve, reject) => {
    const worker = new Worker(place);
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  // The store keeps its files in memory: it may refuse a file before an allocation fails.
  assert.match(message, /memory|no space left/);
  assert.equal(version, bitgrain.version());
});
