// Starts the page.

import { element, restart, trying } from "./page.js";
import { setUpDigit } from "./digit.js";
import { setUpTable } from "./table.js";
import { setUpWeights } from "./weights.js";

await trying("table-status", async () => {
  const { version, backend } = await restart();
  element("version").textContent = version;
  element("backend").textContent = backend;
  setUpTable();
  setUpWeights();
  await setUpDigit();
  document.body.dataset.ready = "true";
});
