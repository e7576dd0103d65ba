// Quantizing a model file.

import { Engine, digitNetwork, download, element, fill, onFile, short, size, tell, trying } from "./page.js";
import { histogram, lines } from "./chart.js";

const engine = new Engine();

let opened;
let conversion;

const FORMATS = {
  safetensors: ["int8", "int4", "int4/32", "int2/32", "ternary", "binary", "fp8_e4m3", "float16", "q8_0", "q4_k", "q4_0"],
  gguf: ["q8_0", "q6_k", "q5_k", "q4_k", "q3_k", "q2_k", "q4_0", "iq4_nl", "mxfp4", "float16"],
};

async function open(file) {
  tell("model-status", `Reading ${file.name} …`);
  for (const id of ["opened", "quantized", "errors"]) element(id).hidden = true;
  const { container, tensors } = await engine.call("openModel", { file, name: file.name });
  opened = { name: file.name, tensors, bytes: tensors.reduce((sum, { bytes }) => sum + bytes, 0) };
  const columns = [{ name: "tensor" }, { name: "shape" }, { name: "format" }, { name: "size", number: true }];
  fill(element("tensors"), columns, tensors.map((tensor) => [button(tensor), tensor.shape.join(" × ") || "scalar", tensor.encoding, size(tensor.bytes)]));
  element("container").value = container === "GGUF" ? "gguf" : "safetensors";
  listFormats();
  element("budget").value = Math.max(1, Math.round(opened.bytes / 4000));
  element("opened").hidden = false;
  tell("model-status", `${file.name}: ${container}, ${tensors.length} tensors, ${size(opened.bytes)}.`);
  const largest = tensors.reduce((best, tensor) => (tensor.elements > best.elements ? tensor : best), tensors[0]);
  if (largest) await look(largest.name);
}

function button({ name }) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = name;
  made.setAttribute("aria-label", `Histogram of ${name}`);
  made.addEventListener("click", () => trying("model-status", () => look(name)));
  return made;
}

async function look(name) {
  const stats = await engine.call("stats", { name });
  histogram(element("histogram"), { title: `Histogram of ${name}`, counts: stats.histogram, low: stats.min, high: stats.max });
  element("histogram-text").textContent =
    `${name}: ${stats.count.toLocaleString("en")} values from ${short(stats.min)} to ${short(stats.max)}, ` +
    `mean ${short(stats.mean)}, standard deviation ${short(stats.std)}`;
  for (const row of element("tensors").tBodies[0].rows) row.classList.toggle("chosen", row.cells[0].textContent === name);
}

function listFormats() {
  element("format").replaceChildren(...FORMATS[element("container").value].map((name) => new Option(name, name)));
}

function showMode() {
  const byBudget = element("mode").value === "budget";
  element("format-label").hidden = byBudget;
  element("budget-label").hidden = !byBudget;
}

const output = () => `${opened.name.replace(/\.\w+$/, "")}-small.${element("container").value}`;

// Runs work with the progress bar; `total` is the number of bytes it reports.
async function working(total, work) {
  const bar = element("model-progress");
  let done = 0;
  bar.hidden = false;
  element("quantize").disabled = true;
  try {
    await work((bytes) => (bar.value = Math.min(1, (done += bytes) / total)));
  } finally {
    bar.hidden = true;
    element("quantize").disabled = false;
  }
}

async function quantize(event) {
  event.preventDefault();
  const byBudget = element("mode").value === "budget";
  const options = byBudget ? { budget: Math.round(element("budget").valueAsNumber * 1000) } : { to: element("format").value };
  tell("model-status", "Quantizing …");
  await working(opened.bytes * (byBudget ? 11 : 1), async (onProgress) => {
    conversion = await engine.call("quantize", { output: output(), options }, onProgress);
  });
  const { report, plan } = conversion;
  const { bytes_before, bytes_after, tensors, overall } = report;
  element("result").textContent =
    `${size(bytes_before)} became ${size(bytes_after)}, ${(bytes_before / bytes_after).toFixed(1)} times smaller. ` +
    `Relative RMS error ${short(report.tensor_rmse)}, cosine similarity ${overall.cosine.toFixed(6)}.`;
  const columns = [{ name: "tensor" }, { name: "from" }, { name: "to" }, { name: "size", number: true }, { name: "relative error", number: true }];
  const row = ({ name, from, to, bytes_after, figures }) => [name, from, to, size(bytes_after), figures ? short(figures.relative_rmse) : "copied"];
  fill(element("losses"), columns, tensors.map(row));
  element("quantized").hidden = false;
  if (plan) drawErrors(plan, [plan.bytes, plan.relative_rmse]);
  tell("model-status", `Quantized to ${report.file_bytes.toLocaleString("en")} bytes.`);
}

function drawErrors({ curve }, marked) {
  const points = curve.map(({ bytes, relative_rmse }) => [bytes, relative_rmse]);
  element("errors").hidden = false;
  lines(element("error-curve"), {
    title: "Relative RMS error by size",
    series: [{ name: "best choice of formats", points }],
    xName: "size",
    showX: size,
    marked,
  });
  const [smallest, largest] = [points[0], points.at(-1)];
  element("error-text").textContent =
    `Relative RMS error by size of all tensors, with the best format for each: ${short(smallest[1])} at ${size(smallest[0])}, ` +
    `${short(largest[1])} at ${size(largest[0])}`;
}

async function drawCurve() {
  tell("model-status", "Measuring all formats …");
  await working(opened.bytes * 11, async (onProgress) => drawErrors(await engine.call("plan", { output: output() }, onProgress)));
  tell("model-status", "Measured all formats.");
}

export function setUpWeights() {
  const take = (file) => trying("model-status", () => open(file));
  onFile("model-file", take);
  element("model-sample").addEventListener("click", () => take(new File([digitNetwork()], "digits.safetensors")));
  element("container").addEventListener("change", listFormats);
  element("mode").addEventListener("change", showMode);
  element("model-form").addEventListener("submit", (event) => trying("model-status", () => quantize(event)));
  element("draw-errors").addEventListener("click", () => trying("model-status", drawCurve));
  element("save-weights").addEventListener("click", () => download(output(), conversion.bytes));
}
