// The tensor store in Node, in memory.

import assert from "node:assert/strict";
import test from "node:test";
import { TensorStore } from "bitgrain";

const values = Float32Array.from({ length: 1000 }, (_, i) => Math.sin(i * 0.1));
const refuses = (work, message) => assert.throws(work, (error) => error instanceof Error && message.test(error.message));

test("tensors come back within their bound", () => {
  const store = TensorStore.inMemory();
  const stored = store.put("a/1", values, [10, 100]);
  assert.equal(stored.tier, "hot");
  const read = store.get("a/1");
  assert.deepEqual([[...read.shape], read.tier, read.bits], [[10, 100], "hot", 8]);
  assert.ok(read.values.every((x, i) => Math.abs(x - values[i]) <= read.bound));
  assert.ok(Math.abs(read.bound - stored.bound) < 1e-9);
  store.put("a/2", values, undefined, { lossless: true, user: [["source", "test"]] });
  assert.deepEqual(store.get("a/2").values, values);
  store.put("b", values, [1000], { tier: "cold" });
  assert.equal(store.get("b").bits, 3);
  assert.deepEqual([store.size, store.ids(), store.ids("a/")], [3, ["a/1", "a/2", "b"], ["a/1", "a/2"]]);
  const meta = store.meta("a/2");
  assert.deepEqual([meta.user, meta.bits], [[["source", "test"]], 32]);
  assert.ok(Math.abs(meta.created - Date.now()) < 60_000);
  store.delete("b");
  assert.equal(store.has("b"), false);
  assert.equal(store.tick(), 0);
  store.compact();
  store.compact(true);
  store.flush();
  assert.ok(store.stats().liveBytes > 5000);
  store.close();
  refuses(() => store.get("a/1"), /closed/);
});

test("unused tensors get fewer bits", () => {
  const store = TensorStore.inMemory();
  store.put("old", values);
  const moved = store.tick(Date.now() + 20 * 3_600_000);
  assert.equal(moved, 1);
  assert.ok(store.get("old").bits < 8);
});

test("a search finds the nearest rows, with intervals that contain their scores", () => {
  const store = TensorStore.inMemory();
  const [rows, columns] = [500, 96];
  const matrix = Float32Array.from({ length: rows * columns }, (_, i) => Math.sin(i * i * 0.0137));
  for (let first = 0; first < rows; first += 100) store.put(`m/${first}`, matrix.subarray(first * columns, (first + 100) * columns), [100, columns]);
  store.put("v", matrix.subarray(0, columns), [columns], { user: [["kind", "vector"]] });
  store.put("other", values);
  const query = Float32Array.from({ length: columns }, (_, i) => matrix[123 * columns + i] + 0.01 * Math.cos(i));
  const dot = (row) => query.reduce((sum, x, i) => sum + x * matrix[row * columns + i], 0);
  const exact = Array.from({ length: rows }, (_, row) => row).sort((a, b) => dot(b) - dot(a));
  const { hits, certified, skipped } = store.search(query, 5, { prefix: "m/" });
  assert.deepEqual([hits.length, skipped], [5, 0]);
  assert.equal(certified, hits.filter((hit) => hit.certified).length);
  for (const hit of hits) {
    const row = Number(hit.id.slice(2)) + hit.row;
    assert.ok(hit.low <= dot(row) && dot(row) <= hit.high, `${row}: ${dot(row)} in ${hit.low} to ${hit.high}`);
    if (hit.certified) assert.ok(exact.slice(0, 5).includes(row));
    assert.equal(hit.tier, "hot");
  }
  assert.deepEqual([hits[0].id, hits[0].row], ["m/100", 23]);
  assert.deepEqual(store.search(query, 3, { metric: "l2", ids: ["m/100"] }).hits.map(({ id }) => id), Array(3).fill("m/100"));
  assert.deepEqual(store.search(query, 9, { metric: "cosine", filter: [["kind", "vector"]] }).hits.map(({ id }) => id), ["v"]);
  assert.ok(store.search(query, 5, { prefix: "m/", exact: true }).certified >= certified);
  assert.deepEqual(store.search(query, 5, { prefix: "none" }).hits, []);
  refuses(() => store.search(query, 5, { prefix: "other" }), /other/);
  refuses(() => store.search(new Float32Array(columns), 5, { metric: "cosine", prefix: "m/" }), /./);
  refuses(() => store.search(Float32Array.of(NaN), 5), /./);
  refuses(() => store.search(new Float32Array(0), 5), /./);
  refuses(() => store.search(query, 0), /./);
  refuses(() => store.search(query, 5, { metric: "euclid" }), /euclid/);
  refuses(() => store.search(query, 5, { filters: [] }), /unknown field/);
  store.close();
  refuses(() => store.search(query, 5), /closed/);
});

test("invalid input is an error with a message, never a trap", () => {
  const store = TensorStore.inMemory();
  refuses(() => store.get("none"), /none/);
  refuses(() => store.meta("none"), /none/);
  refuses(() => store.delete("none"), /none/);
  refuses(() => store.put("", values), /./);
  refuses(() => store.put("x", values, [3]), /./);
  refuses(() => store.put("x", values, [0xffffffff, 0xffffffff]), /./);
  refuses(() => store.put("x", Float32Array.of(NaN)), /./);
  refuses(() => store.put("x", values, undefined, { tier: "warmish" }), /warm-aggressive/);
  refuses(() => store.put("x", values, undefined, { tiers: "hot" }), /unknown field/);
  refuses(() => store.put("x", values, undefined, { maxError: -1 }), /./);
  refuses(() => store.tick(0), /./);
  refuses(() => store.tick(Infinity), /./);
});
