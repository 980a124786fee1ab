// Undo and redo of the person's last act, in every view, with a message that names the act.

import { allSent, failureMessage } from "./outbox.js";
import { $, BEFORE_POST, Problem, api, ask, closeButton, isShortcut, keep, make, may, maySucceedLater, oneAtATime, person, say, uuid, work } from "./shell.js";

const OWN = `${work}:${encodeURIComponent(person)}`;
const [MESSAGE, KEYS] = [`proof-told:${OWN}`, `proof-undo:${OWN}`];
const line = $("act-told");

let shown = null; // the message that is shown: [text, way]

/** Shows a message about an act. `way` adds the button "undo" or "redo", `more` adds further elements. */
export function showMessage(text, way = "", more = []) {
  if (!line) return;
  line.replaceChildren(text, " ");
  if (way) line.append(make("button", { type: "button", "data-undo": way }, make("kbd", {}, way === "undo" ? "Z" : "Y"), " ", say(way)));
  line.append(...more, closeButton(() => showMessage("")));
  line.hidden = !text;
  shown = text ? [text, way] : null;
}

/** Makes the next page show the present message again. */
export function keepMessage() {
  if (shown) keep(MESSAGE, shown);
}

/** Makes the next page show a message. */
export function showOnNextPage(text, way = "undo") {
  keep(MESSAGE, [text, way]); // without storage only the message is lost
}

/** Reloads the page, which then shows the message. */
export function reloadWithMessage(text, way = "undo") {
  showOnNextPage(text, way);
  location.reload();
}

const keptKeys = () => JSON.parse(sessionStorage.getItem(KEYS) ?? "{}");

// the last act is another one after any other request
addEventListener(BEFORE_POST, ({ detail }) => { if (![api("undo"), api("redo")].includes(detail)) sessionStorage.removeItem(KEYS); });

/** Asks the server for an undo or redo (`way`) of the person's last act. A request without an answer is repeated with its
 * key, so that it has no second effect, unless something else was done since. Throws a Problem. */
export async function requestUndo(way, more = {}) {
  await allSent();
  const key = keptKeys()[way] ?? uuid();
  keep(KEYS, { ...keptKeys(), [way]: key });
  const forgetKey = () => keep(KEYS, { ...keptKeys(), [way]: undefined });
  try {
    const undone = await ask(api(way), { key, ...more });
    if (!undone?.message) throw new Problem(0, null); // cut off, or from a proxy
    forgetKey();
    return undone;
  } catch (problem) {
    if (!maySucceedLater(problem)) forgetKey();
    throw problem;
  }
}

/** Shows why an undo or redo was refused; after a conflict with others, offers to leave out what they changed. */
export function showRefused(way, problem, again) {
  const leave = () => make("button", { type: "button", onclick: () => again(way, { leave: true }) }, say("leaveIt"));
  showMessage(failureMessage(problem), "", problem.status === 409 ? [leave()] : []);
}

/** Undoes or redoes, and reloads the page. */
export async function undoAndReload(way, more = {}) {
  try {
    const undone = await requestUndo(way, more);
    reloadWithMessage(undone.message, way === "undo" ? "redo" : "undo");
  } catch (problem) {
    showRefused(way, problem, undoOrRedo);
  }
}

let undoOrRedo = oneAtATime(undoAndReload);
/** Makes the keys and buttons of undo and redo call `act`, so that a page can order them among its other acts. */
export function handleUndoWith(act) {
  undoOrRedo = act;
}

if (may("decide")) {
  addEventListener("keydown", (event) => {
    if (!isShortcut(event) || event.repeat) return;
    const way = { z: event.shiftKey ? "redo" : "undo", y: "redo" }[event.key.toLowerCase()];
    if (way) undoOrRedo(way);
  });
  addEventListener("click", (event) => {
    const way = event.target.closest("[data-undo]")?.dataset.undo;
    if (way) undoOrRedo(way);
  });
}

const keptMessage = sessionStorage.getItem(MESSAGE);
if (keptMessage) {
  sessionStorage.removeItem(MESSAGE);
  showMessage(...JSON.parse(keptMessage));
}
