// Workers, and helpers for the page's elements.

export const element = (id) => document.getElementById(id);

const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const embedded = (id) => fromBase64(element(id).textContent.trim());
export const digitNetwork = () => embedded("digit-network");

// Compiled once, for all workers.
const module = WebAssembly.compile(embedded("module"));

// A worker with its own memory. Each section of the page has one, so that they do not wait for each other, and canceling
// the work of one does not lose the files of the others. It starts with its first task.
export class Engine {
  #worker;
  #started;
  #waiting = new Map();
  #last = 0;
  #prepare;

  // `prepare` runs after each start, with a function like `call`.
  constructor(prepare) {
    this.#prepare = prepare;
  }

  // Runs a function of the worker.
  async call(name, argument = {}, onProgress) {
    await (this.#started ??= this.#start());
    return this.#send(name, argument, onProgress);
  }

  // Ends the current work, whose promise is rejected. The worker's state is lost.
  stop(reason = "canceled") {
    this.#worker?.terminate();
    this.#started = undefined;
    for (const { reject } of this.#waiting.values()) reject(new Error(reason));
    this.#waiting.clear();
  }

  // Starts a worker from the text in the page. A page without a server cannot load one from a file.
  async #start() {
    const source = element("worker-source").textContent.replaceAll("<\\/script", "</script");
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const worker = new Worker(url);
    this.#worker = worker;
    worker.onmessage = ({ data: { id, progress, result, error, broken } }) => {
      const request = this.#waiting.get(id);
      if (!request) return;
      if (progress !== undefined) return request.onProgress?.(progress);
      this.#waiting.delete(id);
      if (error === undefined) return request.resolve(result);
      // Memory that the module has taken is returned only with its worker.
      if (broken) this.stop();
      request.reject(new Error(broken ? `${error}; open the file again` : error));
    };
    worker.onerror = (event) => this.stop(event.message || "the worker failed");
    await this.#send("start", { module: await module });
    await this.#prepare?.((name, argument) => this.#send(name, argument));
  }

  #send(name, argument, onProgress) {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, onProgress });
      this.#worker.postMessage({ id, name, argument });
    });
  }
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
