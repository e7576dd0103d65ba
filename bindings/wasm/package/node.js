// Loads the module in Node: from the file next to this one, before the first import returns.

import { readFileSync } from "node:fs";
import { initSync } from "./bitgrain.js";

initSync({ module: readFileSync(new URL("./bitgrain_bg.wasm", import.meta.url)) });

export * from "./bitgrain.js";
