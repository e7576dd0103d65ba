// Starts the page.

import { element, trying } from "./page.js";
import { setUpDigit } from "./digit.js";
import { setUpSearch } from "./search.js";
import { setUpTable } from "./table.js";
import { setUpWeights } from "./weights.js";

await trying("table-status", async () => {
  setUpTable();
  setUpWeights();
  setUpSearch();
  const { version, backend } = await setUpDigit();
  element("version").textContent = version;
  element("backend").textContent = backend;
  document.body.dataset.ready = "true";
});
