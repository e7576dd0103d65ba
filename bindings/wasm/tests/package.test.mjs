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
  assert.ok(whole < 1_500_000, `everything: ${whole} bytes`);
  assert.ok(codec < 150_000, `codec: ${codec} bytes`);
});

test("the types declare everything that is exported", () => {
  const types = read("bitgrain.d.ts").toString();
  for (const name of Object.keys(bitgrain).filter((name) => !["default", "initSync"].includes(name))) {
    assert.match(types, new RegExp(`export (class|function) ${name}\\b`), name);
  }
  for (const name of ["TrainOptions", "TableOptions", "Round", "QuantizeOptions", "Plan", "TensorInfo", "PutOptions"]) {
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
