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
