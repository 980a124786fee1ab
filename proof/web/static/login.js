// Says on the log-in page that decisions wait in this browser.

import { $ } from "./shell.js";

const OUTBOX = /^proof:[^:]+:[^:]+:\d/; // the keys of outbox.js, of whatever work and person

try {
  $("waiting").hidden = !Object.keys(localStorage).some((key) => OUTBOX.test(key));
} catch {
  // no storage: nothing is kept in it
}
