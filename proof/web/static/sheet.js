// The present text of a page, each character at the height of its glyph: corrected ones with the old reading small beside
// them, inserted ones as cells, deleted ones struck through. The sheet moves with the image.

import { data, deskOf, make, say, words } from "./shell.js";

import { standing } from "./stage.js";

/* global OpenSeadragon */

const EM = 0.86; // size of a character, in heights of a cell
const NOTE = 0.46; // maximum size of a character in a note, in widths of the column
const SMALL = 0.42; // size of the old reading beside the new one, relative to it
const DRAGGED = 5; // pixels of movement from which a press is not a click

const middle = ([x, y, w, h]) => [x + w / 2, y + h / 2];
const han = (character) => character.text.trim() !== "";
const lean = Math.tan((data.skew * Math.PI) / 180);

/** The median distance from one character to the next; undefined if none follows another. */
function pitchOf(characters) {
  const steps = characters.slice(1).flatMap((character, n) => {
    const before = characters[n];
    const down = middle(character.box)[1] - middle(before.box)[1];
    return character.line === before.line && character.row === before.row && down > 0 ? [down] : [];
  }).sort((a, b) => a - b);
  return steps[Math.floor(steps.length / 2)];
}
const pitch = pitchOf(data.characters_found) ?? data.box[3] / 25;

const isNote = (row) => row !== "main";
const columnOf = (line, x) => data.columns.filter((column) => column.number === line)
  .sort((first, second) => Math.abs(middle(first.box)[0] - x) - Math.abs(middle(second.box)[0] - x))[0]?.box ?? [x - pitch, data.box[1], 2 * pitch, data.box[3]];
const widthOf = ([, , w, h]) => Math.max(w - Math.abs(lean) * h, w / 2);
const emOf = (row, column) => (isNote(row) ? Math.min(EM * pitch, NOTE * widthOf(column)) : EM * pitch);
/** The x of the middle of a row of a column at height `y`. */
const across = (row, column, y) => middle(column)[0] + lean * (y - middle(column)[1]) + { main: 0, right: 0.25, left: -0.25 }[row] * widthOf(column);

/** Places a cell of `high` characters with its middle at `x`, `y` of the page. */
function put(element, x, y, em, column, high = 1) {
  element.style.cssText = `left:${x - em / 2 - column[0]}px;top:${y - (em * high) / 2 - column[1]}px;width:${em}px;height:${em * high}px;font-size:${em}px`;
  return element;
}

/** The text inserted in the gap that a flag is about, empty if none was inserted; null for a flag about characters. An
    omission may include the equal character beside its gap, which is not part of the insertion. If that was corrected
    as well, the flag counts as one about characters. */
export function inGap(flag) {
  if (flag.length && flag.kind !== "omission") return null;
  if (flag.state !== "corrected") return "";
  const beside = flag.transcribed.trim();
  if (flag.reading.endsWith(beside)) return flag.reading.slice(0, flag.reading.length - beside.length);
  return flag.reading.startsWith(beside) ? flag.reading.slice(beside.length) : null;
}

/** The text of a column that has no characters on the image, small between its neighbours. */
function textAlone(number, box) {
  const text = data.columns.find((column) => column.number === number)?.now.replaceAll(" ", "\u3000") ?? "";
  const cell = make("span", { class: "extra alone han" }, text);
  cell.style.cssText = `left:${box[2] / 2 - SMALL * pitch}px;font-size:${SMALL * pitch}px;line-height:${2 * SMALL * pitch}px`;
  return cell;
}

/** The element of a column, with the cells of its characters and of insertions, in the order of the text. */
function column(number, flagOf, pair) {
  const line = data.characters_found.map((character, n) => ({ character, n })).filter(({ character }) => character.line === number && han(character));
  const box = columnOf(number, line.length ? middle(line[0].character.box)[0] : data.box[0]);
  const element = make("div", { class: "column", role: "group", "aria-label": say("column", { number }) });
  element.style.cssText = `left:${box[0]}px;top:${box[1]}px;width:${box[2]}px;height:${box[3]}px`;
  const feet = {};
  const own = pitchOf(line.map(({ character }) => character).filter(han)) ?? pitch; // smaller than the page's in a column of small characters
  const parts = [];
  for (const { character, n } of line) {
    const place = columnOf(number, middle(character.box)[0]);
    const em = Math.min(emOf(character.row, place), own);
    const y = Math.max(middle(character.box)[1], feet[character.row] ?? -Infinity);
    feet[character.row] = y + 0.8 * em;
    const flag = flagOf(character);
    const now = flag?.state === "corrected" ? standing(character.text, character.offset, flag) : character.text;
    const gone = flag?.state === "corrected" && now !== character.text;
    const shown = now || character.text;
    const cell = make("button", { type: "button", class: `cell han ${flag ? `flagged ${flag.state}` : ""} ${gone && !now ? "deleted" : ""} ${[...shown].length > 1 ? "several" : ""}`, "data-n": n },
      [...shown].length > 3 ? "〓" : shown);
    const x = across(character.row, place, y);
    parts.push({ offset: character.offset, cells: [put(cell, x, y, em, box)], x, y, em });
    if (gone && now) parts.at(-1).cells.push(put(make("del", { class: "was han", title: character.text }, [...character.text].length > 3 ? "〓" : character.text), x + 0.62 * em, y - 0.3 * em, SMALL * em, box));
    pair.set(n, { cell });
  }
  for (const flag of data.flags_found.filter((each) => each.line === number && (each.raised || each.state !== "open"))) {
    const extra = without(flag, line, parts, box);
    if (extra) parts.push(extra);
  }
  parts.sort((a, b) => a.offset - b.offset);
  element.append(...parts.flatMap((part) => part.cells));
  if (!parts.length) element.append(textAlone(number, box));
  return element;
}

/** The cell of a flag whose characters have no glyph: an insertion, or text that is not on the image. Null for others. */
function without(flag, line, parts, box) {
  const gap = inGap(flag);
  const added = gap !== null;
  if (!flag.bbox || flag.kind === "layout") return null;
  if (!added && (flag.kind !== "insertion" || line.some(({ character }) => character.offset >= flag.offset && character.offset < flag.offset + flag.length))) return null;
  const text = added ? gap : flag.state === "corrected" ? flag.reading || flag.transcribed : flag.transcribed;
  const row = line.find(({ character }) => character.offset >= flag.offset)?.character.row ?? line.at(-1)?.character.row ?? "main";
  const high = added ? Math.max([...text].length, 1) : 1;
  const em = Math.min(emOf(row, box) * (added ? 1 : 0.74), Math.max(flag.bbox[3], pitch) / high);
  const y = middle(flag.bbox)[1];
  const x = across(row, columnOf(flag.line, middle(flag.bbox)[0]), y) + (added ? 0 : 0.6 * pitch);
  const state = `flagged ${flag.state} ${flag.state === "corrected" && !flag.reading ? "deleted" : ""} ${text.trim() ? "" : "empty"}`;
  const name = `${words.kinds[flag.kind]} ${flag.transcribed || flag.suggested}`;
  const cell = make("a", { class: `cell extra han ${state} ${[...text].length > 1 ? "several" : ""}`, "aria-label": name, href: deskOf(flag) }, text);
  return { offset: flag.offset - 0.5, cells: [put(cell, x, y, em, box, high)] };
}

/** Flags about columns and gaps, which have a place on the image but no character's box. */
export const placeFlags = data.flags_found.filter((flag) => flag.bbox && (flag.raised || flag.state !== "open") && (flag.kind === "layout" || inGap(flag) !== null));
const columnFlags = placeFlags.filter((flag) => flag.kind === "layout");

/** The frame of a flag about a column, which links to the flag; a column that is to be added stands in it. */
function aboutColumn(flag) {
  const [x, y, w, h] = flag.bbox;
  const added = flag.state === "corrected" && !flag.transcribed && flag.reading !== "¶" ? flag.reading.replaceAll(" ", "\u3000") : "";
  const what = `${flag.what} ${flag.state === "corrected" ? flag.reading : ""}`.trim();
  const cell = make("a", { class: `extra whole han ${flag.state}`, "aria-label": `${words.kinds.layout}: ${what}`, title: what, href: deskOf(flag) }, added);
  const em = EM * pitch;
  cell.style.cssText = `left:${x}px;top:${y}px;width:${w}px;height:${h}px;font-size:${em}px;letter-spacing:${pitch - em}px;line-height:${w}px`;
  return cell;
}

/** Writes the text into `sheet`. `flagOf` returns the flag of a character; the cells are put into `pair` by index. */
export function writeSheet(sheet, flagOf, pair) {
  const numbers = [...new Set([...data.columns.map((column) => column.number), ...data.characters_found.map((character) => character.line)])].sort((a, b) => a - b);
  const plane = make("div", { class: "plane" });
  plane.append(...numbers.map((number) => column(number, flagOf, pair)), ...columnFlags.map(aboutColumn));
  sheet.replaceChildren(plane);
  whole(sheet);
}

/** Scales the half-folio to the size of the sheet. */
function whole(sheet) {
  const [x, y, w, h] = data.box;
  const scale = Math.min(sheet.clientWidth / w, sheet.clientHeight / h);
  move(sheet, scale, (sheet.clientWidth - w * scale) / 2 - x * scale, (sheet.clientHeight - h * scale) / 2 - y * scale);
}

function move(sheet, scale, left, top) {
  sheet.firstElementChild.style.transform = `translate(${left}px,${top}px) scale(${scale})`;
}

/** Makes image and text scroll and zoom together, whichever of them is moved. */
export function linkMovement(sheet, viewer) {
  const follow = () => {
    const { viewport } = viewer;
    const at = viewport.pixelFromPoint(new OpenSeadragon.Point(0, 0), true);
    const size = viewport.getContainerSize();
    move(sheet, (size.x * viewport.getZoom(true)) / data.width, at.x + (sheet.clientWidth - size.x) / 2, at.y + (sheet.clientHeight - size.y) / 2);
  };
  viewer.addHandler("open", () => { home(viewer, true); follow(); });
  viewer.addHandler("update-viewport", follow);
  for (const name of ["pan", "zoom"]) viewer.addHandler(name, () => { isHome = false; });
  viewer.addHandler("resize", () => isHome && requestAnimationFrame(() => home(viewer, true))); // after the viewer has resized itself
  const pointOf = (event) => {
    const box = sheet.getBoundingClientRect();
    const size = viewer.viewport.getContainerSize();
    return new OpenSeadragon.Point(event.clientX - box.left - (box.width - size.x) / 2, event.clientY - box.top - (box.height - size.y) / 2);
  };
  sheet.addEventListener("wheel", (event) => {
    event.preventDefault();
    viewer.viewport.zoomBy(event.deltaY < 0 ? 1.2 : 1 / 1.2, viewer.viewport.pointFromPixel(pointOf(event)));
    viewer.viewport.applyConstraints();
  }, { passive: false });
  drag(sheet, (dx, dy) => viewer.viewport.panBy(viewer.viewport.deltaPointsFromPixels(new OpenSeadragon.Point(-dx, -dy)), true));
  sheet.addEventListener("scroll", () => sheet.scrollTo(0, 0)); // undo the browser's own scrolling to the focus
  sheet.addEventListener("focusin", (event) => {
    const [cell, room] = [event.target.getBoundingClientRect(), sheet.getBoundingClientRect()];
    const out = cell.left < room.left || cell.right > room.right || cell.top < room.top || cell.bottom > room.bottom;
    if (out) viewer.viewport.panBy(viewer.viewport.deltaPointsFromPixels(new OpenSeadragon.Point(
      cell.left + cell.width / 2 - room.left - room.width / 2, cell.top + cell.height / 2 - room.top - room.height / 2)));
  });
}

let isHome = false; // the whole half-folio is shown, and the image was not moved since

/** Shows the whole half-folio: a quarter of a plate, or half of an opening. */
export function home(viewer, immediately = false) {
  const [x, y, w, h] = data.box;
  viewer.viewport.fitBounds(viewer.viewport.imageToViewportRectangle(x, y, w, h), immediately);
  isHome = true;
}

/** Installs dragging of the sheet. A press that moves it is not a click on the cell below. */
function drag(sheet, by) {
  let [last, moved] = [null, false];
  sheet.addEventListener("pointerdown", (event) => { last = [event.clientX, event.clientY]; moved = false; });
  addEventListener("pointermove", (event) => {
    if (!last || !event.buttons) return;
    const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
    if (!moved && Math.hypot(dx, dy) < DRAGGED) return;
    moved = true;
    last = [event.clientX, event.clientY];
    by(dx, dy);
  });
  addEventListener("pointerup", () => { last = null; });
  sheet.addEventListener("click", (event) => {
    if (moved) event.stopImmediatePropagation();
    moved = false;
  }, { capture: true });
}
