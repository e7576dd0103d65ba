// Loads the module in browsers, workers and Deno: bundlers recognize the URL and copy the file.

import init from "./bitgrain.js";

await init({ module_or_path: new URL("./bitgrain_bg.wasm", import.meta.url) });

export * from "./bitgrain.js";
