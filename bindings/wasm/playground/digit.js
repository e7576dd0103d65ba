// Drawing a digit, and the answers of a network in each weight format.

import { Engine, digitNetwork, element, fill, size, tell, trying } from "./page.js";

const engine = new Engine((call) => call("loadDigits", { bytes: digitNetwork() }));

const SIDE = 8;
const FORMATS = ["float32", "float16", "fp8_e4m3", "int8", "int4", "int2", "ternary", "binary"];

// Pixels from 0 to 16 (g), by writers that the network has not seen: see crates/bitgrain-nn/data/README.md.
const SAMPLES = [
  "002c700000fef60006a42e10088008500780048002e00560009c4e30001df900",
  "00003e300001eg50019fgg4004c73g4000004g4000004g4000006g4000005g40",
  "04gf20000bff700009a6e0000007f000000da000001g722001cgfgf004gggcb0",
  "01cf500004f8f3000031e400004eg100001aef4000000c800484ag4002cgd600",
  "000c7000006f110001e8a80006f0dc600efcgg900agfg810000ag100000c9000",
  "026ac1000eda51000a6000000adcc50002857e80000005c000221aa0005gge10",
  "006e100000ca000003g1000005e0420007gggg5004g609b000e85d90005dgc10",
  "001eggf100be8db000f60e3000515d10000dgg90002gf910000b9000003g2000",
  "001ed40003fcbf0008b17d0001deg100000ede20002c0980003d4c600009ed10",
  "008de50005d4b90004d1ce00008ebc40000007800000048000220b70008ggd20",
];

let pixels = new Float32Array(SIDE * SIDE);
let cursor;
let asked = false;

function draw() {
  const pad = element("pad");
  const context = pad.getContext("2d");
  const cell = pad.width / SIDE;
  pixels.forEach((ink, at) => {
    const shade = Math.round(255 * (1 - ink));
    context.fillStyle = `rgb(${shade} ${shade} ${shade})`;
    context.fillRect((at % SIDE) * cell, Math.floor(at / SIDE) * cell, cell, cell);
  });
  if (cursor) {
    context.strokeStyle = "#b4500b";
    context.lineWidth = 3;
    context.strokeRect(cursor.x * cell + 2, cursor.y * cell + 2, cell - 4, cell - 4);
  }
}

// Paints a pixel and, lighter, its neighbors, as a pen on a coarse grid does.
function paint(x, y) {
  const add = (x, y, ink) => {
    if (x < 0 || y < 0 || x >= SIDE || y >= SIDE) return;
    pixels[y * SIDE + x] = Math.min(1, pixels[y * SIDE + x] + ink);
  };
  add(x, y, 1);
  for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) add(x + dx, y + dy, 0.2);
  element("sample").value = "";
  changed();
}

// Asks the network at most once per answer, with the latest drawing.
async function changed() {
  draw();
  if (asked) return;
  asked = true;
  await new Promise(requestAnimationFrame);
  asked = false;
  await trying("pad-text", answer);
}

async function answer() {
  if (pixels.every((ink) => ink === 0)) {
    element("answer-text").textContent = "Draw a digit to see the answers.";
    fill(element("answers"), [], []);
    return;
  }
  const answers = await engine.call("digit", { pixels, formats: FORMATS });
  const columns = [{ name: "weights" }, { name: "size", number: true }, { name: "answer", number: true }, { name: "probability", number: true }];
  fill(element("answers"), columns, answers.map(({ format, bytes, digit, probability }) => [format, size(bytes), String(digit), `${(100 * probability).toFixed(1)} %`]));
  element("answer-text").textContent = `With weights at float32, this is a ${answers[0].digit}.`;
}

function move(event) {
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const step = steps[event.key];
  if (!step && event.key !== " ") return;
  event.preventDefault();
  cursor ??= { x: 3, y: 3 };
  const inside = (place) => Math.max(0, Math.min(SIDE - 1, place));
  if (step) cursor = { x: inside(cursor.x + step[0]), y: inside(cursor.y + step[1]) };
  else paint(cursor.x, cursor.y);
  tell("pad-text", `Row ${cursor.y + 1}, column ${cursor.x + 1}: ${pixels[cursor.y * SIDE + cursor.x] > 0 ? "ink" : "empty"}`);
  draw();
}

export async function setUpDigit() {
  const pad = element("pad");
  const at = (event) => {
    const box = pad.getBoundingClientRect();
    const cell = (offset, length) => Math.max(0, Math.min(SIDE - 1, Math.floor((offset / length) * SIDE)));
    return [cell(event.clientX - box.left, box.width), cell(event.clientY - box.top, box.height)];
  };
  let before;
  pad.addEventListener("pointerdown", (event) => {
    pad.setPointerCapture(event.pointerId);
    before = at(event);
    paint(...before);
  });
  pad.addEventListener("pointermove", (event) => {
    const now = at(event);
    // A pointer that rests in a pixel does not paint it again.
    if (event.buttons === 0 || (before && now[0] === before[0] && now[1] === before[1])) return;
    before = now;
    paint(...now);
  });
  pad.addEventListener("keydown", move);
  element("clear").addEventListener("click", () => {
    pixels = new Float32Array(SIDE * SIDE);
    element("sample").value = "";
    changed();
  });
  SAMPLES.forEach((_, digit) => element("sample").append(new Option(String(digit), String(digit))));
  element("sample").addEventListener("change", ({ target }) => {
    const sample = SAMPLES[target.value];
    pixels = sample ? Float32Array.from(sample, (letter) => Number.parseInt(letter, 17) / 16) : new Float32Array(SIDE * SIDE);
    changed();
  });
  draw();
  return engine.call("about");
}
