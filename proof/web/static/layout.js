// Correcting the layout of a page by hand: dragging frame and rules, marking notes, choosing another image, and having
// the page read again.

import { follow, reloadWithOutcome, request, showFailure, showOutcome } from "./reread.js";
import { $, api, ask, data, keep, make, may, person, problemMessage, reloadButton, say, svg, uuid, work } from "./shell.js";

/* global OpenSeadragon */

const clamp = (n, low, high) => Math.min(Math.max(n, low), high);
const pagePath = `pages/${data.number}`;
const NARROWEST = 0.01;

const DRAFT = `proof-layout:${work}:${person}:${data.number}`; // unsaved layout, kept over a reload or an expired session
const GRIP = { fine: 14, coarse: 44 }; // width in CSS pixels in which a pointer catches a line

let version = 0;
let regions = null; // the drawn regions, in the order of the text: { corners, rules, notes }
let active = 0;
let layout = null; // the active region
let chosenImage = { image: "", quadrant: "" };
let shownImage = { image: "", quadrant: "" }; // the image that is shown; a layout is valid for this image only
let changed = false;
let chosenColumn = 0; // the column, from right to left, whose notes are edited
let layer = null;
let viewer = null;
let opened = null; // a promise that is fulfilled when the image was loaded, or failed to
let reading = false;
let busy = true; // until the saved layout is known, and while the page is read
let unanswered = null; // a request without an answer; sent again under its key it has no second effect
let savedBody = null; // the layout that was last saved here

/** The overlap of two boxes in x (`axis` 0) or y (1), as a share of the smaller extent. */
function overlap(box, other, axis) {
  const end = Math.min(box[axis] + box[axis + 2], other[axis] + other[axis + 2]);
  return (end - Math.max(box[axis], other[axis])) / Math.min(box[axis + 2], other[axis + 2]);
}

/** The regions that follow from the detected columns, one for each register; a frame around the middle of the image if
 * fewer than two columns were detected. */
function detectedRegions() {
  const boxes = data.columns.map((column) => column.box).filter(([, , w, h]) => w > 0 && h > 0);
  if (boxes.length < 2) return [frameAround([[data.width * 0.08, data.height * 0.08, data.width * 0.84, data.height * 0.84]], 8)];
  const registers = [];
  for (const box of boxes) {
    const last = registers.at(-1);
    if (last?.some((other) => overlap(box, other, 1) > 0.5)) last.push(box);
    else registers.push([box]);
  }
  for (const { bbox } of data.flags_found.filter((flag) => flag.kind === "layout" && flag.bbox && flag.line && flag.raised)) { // columns that the text lacks
    const register = registers.find((boxes) => boxes.some((other) => overlap(bbox, other, 1) > 0.5));
    if (register && !register.some((other) => overlap(bbox, other, 0) > 0.5)) register.push(bbox);
  }
  return registers.map((boxes) => frameAround(boxes));
}

/** A region around the boxes of columns, with rules between them; or, with `parts`, divided evenly. */
function frameAround(boxes, parts = 0) {
  const left = Math.min(...boxes.map((b) => b[0]));
  const right = Math.max(...boxes.map((b) => b[0] + b[2]));
  const top = Math.min(...boxes.map((b) => b[1]));
  const bottom = Math.max(...boxes.map((b) => b[1] + b[3]));
  const edges = [...new Set(boxes.map((b) => Math.round(b[0] + b[2] / 2)))].sort((a, b) => a - b);
  const middles = edges.slice(1).map((x, n) => ((x + edges[n]) / 2 - left) / (right - left));
  const rules = parts ? Array.from({ length: parts - 1 }, (_, n) => (n + 1) / parts) : middles.filter((x, n) => x > NARROWEST && x < 1 - NARROWEST && x - (middles[n - 1] ?? 0) > NARROWEST);
  return { corners: [[left, top], [right, top], [right, bottom], [left, bottom]], rules, notes: [] };
}

/** Makes a region the active one. */
function choose(number) {
  active = number;
  layout = regions[active];
  chosenColumn = 0;
  draw();
}
const packed = () => regions && { ...regions[0], more: regions.slice(1) };
const unpacked = ({ more = [], ...first }) => [first, ...more];

function addRegion() {
  const copied = structuredClone(layout);
  const [[, top], , [, bottom]] = copied.corners;
  const down = bottom + (bottom - top) * 1.02 < data.height ? (bottom - top) * 1.02 : 0;
  copied.corners = copied.corners.map(([x, y]) => [x, down ? y + down : y]);
  if (!down) { // there is no room below: divide the region
    const half = (top + bottom) / 2;
    copied.corners = copied.corners.map(([x, y], n) => [x, n < 2 ? half : y]);
    layout.corners = layout.corners.map(([x, y], n) => [x, n < 2 ? y : half]);
  }
  copied.notes = [];
  regions.splice(active + 1, 0, copied);
  edited();
  choose(active + 1);
}

function removeRegion() {
  if (regions.length < 2) return;
  regions.splice(active, 1);
  edited();
  choose(Math.min(active, regions.length - 1));
}

/** Joins the active region and the next one, with the rules of the one that has more. */
function joinRegions() {
  const next = regions[active + 1];
  if (!next) return;
  const all = [...layout.corners, ...next.corners];
  const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const { rules } = layout.rules.length >= next.rules.length ? layout : next;
  regions.splice(active, 2, { corners: [[left, top], [right, top], [right, bottom], [left, bottom]], rules: [...rules], notes: [] });
  edited();
  choose(active);
}

const columns = () => layout.rules.length + 1;
const notes = () => (layout.notes.length ? layout.notes : Array(columns()).fill(null));
/** The point on the image at these shares of the frame's width and height. */
function at(x, y) {
  const [a, b, c, d] = layout.corners;
  const mix = (p, q, t) => [p[0] + (q[0] - p[0]) * t, p[1] + (q[1] - p[1]) * t];
  return mix(mix(a, b, x), mix(d, c, x), y);
}
/** The shares of the frame's width and height at a point on the image. */
function shares([px, py]) {
  const [a, b, , d] = layout.corners;
  const [ux, uy, vx, vy] = [b[0] - a[0], b[1] - a[1], d[0] - a[0], d[1] - a[1]];
  const det = ux * vy - uy * vx || 1;
  return [((px - a[0]) * vy - (py - a[1]) * vx) / det, ((py - a[1]) * ux - (px - a[0]) * uy) / det];
}

const isElsewhere = () => chosenImage.image !== shownImage.image || chosenImage.quadrant !== shownImage.quadrant;

/** Marks the layout as changed and keeps it as a draft. */
function edited() {
  changed = true;
  keepDraft();
}
const keepDraft = () => keep(DRAFT, { version, layout: packed(), given: chosenImage, changed });

/** Sets the width in which lines can be caught; dense lines get less, so that a finger can still move the image. */
function fitGrips() {
  const across = layer?.getScreenCTM();
  if (!across || !layout) return;
  const [[x1, y1], [x2, y2]] = layout.corners;
  const column = (Math.hypot(x2 - x1, y2 - y1) * Math.hypot(across.a, across.b)) / columns();
  const most = matchMedia("(pointer: coarse)").matches ? GRIP.coarse : GRIP.fine;
  layer.style.setProperty("--grip", `${clamp(0.6 * column, GRIP.fine, most)}px`);
}

/** Disables the controls, or enables those that are valid for the shown image. */
function lock(on) {
  busy = on;
  for (const control of $("layout-tools").querySelectorAll("button, select, input"))
    if (!$("layout-said").contains(control)) control.disabled = on;
  for (const id of ["layout-region", "layout-region-add", "layout-region-remove", "layout-region-join", "layout-add", "layout-remove", "layout-column", "layout-notes"]) $(id).disabled = on || isElsewhere();
  layer?.classList.toggle("still", on || isElsewhere());
}

function draw(focus) {
  if (!layout || !isDrawing()) return;
  if (!layer) {
    showTools();
    return;
  }
  const size = Math.max(data.width, data.height) / 90;
  const grips = [];
  const parts = regions.map((region, n) => svg("polygon", { points: region.corners.map((c) => c.join()).join(" "), class: n === active ? "layout-frame" : "layout-frame layout-other", ...(n === active ? {} : { "data-region": n }) }));
  notes().forEach((ranges, n) => {
    const edges = [0, ...layout.rules, 1];
    const [left, right] = [edges[columns() - 1 - n], edges[columns() - n]];
    const area = (from, to, kind) => parts.push(svg("polygon", { points: [at(left, from), at(right, from), at(right, to), at(left, to)].map((c) => c.join()).join(" "), class: kind }));
    if (n === chosenColumn) area(0, 1, "layout-chosen");
    for (const [from, to] of ranges ?? []) area(from, to, "layout-note");
  });
  const grip = (shape, name) => { // the invisible area that can be caught is wider than the line
    shape.setAttribute("data-grip", name);
    grips.push(shape);
  };
  const handle = (shape, name, label, value) => {
    shape.setAttribute("data-handle", name);
    for (const [name, setting] of Object.entries({ tabindex: 0, role: "slider", "aria-label": label, "aria-valuenow": Math.round(value) })) shape.setAttribute(name, setting);
    parts.push(shape);
  };
  layout.rules.forEach((x, n) => {
    const [[x1, y1], [x2, y2]] = [at(x, 0), at(x, 1)];
    grip(svg("line", { x1, y1, x2, y2, class: "layout-grip" }), `rule-${n}`);
    handle(svg("line", { x1, y1, x2, y2, class: "layout-rule" }), `rule-${n}`, say("layoutRule", { number: layout.rules.length - n }), 100 * x);
  });
  layout.corners.forEach(([cx, cy], n) => {
    grip(svg("circle", { cx, cy, r: 1, class: "layout-grip" }), `corner-${n}`);
    handle(svg("circle", { cx, cy, r: size, class: "layout-corner" }), `corner-${n}`, say("layoutCorner", { number: n + 1 }), cx);
  });
  (notes()[chosenColumn] ?? []).forEach((range, n) => range.forEach((y, end) => {
    const edges = [0, ...layout.rules, 1];
    const [cx, cy] = at((edges[columns() - 1 - chosenColumn] + edges[columns() - chosenColumn]) / 2, y);
    grip(svg("circle", { cx, cy, r: 1, class: "layout-grip" }), `note-${n}-${end}`);
    handle(svg("circle", { cx, cy, r: 0.8 * size, class: "layout-end" }), `note-${n}-${end}`, say("layoutNote", { number: chosenColumn + 1 }), 100 * y);
  }));
  if (regions.length > 1) {
    const [cx, cy] = at(0.5, 0.5);
    handle(svg("circle", { cx, cy, r: 1.2 * size, class: "layout-corner layout-move" }), "move-0", say("layoutMove", { number: active + 1 }), cy);
  }
  const [areas, handles] = [parts.filter((part) => !part.dataset.handle), parts.filter((part) => part.dataset.handle)];
  layer.replaceChildren(...areas, ...grips, ...handles);
  fitGrips();
  if (focus) layer.querySelector(`[data-handle="${focus}"]`)?.focus({ preventScroll: true });
  showTools();
}

function showTools() {
  const kept = $("layout-column").value;
  $("layout-column").replaceChildren(...notes().map((_, n) => make("option", { value: n }, say("column", { number: n + 1 }))));
  $("layout-column").value = Math.min(Number(kept) || 0, columns() - 1);
  $("layout-region").replaceChildren(...regions.map((_, n) => make("option", { value: n, selected: n === active }, say("layoutRegion", { number: n + 1 }))));
  $("layout-region-remove").disabled = busy || regions.length < 2;
  $("layout-region-join").disabled = busy || !regions[active + 1];
  $("layout-notes").value = extentOf(notes()[chosenColumn]);
}

/** The choice for the notes of a column with these ranges of notes, as shares of its height; null: to be detected. */
function extentOf(ranges) {
  if (ranges === null) return "found";
  if (!ranges.length) return "none";
  const isWhole = ranges.length === 1 && ranges[0][0] === 0 && ranges[0][1] === 1;
  return isWhole ? "all" : "part";
}

/** Moves a handle to a point on the image, within the limits of a valid layout. */
function move(name, place) {
  if (busy || isElsewhere()) return;
  const [kind, first, second] = name.split("-");
  const n = Number(first);
  if (kind === "corner") layout.corners[n] = [clamp(place[0], 0, data.width), clamp(place[1], 0, data.height)];
  else if (kind === "move") {
    const [cx, cy] = at(0.5, 0.5);
    layout.corners = layout.corners.map(([x, y]) => [clamp(x + place[0] - cx, 0, data.width), clamp(y + place[1] - cy, 0, data.height)]);
  } else if (kind === "rule") {
    const near = [0, ...layout.rules, 1];
    layout.rules[n] = clamp(shares(place)[0], near[n] + NARROWEST, near[n + 2] - NARROWEST);
  } else {
    const ranges = notes()[chosenColumn];
    const end = Number(second);
    const y = shares(place)[1];
    ranges[n][end] = end ? clamp(y, ranges[n][0] + 0.01, 1) : clamp(y, 0, ranges[n][1] - 0.01);
  }
  edited();
  draw(name);
}

function place(name) {
  const [kind, first, second] = name.split("-");
  if (kind === "corner") return [...layout.corners[Number(first)]];
  if (kind === "move") return at(0.5, 0.5);
  return kind === "rule" ? at(layout.rules[Number(first)], 0.5) : at(0.5, notes()[chosenColumn][Number(first)][Number(second)]);
}

function onImage(event) {
  const matrix = layer.getScreenCTM();
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
  return [point.x, point.y];
}

/** The name of the rule nearest to a point: a finger may touch two. */
function nearest(place) {
  const off = layout.rules.map((x) => Math.abs(x - shares(place)[0]));
  return `rule-${off.indexOf(Math.min(...off))}`;
}

const isDrawing = () => !$("layout-tools").hidden;

/** Installs dragging: one finger or the left button on a handle drags it, everything else moves the image. The viewer
 * gets all events, so that it recognises two fingers; only its own dragging is prevented while a handle is dragged. */
function installDragging() {
  const area = viewer.container;
  const fingers = new Set();
  let dragged = null; // { name, id, off, was }
  let released = null; // the handle that was just released: the viewer handles the event after us
  let moved = null; // last position of the pointer while the middle button moves the image
  let space = false;
  const undoDrag = () => {
    regions[active] = layout = dragged.was.layout;
    changed = dragged.was.changed;
    dragged = null;
    keepDraft();
    draw();
  };
  area.addEventListener("pointerdown", (event) => {
    if (!isDrawing()) return;
    if (event.pointerType === "touch") fingers.add(event.pointerId);
    if (fingers.size > 1) { // two fingers move or zoom the image
      if (dragged) undoDrag();
      return;
    }
    if (event.button === 1) {
      moved = [event.clientX, event.clientY];
      area.setPointerCapture(event.pointerId);
      event.preventDefault();
      return;
    }
    let name = event.target.dataset?.handle ?? event.target.dataset?.grip;
    if (event.target.dataset?.region && event.button === 0 && !space && !busy) choose(Number(event.target.dataset.region));
    if (!name || event.button !== 0 || space || busy || isElsewhere()) return;
    const at = onImage(event);
    if (name.startsWith("rule")) name = nearest(at);
    const from = place(name);
    dragged = { name, id: event.pointerId, off: [from[0] - at[0], from[1] - at[1]], was: { layout: structuredClone(layout), changed } };
  }, { capture: true });
  area.addEventListener("pointermove", (event) => {
    if (moved) {
      const by = new OpenSeadragon.Point(moved[0] - event.clientX, moved[1] - event.clientY);
      viewer.viewport.panBy(viewer.viewport.deltaPointsFromPixels(by), true);
      moved = [event.clientX, event.clientY];
    } else if (dragged && event.pointerId === dragged.id) {
      const [x, y] = onImage(event);
      move(dragged.name, [x + dragged.off[0], y + dragged.off[1]]); // keeps the distance at which it was caught
    }
  }, { capture: true });
  for (const end of ["pointerup", "pointercancel"])
    area.addEventListener(end, (event) => {
      fingers.delete(event.pointerId);
      if (event.button === 1 || event.type === "pointercancel") moved = null;
      if (dragged?.id !== event.pointerId) return;
      if (event.type === "pointercancel") return undoDrag();
      const over = released = dragged;
      dragged = null; // at once, so that no later movement drags it
      setTimeout(() => { // after the viewer, which takes the focus
        if (released !== over) return;
        released = null;
        layer.querySelector(`[data-handle="${over.name}"]`)?.focus({ preventScroll: true });
      });
    }, { capture: true });
  for (const name of ["canvas-drag", "canvas-drag-end", "canvas-double-click"])
    viewer.addHandler(name, (event) => {
      if (dragged || released || moved || (name === "canvas-double-click" && event.originalEvent.target.dataset?.grip)) event.preventDefaultAction = true;
    });
  for (const name of ["animation", "animation-finish", "resize"]) viewer.addHandler(name, fitGrips);
  const onField = (target) => target instanceof Element && target.closest("input, select, textarea, button, a, summary, dialog");
  const hold = (on) => {
    space = on;
    area.classList.toggle("moving", on);
  };
  addEventListener("keydown", (event) => {
    if (event.key !== " " || !isDrawing() || onField(event.target)) return;
    event.preventDefault();
    hold(true);
  });
  addEventListener("keyup", (event) => { if (event.key === " ") hold(false); });
  addEventListener("blur", () => hold(false));
}

function installHandles() {
  installDragging();
  layer.addEventListener("keydown", (event) => {
    const name = event.target.dataset.handle;
    const step = (event.shiftKey ? 20 : 2) * Math.max(data.width / 1500, 0.5);
    const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
    if (!name || busy || isElsewhere()) return;
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
  edited();
  draw(`rule-${widest}`);
}
function removeRule(n) {
  if (!layout.rules.length) return;
  layout.rules.splice(n, 1);
  layout.notes = [];
  chosenColumn = 0;
  edited();
  draw();
}

let searches = 0;
async function searchImages() {
  const mine = (searches += 1);
  const listed = await ask(api(`images?search=${encodeURIComponent($("layout-sought").value)}`));
  if (mine !== searches) return; // the search was changed since
  const none = make("option", { value: "" }, say("layoutFound"));
  $("layout-image").replaceChildren(none, ...listed.items.map((name) => make("option", { value: name }, name)));
  if (chosenImage.image && !listed.items.includes(chosenImage.image)) $("layout-image").append(make("option", { value: chosenImage.image }, chosenImage.image));
  $("layout-image").value = chosenImage.image;
}

/** Saves the layout override. A request that got no answer is repeated with its key, since it may have arrived. */
async function saveOverride(body) {
  const sent = { ...body, version };
  if (JSON.stringify(body) === savedBody) return;
  if (JSON.stringify(unanswered?.sent) !== JSON.stringify(sent)) unanswered = { sent, key: uuid() };
  const saved = await ask(api(`${pagePath}/layout-overrides`), { ...sent, key: unanswered.key });
  version = saved.version;
  savedBody = JSON.stringify(body);
  sessionStorage.removeItem(DRAFT);
}

/** Says who changed the layout in the meantime, with a button that reloads the page. */
async function showOthersChange() {
  const last = (await ask(api(`${pagePath}/layout-overrides`))).items.at(-1);
  sessionStorage.removeItem(DRAFT); // it was based on an older layout
  $("layout-said").replaceChildren(say("layoutAhead", { person: last?.person ?? "" }), " ", reloadButton());
}

async function readAgain(button, body) {
  reading = true;
  lock(true);
  $("layout-said").textContent = say("rereadReading");
  try {
    await saveOverride(body);
    const end = await follow(await request(), $("layout-said"));
    if (end?.state === "done") return reloadWithOutcome(end.outcome, $("notices"));
    showFailure(end ?? { state: "stopped" }, $("layout-said"));
  } catch (problem) {
    if (problem.status === 409) return showOthersChange().catch(() => { $("layout-said").textContent = problemMessage(problem); });
    $("layout-said").textContent = problemMessage(problem);
  }
  reading = false;
  lock(false);
  if (document.activeElement === document.body) button.focus();
}

/** Follows a reading that somebody else requested, or the user before leaving the page. */
async function watch(job) {
  const place = make("p", { class: "notice", id: "under-way", role: "status" });
  $("notices").append(place);
  const end = await follow(job, place).catch(() => null);
  if (!end) place.remove();
  else if (end.state !== "done") showFailure(end, place);
  else if (isDrawing()) place.replaceChildren(say("rereadKept"), " ", reloadButton());
  else reloadWithOutcome(end.outcome, $("notices"));
}

const draft = () => JSON.parse(sessionStorage.getItem(DRAFT) ?? "null");

let openings = 0;
/** Opens the editor with the saved layout, or with an unsaved draft of it. */
async function begin() {
  const mine = (openings += 1);
  lock(true);
  let history = null;
  try {
    [{ items: history }] = await Promise.all([ask(api(`${pagePath}/layout-overrides`)), searchImages(), opened]);
  } catch (problem) {
    if (mine !== openings) return;
    $("layout-said").replaceChildren(problemMessage(problem), " ", make("button", { type: "button", onclick: begin }, say("tryAgain")));
    return;
  }
  if (mine !== openings || !isDrawing()) return; // closed, or opened again
  const last = history.at(-1);
  version = last?.version ?? 0;
  const keptDraft = draft();
  const isDraftValid = keptDraft?.version === version;
  const shown = isDraftValid ? keptDraft.layout : structuredClone(last?.layout ?? null);
  regions = shown ? unpacked(shown) : detectedRegions();
  active = 0;
  layout = regions[active];
  shownImage = { image: last?.image ?? "", quadrant: last?.quadrant ?? "" };
  chosenImage = isDraftValid ? keptDraft.given : { ...shownImage };
  changed = isDraftValid ? keptDraft.changed : Boolean(last?.layout);
  $("layout-said").textContent = isDraftValid ? say("layoutDraft") : "";
  $("layout-quadrant").value = chosenImage.quadrant;
  preview();
  if (viewer?.world.getItemAt(0) && !layer) {
    layer = svg("svg", { viewBox: `0 0 ${data.width} ${data.height}`, class: "layout-layer" });
    viewer.addOverlay({ element: layer, location: viewer.world.getItemAt(0).getBounds() });
    installHandles();
  }
  lock(false);
  draw();
  await searchImages();
}

function preview() {
  $("layout-preview").hidden = !chosenImage.image;
  if (chosenImage.image) $("layout-preview").src = `${api("images/preview")}?name=${encodeURIComponent(chosenImage.image)}`;
}

function toggle() {
  const open = $("layout-tools").hidden;
  $("layout-tools").hidden = !open;
  $("layout-open").setAttribute("aria-expanded", String(open));
  $("viewer").classList.toggle("drawing-layout", open);
  $("viewer").setAttribute("role", open ? "group" : "img"); // the content of an img role cannot be reached by keyboard
  if (!open) layer?.replaceChildren();
  else if (reading) draw();
  else begin();
}

function chooseImage(what) {
  Object.assign(chosenImage, what);
  keepDraft();
  preview();
  lock(false);
  $("layout-said").textContent = isElsewhere() ? say("layoutElsewhere") : "";
}

/** Sets up the editor; `shown` is the viewer of the page, null without an image. */
export function layoutTools(shown) {
  viewer = shown;
  opened = viewer && new Promise((done) => {
    for (const event of ["open", "open-failed"]) viewer.addOnceHandler(event, done);
  });
  showOutcome($("notices"));
  if (data.under_way) watch(data.under_way);
  $("layout-open").hidden = !may("decide");
  $("layout-open").addEventListener("click", toggle);
  $("layout-region").addEventListener("change", (event) => choose(Number(event.target.value)));
  $("layout-region-add").addEventListener("click", addRegion);
  $("layout-region-remove").addEventListener("click", removeRegion);
  $("layout-region-join").addEventListener("click", joinRegions);
  $("layout-add").addEventListener("click", addRule);
  $("layout-remove").addEventListener("click", () => removeRule(layout.rules.length - 1));
  $("layout-column").addEventListener("change", (event) => { chosenColumn = Number(event.target.value); draw(); });
  $("layout-notes").addEventListener("change", (event) => {
    layout.notes = notes();
    layout.notes[chosenColumn] = { found: null, none: [], all: [[0, 1]], part: [[0.25, 0.75]] }[event.target.value];
    edited();
    draw();
  });
  $("layout-sought").addEventListener("input", searchImages);
  $("layout-image").addEventListener("change", (event) => chooseImage({ image: event.target.value }));
  $("layout-quadrant").addEventListener("change", (event) => chooseImage({ quadrant: event.target.value }));
  const wanted = () => ({ layout: changed && !isElsewhere() ? packed() : null, ...chosenImage });
  $("layout-read-again").addEventListener("click", (event) => readAgain(event.currentTarget, wanted()));
  $("layout-back").addEventListener("click", (event) => readAgain(event.currentTarget, { layout: null, image: "", quadrant: "" }));
  if (may("decide") && draft()) toggle();
}
