// What the machine got wrong about a page is set right here: frame and columns dragged, notes told, another image
// given, and the page read again.

import { api, ask, data, make, may, say, uuid } from "./shell.js";

const $ = (id) => document.getElementById(id);
const NS = "http://www.w3.org/2000/svg";
const clamp = (n, low, high) => Math.min(Math.max(n, low), high);
const own = `pages/${data.number}`;
const NARROWEST = 0.01;

let version = 0;
let layout = null; // { corners, rules, notes }
let given = { image: "", quadrant: "" };
let changed = false;
let chosen = 0; // the column, right to left, whose notes are told
let layer = null;

/** The layout that the columns of the page show; a frame around the middle where none were found. */
function found() {
  const boxes = data.columns.map((one) => one.box).filter(([, , w, h]) => w > 0 && h > 0);
  const many = boxes.length > 1;
  const left = many ? Math.min(...boxes.map((b) => b[0])) : data.width * 0.08;
  const right = many ? Math.max(...boxes.map((b) => b[0] + b[2])) : data.width * 0.92;
  const top = many ? Math.max(...boxes.map((b) => b[1])) : data.height * 0.08;
  const bottom = many ? Math.min(...boxes.map((b) => b[1] + b[3])) : data.height * 0.92;
  const edges = many ? [...new Set(boxes.map((b) => Math.round(b[0] + b[2] / 2)))].sort((a, b) => a - b) : [];
  const middles = edges.slice(1).map((x, n) => ((x + edges[n]) / 2 - left) / (right - left));
  const rules = many ? middles.filter((x) => x > NARROWEST && x < 1 - NARROWEST) : [1, 2, 3, 4, 5, 6, 7].map((n) => n / 8);
  return { corners: [[left, top], [right, top], [right, bottom], [left, bottom]], rules, notes: [] };
}

const columns = () => layout.rules.length + 1;
const notes = () => (layout.notes.length ? layout.notes : Array(columns()).fill(null));
/** The place at these shares of the frame's width and height. */
function at(x, y) {
  const [a, b, c, d] = layout.corners;
  const mix = (p, q, t) => [p[0] + (q[0] - p[0]) * t, p[1] + (q[1] - p[1]) * t];
  return mix(mix(a, b, x), mix(d, c, x), y);
}
/** The shares of a place. */
function shares([px, py]) {
  const [a, b, , d] = layout.corners;
  const [ux, uy, vx, vy] = [b[0] - a[0], b[1] - a[1], d[0] - a[0], d[1] - a[1]];
  const det = ux * vy - uy * vx || 1;
  return [((px - a[0]) * vy - (py - a[1]) * vx) / det, ((py - a[1]) * ux - (px - a[0]) * uy) / det];
}

function svg(name, attributes) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function draw(focus) {
  if (!layer) return;
  const size = Math.max(data.width, data.height) / 90;
  const grips = [];
  const parts = [svg("polygon", { points: layout.corners.map((c) => c.join()).join(" "), class: "mend-frame" })];
  notes().forEach((ranges, n) => {
    const edges = [0, ...layout.rules, 1];
    const [left, right] = [edges[columns() - 1 - n], edges[columns() - n]];
    const area = (from, to, kind) => parts.push(svg("polygon", { points: [at(left, from), at(right, from), at(right, to), at(left, to)].map((c) => c.join()).join(" "), class: kind }));
    if (n === chosen) area(0, 1, "mend-chosen");
    for (const [from, to] of ranges ?? []) area(from, to, "mend-note");
  });
  const grip = (shape, name) => { // what is dragged is wider than what is seen
    shape.setAttribute("data-grip", name);
    grips.push(shape);
  };
  const handle = (shape, name, label, value) => {
    shape.setAttribute("data-handle", name);
    for (const [key, said] of Object.entries({ tabindex: 0, role: "slider", "aria-label": label, "aria-valuenow": Math.round(value) })) shape.setAttribute(key, said);
    parts.push(shape);
  };
  layout.rules.forEach((x, n) => {
    const [[x1, y1], [x2, y2]] = [at(x, 0), at(x, 1)];
    grip(svg("line", { x1, y1, x2, y2, class: "mend-grip" }), `rule-${n}`);
    handle(svg("line", { x1, y1, x2, y2, class: "mend-rule" }), `rule-${n}`, say("mendRule", { number: layout.rules.length - n }), 100 * x);
  });
  layout.corners.forEach(([cx, cy], n) => {
    grip(svg("circle", { cx, cy, r: 1, class: "mend-grip" }), `corner-${n}`);
    handle(svg("circle", { cx, cy, r: size, class: "mend-corner" }), `corner-${n}`, say("mendCorner", { number: n + 1 }), cx);
  });
  (notes()[chosen] ?? []).forEach((range, n) => range.forEach((y, end) => {
    const edges = [0, ...layout.rules, 1];
    const [cx, cy] = at((edges[columns() - 1 - chosen] + edges[columns() - chosen]) / 2, y);
    grip(svg("circle", { cx, cy, r: 1, class: "mend-grip" }), `note-${n}-${end}`);
    handle(svg("circle", { cx, cy, r: 0.8 * size, class: "mend-end" }), `note-${n}-${end}`, say("mendNote", { number: chosen + 1 }), 100 * y);
  }));
  const [areas, handles] = [parts.filter((one) => !one.dataset.handle), parts.filter((one) => one.dataset.handle)];
  layer.replaceChildren(...areas, ...grips, ...handles);
  if (focus) layer.querySelector(`[data-handle="${focus}"]`)?.focus();
  const kept = $("mend-column").value;
  $("mend-column").replaceChildren(...notes().map((_, n) => make("option", { value: n }, say("column", { number: n + 1 }))));
  $("mend-column").value = Math.min(Number(kept) || 0, columns() - 1);
  const told = notes()[chosen];
  $("mend-notes").value = told === null ? "found" : told.length === 0 ? "none" : told.length === 1 && told[0][0] === 0 && told[0][1] === 1 ? "all" : "part";
}

/** Move a handle to a place on the image; what no page can be is not reached. */
function move(name, place) {
  changed = true;
  const [kind, first, second] = name.split("-");
  const n = Number(first);
  if (kind === "corner") layout.corners[n] = [clamp(place[0], 0, data.width), clamp(place[1], 0, data.height)];
  else if (kind === "rule") {
    const near = [0, ...layout.rules, 1];
    layout.rules[n] = clamp(shares(place)[0], near[n] + NARROWEST, near[n + 2] - NARROWEST);
  } else {
    const told = notes()[chosen];
    const end = Number(second);
    const y = shares(place)[1];
    told[n][end] = end ? clamp(y, told[n][0] + 0.01, 1) : clamp(y, 0, told[n][1] - 0.01);
  }
  draw(name);
}

function place(name) {
  const [kind, first, second] = name.split("-");
  if (kind === "corner") return [...layout.corners[Number(first)]];
  return kind === "rule" ? at(layout.rules[Number(first)], 0.5) : at(0.5, notes()[chosen][Number(first)][Number(second)]);
}

function onImage(event) {
  const matrix = layer.getScreenCTM();
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
  return [point.x, point.y];
}

/** The rule that a finger means where it touches two. */
function nearest(place) {
  const off = layout.rules.map((x) => Math.abs(x - shares(place)[0]));
  return `rule-${off.indexOf(Math.min(...off))}`;
}

function listen() {
  let held = null;
  layer.addEventListener("pointerdown", (event) => {
    held = event.target.dataset.handle ?? event.target.dataset.grip ?? null;
    if (held?.startsWith("rule")) held = nearest(onImage(event));
    if (!held) return;
    event.stopPropagation();
    event.preventDefault();
    layer.setPointerCapture(event.pointerId);
  }, { capture: true });
  layer.addEventListener("pointermove", (event) => {
    if (!held) return;
    event.stopPropagation();
    move(held, onImage(event));
  }, { capture: true });
  for (const end of ["pointerup", "pointercancel"]) layer.addEventListener(end, () => { held = null; });
  layer.addEventListener("keydown", (event) => {
    const name = event.target.dataset.handle;
    const step = (event.shiftKey ? 20 : 2) * Math.max(data.width / 1500, 0.5);
    const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
    if (!name) return;
    if (by) move(name, place(name).map((n, i) => n + by[i]));
    else if (event.key === "Delete" && name.startsWith("rule")) removeRule(Number(name.split("-")[1]));
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

function addRule() {
  const edges = [0, ...layout.rules, 1];
  const gaps = edges.slice(1).map((x, n) => x - edges[n]);
  const widest = gaps.indexOf(Math.max(...gaps));
  layout.rules.splice(widest, 0, (edges[widest] + edges[widest + 1]) / 2);
  layout.notes = [];
  changed = true;
  draw(`rule-${widest}`);
}
function removeRule(n) {
  if (!layout.rules.length) return;
  layout.rules.splice(n, 1);
  layout.notes = [];
  chosen = 0;
  changed = true;
  draw();
}

async function seek() {
  const listed = await ask(api(`images?sought=${encodeURIComponent($("mend-sought").value)}`));
  const none = make("option", { value: "" }, say("mendFound"));
  $("mend-image").replaceChildren(none, ...listed.items.map((name) => make("option", { value: name }, name)));
  if (given.image && !listed.items.includes(given.image)) $("mend-image").append(make("option", { value: given.image }, given.image));
  $("mend-image").value = given.image;
}

async function set(body) {
  const said = await ask(api(`${own}/mends`), { ...body, version, key: uuid() });
  version = said.version;
}

/** What came of having the page read again: asked after until it is there, by a server that was started anew too. */
async function reread() {
  let said = await ask(api(`${own}/read-again`), {});
  while (said.state === "waiting" || said.state === "reading") {
    $("mend-said").textContent = say(said.state === "waiting" ? "mendWaits" : "mendReading");
    await new Promise((done) => { setTimeout(done, 700); });
    try {
      said = await ask(api(`${own}/read-again/${said.job}`));
    } catch (problem) {
      if (problem.status === 404) said = await ask(api(`${own}/read-again`), {});
      else if (problem.status !== 0) throw problem;
    }
  }
  return said;
}

/** Somebody set the page right in between: who, and the page as it now is. */
async function ahead() {
  const last = (await ask(api(`${own}/mends`))).items.at(-1);
  const again = make("button", { type: "button", onclick: () => location.reload() }, say("reload"));
  $("mend-said").replaceChildren(say("mendAhead", { person: last?.person ?? "" }), " ", again);
}

async function readAgain(body) {
  const buttons = [$("mend-read-again"), $("mend-back")];
  for (const button of buttons) button.disabled = true;
  $("mend-said").textContent = say("mendReading");
  try {
    if (body) await set(body);
    const said = await reread();
    if (said.state === "done") {
      sessionStorage.setItem("proof-read-again", JSON.stringify({ page: data.number, said: said.outcome }));
      location.reload();
      return;
    }
    $("mend-said").textContent = say("mendFailed", { detail: said.reason });
  } catch (problem) {
    if (problem.status === 409) {
      await ahead().catch(() => { $("mend-said").textContent = problem.message; });
      return;
    }
    $("mend-said").textContent = say("refused", { detail: problem.message });
  }
  for (const button of buttons) button.disabled = false;
}

function told() {
  const kept = JSON.parse(sessionStorage.getItem("proof-read-again") ?? "null");
  if (kept?.page !== data.number) return;
  sessionStorage.removeItem("proof-read-again");
  const { said } = kept;
  const lost = said.lost.map((flag) => make("li", {}, `${say("column", { number: flag.line })}: ${flag.transcribed} → ${flag.reading || flag.suggested}`));
  const summary = say("mendDone", { fresh: said.fresh, gone: said.gone, kept: said.kept, lost: said.lost.length });
  $("notices").append(make("div", { class: "notice", id: "read-again-said" }, summary, said.message ? ` ${said.message}` : "", lost.length ? make("ul", {}, ...lost) : ""));
}

async function begin(viewer) {
  const history = (await ask(api(`${own}/mends`))).items;
  const last = history.at(-1);
  version = last?.version ?? 0;
  layout = structuredClone(last?.layout ?? null) ?? found();
  given = { image: last?.image ?? "", quadrant: last?.quadrant ?? "" };
  changed = Boolean(last?.layout);
  $("mend-quadrant").value = given.quadrant;
  if (viewer?.world.getItemAt(0) && !layer) {
    layer = svg("svg", { viewBox: `0 0 ${data.width} ${data.height}`, class: "mend-layer" });
    viewer.addOverlay({ element: layer, location: viewer.world.getItemAt(0).getBounds() });
    listen();
  }
  draw();
  await seek();
}

/** Called by the page view with its viewer. */
export function mendable(viewer) {
  told();
  $("layout-open").hidden = !may("decide");
  $("layout-open").addEventListener("click", async () => {
    const open = $("layout-tools").hidden;
    $("layout-tools").hidden = !open;
    $("layout-open").setAttribute("aria-expanded", String(open));
    viewer?.setMouseNavEnabled(!open);
    $("viewer").classList.toggle("mending", open);
    $("viewer").setAttribute("role", open ? "group" : "img"); // what is in a picture cannot be reached by keyboard
    if (open) await begin(viewer);
    else layer?.replaceChildren();
  });
  $("mend-add").addEventListener("click", addRule);
  $("mend-remove").addEventListener("click", () => removeRule(layout.rules.length - 1));
  $("mend-column").addEventListener("change", (event) => { chosen = Number(event.target.value); draw(); });
  $("mend-notes").addEventListener("change", (event) => {
    layout.notes = notes();
    layout.notes[chosen] = { found: null, none: [], all: [[0, 1]], part: [[0.25, 0.75]] }[event.target.value];
    changed = true;
    draw();
  });
  $("mend-sought").addEventListener("input", seek);
  $("mend-image").addEventListener("change", (event) => {
    given.image = event.target.value;
    changed = false; // a layout holds for the image on which it was drawn
    $("mend-preview").hidden = !given.image;
    if (given.image) $("mend-preview").src = `${api("images/preview")}?name=${encodeURIComponent(given.image)}`;
  });
  $("mend-quadrant").addEventListener("change", (event) => { given.quadrant = event.target.value; });
  $("mend-read-again").addEventListener("click", () => readAgain({ layout: changed ? layout : null, ...given }));
  $("mend-back").addEventListener("click", () => readAgain({ layout: null, image: "", quadrant: "" }));
}
