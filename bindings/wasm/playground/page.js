// The worker, and helpers for the page's elements.

export const element = (id) => document.getElementById(id);

const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const embedded = (id) => fromBase64(element(id).textContent.trim());
export const digitNetwork = () => embedded("digit-network");

let worker;
let last = 0;
const waiting = new Map();

// Starts a worker from the text in the page. A page without a server cannot load one from a file.
function start() {
  const source = element("worker-source").textContent.replaceAll("<\\/script", "</script");
  worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  worker.onmessage = ({ data: { id, progress, result, error } }) => {
    const request = waiting.get(id);
    if (!request) return;
    if (progress !== undefined) return request.onProgress?.(progress);
    waiting.delete(id);
    if (error === undefined) request.resolve(result);
    else request.reject(new Error(error));
  };
  worker.onerror = (event) => {
    const error = new Error(event.message || "the worker failed");
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  return call("start", { module: embedded("module") });
}

// Runs a function of the worker.
export function call(name, argument = {}, onProgress) {
  last += 1;
  const id = last;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject, onProgress });
    worker.postMessage({ id, name, argument });
  });
}

// Ends the current work, whose promise is rejected. The worker's state is lost.
export function restart() {
  worker?.terminate();
  for (const { reject } of waiting.values()) reject(new Error("canceled"));
  waiting.clear();
  return start();
}

// Shows a message, or an error.
export function tell(id, text, isError = false) {
  const place = element(id);
  place.textContent = text;
  place.classList.toggle("error", isError);
}

// Runs work and shows its error in a place.
export async function trying(place, work) {
  try {
    await work();
  } catch (error) {
    tell(place, error.message, true);
  }
}

// Takes files that are chosen or dropped.
export function onFile(id, take) {
  const input = element(id);
  const zone = document.querySelector(`[data-drop="${id}"]`);
  input.addEventListener("change", () => input.files[0] && take(input.files[0]));
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    const file = event.dataTransfer.files[0];
    if (file) take(file);
  });
}

export function download(name, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// Fills a table: `columns` are headings, with `number: true` for numbers; cells are strings or elements.
export function fill(table, columns, rows) {
  const caption = table.caption;
  const cell = (tag, content, isNumber) => {
    const made = document.createElement(tag);
    made.append(content);
    if (isNumber) made.className = "number";
    return made;
  };
  const head = document.createElement("tr");
  head.append(...columns.map(({ name, number }) => cell("th", name, number)));
  head.querySelectorAll("th").forEach((heading) => heading.setAttribute("scope", "col"));
  const body = rows.map((row) => {
    const line = document.createElement("tr");
    line.append(...row.map((content, at) => cell("td", content, columns[at].number)));
    return line;
  });
  table.replaceChildren(...(caption ? [caption] : []));
  table.createTHead().append(head);
  table.createTBody().append(...body);
}

export const short = (number) => (number === 0 ? "0" : Math.abs(number) < 1e-4 || Math.abs(number) >= 1e6 ? number.toExponential(2) : String(Number(number.toPrecision(4))));

export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const unit = bytes < 1e6 ? [1e3, "kB"] : bytes < 1e9 ? [1e6, "MB"] : [1e9, "GB"];
  return `${(bytes / unit[0]).toPrecision(3)} ${unit[1]}`;
}
