// A worker of the page: holds what its section has opened, and calls the package, whose script precedes this one.

import { Booster, Model, Network, Table, TensorStore, backend, initSync, version } from "bitgrain/init";

let table;
let booster;
let model;
let network;
let matrices;
let vectors;

const FEW = 10;

// Values per tensor of the store: a search reads all, and a tensor must fit into a file of the store.
const PART = 1 << 20;

const tasks = {
  start({ module }) {
    initSync({ module });
  },

  about: () => ({ version: version(), backend: backend() }),

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

  // Lists the matrices of a file: rows are vectors.
  async openVectors({ file, name }) {
    matrices?.free();
    matrices = await Model.open(file, name);
    return matrices.tensors.filter(({ shape }) => shape.length === 2 && shape.every((length) => length > 0));
  },

  // Puts the rows of a matrix, or given values, into a store.
  storeVectors({ name, values, columns, options }) {
    if (name !== undefined) {
      columns = matrices.tensors.find((tensor) => tensor.name === name).shape[1];
      values = matrices.values(name);
    }
    vectors?.store.close();
    const [store, rows, step] = [TensorStore.inMemory(), values.length / columns, Math.max(1, Math.floor(PART / columns))];
    for (let row = 0; row < rows; row += step) {
      const part = values.subarray(row * columns, Math.min(rows, row + step) * columns);
      store.put(String(row), part, [part.length / columns, columns], options);
    }
    vectors = { store, values, columns, rows };
    return { rows, columns, before: 4 * values.length, after: store.ids().reduce((sum, id) => sum + store.meta(id).storedBytes, 0) };
  },

  // Searches for a row as it was before it was stored.
  nearest({ row, count, metric }) {
    const { store, values, columns } = vectors;
    const start = performance.now();
    const found = store.search(values.subarray(row * columns, (row + 1) * columns), count, { metric });
    const time = performance.now() - start;
    // A tensor is named for its first row.
    return { ...found, time, hits: found.hits.map((hit) => ({ ...hit, row: Number(hit.id) + hit.row })) };
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
    const message = error.message ?? String(error);
    self.postMessage({ id, error: message, broken: /^(internal error|out of memory)/.test(message) });
  }
};
