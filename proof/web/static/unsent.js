// What a desk could not send before it was left goes from whatever page of the work is opened next.

import { Outbox, ahead } from "./outbox.js";
import { make, may, say, why, work } from "./shell.js";

const lines = document.getElementById("unsent");

/** A line about a decision that was not written, with the way to its flag. */
function tell(entry, text) {
  const where = `/works/${encodeURIComponent(work)}/desk?flag=${entry.flag}`;
  lines.append(make("p", { class: "notice" }, text, " ", make("a", { href: where }, say("lookAgain"))));
}

function waiting(count) {
  const line = document.getElementById("waiting");
  if (!count) return line?.remove();
  (line ?? lines.appendChild(make("p", { id: "waiting", class: "notice" }))).textContent = say("unsent", { num: count });
}

if (may("decide"))
  new Outbox({
    done() {},
    conflict(entry, problem) { tell(entry, ahead(problem)); },
    refused(entry, problem) { tell(entry, why(problem)); },
    waiting,
  });
