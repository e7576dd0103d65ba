// Training on a table.

import { Engine, download, element, fill, onFile, short, tell, trying } from "./page.js";
import { lines } from "./chart.js";

const engine = new Engine();

let opened;
let trained;

// Homes with a price that depends on size, age and city, and some noise from a fixed sequence.
function sampleTable() {
  let state = 1;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const cities = ["Lisbon", "Oslo", "Quito", "Rome"];
  const rows = Array.from({ length: 2000 }, () => {
    const [area, age, city] = [Math.round(30 + 170 * random()), Math.round(80 * random()), Math.floor(4 * random())];
    const price = area * [3, 6, 2, 4][city] * (1 - age / 200) + 40 * random();
    return [area, age, 1 + Math.floor(area / 35), cities[city], price.toFixed(1)].join();
  });
  return new File([["area,age,rooms,city,price", ...rows, ""].join("\n")], "homes.csv");
}

async function open(file) {
  tell("table-status", `Reading ${file.name} …`);
  element("table-form").hidden = true;
  element("trained").hidden = true;
  const { rows, columns } = await engine.call("openTable", { bytes: new Uint8Array(await file.arrayBuffer()), name: file.name });
  opened = { name: file.name, file, columns };
  const target = element("target");
  target.replaceChildren(...columns.map(({ name }) => new Option(name, name)));
  target.selectedIndex = columns.length - 1;
  element("row").value = "0";
  describeTask();
  element("table-form").hidden = false;
  tell("table-status", `${file.name}: ${rows.toLocaleString("en")} rows, ${columns.length} columns.`);
}

function describeTask() {
  const { task, reason } = opened.columns[element("target").selectedIndex];
  const names = { regression: "Regression", binary: "Two classes", multiclass: "Several classes" };
  element("task").textContent = `${names[task]}: ${reason}.`;
}

function settings() {
  const share = element("share").valueAsNumber;
  return {
    target: element("target").value,
    n_estimators: element("rounds").valueAsNumber,
    learning_rate: element("rate").valueAsNumber,
    num_leaves: element("leaves").valueAsNumber,
    ...(share > 0 && { validFraction: share }),
  };
}

function drawCurve(rounds) {
  const names = [...new Set(rounds[0].metrics.map(({ data }) => data))].sort((a, b) => (a === "valid" ? -1 : b === "valid" ? 1 : 0));
  const of = (round, data) => round.metrics.find((metric) => metric.data === data).value;
  const series = names.map((name) => ({
    name: name === "valid" ? "validation" : "training",
    points: rounds.map((round) => [round.index + 1, of(round, name)]),
  }));
  const metric = rounds[0].metrics[0].name;
  const last = rounds.at(-1);
  lines(element("curve"), { title: `Learning curve: ${metric} by round`, series, xName: "round" });
  const values = series.map(({ name, points }) => `${name} ${short(points.at(-1)[1])}`).join(", ");
  element("curve-text").textContent = `${metric} after ${last.index + 1} of ${last.total} rounds: ${values}`;
}

async function train(event) {
  event.preventDefault();
  const rounds = [];
  let drawn = 0;
  element("train").disabled = true;
  element("cancel").hidden = element("train-progress").hidden = false;
  try {
    tell("table-status", "Training …");
    const start = performance.now();
    const result = await engine.call("train", settings(), (round) => {
      rounds.push(round);
      element("train-progress").value = (round.index + 1) / round.total;
      // Drawing takes longer than a small tree.
      if (performance.now() - drawn > 50) {
        element("trained").hidden = false;
        drawCurve(rounds);
        drawn = performance.now();
      }
    });
    trained = result;
    drawCurve(rounds);
    show(result);
    element("output").replaceChildren(...result.outputNames.map((name) => new Option(name, name)));
    element("output-label").hidden = result.outputNames.length === 1;
    element("row").max = result.rows - 1;
    await explain();
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    tell("table-status", `${result.summary}; trained in ${seconds} s. The model file has ${result.model.length.toLocaleString("en")} bytes.`);
  } finally {
    element("train").disabled = false;
    element("cancel").hidden = element("train-progress").hidden = true;
  }
}

// One bar of a list: `share` is its length from 0 to 1.
function bar(name, share, text, isNegative = false) {
  const [item, label, space, bar, value] = ["li", "span", "span", "div", "span"].map((tag) => document.createElement(tag));
  [label.className, bar.className, value.className] = ["name", isNegative ? "bar negative" : "bar", "value"];
  [label.textContent, value.textContent] = [name, text];
  bar.style.width = `${100 * share}%`;
  space.append(bar);
  item.append(label, space, value);
  return item;
}

// Shows the contributions of a row, the largest first.
async function explain() {
  const row = element("row").valueAsNumber;
  if (!(row >= 0 && row < trained.rows)) return tell("explained", `Choose a row from 0 to ${trained.rows - 1}.`, true);
  const { names, values } = await engine.call("explain", { row });
  const output = Math.max(0, element("output").selectedIndex);
  const own = values.slice(output * (names.length + 1), (output + 1) * (names.length + 1));
  const ranked = names.map((name, at) => [name, own[at]]).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 20);
  const most = Math.abs(ranked[0]?.[1] ?? 0) || 1;
  const bars = ranked.map(([name, value]) => bar(name, Math.abs(value) / most, (value < 0 ? "" : "+") + short(value), value < 0));
  element("contributions").replaceChildren(...bars);
  const sum = own.reduce((a, b) => a + b, 0);
  tell("explained", `Row ${row}: the score ${short(sum)} is the expected score ${short(own.at(-1))} plus these contributions (SHAP values).`);
}

function show({ importances, predictions, outputNames }) {
  const total = importances.reduce((sum, { gain }) => sum + gain, 0) || 1;
  const ranked = [...importances].sort((a, b) => b.gain - a.gain).slice(0, 20);
  element("importances").replaceChildren(
    ...ranked.map(({ name, gain }) => bar(name, gain / (ranked[0].gain || 1), `${((100 * gain) / total).toFixed(1)} %`)),
  );
  const columns = [{ name: "row", number: true }, ...outputNames.map((name) => ({ name, number: true }))];
  fill(element("predictions"), columns, predictions.map((row, at) => [String(at), ...row.map(short)]));
  element("trained").hidden = false;
}

export function setUpTable() {
  const take = (file) => trying("table-status", () => open(file));
  onFile("table-file", take);
  element("table-sample").addEventListener("click", () => take(sampleTable()));
  element("target").addEventListener("change", describeTask);
  element("table-form").addEventListener("submit", (event) => trying("table-status", () => train(event)));
  element("cancel").addEventListener("click", async () => {
    const { file } = opened;
    engine.stop();
    await open(file);
    tell("table-status", "Canceled.");
  });
  for (const id of ["row", "output"]) element(id).addEventListener("change", () => trying("explained", explain));
  element("save-model").addEventListener("click", () => download(`${opened.name.replace(/\..*$/, "")}.bitgrain`, trained.model));
  element("save-predictions").addEventListener("click", () =>
    trying("table-status", async () => download("predictions.csv", await engine.call("predictCsv"))),
  );
}
