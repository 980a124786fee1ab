// The column on the image and, beside it, the text at the places of its glyphs. All places are pixels of the
// image; the page is turned upright about the glyph in question.

import { glyphOf, make, nothing, piece, say, script } from "./shell.js";

const NS = "http://www.w3.org/2000/svg";
const CLOSE = 9; // characters shown close up
const BESIDE = 2.6; // heights of a character that are seen on either side of the glyph
const TEXT_WIDTH = 3.8; // width of the transcribed column, in heights of a character
const THUMB = 150; // pixels of the half-folio that is shown small

const svg = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

const pictures = new Map();

/** The picture of a flag's column, decoded, so that it is there the moment it is shown. */
export function picture(flag) {
  if (!flag.view) return null;
  const url = piece(flag.view.image, flag.view.area);
  let found = pictures.get(url);
  if (!found) {
    const image = new Image();
    image.decoding = "sync";
    image.src = url;
    found = { image, ready: image.decode().then(() => true, () => false), failed: false };
    found.ready.then((ok) => {
      found.failed = !ok;
      if (!ok) pictures.delete(url); // asked for anew where it is shown again
    });
    pictures.set(url, found);
    if (!flag.tile) new Image().src = glyphOf(flag);
    if (pictures.size > 60) pictures.delete(pictures.keys().next().value);
  }
  return found;
}

/** The image of a flag while it is on its way; null once it is there, or known not to come. */
export function pictureOn(flag) {
  const found = flag?.view ? pictures.get(piece(flag.view.image, flag.view.area)) : null;
  return found && !found.image.complete ? found.ready : null;
}

const frame = ([x, y, w, h], air, cls, more = {}) =>
  svg("rect", { class: cls, x: x - air, y: y - air, width: w + 2 * air, height: h + 2 * air, rx: 2, ...more });

/** Whether the other place of a character that moved is on the picture, and not where the close view shows it. */
const beyond = ({ view, other }) => Boolean(other?.bbox) && !within(other.bbox, seen(view, false)) && within(other.bbox, view.area);
const within = ([x, y, w, h], [left, top, wide, tall]) => x + w > left && x < left + wide && y >= top && y + h <= top + tall;

/** What is seen, in pixels of the image: as much about every glyph, so that it stands where the one before stood. */
function seen(view, whole) {
  const [x, y, w, h] = view.area;
  const [cx, cy] = middle(view.focus);
  const half = whole ? Math.max(cy - y, y + h - cy) : (CLOSE * view.pitch) / 2;
  const beside = whole ? Math.max(cx - x, x + w - cx) : BESIDE * view.pitch;
  return [cx - beside, cy - half, 2 * beside, 2 * half];
}
const middle = ([x, y, w, h]) => [x + w / 2, y + h / 2];

/** Draws a flag into `stage`; `came(ok)` hears whether its image did, unless another flag is shown by then. */
export function draw(stage, flag, whole, label, came) {
  const { view } = flag;
  if (!view) {
    stage.classList.remove("waiting");
    stage.replaceChildren(plain(flag));
    came(true);
    return;
  }
  const [x, y, w, h] = view.area;
  const [left, top, wide, tall] = seen(view, whole || beyond(flag));
  const [cx, cy] = middle(view.focus);
  const lean = Math.tan((view.skew * Math.PI) / 180); // how far the column moves to the right, a pixel down
  const colW = Math.max(view.column[2] - Math.abs(lean) * view.column[3], view.column[2] / 2);
  const colX = view.column[0] + view.column[2] / 2 + lean * (cy - view.column[1] - view.column[3] / 2) - colW / 2;
  const gap = 0.2 * view.pitch;
  const textW = TEXT_WIDTH * view.pitch;
  const textX = left + wide + gap + textW / 2 - cx; // from a place in the column to its text
  const air = 0.06 * view.pitch;

  const drawing = svg("svg", {
    viewBox: `${left} ${top} ${wide + gap + textW} ${tall}`,
    preserveAspectRatio: "xMidYMid meet",
    "aria-hidden": "true",
  });
  const clip = svg("clipPath", { id: "seen" }, svg("rect", { x: left, y: top, width: wide, height: tall }));
  const image = svg("image", {
    href: piece(view.image, view.area), x, y, width: w, height: h, preserveAspectRatio: "none", class: "paper",
  });
  const shade = (from, to) => svg("rect", { class: "beside", x: from, y: top - h, width: Math.max(to - from, 0), height: 3 * h });
  const page = svg("g", { "clip-path": "url(#seen)" },
    svg("rect", { class: "ground", x: left, y: top, width: wide, height: tall }),
    svg("g", { transform: `rotate(${view.skew.toFixed(3)} ${cx} ${cy})` }, image),
    shade(left - w, colX), shade(colX + colW, left + 2 * w), frame(view.focus, air, "place"));
  if (flag.other?.bbox) page.append(svg("g", { transform: `rotate(${view.skew.toFixed(3)} ${cx} ${cy})` }, frame(flag.other.bbox, air, "place other")));
  const told = svg("clipPath", { id: "told" }, svg("rect", { x: left + wide, y: top, width: gap + textW, height: tall }));
  drawing.append(svg("defs", {}, clip, told), page, transcript(view, textX, [left + wide + gap, top, textW, tall], air));
  const known = picture(flag);
  stage.classList.toggle("waiting", !known.image.complete);
  known.ready.then((ok) => {
    if (!stage.contains(drawing)) return;
    stage.classList.remove("waiting");
    came(ok);
  });
  stage.replaceChildren(drawing, thumbnail(view), make("p", { class: "loading", role: "status" }, say("imageLoading")));
  stage.setAttribute("aria-label", label);
}

/** The text of the column at the heights of its glyphs; what the image has no room for stands beside it, with a wedge. */
function transcript(view, textX, [x, y, width, height], air) {
  const text = svg("g", { lang: script, class: "text", "clip-path": "url(#told)" }, svg("rect", { class: "sheet", x, y, width, height }));
  if (view.gap) text.append(frame([view.gap[0] + textX, ...view.gap.slice(1)], air, "gap"));
  for (const one of view.characters) {
    const [at, half] = [one.x + textX, one.em / 2];
    if (one.wedged) text.append(svg("path", { class: "wedge", d: `M ${at - 2.1 * half} ${one.y} l ${half} ${-0.7 * half} v ${1.4 * half} z` }));
    if (one.marked) text.append(frame([at - half, one.y - half, one.em, one.em], air, "said"));
    const glyph = svg("text", { x: at, y: one.y, "font-size": one.em, class: one.marked ? "said" : "" });
    glyph.textContent = [...one.text].length > 3 ? "〓" : one.text;
    text.append(glyph);
  }
  return text;
}

/** The half-folio, small, and where on it the glyph stands. */
function thumbnail(view) {
  const [x, y, w, h] = view.page;
  const [cx, cy] = middle(view.focus);
  const size = w > h ? `${THUMB},` : `,${THUMB}`;
  const small = svg("svg", { viewBox: `${x} ${y} ${w} ${h}`, class: "thumb", "aria-hidden": "true" },
    svg("image", { href: piece(view.image, view.page, size), x, y, width: w, height: h, preserveAspectRatio: "none", class: "paper" }),
    svg("circle", { cx, cy, r: Math.max(w, h) / 28, class: "here" }));
  return small;
}

/** A flag without a place on an image: its context, vertical. */
function plain(flag) {
  const box = document.createElement("p");
  box.className = "vertical han";
  box.lang = script;
  const mark = document.createElement("mark");
  mark.append(flag.transcribed || nothing());
  box.append(flag.before, mark, flag.after);
  const both = document.createDocumentFragment();
  if (!flag.page.image) both.append(make("p", { class: "soft none" }, say("noImage")));
  both.append(box);
  return both;
}

/** The glyph alone, large: whole, about its own ink. */
export function drawGlyph(image, flag) {
  const shown = Boolean(flag.view);
  image.classList.toggle("none", !shown);
  if (shown) image.src = flag.tile ?? glyphOf(flag);
  else image.removeAttribute("src");
  image.alt = shown ? image.dataset.alt : "";
}
