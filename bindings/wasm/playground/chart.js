// Charts as SVG.

import { short } from "./page.js";

const HEIGHT = 240;
const LEFT = 56;
const BOTTOM = 28;
const TOP = 12;
const RIGHT = 16;

function svg(name, attributes = {}, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Draws charts again when the width of their place changes: when it becomes visible, and when the window or the phone turns.
const drawings = new Map();
const observer = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const drawing = drawings.get(target);
    if (drawing && target.clientWidth > 0 && target.clientWidth !== drawing.width) requestAnimationFrame(() => show(target, drawing.draw));
  }
});

function show(place, draw) {
  drawings.set(place, { draw, width: place.clientWidth });
  observer.observe(place);
  place.replaceChildren(draw());
}

// As wide as its place, so that text has its size on a phone as well.
function canvas(place, title) {
  const width = Math.max(240, Math.min(900, place.clientWidth || 640));
  const image = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img" });
  image.append(svg("title", {}, title));
  return [image, width];
}

function axes(image, width, [x0, x1], [y0, y1], xName, showX = short, showY = short) {
  const bottom = HEIGHT - BOTTOM;
  image.append(svg("path", { class: "axis", fill: "none", d: `M${LEFT},${TOP}V${bottom}H${width - RIGHT}` }));
  const label = (x, y, anchor, text) => image.append(svg("text", { x, y, "text-anchor": anchor }, text));
  label(LEFT - 6, TOP + 9, "end", showY(y1));
  label(LEFT - 6, bottom, "end", showY(y0));
  label(LEFT, HEIGHT - 8, "start", showX(x0));
  label(width - RIGHT, HEIGHT - 8, "end", showX(x1));
  label((LEFT + width) / 2, HEIGHT - 8, "middle", xName);
}

const range = (values) => {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low < high ? [low, high] : [low - 0.5, high + 0.5];
};

// Draws lines of `[x, y]` points; `marked` is a point to emphasize.
export function lines(place, chart) {
  show(place, () => drawLines(place, chart));
}

function drawLines(place, { title, series, xName, showX, showY, marked }) {
  const [image, width] = canvas(place, title);
  const points = series.flatMap(({ points }) => points);
  const [xs, ys] = [range(points.map(([x]) => x)), range(points.map(([, y]) => y))];
  axes(image, width, xs, ys, xName, showX, showY);
  const at = ([x, y]) => [
    LEFT + ((x - xs[0]) / (xs[1] - xs[0])) * (width - LEFT - RIGHT),
    TOP + (1 - (y - ys[0]) / (ys[1] - ys[0])) * (HEIGHT - TOP - BOTTOM),
  ];
  series.forEach(({ name, points }, index) => {
    const kind = index === 0 ? "first" : "second";
    image.append(svg("polyline", { class: kind, points: points.map((point) => at(point).join()).join(" ") }));
    const label = { class: `label-${kind}`, x: width - RIGHT, y: TOP + 12 + 16 * index, "text-anchor": "end" };
    image.append(svg("text", label, name));
  });
  if (marked) {
    const [cx, cy] = at(marked);
    image.append(svg("circle", { class: "point", cx, cy, r: 5 }));
  }
  return image;
}

// Draws counts of equal bins from `low` to `high`.
export function histogram(place, chart) {
  show(place, () => drawHistogram(place, chart));
}

function drawHistogram(place, { title, counts, low, high }) {
  const [image, width] = canvas(place, title);
  const most = Math.max(...counts, 1);
  const step = (width - LEFT - RIGHT) / counts.length;
  axes(image, width, [low, high], [0, most], "value");
  counts.forEach((count, bin) => {
    const height = (count / most) * (HEIGHT - TOP - BOTTOM);
    const box = { x: LEFT + bin * step + 0.5, y: HEIGHT - BOTTOM - height, width: step - 1, height };
    image.append(svg("rect", { class: "bar", ...box }));
  });
  return image;
}
