// Fields for typed readings. While an input method composes, its keys neither send the reading nor close the field.

import { $, Problem, ask, han, make, problemMessage, say } from "./shell.js";

/** A function that tells, for an event of a field or its form, whether an input method is composing in the field. */
function trackComposition(box) {
  let isComposing = false;
  box.addEventListener("compositionstart", () => { isComposing = true; });
  box.addEventListener("compositionend", () => { setTimeout(() => { isComposing = false; }); });
  return (event) => isComposing || event.isComposing || event.keyCode === 229;
}

let doubted = null; // the last reading that the server asked to confirm

/** The additional field of a request with a reading: `confirmed` if the server asked about that reading just before. */
export function confirmationOf(reading) {
  const confirmed = reading !== "" && reading === doubted;
  doubted = null;
  return confirmed ? { confirmed } : {};
}

/** The message of a problem with a typed reading. If the server asks for confirmation, sending it again confirms it. */
export function typedProblemMessage(problem, reading) {
  doubted = problem.status === 428 ? reading : null;
  return doubted === null ? problemMessage(problem) : say("really", { detail: problem.message });
}

/**
 * Installs a form with text fields: `submit` is called when it is submitted, `close` at Escape, unless an input method is
 * composing. Its keys are no shortcuts of the page. Returns a function that tells whether an input method is composing.
 */
export function installForm(form, fields, submit, close) {
  const composes = fields.map(trackComposition);
  const isComposing = (event) => composes.some((isIn) => isIn(event));
  form.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const isComposed = isComposing(event);
    if (isComposed && ["Enter", "Escape"].includes(event.key)) event.preventDefault();
    if (!isComposed && event.key === "Escape") close();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!isComposing(event)) submit();
  });
  return isComposing;
}

/**
 * Installs the field for a reading: `take` is called with the reading, `close` at Escape. If `take` rejects with a
 * Problem, its message is shown beside the field. An empty reading is refused unless `mayBeEmpty()`.
 */
export function installTypedField(take, close, mayBeEmpty = () => false) {
  offerComposed($("typed"), $("typed-problem"));
  installForm($("typing"), [$("typed")], () => {
    const reading = $("typed").value.trim();
    $("typed-problem").textContent = "";
    if (!reading && !mayBeEmpty()) $("typed-problem").textContent = say("typeFirst");
    else take(reading).catch((problem) => {
      if (!(problem instanceof Problem)) throw problem;
      $("typed-problem").textContent = typedProblemMessage(problem, reading);
    });
  }, close);
}

const PARTS = /^[\p{Script=Han}⺀-⿟⿰-⿿㇀-㇣]{2,12}$/u;
const PAUSE = 250; // milliseconds without typing before a request

/** Offers, below a field in which components or a description are typed, the characters that have these components. */
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
