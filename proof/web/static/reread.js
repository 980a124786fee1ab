// Having a page read again: requests it, follows or cancels it, and shows the outcome.

import { api, ask, data, make, may, pause, person, problemMessage, reloadButton, say } from "./shell.js";
import { keepMessage } from "./undo.js";

const own = `pages/${data.number}`;
const OUTCOME = "proof-read-again";
const PAUSE = 700;

const underWay = (said) => said.state === "waiting" || said.state === "reading";
const passing = (problem) => problem.status === 0 || problem.status >= 500 || problem.status === 429;

const details = (text) => (text ? make("details", {}, make("summary", {}, say("detail")), text) : "");

function stage(said) {
  if (!said.requested_by.length) return say("rereadStopping");
  if (!said.requested_by.includes(person)) return say("rereadAsked", { person: said.requested_by.join(", ") });
  return say(said.state === "waiting" ? "rereadWaits" : "rereadReading");
}

/** Follows a reading and shows its stage in `place`, with a button that cancels it. Resolves to its last state; null if
 * the server forgot a reading that only others requested. */
export async function follow(said, place) {
  let kept = false; // cancelled here, but others still wait for it
  let takenBack = false;
  const text = make("span");
  const stop = make("button", { type: "button", class: "stop" }, say("rereadStop"));
  stop.addEventListener("click", async () => {
    stop.disabled = true;
    try {
      said = await ask(api(`${own}/read-again/${said.job}/stop`), {});
      takenBack = true;
      kept = said.requested_by.length > 0;
      tell();
    } catch (problem) {
      if (problem.status !== 404) text.textContent = problemMessage(problem);
      stop.disabled = false;
    }
  });
  const tell = () => { // in place: a button that is replaced while it is pressed gets no click
    const others = said.requested_by.filter((one) => one !== person);
    text.textContent = kept && others.length ? say("rereadShared", { person: others.join(", ") }) : stage(said);
    stop.hidden = !said.requested_by.length || !(said.requested_by.includes(person) || may("overrule"));
  };
  const focused = place.contains(document.activeElement) || document.activeElement === document.body;
  place.replaceChildren(text, " ", stop);
  tell();
  if (focused && !stop.hidden) stop.focus();
  while (underWay(said)) {
    await pause(PAUSE);
    try {
      const known = said;
      const now = await ask(api(`${own}/read-again/${said.job}`));
      if (said === known || !underWay(now)) said = now; // else it was cancelled since the request
      tell();
    } catch (problem) {
      if (problem.status === 404) {
        if (takenBack || !said.requested_by.length) return { ...said, state: "stopped" };
        if (!said.requested_by.includes(person)) return null;
        said = await request(); // the server was restarted
      } else if (!passing(problem)) throw problem;
      else text.textContent = say("stillSilent");
    }
  }
  return said;
}

/** Requests that the page is read again. */
export const request = () => ask(api(`${own}/read-again`), {});

/** Reloads the page to show the new reading. If a dialog is open, offers that when the dialog closes. */
export function reloadWithOutcome(outcome, notices) {
  sessionStorage.setItem(OUTCOME, JSON.stringify({ page: data.number, said: outcome }));
  const dialog = document.querySelector("dialog[open]");
  keepMessage(); // the reading may be the effect of an undo, whose message is shown again
  if (!dialog) return location.reload();
  dialog.addEventListener("close", () => {
    notices.append(make("p", { class: "notice" }, say("rereadKept"), " ", reloadButton()));
  }, { once: true });
}

/** Shows in `place` that a reading was cancelled or failed. */
export function showFailure(said, place) {
  if (said.state === "stopped") place.replaceChildren(say("rereadStopped"));
  else place.replaceChildren(say("rereadFailed", { detail: said.message || said.reason }), " ", said.message ? details(said.reason) : "");
}

/** Shows the outcome of the reading for which the page was reloaded. */
export function showOutcome(notices) {
  const kept = JSON.parse(sessionStorage.getItem(OUTCOME) ?? "null");
  if (kept?.page !== data.number) return;
  sessionStorage.removeItem(OUTCOME);
  const { said } = kept;
  const lost = said.lost.map((flag) => make("li", {}, `${say("column", { number: flag.line })}: ${flag.transcribed} → ${flag.reading || flag.suggested}`));
  const summary = said.message ? say("rereadFailed", { detail: said.message })
    : say("rereadDone", { fresh: said.fresh, gone: said.gone, kept: said.kept, lost: said.lost.length });
  notices.append(make("div", { class: said.message ? "notice" : "told", id: "read-again-said" }, summary, " ", details(said.detail), lost.length ? make("ul", {}, ...lost) : ""));
}
