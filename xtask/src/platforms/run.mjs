// Runs a test program for wasm32-unknown-unknown: `node run.mjs program.wasm`.
//
// The target has no standard output, so a passing program prints one line here; a failing test ends in a trap, whose
// stack has the name of the test. Assertion messages are lost: run the test natively to see them.

import { readFileSync } from "node:fs";
import { basename } from "node:path";

// Returns the path in a mangled name: identifiers follow their lengths.
function path(mangled) {
  const parts = [];
  for (let at = mangled.indexOf("_R") + 2; at < mangled.length; ) {
    const length = /^[1-9]\d*/.exec(mangled.slice(at));
    if (!length) {
      at += 1;
      continue;
    }
    const start = at + length[0].length + (mangled[at + length[0].length] === "_" ? 1 : 0);
    const part = mangled.slice(start, start + Number(length[0]));
    if (/^[a-z_]\w*$/i.test(part)) parts.push(part);
    at = start + Number(length[0]);
  }
  return parts.join("::");
}

// The default of ten frames ends before the test.
Error.stackTraceLimit = 100;
const [file] = process.argv.slice(2);
const name = basename(file).replace(/-[0-9a-f]+\.wasm$/, "");
const { instance } = await WebAssembly.instantiate(readFileSync(file), {});
const start = performance.now();
try {
  const status = instance.exports.main(0, 0);
  if (status !== 0) throw new Error(`exit code ${status}`);
} catch (error) {
  const frames = [...String(error.stack).matchAll(/\.wasm\.(\S+) \(/g)].map(([, mangled]) => path(mangled));
  // Frames of the panic and of the harness are the same for every test.
  const own = frames.filter((frame) => !/(^|::)(std|core|alloc|test|__rustc)::/.test(frame));
  console.error(`${name}: ${error.message} in\n  ${own.join("\n  ")}`);
  process.exit(101);
}
console.log(`${name}: ok in ${((performance.now() - start) / 1000).toFixed(2)} s`);
