// Searching vectors.

import { Engine, element, fill, onFile, short, size, tell, trying } from "./page.js";

const engine = new Engine();

// Named colors of CSS.
const COLORS =
  "aqua 00ffff,aquamarine 7fffd4,azure f0ffff,beige f5f5dc,bisque ffe4c4,black 000000,blue 0000ff,blueviolet 8a2be2,brown a52a2a," +
  "burlywood deb887,cadetblue 5f9ea0,chartreuse 7fff00,chocolate d2691e,coral ff7f50,cornflowerblue 6495ed,crimson dc143c," +
  "darkblue 00008b,darkcyan 008b8b,darkgoldenrod b8860b,darkgray a9a9a9,darkgreen 006400,darkkhaki bdb76b,darkmagenta 8b008b," +
  "darkorange ff8c00,darkred 8b0000,darksalmon e9967a,darkslateblue 483d8b,darkviolet 9400d3,deeppink ff1493,deepskyblue 00bfff," +
  "dimgray 696969,dodgerblue 1e90ff,firebrick b22222,forestgreen 228b22,fuchsia ff00ff,gold ffd700,goldenrod daa520,gray 808080," +
  "green 008000,greenyellow adff2f,hotpink ff69b4,indianred cd5c5c,indigo 4b0082,ivory fffff0,khaki f0e68c,lavender e6e6fa," +
  "lawngreen 7cfc00,lightblue add8e6,lightcoral f08080,lightgreen 90ee90,lightpink ffb6c1,lightyellow ffffe0,lime 00ff00," +
  "limegreen 32cd32,linen faf0e6,maroon 800000,midnightblue 191970,mintcream f5fffa,moccasin ffe4b5,navy 000080,olive 808000," +
  "orange ffa500,orangered ff4500,orchid da70d6,palegreen 98fb98,peru cd853f,pink ffc0cb,plum dda0dd,purple 800080,red ff0000," +
  "royalblue 4169e1,salmon fa8072,seagreen 2e8b57,sienna a0522d,silver c0c0c0,skyblue 87ceeb,slateblue 6a5acd,snow fffafa," +
  "springgreen 00ff7f,steelblue 4682b4,tan d2b48c,teal 008080,thistle d8bfd8,tomato ff6347,turquoise 40e0d0,violet ee82ee," +
  "wheat f5deb3,white ffffff,yellow ffff00,yellowgreen 9acd32";

let source;
let stored;

async function open(file) {
  tell("vectors-status", `Reading ${file.name} …`);
  element("vectors-form").hidden = element("found").hidden = true;
  const matrices = await engine.call("openVectors", { file, name: file.name });
  if (matrices.length === 0) throw new Error(`${file.name} has no matrix; drop a file with one vector per row`);
  const largest = matrices.reduce((best, matrix) => (matrix.elements > best.elements ? matrix : best));
  source = { file };
  offer(matrices.map(({ name }) => name), largest.name);
  await store();
}

async function sample() {
  const colors = COLORS.split(",").map((color) => color.split(" "));
  const channels = ([, code]) => [0, 2, 4].map((at) => Number.parseInt(code.slice(at, at + 2), 16));
  source = { values: Float32Array.from(colors.flatMap(channels)), columns: 3, labels: colors.map(([name]) => name), colors: colors.map(([, code]) => `#${code}`) };
  offer(["colors"], "colors");
  element("metric").value = "l2";
  await store();
  element("query").value = "tomato";
  await search();
}

function offer(names, chosen) {
  element("matrix").replaceChildren(...names.map((name) => new Option(name, name)));
  element("matrix").value = chosen;
  element("labels-file").value = "";
  element("query").value = "0";
  showLabels();
}

// Stores the vectors of the chosen matrix in the chosen precision.
async function store() {
  const tier = element("tier").value;
  const options = tier === "lossless" ? { lossless: true } : { tier };
  const { values, columns } = source;
  const vectors = source.file ? { name: element("matrix").value } : { values, columns };
  element("found").hidden = true;
  stored = await engine.call("storeVectors", { ...vectors, options });
  element("vectors-form").hidden = false;
  tell("vectors-status", `${stored.rows.toLocaleString("en")} vectors of ${stored.columns} values: ${size(stored.after)} in the store, ${size(stored.before)} as float32.`);
}

async function takeLabels(file) {
  const labels = (await file.text()).split(/\r?\n/);
  if (labels.at(-1) === "") labels.pop();
  if (labels.length !== stored.rows) throw new Error(`${file.name} has ${labels.length} lines for ${stored.rows} vectors; write one label per line`);
  source.labels = labels;
  showLabels();
  await search();
}

function showLabels() {
  element("known").replaceChildren(...(source.labels ?? []).slice(0, 1000).map((label) => new Option(label)));
}

// Returns the row that the query names: a number, or a label.
function wanted() {
  const text = element("query").value.trim();
  const row = source.labels?.indexOf(text) ?? -1;
  const number = row >= 0 ? row : /^\d+$/.test(text) ? Number(text) : NaN;
  if (number < stored.rows) return number;
  throw new Error(`unknown vector "${text}"; choose a row from 0 to ${stored.rows - 1}${source.labels ? " or a label" : ""}`);
}

async function search() {
  const row = wanted();
  const { hits, certified, time } = await engine.call("nearest", { row, count: 10, metric: element("metric").value });
  const columns = [{ name: "row", number: true }, ...(source.labels ? [{ name: "label" }] : []), { name: "score", number: true }, { name: "score before storing", number: true }, { name: "proven" }];
  const interval = ({ low, high }) => `${low === null ? "−∞" : short(low)} to ${high === null ? "∞" : short(high)}`;
  fill(element("hits"), columns, hits.map((hit) => [String(hit.row), ...(source.labels ? [label(hit.row)] : []), short(hit.score), interval(hit), hit.certified ? "yes" : "no"]));
  element("found").hidden = false;
  tell("found-text", `Nearest to row ${row}: ${hits.length} answers in ${time.toFixed(1)} ms, ${certified} proven to be among the best ${hits.length}.`);
}

// A label, with its color if it names one.
function label(row) {
  const [made, swatch] = ["span", "span"].map((tag) => document.createElement(tag));
  if (source.colors) {
    swatch.className = "swatch";
    swatch.style.background = source.colors[row];
    made.append(swatch);
  }
  made.append(source.labels[row]);
  return made;
}

export function setUpSearch() {
  const doing = (work) => () => trying("vectors-status", work);
  onFile("vectors-file", (file) => trying("vectors-status", () => open(file)));
  element("vectors-sample").addEventListener("click", doing(sample));
  for (const id of ["matrix", "tier"]) element(id).addEventListener("change", doing(store));
  element("labels-file").addEventListener("change", ({ target }) => target.files[0] && trying("vectors-status", () => takeLabels(target.files[0])));
  element("vectors-form").addEventListener("submit", (event) => {
    event.preventDefault();
    trying("found-text", async () => {
      element("found").hidden = false;
      await search();
    });
  });
}
