// The real playground in headless Chromium, opened from its file, against the native command.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { chromium } from "playwright-core";
import { parquet } from "./parquet.mjs";

const folder = mkdtempSync(join(tmpdir(), "bitgrain-page-"));
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const native = (...args) => execFileSync(process.env.BITGRAIN, args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
const file = (name) => join(folder, name);

let browser;
let page;
const complaints = [];

before(async () => {
  browser = await chromium.launchPersistentContext(file("profile"), { executablePath: "/usr/bin/chromium", args: flags, acceptDownloads: true });
  page = await browser.newPage();
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  // Works offline: no request leaves the page.
  page.on("request", (request) => /^https?:/.test(request.url()) && complaints.push(`request of ${request.url()}`));
  await page.goto(process.env.BITGRAIN_PAGE);
  await page.waitForSelector("body[data-ready]", { timeout: 60_000 });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function downloaded(button) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
  return readFileSync(await download.path());
}

const status = (id, pattern) => page.waitForFunction(([id, source]) => new RegExp(source).test(document.getElementById(id).textContent), [id, pattern.source], { timeout: 60_000 });

// Numbers, missing values and strings, from a fixed sequence.
function table(target) {
  let state = 7;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const rows = Array.from({ length: 1500 }, () => {
    const [a, b, city] = [(random() * 100).toFixed(3), random() < 0.1 ? "" : (random() * 9).toFixed(2), ["Oslo", "Rome", "Quito"][Math.floor(random() * 3)]];
    const score = Number(a) * 0.3 + Number(b || 4) ** 2 - (city === "Rome" ? 20 : 0) + random() * 5;
    return [a, b, city, target(score)].join();
  });
  return ["a,b,city,y", ...rows, ""].join("\n");
}

const tasks = {
  numbers: (score) => score.toFixed(3),
  classes: (score) => (score > 20 ? "high" : "low"),
  three: (score) => (score > 40 ? "high" : score > 10 ? "middle" : "low"),
};

for (const [name, target] of Object.entries(tasks)) {
  test(`a table of ${name} is trained on as by the native command, bit for bit`, async () => {
    writeFileSync(file(`${name}.csv`), table(target));
    await page.setInputFiles("#table-file", file(`${name}.csv`));
    await status("table-status", /1,500 rows, 4 columns/);
    assert.equal(await page.inputValue("#target"), "y");
    await page.fill("#rounds", "40");
    await page.fill("#leaves", "15");
    await page.fill("#rate", "0.15");
    await page.fill("#share", "0.2");
    await page.click("#train");
    await status("table-status", /trained in/);
    const options = ["--n-estimators", "40", "--num-leaves", "15", "--learning-rate", "0.15", "--valid-fraction", "0.2"];
    native("train", `${name}.csv`, "--target", "y", "--model", `${name}.bitgrain`, ...options);
    assert.deepEqual(await downloaded("#save-model"), readFileSync(file(`${name}.bitgrain`)));
    const predictions = native("predict", `${name}.bitgrain`, `${name}.csv`);
    assert.deepEqual(await downloaded("#save-predictions"), predictions);
    assert.match(await page.textContent("#curve-text"), /after 40 of 40 rounds: validation [\d.]+, training [\d.]+/);
    assert.equal(await page.locator("#curve polyline").count(), 2);
    assert.deepEqual((await page.locator("#importances .name").allTextContents()).sort(), ["a", "b", "city"]);
    assert.equal(await page.locator("#predictions tbody tr").count(), 10);
    assert.match(await page.textContent("#explained"), /Row 0: the score -?[\d.e-]+ is the expected score/);
    await page.fill("#row", "7");
    await page.press("#row", "Enter");
    await status("explained", /Row 7:/);
    assert.equal(await page.locator("#contributions li").count(), 3);
  });
}

test("a Parquet file is trained on as by the native command, bit for bit", async () => {
  const rows = Array.from({ length: 900 }, (_, i) => i);
  const [a, b] = [rows.map((i) => Math.sin(i * 1.7)), rows.map((i) => (i * 37) % 101)];
  writeFileSync(file("numbers.parquet"), parquet({ a, b, y: rows.map((i) => 3 * a[i] + b[i] / 50) }));
  await page.setInputFiles("#table-file", file("numbers.parquet"));
  await status("table-status", /900 rows, 3 columns/);
  for (const [field, value] of [["rounds", "25"], ["leaves", "31"], ["rate", "0.1"], ["share", "0"]]) await page.fill(`#${field}`, value);
  await page.click("#train");
  await status("table-status", /trained in/);
  native("train", "numbers.parquet", "--target", "y", "--model", "p.bitgrain", "--n-estimators", "25", "--num-leaves", "31", "--learning-rate", "0.1");
  assert.deepEqual(await downloaded("#save-model"), readFileSync(file("p.bitgrain")));
  assert.deepEqual(await downloaded("#save-predictions"), native("predict", "p.bitgrain", "numbers.parquet"));
  await page.setInputFiles("#table-file", join(new URL("../fuzz/seeds/parse_parquet/zstd.parquet", process.env.BITGRAIN_SPEC).pathname));
  await status("table-status", /zstd\.parquet.*compress the file with snappy, gzip or LZ4/);
});

test("canceling a training keeps its file and the other sections", async () => {
  await page.click("#model-sample");
  await status("model-status", /digits\.safetensors: safetensors/);
  await page.click("#table-sample");
  await status("table-status", /2,000 rows/);
  await page.fill("#rounds", "5000");
  await page.fill("#leaves", "500");
  await page.click("#train");
  await page.waitForSelector("#curve polyline");
  await page.click("#cancel");
  await status("table-status", /^Canceled/);
  await page.fill("#rounds", "5");
  await page.click("#train");
  await status("table-status", /5 rounds.*trained in/);
  await page.click('#tensors tbody button');
  await status("histogram-text", /values from/);
  await page.selectOption("#sample", "3");
  await status("answer-text", /this is a 3/);
});

test("a broken table is reported with its line", async () => {
  writeFileSync(file("broken.csv"), "a,b\n1,2\n3\n");
  await page.setInputFiles("#table-file", file("broken.csv"));
  await status("table-status", /broken\.csv, line 3/);
  assert.ok(await page.isHidden("#table-form"));
});

test("a model file is quantized to the bytes of the native command", async () => {
  const [rows, cols] = [48, 256];
  const values = Float32Array.from({ length: rows * cols }, (_, i) => Math.fround(Math.sin(i * 0.37) * Math.cos(i * 0.011)));
  const header = JSON.stringify({ bias: { dtype: "F32", shape: [4], data_offsets: [0, 16] }, weight: { dtype: "F32", shape: [rows, cols], data_offsets: [16, 16 + values.length * 4] } });
  const head = Buffer.alloc(8);
  head.writeBigUInt64LE(BigInt(header.length));
  writeFileSync(file("m.safetensors"), Buffer.concat([head, Buffer.from(header), Buffer.alloc(16), Buffer.from(values.buffer)]));
  await page.setInputFiles("#model-file", file("m.safetensors"));
  await status("model-status", /safetensors, 2 tensors, 49\.2 kB/);
  assert.match(await page.textContent("#histogram-text"), /weight: 12,288 values from -0\.99\d+ to 1,/);
  assert.equal(await page.locator("#histogram rect").count(), 48);
  await page.click('button[aria-label="Histogram of bias"]');
  await page.waitForFunction(() => document.getElementById("histogram-text").textContent.startsWith("bias"));
  for (const [container, format] of [["safetensors", "int4/32"], ["gguf", "q4_k"]]) {
    await page.selectOption("#container", container);
    await page.selectOption("#format", format);
    await page.click("#quantize");
    await status("model-status", /Quantized to/);
    const bytes = await downloaded("#save-weights");
    native("quantize", "m.safetensors", `out.${container}`, "--to", format);
    assert.deepEqual(bytes, readFileSync(file(`out.${container}`)), format);
    await page.evaluate(() => (document.getElementById("model-status").textContent = ""));
  }
  await page.selectOption("#container", "safetensors");
  await page.selectOption("#mode", "budget");
  await page.fill("#budget", "8");
  await page.click("#quantize");
  await status("model-status", /Quantized to/);
  native("quantize", "m.safetensors", "budget.safetensors", "--budget", "8000");
  assert.deepEqual(await downloaded("#save-weights"), readFileSync(file("budget.safetensors")));
  assert.equal(await page.locator("#error-curve circle").count(), 1);
  await page.fill("#budget", "1");
  await page.click("#quantize");
  await status("model-status", /too small/);
});

test("vectors are searched on their codes", async () => {
  await page.click("#vectors-sample");
  await status("found-text", /Nearest to row \d+: 10 answers/);
  assert.equal(await page.locator("#hits tbody tr td:nth-child(2)").first().textContent(), "tomato");
  const [rows, columns] = [3000, 64];
  const values = Float32Array.from({ length: rows * columns }, (_, i) => Math.sin(i * i * 0.0137));
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${columns}), }`.padEnd(117) + "\n";
  writeFileSync(file("vectors.npy"), Buffer.concat([Buffer.from("\x93NUMPY\x01\0v\0", "latin1"), Buffer.from(header), Buffer.from(values.buffer)]));
  await page.setInputFiles("#vectors-file", file("vectors.npy"));
  await status("vectors-status", /3,000 vectors of 64 values: 198 kB in the store, 768 kB as float32/);
  await page.selectOption("#metric", "ip");
  await page.selectOption("#tier", "lossless");
  await status("vectors-status", /7\d\d kB in the store/);
  await page.fill("#query", "2345");
  await page.click("#find");
  await status("found-text", /Nearest to row 2345: 10 answers in [\d.]+ ms, 10 proven/);
  const dot = (row) => values.subarray(row * columns, (row + 1) * columns).reduce((sum, x, i) => sum + x * values[2345 * columns + i], 0);
  const best = Array.from({ length: rows }, (_, row) => [row, dot(row)]).sort((a, b) => b[1] - a[1]).slice(0, 10);
  assert.deepEqual(await page.locator("#hits tbody tr td:first-child").allTextContents(), best.map(([row]) => String(row)));
  await page.selectOption("#tier", "cold");
  await status("vectors-status", /: \d\d[.\d]* kB in the store/);
  await page.press("#query", "Enter");
  await status("found-text", /Nearest to row 2345/);
  // With 3 bits, another row may have a larger product.
  assert.ok((await page.locator("#hits tbody tr td:first-child").allTextContents()).includes("2345"));
  writeFileSync(file("labels.txt"), Array.from({ length: rows }, (_, row) => `vector ${row}`).join("\n"));
  await page.setInputFiles("#labels-file", file("labels.txt"));
  await page.waitForSelector("#hits tbody td:nth-child(2) span");
  await page.fill("#query", "vector 17");
  await page.click("#find");
  await status("found-text", /Nearest to row 17:/);
  await page.fill("#query", "none");
  await page.click("#find");
  await status("found-text", /unknown vector "none"; choose a row from 0 to 2999 or a label/);
});

test("a drawn digit and every sample are recognized", async () => {
  for (const digit of ["0", "1", "4", "7"]) {
    await page.selectOption("#sample", digit);
    await status("answer-text", new RegExp(`this is a ${digit}`));
  }
  const answers = await page.locator("#answers tbody tr td:nth-child(3)").allTextContents();
  assert.equal(answers.length, 8);
  assert.deepEqual(answers.slice(0, 5), Array(5).fill("7"));
  await page.click("#clear");
  await status("answer-text", /Draw a digit/);
  // A vertical stroke.
  const box = await page.locator("#pad").boundingBox();
  const at = (row) => [box.x + box.width * 0.55, box.y + (box.height * (row + 0.5)) / 8];
  await page.mouse.move(...at(0));
  await page.mouse.down();
  for (let row = 1; row < 8; row += 1) await page.mouse.move(...at(row));
  await page.mouse.up();
  await status("answer-text", /this is a 1/);
});

test("the drawing works with the keyboard alone", async () => {
  await page.click("#clear");
  await page.focus("#pad");
  for (const key of ["ArrowUp", "ArrowUp", "ArrowUp", " ", "ArrowDown", " ", "ArrowDown", " "]) await page.keyboard.press(key);
  await status("pad-text", /Row 3, column 4: ink/);
  await status("answer-text", /this is a \d/);
});

test("every control has a name, and headings and landmarks are in order", async () => {
  const nameless = await page.evaluate(() => {
    const named = (e) => e.labels?.length || e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || (e.tagName === "BUTTON" && e.textContent.trim());
    return [...document.querySelectorAll("input, select, button, canvas, progress, [tabindex]")].filter((e) => !named(e)).map((e) => e.outerHTML.slice(0, 80));
  });
  assert.deepEqual(nameless, []);
  assert.deepEqual(await page.evaluate(() => ["main", "header", "nav[aria-label]", "footer", "h1"].map((s) => document.querySelectorAll(s).length)), [1, 1, 1, 1, 1]);
  assert.ok((await page.evaluate(() => [...document.querySelectorAll(".chart svg")].every((s) => s.getAttribute("role") === "img" && s.querySelector("title")))));
  assert.ok((await page.evaluate(() => document.querySelectorAll('[role="status"]').length)) >= 3);
});

test("the page fits a phone, in both color schemes", async () => {
  for (const [width, height, colorScheme] of [[360, 740, "light"], [320, 640, "dark"], [1280, 900, "dark"], [1280, 900, "light"]]) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    // Charts are drawn again with the new width, so that their text keeps its size.
    await page.waitForFunction(() => [...document.querySelectorAll(".chart svg")].every((image) => image.viewBox.baseVal.width === Math.max(240, Math.min(900, image.parentElement.clientWidth)) || image.parentElement.clientWidth === 0), null, { timeout: 10_000 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${wide} pixels too wide at ${width}`);
    if (process.env.BITGRAIN_PICTURES) await page.screenshot({ path: join(process.env.BITGRAIN_PICTURES, `${width}-${colorScheme}.png`), fullPage: true });
  }
});

test("the browser reported no errors", () => assert.deepEqual(complaints, []));
