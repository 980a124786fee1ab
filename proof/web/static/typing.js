// Readings that are typed: what an input method composes is neither sent nor ended by the keys that compose it.

import { say } from "./shell.js";

const $ = (id) => document.getElementById(id);

/** Tells, of the keys of a box and of its form, whether an input method is at work in it. */
export function composing(box) {
  let begun = false;
  box.addEventListener("compositionstart", () => { begun = true; });
  box.addEventListener("compositionend", () => { setTimeout(() => { begun = false; }); });
  return (event) => begun || event.isComposing || event.keyCode === 229;
}

/** The box in which a reading is typed: `take` is called with it, `close` at Escape. An empty one deletes nothing. */
export function takeTyped(take, close) {
  const composes = composing($("typed"));
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
    if (reading) take(reading);
    else $("typed-problem").textContent = say("typeFirst");
  });
}
