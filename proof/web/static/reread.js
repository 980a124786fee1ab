// A page that is read again: asked for, followed until it is there, taken back; and what came of it is told.

import { api, ask, data, make, may, person, say, why } from "./shell.js";
import { keepTold } from "./undo.js";

const own = `pages/${data.number}`;
const OUTCOME = "proof-read-again";
const PAUSE = 700;

const pause = () => new Promise((done) => { setTimeout(done, PAUSE); });
const underWay = (said) => said.state === "waiting" || said.state === "reading";
const passing = (problem) => problem.status === 0 || problem.status >= 500 || problem.status === 429;

const details = (text) => (text ? make("details", {}, make("summary", {}, say("detail")), text) : "");

function stage(said) {
  if (!said.askers.length) return say("rereadStopping");
  if (!said.askers.includes(person)) return say("rereadAsked", { person: said.askers.join(", ") });
  return say(said.state === "waiting" ? "rereadWaits" : "rereadReading");
}

/** Follows a reading; where it stands is said at `place`, with a way to take it back. What came of it; null where the
 * server no longer knows and nobody here asked for it. */
export async function follow(said, place) {
  let kept = false; // read for others, though it was taken back here
  let takenBack = false;
  const text = make("span");
  const stop = make("button", { type: "button", class: "stop" }, say("rereadStop"));
  stop.addEventListener("click", async () => {
    stop.disabled = true;
    try {
      said = await ask(api(`${own}/read-again/${said.job}/stop`), {});
      takenBack = true;
      kept = said.askers.length > 0;
      tell();
    } catch (problem) {
      if (problem.status !== 404) text.textContent = why(problem);
      stop.disabled = false;
    }
  });
  const tell = () => { // in place: a button that is exchanged under a finger is not pressed
    const others = said.askers.filter((one) => one !== person);
    text.textContent = kept && others.length ? say("rereadShared", { person: others.join(", ") }) : stage(said);
    stop.hidden = !said.askers.length || !(said.askers.includes(person) || may("overrule"));
  };
  const focused = place.contains(document.activeElement) || document.activeElement === document.body;
  place.replaceChildren(text, " ", stop);
  tell();
  if (focused && !stop.hidden) stop.focus();
  while (underWay(said)) {
    await pause();
    try {
      const known = said;
      const now = await ask(api(`${own}/read-again/${said.job}`));
      if (said === known || !underWay(now)) said = now; // else it was taken back since
      tell();
    } catch (problem) {
      if (problem.status === 404) {
        if (takenBack || !said.askers.length) return { ...said, state: "stopped" };
        if (!said.askers.includes(person)) return null;
        said = await request(); // the server was started anew
      } else if (!passing(problem)) throw problem;
      else text.textContent = say("stillSilent");
    }
  }
  return said;
}

/** Has the page read again. */
export const request = () => ask(api(`${own}/read-again`), {});

/** Shows the page as it was read, or says how to come to it where something typed would be lost. */
export function show(outcome, notices) {
  sessionStorage.setItem(OUTCOME, JSON.stringify({ page: data.number, said: outcome }));
  const dialog = document.querySelector("dialog[open]");
  keepTold(); // that it was read again may be what an undo led to
  if (!dialog) return location.reload();
  dialog.addEventListener("close", () => {
    notices.append(make("p", { class: "notice" }, say("rereadKept"), " ", make("button", { type: "button", onclick: () => location.reload() }, say("reload"))));
  }, { once: true });
}

/** What came of a reading that is over, as far as it is no page to show. */
export function failure(said, place) {
  if (said.state === "stopped") place.replaceChildren(say("rereadStopped"));
  else place.replaceChildren(say("rereadFailed", { detail: said.told || said.reason }), " ", said.told ? details(said.reason) : "");
}

/** What came of the reading that this page shows. */
export function told(notices) {
  const kept = JSON.parse(sessionStorage.getItem(OUTCOME) ?? "null");
  if (kept?.page !== data.number) return;
  sessionStorage.removeItem(OUTCOME);
  const { said } = kept;
  const lost = said.lost.map((flag) => make("li", {}, `${say("column", { number: flag.line })}: ${flag.transcribed} → ${flag.reading || flag.suggested}`));
  const summary = said.told ? say("rereadFailed", { detail: said.told })
    : say("rereadDone", { fresh: said.fresh, gone: said.gone, kept: said.kept, lost: said.lost.length });
  notices.append(make("div", { class: said.told ? "notice" : "told", id: "read-again-said" }, summary, " ", details(said.message), lost.length ? make("ul", {}, ...lost) : ""));
}
