// The address of the desk, with the shown flag: a change of language keeps the flag, and its page can link back to it.

import { parameters } from "./filters.js";
import { data, keep, work } from "./shell.js";

const PAUSE = 2000; // milliseconds without a new flag after which the address is written
let unwritten = null;
let timer = 0;

/** The address of the list, without a flag. */
export const listAddress = () => `?${parameters(data.query, true)}`;

/**
 * Notes that a flag is shown. The address is written only after a pause, or before anything other than the next decision:
 * writing is slow in browsers, and some limit how often it is allowed.
 */
export function noteFlag(flag) {
  const query = parameters(data.query, true);
  query.set("flag", flag.number);
  unwritten = `?${query}`;
  keep(`proof-desk-address:${work}`, location.pathname + unwritten);
  clearTimeout(timer);
  timer = setTimeout(writeAddress, PAUSE);
}

/** Writes the address of the list, when its end is shown. */
export function leaveFlags() {
  unwritten = listAddress();
  writeAddress();
}

/** Writes the address of the shown flag now. */
export function writeAddress() {
  clearTimeout(timer);
  if (unwritten !== null) history.replaceState(null, "", unwritten);
  unwritten = null;
}
for (const name of ["blur", "pagehide", "pointerdown", "focusin", "change"]) addEventListener(name, writeAddress, true);
addEventListener("keydown", ({ ctrlKey, metaKey, key }) => {
  if (ctrlKey || metaKey || /^F\d/.test(key)) writeAddress();
});
