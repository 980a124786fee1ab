// The queue of decisions to be sent. Each is kept in the browser's storage until the server has confirmed it, so that it
// survives a restart of the server, a lost connection or a closed tab. Requests have keys: sending one again, also from
// another tab, has no second effect.

import { $, Problem, api, ask, make, maySucceedLater, pause, pendingPosts, person, problemMessage, request, say, uuid, words, work } from "./shell.js";

const PREFIX = `proof:${work}:${encodeURIComponent(person)}:`; // by person, so that nobody sends decisions of others
const PAUSES = [250, 500, 1000, 2000, 4000];
const LATE = 4000; // milliseconds without an answer after which the user sees a message
const MOST_WHEN_LEFT = 20; // decisions, at most, that are sent when the page is left
const SENDING_TIMEOUT = 5000; // milliseconds to wait for unsent decisions

/** A decision in words. */
function inWords(decision) {
  if (!decision) return "";
  const verdict = words.verdicts[decision.verdict] ?? decision.verdict;
  if (decision.state !== "corrected") return verdict;
  return decision.reading ? `${verdict} ${decision.reading}` : say("deletes", { text: decision.transcribed });
}

/** The message that somebody else decided first, or the same person in another window. */
export const decidedByOther = (last) =>
  say(last?.person === person ? "aheadYourself" : "ahead", { person: last?.person ?? "", verdict: inWords(last) });

/** Shows in `place` how many decisions are waiting; removes the message if there are none. */
export function showWaiting(place, count) {
  const line = $("waiting");
  if (!count) return line?.remove();
  (line ?? place.appendChild(make("p", { id: "waiting", class: "notice" }))).textContent = say("unsent", { num: count });
}

function keptKeys() {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX)).sort();
  } catch {
    return []; // no storage: decisions are sent from memory
  }
}

/** The number of unsent decisions of all tabs of this browser. */
export const countUnsent = () => keptKeys().length;

/** Waits until the server has all decisions of this browser, before an undo or a download, which would miss the last
 * ones. Throws a Problem with status 0 after `SENDING_TIMEOUT`. */
export async function allSent() {
  const until = Date.now() + SENDING_TIMEOUT;
  while (countUnsent() || pendingPosts.size) {
    if (Date.now() > until) throw new Problem(0, null);
    await Promise.race([Promise.allSettled([...pendingPosts]), pause(100)]);
    await pause(20);
  }
}

/** The message for an act that had to wait for unsent decisions and failed. */
export function failureMessage(problem) {
  const waiting = problem.status === 0 ? countUnsent() : 0;
  return waiting ? say("unsent", { num: waiting }) : problem.document?.message ?? problemMessage(problem);
}

/** Calls a listener; its errors are reported but do not stop the sending. */
function call(listener, ...values) {
  try {
    listener(...values);
  } catch (error) {
    reportError(error);
  }
}

export class Outbox {
  /** Listeners: `done(entry, decision)`, `conflict(entry, problem)`, `refused(entry, problem)`, `waiting(count)`. */
  constructor(on) {
    this.on = on;
    this.entries = [];
    this.sending = false;
    this.failures = 0;
    this.count = Math.max(Date.now() * 1000, ...keptKeys().map((key) => Number(key.slice(PREFIX.length).split(":")[0]) || 0)); // rises even if the clock was set back
    this.tab = uuid().slice(0, 8); // distinguishes the keys of two tabs
    for (const key of keptKeys()) {
      try {
        this.entries.push({ ...JSON.parse(localStorage.getItem(key)), key, kept: true });
      } catch {
        localStorage.removeItem(key);
      }
    }
    addEventListener("online", () => this.send());
    addEventListener("pagehide", () => this.sendWhenLeft());
    addEventListener("beforeunload", (event) => {
      if (this.entries.some((entry) => !entry.kept)) event.preventDefault();
    });
    if (this.entries.length) this.send();
  }

  /** Queues a decision. `was` and `after` are the flag's state, reading and version before and (expected) after it. */
  put(flag, body, after, was) {
    const entry = { flag, body, after, was };
    const key = `${PREFIX}${String((this.count += 1)).padStart(20, "0")}:${this.tab}`;
    let isKept = true;
    try {
      localStorage.setItem(key, JSON.stringify(entry));
    } catch {
      isKept = false; // full or disabled: leaving the page asks first
    }
    this.entries.push({ ...entry, key, kept: isKept });
    this.send();
  }

  /** The expected state of a flag after all sending; undefined if no decision on it is waiting. */
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
    call(this.on.waiting, 0);
  }

  async next() {
    const entry = this.entries[0];
    const late = setTimeout(() => call(this.on.waiting, this.entries.length), LATE);
    try {
      const decision = await ask(api(`flags/${entry.flag}/decisions`), entry.body);
      // cut off, or from a proxy: it does not tell whether the server has the decision
      if (decision?.flag !== entry.flag) throw new Problem(0, null);
      this.drop(entry);
      this.failures = 0;
      call(this.on.done, entry, decision);
    } catch (error) {
      const problem = error instanceof Problem ? error : new Problem(0, null);
      if (maySucceedLater(problem)) {
        this.failures += 1;
        call(this.on.waiting, this.entries.length);
        await pause(PAUSES[Math.min(this.failures, PAUSES.length) - 1]);
        return;
      }
      // later decisions on the flag were based on this one
      for (const later of this.entries.filter((other) => other.flag === entry.flag)) this.drop(later);
      call(problem.status === 409 ? this.on.conflict : this.on.refused, entry, problem);
    } finally {
      clearTimeout(late);
    }
  }

  /** Sends the first waiting decision of each flag when the page is left; the order of several is not guaranteed then.
   * Answers are ignored: the decisions stay in storage, and the next page sends them again. */
  sendWhenLeft() {
    const first = this.entries.filter((entry, n) => this.entries.findIndex((other) => other.flag === entry.flag) === n);
    for (const entry of first.slice(0, MOST_WHEN_LEFT))
      request(api(`flags/${entry.flag}/decisions`), entry.body).catch(() => {});
  }
}
