"use strict";
// Sorts the table by the clicked column, and filters all sections by the name typed into the search box.
const table = document.getElementById("tensors");
const heads = [...table.querySelectorAll("th")];
heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
  const up = head.getAttribute("aria-sort") === "descending" || (!head.hasAttribute("aria-sort") && column < 4);
  heads.forEach(other => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const sign = up ? 1 : -1;
  const body = table.tBodies[0];
  const compare = (a, b) => {
    const [x, y] = [a.cells[column], b.cells[column]];
    const [m, n] = [x.dataset.v, y.dataset.v];
    if (m !== undefined && n !== undefined) return sign * (m - n);
    if (m !== undefined || n !== undefined) return m === undefined ? 1 : -1;
    return sign * x.textContent.localeCompare(y.textContent, undefined, { numeric: true });
  };
  body.append(...[...body.rows].sort(compare));
}));
const filter = document.getElementById("filter");
filter.hidden = false;
const named = [...document.querySelectorAll("[data-name]")];
filter.firstElementChild.addEventListener("input", event => {
  const part = event.target.value.toLowerCase();
  for (const item of named) item.style.display = item.dataset.name.toLowerCase().includes(part) ? "" : "none";
  const shown = [...table.tBodies[0].rows].filter(row => row.style.display === "").length;
  filter.lastElementChild.textContent = part ? shown + " of " + table.tBodies[0].rows.length : "";
});
