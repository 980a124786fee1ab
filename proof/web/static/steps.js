// The steps of this tab on the desk: the decisions that can be undone and redone before the server has them, and the
// trail of the last ones. They are kept for the session.

import { $, han, keep, make, person, say, uuid, words, work } from "./shell.js";

const KEPT = `proof-steps:${work}:${person}`;
const TRAIL = 6; // steps in the trail
const OPENED = uuid(); // id of the list of flags in this page load

/** The steps that can be undone (`done`) and redone (`undone`), the last ones at the end. */
export const steps = JSON.parse(sessionStorage.getItem(KEPT) ?? '{"done":[],"undone":[]}');

/** From which of the two lists an undo or a redo moves a step, and to which. */
export const LISTS = { undo: ["done", "undone"], redo: ["undone", "done"] };

const keepSteps = () => keep(KEPT, steps); // without storage they can be undone until the page is reloaded
const all = () => [...steps.done, ...steps.undone];

export function addStep(step) {
  steps.done.push({ opened: OPENED, ...step });
  steps.undone = [];
}

/** Moves a step to the other list; `made` is the version of the flag that the undo or redo makes. */
export function moveStep(way, step, made) {
  const [from, to] = LISTS[way];
  steps[from] = steps[from].filter((other) => other !== step);
  if (step) steps[to].push(Object.assign(step, { made }));
}

/** Removes the steps on a flag. */
export function forgetSteps(number) {
  steps.done = steps.done.filter((step) => step.flag !== number);
  steps.undone = steps.undone.filter((step) => step.flag !== number);
  keepSteps();
  showTrail();
}

/** Notes the version of a flag in its steps: after a reload it shows whether somebody else has decided the flag since. */
export function noteVersion(number, version) {
  for (const step of all()) if (step.flag === number) step.version = version;
  keepSteps();
}

/** Whether a flag was decided since this list was opened. */
export const isDecidedHere = (flag) => steps.done.some((step) =>
  step.opened === OPENED && (step.flag === flag.number || (step.moved && step.flag === flag.other?.number)));

/** What a step did, as elements of the trail. */
function described({ state, moved, transcribed, reading, kind }) {
  const stateName = make("span", { class: "soft" }, words.states[state]);
  const isCorrected = state === "corrected";
  if (moved) return isCorrected ? [make("span", {}, say("moves", { text: moved }))] : [han(moved), stateName];
  if (isCorrected && !reading) return [make("span", {}, say("deletes", { text: transcribed }))];
  const text = transcribed || reading ? han(transcribed) : words.kinds[kind ?? "layout"];
  return isCorrected ? [text, make("span", {}, "→", han(reading)), stateName] : [text, stateName];
}

export function showTrail() {
  $("trail").replaceChildren(...steps.done.slice(-TRAIL).reverse().map((step) =>
    make("li", { class: `state ${step.state}` }, ...described(step))));
}
