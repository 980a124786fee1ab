// Readings that are typed: what an input method composes is neither sent nor ended by the keys that compose it.

import { Problem, ask, han, make, say, why } from "./shell.js";

const $ = (id) => document.getElementById(id);

/** Tells, of the keys of a box and of its form, whether an input method is at work in it. */
export function composing(box) {
  let begun = false;
  box.addEventListener("compositionstart", () => { begun = true; });
  box.addEventListener("compositionend", () => { setTimeout(() => { begun = false; }); });
  return (event) => begun || event.isComposing || event.keyCode === 229;
}

let doubted = null; // the reading that the server asked about last

/** What goes with a reading: that it is meant, where the server asked about it and it is sent once more. */
export function meant(reading) {
  const confirmed = reading !== "" && reading === doubted;
  doubted = null;
  return confirmed ? { confirmed } : {};
}

/** What a problem says of a reading that was typed; where it asks whether that is meant, the same once more says so. */
export function whyTyped(problem, reading) {
  doubted = problem.status === 428 ? reading : null;
  return doubted === null ? why(problem) : say("really", { detail: problem.message });
}

/**
 * The box in which a reading is typed: `take` is called with it, `close` at Escape. What `take` is refused is said
 * beside the box. An empty reading deletes nothing; `mayBeEmpty` says whether it means something else now.
 */
export function takeTyped(take, close, mayBeEmpty = () => false) {
  const composes = composing($("typed"));
  offerComposed($("typed"), $("typed-problem"));
  $("typed").addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (composes(event)) {
      if (event.key === "Enter") event.preventDefault();
    } else if (event.key === "Escape") close();
  });
  $("typing").addEventListener("submit", (event) => {
    event.preventDefault();
    if (composes(event)) return;
    const reading = $("typed").value.trim();
    $("typed-problem").textContent = "";
    if (!reading && !mayBeEmpty()) $("typed-problem").textContent = say("typeFirst");
    else take(reading).catch((problem) => {
      if (!(problem instanceof Problem)) throw problem;
      $("typed-problem").textContent = whyTyped(problem, reading);
    });
  });
}

const PARTS = /^[\p{Script=Han}⺀-⿟⿰-⿿㇀-㇣]{2,12}$/u;
const PAUSE = 250; // milliseconds after which somebody rests who types

/** Below a box in which parts of a character or its description are typed: the characters that have these. */
function offerComposed(box, below) {
  const list = make("p", { class: "composed", role: "status" });
  below.before(list);
  let waiting = 0;
  const offer = async () => {
    const parts = box.value.trim();
    const found = PARTS.test(parts) ? await ask(`/api/v1/components?${new URLSearchParams({ parts })}`).catch(() => null) : null;
    if (box.value.trim() !== parts) return;
    list.replaceChildren(...(found?.items.length ? [say("madeOf"), ...found.items.map((text) =>
      make("button", { type: "button", onclick: () => { box.value = text; list.replaceChildren(); box.focus(); } }, han(text)))] : []));
    if (list.childElementCount) list.scrollIntoView({ block: "nearest" });
  };
  box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(offer, PAUSE); });
  box.addEventListener("focus", () => list.replaceChildren());
}
