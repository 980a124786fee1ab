// On the desk: a row of glyphs of the work that are transcribed as the text's character, the glyph of the flag, and a row
// of glyphs transcribed as the suggested character. A candidate can also be laid over the glyph as an outline.

import { $, api, ask, glyphAt, glyphOf, make, say, script } from "./shell.js";

const SHOWN = 8; // glyphs in a row
const MOST_CACHED = 80; // characters whose glyphs are cached
const cache = new Map(); // promises of glyphs, by character

/** The most typical glyphs of a character; cached. */
function typical(text) {
  let glyphs = cache.get(text);
  if (!glyphs) {
    glyphs = ask(`${api("glyphs")}?${new URLSearchParams({ text, order: "alike", limit: SHOWN + 1, tiles: true })}`).then(({ items }) => items, () => {
      cache.delete(text); // requested again when it is next shown
      return [];
    });
    cache.set(text, glyphs);
    if (cache.size > MOST_CACHED) cache.delete(cache.keys().next().value);
  }
  return glyphs;
}

const candidates = (flag) => [flag.transcribed, flag.suggested].filter((text) => flag.kind !== "layout" && [...text].length === 1);

/** Requests the typical glyphs of a flag that is shown soon. */
export function prepareBeside(flag) {
  if (flag.view && isShown()) for (const text of candidates(flag)) typical(text);
}

const isShown = () => localStorage.getItem("proof-beside") !== "0";

export function toggleBeside(flag) {
  localStorage.setItem("proof-beside", isShown() ? "0" : "1");
  showBeside(flag);
}

/** Shows the rows of a flag. Empty rows keep their height, so that the buttons below do not move. */
export function showBeside(flag) {
  const box = $("beside");
  const shown = isShown() && Boolean(flag?.view) && candidates(flag).length > 0;
  $("beside-open").setAttribute("aria-expanded", String(isShown()));
  box.hidden = !isShown();
  box.dataset.flag = flag?.number ?? "";
  outline("");
  if (!box.hidden) box.replaceChildren(...(shown ? [row(flag, flag.transcribed, "said"), own(flag), row(flag, flag.suggested, "seen")] : []));
}

function own(flag) {
  return make("p", { class: "own" }, make("img", { class: "paper", alt: "", width: 40, height: 40, src: flag.tile ?? glyphOf(flag) }), make("span", { class: "soft" }, say("thisGlyph")));
}

function row(flag, text, kind) {
  const list = make("ol", { class: kind, "aria-label": say("glyphsOf", { text: text || say("nothing") }) });
  if ([...text].length !== 1) return list;
  list.append(make("li", { class: "kai", lang: script }, text));
  typical(text).then((items) => {
    if ($("beside").dataset.flag !== String(flag.number)) return;
    const others = items.filter(({ page, line, offset }) => page !== flag.page.number || line !== flag.line || offset !== flag.offset).slice(0, SHOWN);
    list.append(...others.map((glyph) => make("li", {}, make("img", { class: "paper", alt: "", title: glyph.name, width: 40, height: 40, src: glyph.tile ?? glyphAt(glyph) }))));
    if (!others.length) list.append(make("li", { class: "soft" }, say("noOthers")));
  });
  return list;
}

const ORDER = ["", "said", "seen"];
/** Shows the next outline over the glyph: the text's character, then the suggested one, then none. */
export function nextOutline(flag) {
  let index = ORDER.indexOf($("outline").dataset.of ?? "");
  do index = (index + 1) % ORDER.length;
  while (ORDER[index] && !textOf(flag, ORDER[index]));
  outline(ORDER[index], textOf(flag, ORDER[index]));
}
const textOf = (flag, of) => ({ said: flag.transcribed, seen: flag.suggested })[of] ?? "";
function outline(of, text = "") {
  $("outline").dataset.of = of;
  $("outline").setAttribute("class", of);
  $("outline").firstElementChild.textContent = [...text].length === 1 ? text : "";
}

