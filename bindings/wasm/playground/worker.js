// The worker of the page: holds the table, the model and the network, and calls the package, whose script precedes this one.

import { Booster, Model, Network, Table, backend, initSync, version } from "bitgrain/init";

let table;
let booster;
let model;
let network;

const FEW = 10;

const tasks = {
  start({ module }) {
    initSync({ module });
    return { version: version(), backend: backend() };
  },

  openTable({ bytes, name }) {
    table = new Table(bytes, name);
    return { rows: table.rows, columns: table.columns };
  },

  train(options, tell) {
    booster = Booster.trainTable(table, options, tell);
    const gains = booster.importances();
    const all = booster.predictTable(table);
    const outputs = booster.outputs;
    const count = Math.min(FEW, table.rows);
    return {
      summary: booster.toString(),
      model: booster.save(),
      importances: booster.featureNames.map((name, at) => ({ name, gain: gains[at] })),
      rows: table.rows,
      outputNames: outputs === 1 ? ["prediction"] : booster.classes,
      predictions: Array.from({ length: count }, (_, row) => [...all.slice(row * outputs, (row + 1) * outputs)]),
    };
  },

  explain({ row }) {
    const values = booster.contributionsOf(table, row);
    return { names: booster.featureNames, values: [...values] };
  },

  predictCsv() {
    return booster.predictCsv(table);
  },

  async openModel({ file, name }) {
    model = await Model.open(file, name);
    return { container: model.container, tensors: model.tensors };
  },

  stats({ name }) {
    return model.stats(name);
  },

  plan({ output }, tell) {
    // Every error is allowed, so the plan is the start of the curve.
    return model.plan(output, { maxRmse: Number.MAX_VALUE }, tell);
  },

  quantize({ output, options }, tell) {
    const { bytes, report, plan } = model.quantize(output, options, tell);
    return { bytes, report, plan };
  },

  loadDigits({ bytes }) {
    network = Network.load(bytes);
  },

  digit({ pixels, formats }) {
    return formats.map((format) => {
      network.morph(format);
      const scores = network.forward(pixels, Uint32Array.of(pixels.length));
      const most = Math.max(...scores);
      const total = scores.reduce((sum, score) => sum + Math.exp(score - most), 0);
      return { format, bytes: network.activeBytes, digit: scores.indexOf(most), probability: 1 / total };
    });
  },
};

self.onmessage = async ({ data: { id, name, argument } }) => {
  try {
    const result = await tasks[name](argument, (progress) => self.postMessage({ id, progress }));
    self.postMessage({ id, result });
  } catch (error) {
    self.postMessage({ id, error: error.message ?? String(error) });
  }
};
