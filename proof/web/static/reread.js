// Having a page read again: requests it, follows or cancels it, and shows the outcome.

import { api, ask, data, isTemporary, keep, make, may, pause, person, problemMessage, reloadButton, say } from "./shell.js";
import { keepMessage } from "./undo.js";

const pagePath = `pages/${data.number}`;
const OUTCOME = "proof-read-again";
const PAUSE = 700;

const isRunning = (job) => job.state === "waiting" || job.state === "running";

const details = (text) => (text ? make("details", {}, make("summary", {}, say("detail")), text) : "");

function stage(job) {
  if (!job.requested_by.length) return say("rereadStopping");
  if (!job.requested_by.includes(person)) return say("rereadAsked", { person: job.requested_by.join(", ") });
  return say(job.state === "waiting" ? "rereadWaits" : "rereadReading");
}

/** Follows a reading and shows its stage in `place`, with a button that cancels it. Resolves to its last state; null if
 * the server forgot a reading that only others requested. */
export async function follow(job, place) {
  let isShared = false; // cancelled here, but others still wait for it
  let isCancelled = false;
  const text = make("span");
  const stop = make("button", { type: "button", class: "stop" }, say("rereadStop"));
  stop.addEventListener("click", async () => {
    stop.disabled = true;
    try {
      job = await ask(api(`${pagePath}/read-again/${job.id}/stop`), {});
      isCancelled = true;
      isShared = job.requested_by.length > 0;
      showStage();
    } catch (problem) {
      if (problem.status !== 404) text.textContent = problemMessage(problem);
      stop.disabled = false;
    }
  });
  const showStage = () => { // in place: a button that is replaced while it is pressed gets no click
    const others = job.requested_by.filter((requester) => requester !== person);
    text.textContent = isShared && others.length ? say("rereadShared", { person: others.join(", ") }) : stage(job);
    stop.hidden = !job.requested_by.length || !(job.requested_by.includes(person) || may("overrule"));
  };
  const focused = place.contains(document.activeElement) || document.activeElement === document.body;
  place.replaceChildren(text, " ", stop);
  showStage();
  if (focused && !stop.hidden) stop.focus();
  while (isRunning(job)) {
    await pause(PAUSE);
    try {
      const before = job;
      const fresh = await ask(api(`${pagePath}/read-again/${job.id}`));
      if (job === before || !isRunning(fresh)) job = fresh; // else it was cancelled since the request
      showStage();
    } catch (problem) {
      if (problem.status === 404) {
        if (isCancelled || !job.requested_by.length) return { ...job, state: "stopped" };
        if (!job.requested_by.includes(person)) return null;
        job = await request(); // the server was restarted
      } else if (!isTemporary(problem.status)) throw problem;
      else text.textContent = say("stillSilent");
    }
  }
  return job;
}

/** Requests that the page is read again. */
export const request = () => ask(api(`${pagePath}/read-again`), {});

/** Reloads the page to show the new reading. If a dialog is open, offers that when the dialog closes. */
export function reloadWithOutcome(outcome, notices) {
  keep(OUTCOME, { page: data.number, outcome });
  const dialog = document.querySelector("dialog[open]");
  keepMessage(); // the reading may be the effect of an undo, whose message is shown again
  if (!dialog) return location.reload();
  dialog.addEventListener("close", () => {
    notices.append(make("p", { class: "notice" }, say("rereadKept"), " ", reloadButton()));
  }, { once: true });
}

/** Shows in `place` that a reading was cancelled or failed. */
export function showFailure(job, place) {
  if (job.state === "stopped") place.replaceChildren(say("rereadStopped"));
  else place.replaceChildren(say("rereadFailed", { detail: job.message || job.reason }), " ", job.message ? details(job.reason) : "");
}

/** Shows the outcome of the reading for which the page was reloaded. */
export function showOutcome(notices) {
  const kept = JSON.parse(sessionStorage.getItem(OUTCOME) ?? "null");
  if (kept?.page !== data.number) return;
  sessionStorage.removeItem(OUTCOME);
  const { outcome } = kept;
  const lost = outcome.lost.map((flag) => make("li", {}, `${say("column", { number: flag.line })}: ${flag.transcribed} → ${flag.reading || flag.suggested}`));
  const summary = outcome.message ? say("rereadFailed", { detail: outcome.message })
    : say("rereadDone", { fresh: outcome.fresh, gone: outcome.gone, kept: outcome.kept, lost: outcome.lost.length });
  notices.append(make("div", { class: outcome.message ? "notice" : "told", id: "read-again-said" }, summary, " ", details(outcome.detail), lost.length ? make("ul", {}, ...lost) : ""));
}
