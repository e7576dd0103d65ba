// Times the npm package in Node and, if it is installed, in Chromium: `cargo xtask bench npm`. Arrays are copied into and out
// of the module, as in any use of the package. Prints the best of nine runs.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Runs in both engines, so it uses nothing from outside.
async function measure(url) {
  const bitgrain = await import(url);
  const values = Float32Array.from({ length: 1 << 20 }, (_, i) => Math.sin(i * 0.37));
  const encoded = bitgrain.encodeBlocks(values, 5);
  const rows = 20_000;
  const features = Float32Array.from({ length: rows * 10 }, (_, i) => Math.sin(i * 1.7 + (i % 10)));
  const targets = Float32Array.from({ length: rows }, (_, row) => features[10 * row] * features[10 * row + 1]);
  const options = { n_estimators: 20 };
  const booster = bitgrain.Booster.train(features, rows, targets, options);
  const work = {
    "encode 1,048,576 floats at 8 bits": [4 << 20, () => bitgrain.encodeBlocks(values, 8)],
    "encode 1,048,576 floats at 5 bits": [4 << 20, () => bitgrain.encodeBlocks(values, 5)],
    "decode 1,048,576 floats at 5 bits": [4 << 20, () => bitgrain.decodeBlocks(encoded, values.length, 5)],
    "quantize 1,048,576 floats to q4_0": [4 << 20, () => bitgrain.quantize(values, "q4_0", 4096).free()],
    "train 20 rounds on 20,000 × 10": [0, () => bitgrain.Booster.train(features, rows, targets, options).free()],
    "predict 20,000 rows with 20 trees": [0, () => booster.predict(features, rows)],
  };
  return Object.entries(work).map(([name, [bytes, run]]) => {
    let best = Infinity;
    for (let time = 0; time < 9; time += 1) {
      const start = performance.now();
      run();
      best = Math.min(best, performance.now() - start);
    }
    return [name, bytes ? `${(bytes / best / 1e6).toFixed(2)} GB/s` : `${best.toFixed(1)} ms`];
  });
}

async function inChromium() {
  const { chromium } = await import("playwright-core");
  const root = new URL("node_modules/bitgrain/", import.meta.url);
  const types = { js: "text/javascript", wasm: "application/wasm" };
  const server = createServer(({ url }, response) => {
    const name = url.slice(1);
    if (!name) return response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>");
    try {
      const content = readFileSync(new URL(name, root));
      response.writeHead(200, { "content-type": types[name.split(".").at(-1)] ?? "text/plain" }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const profile = mkdtempSync(join(tmpdir(), "bitgrain-bench-"));
  const browser = await chromium.launchPersistentContext(profile, { executablePath: "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu"] });
  try {
    const page = await browser.newPage();
    const address = `http://127.0.0.1:${server.address().port}/`;
    await page.goto(address);
    return await page.evaluate(`(${measure})("${address}web.js")`);
  } finally {
    await browser.close();
    server.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

const inNode = await measure("bitgrain");
let other;
try {
  other = await inChromium();
} catch (error) {
  console.error(`without Chromium: ${error.message.split("\n")[0]}`);
}
console.log(`| work | Node ${process.versions.node} |${other ? " Chromium |" : ""}`);
console.log(`|---|---|${other ? "---|" : ""}`);
inNode.forEach(([name, rate], at) => console.log(`| ${name} | ${rate} |${other ? ` ${other[at][1]} |` : ""}`));
