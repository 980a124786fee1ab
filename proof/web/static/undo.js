// What a person did last is taken back, or done again, on whatever view; what was done is named.

import { sent, whyNot } from "./outbox.js";
import { Problem, api, ask, isShortcut, make, may, oneAtATime, person, say, uuid, work } from "./shell.js";

const OWN = `${work}:${encodeURIComponent(person)}`;
const [TOLD, ASKED] = [`proof-told:${OWN}`, `proof-undo:${OWN}`];
const line = document.getElementById("act-told");

let last = null; // what is said at the moment

/** Says what was done; `way` is how it is undone: "undo", "redo" or nothing; `more` is what else can be done about it. */
export function tell(text, way = "", more = []) {
  if (!line) return;
  line.replaceChildren(text, " ");
  if (way) line.append(make("button", { type: "button", "data-undo": way }, make("kbd", {}, way === "undo" ? "Z" : "Y"), " ", say(way)));
  line.append(...more, make("button", { type: "button", class: "quiet", "aria-label": say("close"), onclick: () => tell("") }, "×"));
  line.hidden = !text;
  last = text ? [text, way] : null;
}

/** What is said now is said again by the page that is shown next. */
export function keepTold() {
  try {
    if (last) sessionStorage.setItem(TOLD, JSON.stringify(last));
  } catch (error) {
    reportError(error);
  }
}

/** Has the page that is shown next say what was done. */
export function tellNext(text, way = "undo") {
  try {
    sessionStorage.setItem(TOLD, JSON.stringify([text, way]));
  } catch (error) {
    reportError(error); // the page shows what was done all the same
  }
}

/** Shows the page as it now is, and there says what was done. */
export function tellAnew(text, way = "undo") {
  tellNext(text, way);
  location.reload();
}

const asked = () => JSON.parse(sessionStorage.getItem(ASKED) ?? "{}");

/** Asks the server to take back what the person did last ("undo"), or to do it again ("redo"). What it may have done
 * already without our hearing of it is asked for under the same key: it is not done twice. */
export async function askBack(way, more = {}) {
  await sent();
  const key = asked()[way] ?? uuid();
  sessionStorage.setItem(ASKED, JSON.stringify({ ...asked(), [way]: key }));
  const answered = () => sessionStorage.setItem(ASKED, JSON.stringify({ ...asked(), [way]: undefined }));
  try {
    const undone = await ask(api(way), { key, ...more });
    if (!undone?.told) throw new Problem(0, null); // cut off, or somebody in between answered
    answered();
    return undone;
  } catch (problem) {
    if (problem.status >= 400 && problem.status < 500 && ![401, 429].includes(problem.status)) answered();
    throw problem;
  }
}

/** Says why nothing was taken back; what others changed can be left to them. */
export function tellRefused(way, problem, again) {
  const leave = () => make("button", { type: "button", onclick: () => again(way, { leave: true }) }, say("leaveIt"));
  tell(whyNot(problem), "", problem.status === 409 ? [leave()] : []);
}

/** Takes back or does again, and shows the page as it then is. */
export async function takeBack(way, more = {}) {
  try {
    const undone = await askBack(way, more);
    tellAnew(undone.told, way === "undo" ? "redo" : "undo");
  } catch (problem) {
    tellRefused(way, problem, through);
  }
}

let through = oneAtATime(takeBack);
/** Has keys and buttons go through `act`, which keeps them in order with what else is done on the page. */
export function goThrough(act) {
  through = act;
}

if (may("decide")) {
  addEventListener("keydown", (event) => {
    if (!isShortcut(event) || event.repeat) return;
    const way = { z: event.shiftKey ? "redo" : "undo", y: "redo" }[event.key.toLowerCase()];
    if (way) through(way);
  });
  addEventListener("click", (event) => {
    const way = event.target.closest("[data-undo]")?.dataset.undo;
    if (way) through(way);
  });
}

const told = sessionStorage.getItem(TOLD);
if (told) {
  sessionStorage.removeItem(TOLD);
  tell(...JSON.parse(told));
}
