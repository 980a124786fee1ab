// The list of flags on the desk. Flags are fetched in advance; decisions on them are sent in the background.

import { parameters } from "./filters.js";
import { Outbox, decidedByOther, showWaiting } from "./outbox.js";
import { $, api, ask, data, isTemporary, make, pause, problemMessage, say, uuid } from "./shell.js";

const AHEAD = 6; // flags that are fetched in advance
const RETRY = 1000; // milliseconds after which a failed request is repeated

export const flags = []; // all flags that this page has fetched, in order
export const states = { ...data.work.states }; // the number of flags of the work in each state
const byNumber = new Map();
let position = 0;
let next = data.next;
let fetching = null;
let on = {};

/** Sets the listeners: `changed()` when the shown flag has changed, `fetched()` after each attempt to fetch further flags,
 * `reverted(number)` when a decision was not accepted, `notice(text, number, reload)` for a message about a flag. */
export function listen(listeners) {
  on = listeners;
}

export const outbox = new Outbox({
  done(entry, decision) {
    const flag = byNumber.get(entry.flag);
    if (!flag || flag.version > decision.version) return;
    const isNews = flag.version < decision.version; // decided in another tab
    set(flag, decision);
    flag.last = decision;
    const half = byNumber.get(flag.other?.number);
    if (half) update(half); // may have been decided together with this flag
    if (isNews) redraw(flag);
  },
  conflict(entry, problem) {
    const last = problem.document.decisions?.at(-1);
    revert(entry, { ...(last ?? entry.was), version: problem.document.version }, last);
    on.notice(last ? decidedByOther(last) : say("refused", { detail: problem.message }), entry.flag);
  },
  refused(entry, problem) {
    revert(entry, entry.was);
    const isForbidden = problem.status === 403;
    on.notice(say("refused", { detail: problem.message }), isForbidden ? null : entry.flag, isForbidden);
  },
  waiting(count) {
    showWaiting($("notices"), count);
  },
});

/** The flag that is shown; undefined at the end of the list. */
export const current = () => flags[position];
/** A flag that this page has fetched; undefined for others. */
export const flagOf = (number) => byNumber.get(number);
/** Whether the list has further flags that are not fetched. */
export const hasMore = () => next !== null;
/** The shown flag and those after it that will be shown soon. */
export const upcoming = () => flags.slice(position, position + AHEAD);
/** Whether a decision that settles the flag is still being sent. */
export const isBeingSent = (flag) => (outbox.after(flag.number)?.state ?? "open") !== "open";

/** The corrections of the other places in a flag's column: those from the server, and those made here since. */
export function editsBeside(flag) {
  const own = [flag.number, flag.other?.number];
  const inColumn = flags.filter((other) => other.page.number === flag.page.number && other.line === flag.line);
  const isFetched = (edit) => inColumn.some((other) => other.offset === edit.offset && other.length === edit.length);
  return [...flag.edits.filter((edit) => !isFetched(edit)), ...inColumn.filter((other) => other.state === "corrected" && !own.includes(other.number))];
}

export function moveTo(flag) {
  position = flags.indexOf(flag);
}

/** Moves by one flag, or to the end of the list. Returns false if there is none. */
export function moveBy(step) {
  const to = position + step;
  if (to < 0 || to > flags.length) return false;
  position = to;
  return true;
}

/** Moves forward to the next flag for which `isSkipped` is false; with `from` 0 the shown flag counts too. */
export function moveOn(isSkipped, from = 1) {
  position += from;
  while (position < flags.length && isSkipped(flags[position])) position += 1;
  position = Math.min(position, flags.length);
}

/** Inserts flags at an index of the list; flags that the list has already are left out. Returns the number of the others. */
export function add(found, index = flags.length) {
  const fresh = found.filter((flag) => !byNumber.has(flag.number));
  for (const flag of fresh) {
    byNumber.set(flag.number, flag);
    const sent = outbox.after(flag.number); // a decision that the server does not have yet
    if (sent?.version > flag.version) set(flag, sent);
  }
  flags.splice(index, 0, ...fresh);
  return fresh.length;
}

/** Fetches further flags if the shown one is near the end of those fetched. */
export async function fetchAhead() {
  if (fetching || next === null || flags.length - position > AHEAD) return;
  const query = parameters({ ...data.query, cursor: next, limit: "10", detail: "true" });
  fetching = ask(`${api("flags")}?${query}`).then(
    (found) => {
      add(found.items);
      next = found.next;
      $("unfetched")?.remove();
    },
    (problem) => {
      if (position >= flags.length && !$("unfetched"))
        $("notices").append(make("p", { id: "unfetched", class: "notice" }, problemMessage(problem)));
      return pause(RETRY);
    },
  );
  await fetching;
  fetching = null;
  on.fetched();
  fetchAhead();
}

/** A flag, which is fetched and put before the shown one if this page does not have it; the shown one stays shown. Null if
 * that fails. */
export async function fetched(number) {
  if (byNumber.has(number)) return byNumber.get(number);
  try {
    const flag = await ask(api(`flags/${number}`));
    position += add([flag], position); // others may have been added meanwhile
    return byNumber.get(number);
  } catch (problem) {
    on.notice(problemMessage(problem), problem.status === 404 ? null : number);
    return null;
  }
}

/** Queues a decision, and gives the flag the state that it will have. */
export function send(flag, verdict, state, reading, more = {}) {
  const was = { state: flag.state, reading: flag.reading, version: flag.version };
  const after = { state, reading, version: flag.version + 1 };
  outbox.put(flag.number, { verdict, version: flag.version, key: uuid(), ...more }, after, was);
  set(flag, after);
}

/** Applies a decision that was made elsewhere, unless the flag has a newer one. */
export function apply(decision) {
  const flag = byNumber.get(decision.flag);
  if (!flag || flag.version >= decision.version) return;
  set(flag, decision);
  flag.last = decision;
}

/** Sets the state, reading and version of a flag. */
function set(flag, { state, reading, version }) {
  states[flag.state] -= 1;
  states[state] += 1;
  Object.assign(flag, { state, reading, version, last: null });
}

/** Takes the numbers of flags in each state from the server, which has decisions on flags that this page has not fetched;
 * not while decisions are being made here. */
export async function recount() {
  const { count } = outbox;
  if (outbox.entries.length) return;
  const { states: counted } = await ask(api("").slice(0, -1));
  if (outbox.count === count) Object.assign(states, counted);
}

function redraw(flag) {
  if (current() === flag) on.changed();
}

/** Reverts a decision that the server did not accept: the flag gets the state `before` until it is fetched again. */
function revert(entry, before, last = null) {
  const flag = byNumber.get(entry.flag);
  on.reverted(entry.flag);
  if (!flag) return;
  set(flag, before);
  flag.last = last;
  redraw(flag);
  update(flag);
}

/** Fetches a flag until the server answers, and updates it unless it was decided here in the meantime: without the new
 * version the next decision would be refused again. */
async function update(flag) {
  for (;;) {
    const { version } = flag;
    try {
      const fresh = await ask(api(`flags/${flag.number}`));
      if (flag.version !== version || outbox.after(flag.number)) return;
      set(flag, fresh);
      Object.assign(flag, fresh);
      redraw(flag);
      return;
    } catch (problem) {
      if (!isTemporary(problem.status)) return; // the refusal is already shown
      await pause(RETRY);
    }
  }
}
