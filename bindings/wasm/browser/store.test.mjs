// A store in the browser's private file system, in a worker of a page on localhost: from a file, pages have none.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { chromium } from "playwright-core";

const folder = mkdtempSync(join(tmpdir(), "bitgrain-store-"));
const packageFolder = new URL("../node_modules/bitgrain/", import.meta.url);
const types = { js: "text/javascript", wasm: "application/wasm", html: "text/html" };

// Each message is the body of an asynchronous function with `TensorStore` and `values`.
const worker = `
  import { TensorStore } from "./web.js";
  const values = Float32Array.from({ length: 1000 }, (_, i) => Math.sin(i * 0.1));
  let store;
  self.onmessage = async ({ data }) => {
    try {
      const work = new Function("TensorStore", "values", "self", "return (async () => {" + data + "})()");
      self.postMessage({ result: await work(TensorStore, values, self) });
    } catch (error) {
      self.postMessage({ error: error instanceof Error ? error.message : "not an error: " + error });
    }
  };
  self.postMessage({ result: "ready" });
`;

let server;
let browser;
let page;

before(async () => {
  server = createServer(({ url }, response) => {
    const name = url.slice(1) || "index.html";
    const made = { "index.html": "<!doctype html><title>store</title>", "worker.js": worker };
    try {
      const content = made[name] ?? readFileSync(new URL(name, packageFolder));
      response.writeHead(200, { "content-type": types[name.split(".").at(-1)] }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
  browser = await chromium.launchPersistentContext(join(folder, "profile"), { executablePath: "/usr/bin/chromium", args });
  page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await start("a");
});

after(async () => {
  await browser?.close();
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

// Starts a worker by name; the old one with this name ends.
const start = (name) => page.evaluate((name) => new Promise((resolve) => {
  globalThis.workers ??= {};
  globalThis.workers[name]?.terminate();
  globalThis.workers[name] = new Worker("./worker.js", { type: "module" });
  globalThis.workers[name].onmessage = ({ data }) => resolve(data.result);
}), name);

const run = async (name, code) => {
  const { result, error } = await page.evaluate(([name, code]) => new Promise((resolve) => {
    globalThis.workers[name].onmessage = ({ data }) => resolve(data);
    globalThis.workers[name].postMessage(code);
  }), [name, code]);
  if (error !== undefined) throw new Error(error);
  return result;
};

test("tensors survive closing, and the end of their worker without closing", async () => {
  await run("a", `const store = await TensorStore.openPrivate("one");
    store.put("kept", values, [10, 100]);
    store.put("gone", values);
    store.delete("gone");
    store.close();`);
  assert.deepEqual(await run("a", `const store = await TensorStore.openPrivate("one");
    const read = store.get("kept");
    const right = read.values.every((x, i) => Math.abs(x - values[i]) <= read.bound);
    const ids = store.ids();
    store.put("later", values);
    self.store = store;
    return [ids, [...read.shape].map(Number), right];`), [["kept"], [10, 100], true]);
  // Ends without closing, as a closed tab does; acknowledged writes must survive.
  await start("a");
  assert.deepEqual(await run("a", `const store = await TensorStore.openPrivate("one");
    const ids = store.ids();
    store.close();
    return ids;`), ["kept", "later"]);
});

test("compaction uses slots again and loses nothing", async () => {
  assert.deepEqual(await run("a", `const store = await TensorStore.openPrivate("two");
    for (let round = 0; round < 30; round += 1) {
      for (let id = 0; id < 20; id += 1) store.put("t" + id, values.map((x) => x + round), undefined, { lossless: true });
      store.compact(true);
    }
    const right = Array.from({ length: 20 }, (_, id) => store.get("t" + id).values[0]).every((x) => x === 29);
    const before = store.stats().fileBytes;
    store.close();
    const again = await TensorStore.openPrivate("two");
    const same = again.get("t7").values[0] === 29 && again.size === 20;
    await again.reserve(40);
    again.close();
    return [right, same, before < 500_000];`), [true, true, true]);
});

test("a store is open in one place at a time", async () => {
  await start("b");
  await run("a", `self.store = await TensorStore.openPrivate("three"); self.store.put("x", values);`);
  await assert.rejects(run("b", `await TensorStore.openPrivate("three")`), /cannot open the store/);
  await run("a", `self.store.close();`);
  assert.deepEqual(await run("b", `const store = await TensorStore.openPrivate("three"); const ids = store.ids(); store.close(); return ids;`), ["x"]);
});

test("the page itself has no private files, and says so", async () => {
  const message = await page.evaluate(async () => {
    const { TensorStore } = await import("./web.js");
    try {
      await TensorStore.openPrivate("four");
    } catch (error) {
      return error.message;
    }
  });
  assert.match(message, /worker|createSyncAccessHandle/);
});
