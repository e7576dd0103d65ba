// Times the kernels in Node: `node wasm.mjs scalar.wasm simd128.wasm`. Prints GB/s, the best of seven runs of at least
// 30 ms, so that the optimizing compiler has replaced the first version of the code.

import { readFileSync } from "node:fs";

async function load(file) {
  const { instance } = await WebAssembly.instantiate(readFileSync(file), {});
  const { kernels, name, name_len, size, run, memory } = instance.exports;
  const text = (at) => new TextDecoder().decode(new Uint8Array(memory.buffer, name(at), name_len(at)));
  return Array.from({ length: kernels() }, (_, at) => ({ name: text(at), size: size(at), run: (times) => run(at, times) }));
}

function rate({ name, size, run }) {
  let times = 1;
  let best = 0;
  for (let runs = 0; runs < 7; ) {
    const start = performance.now();
    if (!run(times)) throw new Error(`${name} failed`);
    const seconds = (performance.now() - start) / 1000;
    if (seconds < 0.03) {
      times *= 2;
      continue;
    }
    best = Math.max(best, (size * times) / seconds / 1e9);
    runs += 1;
  }
  return best;
}

const [scalar, simd] = await Promise.all(process.argv.slice(2).map(load));
console.log("| kernel | scalar, GB/s | simd128, GB/s | ratio |");
console.log("|---|---|---|---|");
for (const [at, kernel] of scalar.entries()) {
  const rates = [kernel, simd[at]].map(rate);
  console.log(`| ${kernel.name} | ${rates.map((r) => r.toFixed(2)).join(" | ")} | ${(rates[1] / rates[0]).toFixed(1)} |`);
}
