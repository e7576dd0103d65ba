// Boosted trees in Node: training, prediction, files of other libraries, bad input.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { Booster, Table } from "bitgrain";

const vectors = new URL("vectors/", new URL(process.env.BITGRAIN_SPEC));
const read = (name) => new Uint8Array(readFileSync(new URL(name, vectors)));
const bytesOf = (text) => new TextEncoder().encode(text);
const refuses = (work, message) => assert.throws(work, (error) => error instanceof Error && message.test(error.message));

const rows = 600;
let state = 1;
const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
const features = Float32Array.from({ length: rows * 3 }, () => random() * 20 - 10);
const numbers = Float32Array.from({ length: rows }, (_, i) => features[3 * i] * 2 + features[3 * i + 1]);
const classes = Float32Array.from(numbers, (x) => (x > 0 ? 1 : 0));

test("a regression learns, reports each round and predicts alike after loading", () => {
  const seen = [];
  const options = { n_estimators: 40, learningRate: 0.2, validFraction: 0.25, names: ["a", "b", "c"] };
  const booster = Booster.train(features, rows, numbers, options, (round) => void seen.push(round));
  assert.deepEqual([seen.length, seen[39].index, seen[39].total], [40, 39, 40]);
  assert.deepEqual(seen[0].metrics.map(({ data }) => data).sort(), ["train", "valid"]);
  const valid = (round) => round.metrics.find(({ data }) => data === "valid").value;
  assert.ok(valid(seen[39]) < 0.3 * valid(seen[0]));
  assert.deepEqual(booster.history, seen);
  assert.deepEqual([booster.rounds, booster.outputs, booster.objective], [40, 1, "squared"]);
  assert.deepEqual(booster.featureNames, ["a", "b", "c"]);
  const [a, b, c] = booster.importances();
  assert.ok(a > b && b > c);
  assert.ok(booster.importances("split").every(Number.isInteger));
  const again = Booster.load(booster.save());
  assert.deepEqual(again.predict(features, rows), booster.predict(features, rows));
  assert.deepEqual(again.save(), booster.save());
  assert.match(booster.toString(), /40 rounds/);
});

test("a classifier predicts probabilities and classes", () => {
  const booster = Booster.train(features, rows, classes, { objective: "binary", n_estimators: 30 });
  const right = booster.classIndices(features, rows).filter((choice, i) => choice === classes[i]).length;
  assert.ok(right > 0.97 * rows, `${right} of ${rows}`);
  assert.ok(booster.predict(features, rows).every((p) => p > 0 && p < 1));
  assert.ok(booster.raw(features, rows).some((score) => score < 0));
});

test("contributions of features add up to the score", () => {
  const booster = Booster.train(features, rows, numbers, { n_estimators: 20 });
  const values = booster.contributions(features.slice(0, 30), 10);
  assert.equal(values.length, 40);
  booster.raw(features.slice(0, 30), 10).forEach((score, row) => {
    const sum = values.slice(4 * row, 4 * row + 4).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(sum - score) < 1e-9 * Math.max(1, Math.abs(score)), `${sum} and ${score}`);
  });
  const table = new Table(bytesOf("f0,f1,f2\n1,2,3\n4,5,6\n"), "x.csv");
  assert.deepEqual(booster.contributionsOf(table, 1), booster.contributions(Float32Array.of(4, 5, 6), 1));
  refuses(() => booster.contributionsOf(table, 2), /row 2/);
  refuses(() => booster.contributions(features, 7), /./);
});

test("a callback can stop the training, and its error reaches the caller", () => {
  const stopped = Booster.train(features, rows, numbers, { n_estimators: 50 }, ({ index }) => index < 4);
  assert.equal(stopped.rounds, 5);
  const thrown = new RangeError("mine");
  assert.throws(() => Booster.train(features, rows, numbers, {}, () => { throw thrown; }), (error) => error === thrown);
  // The outer callback is still called after an inner training.
  let outer = 0;
  Booster.train(features, rows, numbers, { n_estimators: 3 }, () => {
    outer += 1;
    Booster.train(features, rows, numbers, { n_estimators: 2 }, () => {});
  });
  assert.equal(outer, 3);
});

test("tables are trained on by name, also gzipped", () => {
  const lines = Array.from({ length: 200 }, (_, i) => `${i % 7},${["Oslo", "Rome"][i % 2]},${i % 2 ? "house" : "flat"}`);
  const csv = bytesOf(["size,city,kind", ...lines, ""].join("\n"));
  const table = new Table(csv, "homes.csv");
  assert.deepEqual(table.columns.map(({ name, kind, task }) => [name, kind, task]), [
    ["size", "number", "multiclass"],
    ["city", "string", "binary"],
    ["kind", "string", "binary"],
  ]);
  const booster = Booster.trainTable(table, { target: "kind", n_estimators: 10 });
  assert.deepEqual([booster.classes, booster.featureNames], [["flat", "house"], ["size", "city"]]);
  const zipped = Booster.trainTable(new Table(gzipSync(csv), "homes.csv.gz"), { target: "kind", n_estimators: 10 });
  assert.deepEqual(zipped.save(), booster.save());
  const predicted = booster.predictTable(table);
  assert.ok(predicted[1] > 0.7 && predicted[0] < 0.3);
  assert.match(booster.predictCsv(table), /^prediction\n0\.\d+\n0\.\d+\n/);
  refuses(() => booster.predictTable(new Table(bytesOf("size\n1\n"), "x.csv")), /city/);
  const without = Booster.trainTable(table, { target: "kind", ignore: ["size"], n_estimators: 2 });
  assert.deepEqual(without.featureNames, ["city"]);
});

test("models of other libraries predict as they do", () => {
  const names = ["lightgbm_binary.txt", "lightgbm_classes.txt", "xgboost_binary.ubj", "xgboost_classes.json", "xgboost_dart.json"];
  for (const name of names) {
    const { rows, scores } = JSON.parse(readFileSync(new URL(`foreign_models/${name.replace(/\.\w+$/, "")}.scores.json`, vectors)));
    const booster = Booster.load(read(`foreign_models/${name}`));
    // Features here are f32, so only rows whose values are f32 are comparable with LightGBM's f64.
    const exact = rows.flatMap((row, at) => (row.every((x) => x === null || Math.fround(x) === x) ? [at] : []));
    assert.ok(exact.length > 0, name);
    for (const at of exact) {
      const row = Float32Array.from(rows[at], (x) => x ?? NaN);
      booster.raw(row, 1).forEach((score, output) => {
        assert.ok(Math.abs(score - scores[at][output]) < 1e-5, `${name}, row ${at}: ${score} and ${scores[at][output]}`);
      });
    }
  }
});

test("golden model files are read and written with the same bytes", () => {
  const names = readdirSync(new URL("models/", vectors)).filter((name) => name.endsWith(".bitgrain"));
  assert.ok(names.length >= 3);
  for (const name of names) {
    const bytes = read(`models/${name}`);
    assert.deepEqual(Booster.load(bytes).save(), bytes, name);
  }
});

test("every truncation and every flipped byte of a model is an error or a model", () => {
  const bytes = read("models/v1_binary.bitgrain");
  for (let end = 0; end < bytes.length; end += 1) refuses(() => Booster.load(bytes.slice(0, end)), /./);
  for (let at = 0; at < bytes.length; at += 1) {
    const flipped = bytes.slice();
    flipped[at] ^= 0xff;
    refuses(() => Booster.load(flipped), /./);
  }
});

const parquet = (name) => new Uint8Array(readFileSync(new URL(`../fuzz/seeds/parse_parquet/${name}.parquet`, new URL(process.env.BITGRAIN_SPEC))));

test("Parquet files of each compression but zstd are read", () => {
  const shape = (name) => {
    const table = new Table(parquet(name), `${name}.parquet`);
    return [table.rows, table.columns.map(({ name, kind }) => `${name} ${kind}`)];
  };
  const plain = shape("none");
  assert.ok(plain[0] > 0 && plain[1].length > 0);
  for (const name of ["snappy", "gzip", "lz4"]) assert.deepEqual(shape(name), plain, name);
  for (const name of ["delta", "groups", "plain_v2", "split", "types"]) assert.ok(shape(name)[0] > 0, name);
  refuses(() => new Table(parquet("zstd"), "zstd.parquet"), /zstd; compress the file with snappy, gzip or LZ4/);
});

test("damaged Parquet files are tables or errors", () => {
  const bytes = parquet("snappy");
  const read = (damaged) => {
    try {
      new Table(damaged, "x.parquet").free();
    } catch (error) {
      assert.ok(error instanceof Error && error.message.length > 0 && !/out of memory/.test(error.message), error);
    }
  };
  for (let end = 0; end < bytes.length; end += 1) read(bytes.slice(0, end));
  for (let at = 0; at < bytes.length; at += 1) {
    for (const mask of [1, 0x80, 0xff]) {
      const flipped = bytes.slice();
      flipped[at] ^= mask;
      read(flipped);
    }
  }
  assert.ok(new Table(bytes, "x.parquet").rows > 0);
});

test("invalid input is an error with a message, never a trap", () => {
  const one = Float32Array.of(1, 2, 3, 4);
  refuses(() => Booster.load(new Uint8Array(0)), /./);
  refuses(() => Booster.load(bytesOf("no model")), /./);
  refuses(() => Booster.train(one, 3, Float32Array.of(1, 2, 3)), /./);
  refuses(() => Booster.train(one, 0, new Float32Array(0)), /./);
  refuses(() => Booster.train(one, 4, Float32Array.of(1, 2)), /2.*4|4.*2/);
  refuses(() => Booster.train(one, 4, Float32Array.of(1, NaN, 2, 3)), /./);
  refuses(() => Booster.train(one, 4, one, { learning_rat: 0.1 }), /learning_rate/);
  refuses(() => Booster.train(one, 4, one, { learning_rate: -1 }), /learning_rate/);
  refuses(() => Booster.train(one, 4, one, { learning_rate: [1] }), /learning_rate/);
  refuses(() => Booster.train(one, 4, one, { n_estimators: 1.5 }), /n_estimators/);
  refuses(() => Booster.train(one, 4, one, { objective: "best" }), /best/);
  refuses(() => Booster.train(one, 4, one, { metric: "best" }), /best/);
  refuses(() => Booster.train(one, 4, one, { validFraction: 1 }), /validFraction/);
  refuses(() => Booster.train(one, 4, one, { names: ["a", "b"] }), /2|names/);
  refuses(() => Booster.train(one, 4, one, { categorical: [7] }), /7/);
  refuses(() => Booster.train(one, 4, one, { early_stopping_rounds: 3 }), /valid/);
  refuses(() => Booster.train(one, 4, one, "fast"), /object/);
  const booster = Booster.train(features, rows, numbers, { n_estimators: 2 });
  refuses(() => booster.predict(one, 2), /./);
  refuses(() => booster.predict(one, 0xffffffff), /./);
  refuses(() => booster.importances("cover"), /gain/);
  refuses(() => new Table(new Uint8Array(0), "x.csv"), /empty/);
  refuses(() => new Table(bytesOf('a,b\n1,"2\n'), "x.csv"), /line/);
  refuses(() => new Table(bytesOf("a,b\n1,2\n3\n"), "x.csv"), /line 3/);
  refuses(() => new Table(bytesOf("PAR1"), "x.parquet"), /x\.parquet/);
  refuses(() => new Table(Uint8Array.of(0x1f, 0x8b, 8, 0), "x.csv.gz"), /./);
  const table = new Table(bytesOf("a,b\n1,2\n3,4\n"), "x.csv");
  refuses(() => Booster.trainTable(table, {}), /target/);
  refuses(() => Booster.trainTable(table, { target: "c" }), /c/);
  refuses(() => Booster.trainTable(table, { target: "b", ignore: ["z"] }), /z/);
});
