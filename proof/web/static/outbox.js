// Decisions on their way to the server. Each waits in the browser's storage until the server has said that it
// has it: through a restart of the server, a lost connection, a closed tab. Sent again it is not doubled, whichever
// of several tabs sends it.

import { Problem, api, ask, make, person, request, say, underWay, uuid, why, words, work } from "./shell.js";

const PREFIX = `proof:${work}:${encodeURIComponent(person)}:`; // nobody sends what somebody else decided
const PAUSES = [250, 500, 1000, 2000, 4000];
const LATE = 4000; // milliseconds without an answer after which it is said that there is none
const LAST = 20; // decisions that go after a page that is left
const PATIENCE = 5000; // milliseconds that decisions which were not sent yet are waited for

/** Whether the server may answer otherwise when asked again: it was not reached, stopped, busy, or the session is over. */
const passing = ({ status, document }) => status === 0 || status >= 500 || status === 401 || status === 429 || document.code === "token";

/** A decision in words. */
function worded(decision) {
  if (!decision) return "";
  const verdict = words.verdicts[decision.verdict] ?? decision.verdict;
  if (decision.state !== "corrected") return verdict;
  return decision.reading ? `${verdict} ${decision.reading}` : say("deletes", { text: decision.transcribed });
}

/** Who decided before one's own decision came, and what. */
export const ahead = (last) => say("ahead", { person: last?.person ?? "", verdict: worded(last) });

/** Tells at `place` how many decisions wait, as long as some do. */
export function waitingAt(place, count) {
  const line = document.getElementById("waiting");
  if (!count) return line?.remove();
  (line ?? place.appendChild(make("p", { id: "waiting", class: "notice" }))).textContent = say("unsent", { num: count });
}

function kept() {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX)).sort();
  } catch {
    return []; // a browser that keeps nothing: what is decided is sent all the same
  }
}

/** How many decisions of this browser wait for the server, from whatever tab. */
export const unsent = () => kept().length;

/** Waits until everything that was decided in this browser is at the server: else something older would be taken back,
 * or taken home. */
export async function sent() {
  const until = Date.now() + PATIENCE;
  while (unsent() || underWay.size) {
    if (Date.now() > until) throw new Problem(0, null);
    await Promise.race([Promise.allSettled([...underWay]), new Promise((resolve) => setTimeout(resolve, 100))]);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Why something was not done that waits for what was decided. */
export function whyNot(problem) {
  const waiting = problem.status === 0 ? unsent() : 0;
  return waiting ? say("unsent", { num: waiting }) : problem.document?.told ?? why(problem);
}

/** What a listener does wrong keeps nothing from being sent. */
function tell(listener, ...said) {
  try {
    listener(...said);
  } catch (error) {
    reportError(error);
  }
}

export class Outbox {
  /** `done(entry, decision)`, `conflict(entry, problem)`, `refused(entry, problem)`, `waiting(count)`. */
  constructor(on) {
    this.on = on;
    this.entries = [];
    this.sending = false;
    this.failures = 0;
    this.count = Math.max(Date.now() * 1000, ...kept().map((key) => Number(key.slice(PREFIX.length).split(":")[0]) || 0)); // whatever the clock says
    this.own = uuid().slice(0, 8); // two tabs of one moment write beside each other
    for (const key of kept()) {
      try {
        this.entries.push({ ...JSON.parse(localStorage.getItem(key)), key, kept: true });
      } catch {
        localStorage.removeItem(key);
      }
    }
    addEventListener("online", () => this.send());
    addEventListener("pagehide", () => this.leave());
    addEventListener("beforeunload", (event) => {
      if (this.entries.some((entry) => !entry.kept)) event.preventDefault();
    });
    if (this.entries.length) this.send();
  }

  /** `after` is how the flag is taken to stand once it is sent, `was` how it stood: both with its version. */
  put(flag, body, after, was) {
    const entry = { flag, body, after, was };
    const key = `${PREFIX}${String((this.count += 1)).padStart(20, "0")}:${this.own}`;
    let safe = true;
    try {
      localStorage.setItem(key, JSON.stringify(entry));
    } catch {
      safe = false; // full, or shut: it does not outlive this page, which says so before it is left
    }
    this.entries.push({ ...entry, key, kept: safe });
    this.send();
  }

  /** How a flag is taken to stand once all is sent; nothing where nothing of it waits. */
  after(flag) {
    return this.entries.findLast((entry) => entry.flag === flag)?.after;
  }

  drop(entry) {
    if (entry.kept) localStorage.removeItem(entry.key);
    this.entries = this.entries.filter((other) => other !== entry);
  }

  async send() {
    if (this.sending) return;
    this.sending = true;
    while (this.entries.length) await this.next();
    this.sending = false;
    tell(this.on.waiting, 0);
  }

  async next() {
    const entry = this.entries[0];
    const late = setTimeout(() => tell(this.on.waiting, this.entries.length), LATE);
    try {
      const decision = await ask(api(`flags/${entry.flag}/decisions`), entry.body);
      // an answer that was cut off, or that somebody in between gave, says nothing of what the server has
      if (decision?.flag !== entry.flag) throw new Problem(0, null);
      this.drop(entry);
      this.failures = 0;
      tell(this.on.done, entry, decision);
    } catch (error) {
      const problem = error instanceof Problem ? error : new Problem(0, null);
      if (passing(problem)) { // where the session is over, the page is loaded anew
        this.failures += 1;
        tell(this.on.waiting, this.entries.length);
        await new Promise((resolve) => setTimeout(resolve, PAUSES[Math.min(this.failures, PAUSES.length) - 1]));
        return;
      }
      // what was built on it cannot stand either
      for (const later of this.entries.filter((other) => other.flag === entry.flag)) this.drop(later);
      tell(problem.status === 409 ? this.on.conflict : this.on.refused, entry, problem);
    } finally {
      clearTimeout(late);
    }
  }

  /** The page is left: what waits goes after it, unheard; of a flag only what comes first, since nobody keeps their
   * order. It stays kept, and the next page hears of it. */
  leave() {
    const first = this.entries.filter((entry, n) => this.entries.findIndex((other) => other.flag === entry.flag) === n);
    for (const entry of first.slice(0, LAST))
      request(api(`flags/${entry.flag}/decisions`), entry.body).catch(() => {});
  }
}
