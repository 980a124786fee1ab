// Decisions on their way to the server. Each waits in the browser's storage until the server has said that it
// has it: through a restart of the server, a lost connection, a closed tab. Sent again it is not doubled.

import { api, ask, person, work } from "./shell.js";

const PREFIX = `proof:${work}:${encodeURIComponent(person)}:`; // nobody sends what somebody else decided
const PAUSES = [250, 500, 1000, 2000, 4000];

export class Outbox {
  /** `done(entry, decision)`, `conflict(entry, problem)`, `refused(entry, problem)`, `waiting(count)`. */
  constructor(on) {
    this.on = on;
    this.entries = [];
    this.sending = false;
    this.failures = 0;
    this.count = Date.now() * 1000;
    for (const key of Object.keys(localStorage).filter((key) => key.startsWith(PREFIX)).sort()) {
      try {
        this.entries.push({ ...JSON.parse(localStorage.getItem(key)), key });
      } catch {
        localStorage.removeItem(key);
      }
    }
    addEventListener("online", () => this.send());
    if (this.entries.length) this.send();
  }

  put(flag, body) {
    const entry = { flag, body, key: `${PREFIX}${String((this.count += 1)).padStart(20, "0")}` };
    localStorage.setItem(entry.key, JSON.stringify({ flag, body }));
    this.entries.push(entry);
    this.send();
    return entry;
  }

  get pending() {
    return this.entries.length;
  }

  drop(entry) {
    localStorage.removeItem(entry.key);
    this.entries = this.entries.filter((other) => other !== entry);
  }

  async send() {
    if (this.sending) return;
    this.sending = true;
    while (this.entries.length) {
      const entry = this.entries[0];
      try {
        const decision = await ask(api(`flags/${entry.flag}/decisions`), entry.body);
        this.drop(entry);
        this.failures = 0;
        this.on.done(entry, decision);
      } catch (problem) {
        const over = problem.status === 401 || problem.document.code === "token"; // the page is loaded anew
        if (over || problem.status === 0 || problem.status >= 500 || problem.status === 429) {
          this.failures += 1;
          this.on.waiting(this.entries.length);
          await new Promise((resolve) => setTimeout(resolve, PAUSES[Math.min(this.failures, PAUSES.length) - 1]));
          continue;
        }
        // what was built on it cannot stand either
        for (const later of this.entries.filter((other) => other.flag === entry.flag)) this.drop(later);
        if (problem.status === 409) this.on.conflict(entry, problem);
        else this.on.refused(entry, problem);
      }
    }
    this.sending = false;
    this.on.waiting(0);
  }
}
