// Sends, from any page of the work, decisions that the desk could not send before it was left.

import { Outbox, decidedByOther, showWaiting } from "./outbox.js";
import { $, make, may, problemMessage, say, workPath } from "./shell.js";

const lines = $("unsent");

/** Shows that a decision was refused, with a link to its flag. */
function tell(entry, text) {
  const where = workPath(`desk?flag=${entry.flag}`);
  lines.append(make("p", { class: "notice" }, text, " ", make("a", { href: where }, say("lookAgain"))));
}

if (may("decide"))
  new Outbox({
    done() {},
    conflict(entry, problem) { tell(entry, decidedByOther(problem.document.decisions?.at(-1))); },
    refused(entry, problem) { tell(entry, problemMessage(problem)); },
    waiting(count) { showWaiting(lines, count); },
  });
