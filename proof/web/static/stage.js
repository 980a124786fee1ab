// The column on the image and, beside it, the text at the places of its glyphs. Coordinates are pixels of the image; the
// page is rotated around the flagged glyph until its columns are vertical.

import { glyphOf, make, nothing, piece, say, script, svg } from "./shell.js";

const CLOSE = 9; // height of the close view, in characters
const BESIDE = 2.6; // width on either side of the glyph, in heights of a character
const MOST_IN_CELL = 4; // characters that are shown in the place of one
const TEXT_WIDTH = 3.8; // width of the transcribed column, in heights of a character
const MOST_PICTURES = 60; // pictures that are kept
const THUMB = 150; // longer side of the thumbnail of the half-folio, in pixels

const pictures = new Map();

/** The picture of a flag's column, loaded and decoded in advance; null if the flag has no place on an image. */
export function loadPicture(flag) {
  if (!flag.view) return null;
  const url = piece(flag.view.image, flag.view.area);
  let loading = pictures.get(url);
  if (!loading) {
    const image = new Image();
    image.decoding = "sync";
    image.src = url;
    loading = { image, ready: image.decode().then(() => true, () => false) };
    loading.ready.then((isLoaded) => {
      if (!isLoaded) pictures.delete(url); // requested again when it is next shown
    });
    pictures.set(url, loading);
    if (!flag.tile) new Image().src = glyphOf(flag);
    if (pictures.size > MOST_PICTURES) pictures.delete(pictures.keys().next().value);
  }
  return loading;
}

/** A promise for the picture of a flag while it is loading; null once it was loaded or failed to. */
export function pendingPicture(flag) {
  const loading = flag?.view ? pictures.get(piece(flag.view.image, flag.view.area)) : null;
  return loading && !loading.image.complete ? loading.ready : null;
}

const frame = ([x, y, w, h], air, cls, more = {}) =>
  svg("rect", { class: cls, x: x - air, y: y - air, width: w + 2 * air, height: h + 2 * air, rx: 2, ...more });

/** The visible area, in pixels of the image. It has one size around every glyph, so that all glyphs are shown at the same
    place; it is larger only if the flag's places would be cut off. */
function visibleArea(flag, whole) {
  const { view } = flag;
  const [cx, cy] = middle(view.focus);
  const places = whole ? [view.area] : [view.focus, view.gap, flag.other?.bbox].filter(Boolean);
  const air = whole ? 0 : view.pitch / 4;
  const beside = Math.max(BESIDE * view.pitch, ...places.map(([x, , w]) => Math.max(cx - x, x + w - cx) + air));
  const half = Math.max(whole ? 0 : (CLOSE * view.pitch) / 2, ...places.map(([, y, , h]) => Math.max(cy - y, y + h - cy) + air));
  return [cx - beside, cy - half, 2 * beside, 2 * half];
}
const middle = ([x, y, w, h]) => [x + w / 2, y + h / 2];

/** Draws a flag into `stage`. `onLoad(isLoaded)` is called when its image was loaded or failed to, unless another flag is
 * shown by then. */
export function draw(stage, flag, whole, label, onLoad, edits = []) {
  const { view } = flag;
  if (!view) {
    stage.classList.remove("waiting");
    stage.replaceChildren(...contextAlone(flag));
    onLoad(true);
    return;
  }
  const [x, y, w, h] = view.area;
  const [left, top, wide, tall] = visibleArea(flag, whole);
  const [cx, cy] = middle(view.focus);
  const lean = Math.tan((view.skew * Math.PI) / 180); // pixels by which the column moves to the right per pixel down
  const colW = Math.max(view.column[2] - Math.abs(lean) * view.column[3], view.column[2] / 2);
  const colX = view.column[0] + view.column[2] / 2 + lean * (cy - view.column[1] - view.column[3] / 2) - colW / 2;
  const columns = flag.kind === "layout" ? [[flag.transcribed, "said"], [flag.image_text, "seen"]].filter(([text]) => text) : null;
  const gap = 0.2 * view.pitch;
  const scale = columns ? Math.max(1, tall / (CLOSE * 2 * view.pitch)) : 1; // text grows with the visible area
  const textW = TEXT_WIDTH * view.pitch * scale;
  const textX = left + wide + gap + textW / 2 - cx; // distance in x from the column on the image to its text
  const air = 0.06 * view.pitch;

  const drawing = svg("svg", {
    viewBox: `${left} ${top} ${wide + gap + textW} ${tall}`,
    preserveAspectRatio: "xMidYMid meet",
    "aria-hidden": "true",
  });
  const imageClip = svg("clipPath", { id: "image-clip" }, svg("rect", { x: left, y: top, width: wide, height: tall }));
  const image = svg("image", {
    href: piece(view.image, view.area), x, y, width: w, height: h, preserveAspectRatio: "none", class: "paper",
  });
  const shade = (from, to) => svg("rect", { class: "beside", x: from, y: top - h, width: Math.max(to - from, 0), height: 3 * h });
  const page = svg("g", { "clip-path": "url(#image-clip)" },
    svg("rect", { class: "ground", x: left, y: top, width: wide, height: tall }),
    svg("g", { transform: `rotate(${view.skew.toFixed(3)} ${cx} ${cy})` }, image),
    shade(left - w, colX), shade(colX + colW, left + 2 * w), frame(view.focus, air, "place"));
  if (flag.other?.bbox) page.append(svg("g", { transform: `rotate(${view.skew.toFixed(3)} ${cx} ${cy})` }, frame(flag.other.bbox, air, "place other")));
  const textClip = svg("clipPath", { id: "text-clip" }, svg("rect", { x: left + wide, y: top, width: gap + textW, height: tall }));
  const sheet = [left + wide + gap, top, textW, tall];
  drawing.append(svg("defs", {}, imageClip, textClip), page, columns ? sourceColumns(columns, view, sheet) : transcript(view, textX, sheet, air, edits));
  const loading = loadPicture(flag);
  stage.classList.toggle("waiting", !loading.image.complete);
  loading.ready.then((isLoaded) => {
    if (!stage.contains(drawing)) return;
    stage.classList.remove("waiting");
    onLoad(isLoaded);
  });
  stage.replaceChildren(drawing, thumbnail(view), make("p", { class: "loading", role: "status" }, say("imageLoading")));
  stage.setAttribute("aria-label", label);
}

/** The text of a character after an edit that covers it; empty if it is deleted. */
export function standing(text, offset, edit) {
  const now = [...edit.reading];
  const at = offset - edit.offset;
  return now.length === edit.length ? now[at] : at ? "" : edit.reading;
}

/** The text of a character after edits, followed by text that is inserted after it. */
function edited(character, edits) {
  const own = edits.find(({ offset, length }) => offset <= character.offset && character.offset < offset + length);
  const behind = edits.filter(({ offset, length }) => !length && offset === character.offset + 1).map(({ reading }) => reading).join("");
  return (own && character.offset >= 0 ? standing(character.text, character.offset, own) : character.text) + behind;
}

/** The text of the column at the heights of its glyphs; characters without a glyph are shown beside it, with a wedge. */
function transcript(view, textX, [x, y, width, height], air, edits) {
  const text = svg("g", { lang: script, class: "text", "clip-path": "url(#text-clip)" }, svg("rect", { class: "sheet", x, y, width, height }));
  if (view.gap) text.append(frame([view.gap[0] + textX, ...view.gap.slice(1)], air, "gap"));
  for (const character of view.characters) {
    const [at, half] = [character.x + textX, character.em / 2];
    if (character.without_glyph) text.append(svg("path", { class: "wedge", d: `M ${at - 2.1 * half} ${character.y} l ${half} ${-0.7 * half} v ${1.4 * half} z` }));
    if (character.marked) text.append(frame([at - half, character.y - half, character.em, character.em], air, "said"));
    const now = character.marked ? character.text : edited(character, edits);
    text.append(...upright(now, at, character.y, character.em, character.marked ? "said" : now === character.text ? "" : "seen"));
  }
  return text;
}

const DESCRIPTION = /^[\u2ff0-\u2fff\u31ef]|^&/u; // a character by its components, or an entity

/** The text elements in the place of one character: up to `MOST_IN_CELL` below one another, or 〓 for longer text. */
function upright(text, x, y, em, cls) {
  const parts = DESCRIPTION.test(text) || [...text].length > MOST_IN_CELL ? ["〓"] : [...text];
  const size = em / Math.max(parts.length, 1);
  return parts.map((part, n) => svg("text", { x, y: y + (n - (parts.length - 1) / 2) * size, "font-size": size, class: cls }, part));
}

/** Columns of source text side by side, as large as they fit: the text, and the reading of the image. */
function sourceColumns(columns, view, [x, y, width, height]) {
  const text = svg("g", { lang: script, class: "text", "clip-path": "url(#text-clip)" }, svg("rect", { class: "sheet", x, y, width, height }));
  const [, top, , high] = view.focus;
  const placed = columns.map(([source]) => inRows(source));
  const down = Math.max(...placed.map(({ length }) => length));
  const step = Math.min(width / 3.2, high / Math.max(down, 1));
  placed.forEach(({ characters }, n) => {
    const middleX = x + (width * (n + 0.5)) / columns.length;
    for (const character of characters)
      text.append(...upright(character.text, middleX + character.across * step, top + (character.down + character.size / 2) * step, 0.86 * character.size * step, columns[n][1]));
  });
  return text;
}

/** The characters of a column of source text with their places, in heights of a character; notes have two rows. */
function inRows(source) {
  const characters = [];
  let [down, row, start, deepest] = [0, "main", 0, 0];
  for (const text of source.match(/[\u2ff0-\u2fff\u31ef][^()/]*|&[^;]*;|./gu) ?? []) {
    if (text === "(") [row, start, deepest] = ["right", down, down];
    else if (text === "/" && row !== "main") [row, down] = ["left", start];
    else if (text === ")") [row, down] = ["main", deepest];
    else {
      const size = row === "main" ? 1 : 0.5;
      if (text.trim()) characters.push({ text, down, size, across: { main: 0, right: 0.27, left: -0.27 }[row] });
      down += size;
      deepest = Math.max(deepest, down);
    }
  }
  return { characters, length: Math.max(down, deepest) };
}

/** The thumbnail of the half-folio, with a mark at the glyph. */
function thumbnail(view) {
  const [x, y, w, h] = view.page;
  const [cx, cy] = middle(view.focus);
  const size = w > h ? `${THUMB},` : `,${THUMB}`;
  return svg("svg", { viewBox: `${x} ${y} ${w} ${h}`, class: "thumb", "aria-hidden": "true" },
    svg("image", { href: piece(view.image, view.page, size), x, y, width: w, height: h, preserveAspectRatio: "none", class: "paper" }),
    svg("circle", { cx, cy, r: Math.max(w, h) / 28, class: "here" }));
}

/** The vertical context of a flag without a place on an image. */
function contextAlone(flag) {
  const box = make("p", { class: "vertical han", lang: script }, flag.before, make("mark", {}, flag.transcribed || nothing()), flag.after);
  return flag.page.image ? [box] : [make("p", { class: "soft none" }, say("noImage")), box];
}

/** Shows the tile of the flag's glyph. */
export function drawGlyph(image, flag) {
  const shown = Boolean(flag.view);
  image.classList.toggle("none", !shown);
  if (shown) image.src = flag.tile ?? glyphOf(flag);
  else image.removeAttribute("src");
  image.alt = shown ? image.dataset.alt : "";
}
