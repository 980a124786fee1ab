// On the desk: a row of glyphs of the work that are transcribed as the text's character, the glyph of the flag, and a row
// of glyphs transcribed as the suggested character. A candidate can also be laid over the glyph as an outline.

import { $, api, ask, glyphAt, glyphOf, make, say, script } from "./shell.js";

const SHOWN = 8;
const KEPT = 80; // characters whose glyphs are cached
const known = new Map();

/** The most typical glyphs of a character; cached. */
function typical(text) {
  let found = known.get(text);
  if (!found) {
    found = ask(`${api("glyphs")}?${new URLSearchParams({ text, order: "alike", limit: SHOWN + 1, tiles: true })}`).then((said) => said.items, () => {
      known.delete(text); // requested again when it is next shown
      return [];
    });
    known.set(text, found);
    if (known.size > KEPT) known.delete(known.keys().next().value);
  }
  return found;
}

const candidates = (flag) => [flag.transcribed, flag.suggested].filter((text) => flag.kind !== "layout" && [...text].length === 1);

/** Requests the typical glyphs of a flag that is shown soon. */
export function prepareBeside(flag) {
  if (flag.view && isShown()) for (const text of candidates(flag)) typical(text);
}

export const isShown = () => localStorage.getItem("proof-beside") !== "0";

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
    const others = items.filter((one) => one.page !== flag.page.number || one.line !== flag.line || one.offset !== flag.offset).slice(0, SHOWN);
    list.append(...others.map((one) => make("li", {}, make("img", { class: "paper", alt: "", title: one.name, width: 40, height: 40, src: one.tile ?? glyphAt(one) }))));
    if (!others.length) list.append(make("li", { class: "soft" }, say("noOthers")));
  });
  return list;
}

const ORDER = ["", "said", "seen"];
/** Shows the next outline over the glyph: the text's character, then the suggested one, then none. */
export function nextOutline(flag) {
  let to = ORDER.indexOf($("outline").dataset.of ?? "");
  do to = (to + 1) % ORDER.length;
  while (ORDER[to] && ![...textOf(flag, ORDER[to])].length);
  outline(ORDER[to], textOf(flag, ORDER[to]));
}
const textOf = (flag, of) => ({ said: flag.transcribed, seen: flag.suggested })[of] ?? "";
function outline(of, text = "") {
  $("outline").dataset.of = of;
  $("outline").setAttribute("class", of);
  $("outline").firstElementChild.textContent = [...text].length === 1 ? text : "";
}

