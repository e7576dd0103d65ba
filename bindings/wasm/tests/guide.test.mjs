// The code of the guide and of the README runs.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import test from "node:test";

const root = new URL("../", new URL(process.env.BITGRAIN_SPEC));

for (const document of ["docs/guide/browser.md", "bindings/wasm/README.md"]) {
  const blocks = [...readFileSync(new URL(document, root), "utf8").matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
  test(`the code of ${document} runs`, async () => {
    assert.ok(blocks.length > 0);
    for (const [at, code] of blocks.entries()) {
      const place = new URL(`guide-${document.replaceAll(/\W/g, "-")}-${at}.mjs`, import.meta.url);
      writeFileSync(place, code.replaceAll("console.log(", "void ("));
      await import(place);
    }
  });
}
