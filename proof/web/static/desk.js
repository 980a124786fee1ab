// The desk: one flag at a time, one key per decision. The next flags are fetched in advance, and decisions are sent in
// the background while the next flag is shown.

import { nextOutline, prepareBeside, toggleBeside } from "./beside.js";
import { changeOf, installComments } from "./comments.js";
import { leaveFlags, listAddress, noteFlag, writeAddress } from "./desk_address.js";
import { closeBasis, closeTyping, installBasis, installTyping, mayCopy, openBasis, openTyping, reopenForm, showBasis, takeBasis } from "./desk_forms.js";
import { parameters } from "./filters.js";
import { add, apply, current, editsBeside, fetchAhead, fetched, flagOf, flags, hasMore, isBeingSent, listen, moveBy, moveOn, moveTo, outbox, recount, send, states, upcoming } from "./flag_list.js";
import { fillPanel, movedText, pageOf, placeOf, showComments } from "./flag_panel.js";
import { showRemainingWork } from "./remaining_work.js";
import { decidedByOther } from "./outbox.js";
import { $, api, ask, closeButton, data, inTurn, isShortcut, make, may, pause, person, reloadButton, say } from "./shell.js";
import { draw, drawGlyph, loadPicture, pendingPicture } from "./stage.js";
import { LISTS, addStep, forgetSteps, isDecidedHere, moveStep, noteVersion, showTrail, steps } from "./steps.js";
import { handleUndoWith, requestUndo, showMessage, showRefused } from "./undo.js";

const DOUBLE_CLICK = 250; // milliseconds: a second click within them is half of a double click
const IMAGE_RETRY = 3000; // milliseconds after which an image that failed to load is requested again
let isWhole = localStorage.getItem("proof-whole") === "1"; // the whole column is shown

listen({
  changed: show,
  fetched() {
    prepare();
    if ($("flag").hidden) show();
  },
  reverted: forgetSteps,
  notice,
});

/** Loads what the next flags show. */
function prepare() {
  for (const flag of upcoming()) {
    loadPicture(flag);
    prepareBeside(flag);
  }
}

// showing

function show() {
  const flag = current();
  const isComing = !flag && hasMore();
  $("flag").hidden = !flag;
  $("coming").hidden = !isComing;
  $("end").hidden = Boolean(flag) || isComing;
  closeTyping();
  closeBasis();
  if (flag) showFlag(flag);
  else showEnd(isComing);
  showProgress();
  showTrail();
}

function showFlag(flag) {
  loadPicture(flag);
  paint(flag);
  fillPanel(flag);
  showBasis(flag);
  if (document.body.dataset.flag !== String(flag.number)) scrollTo(scrollX, 0); // on a small screen the image is above the buttons
  document.body.dataset.flag = flag.number;
  noteFlag(flag);
}

/** Shows that flags are being fetched (`isComing`), or the end of the list. */
function showEnd(isComing) {
  if (isComing) delete document.body.dataset.flag;
  else document.body.dataset.flag = "";
  $("announce").textContent = say(isComing ? "flagsLoading" : endMessage());
  if (!isComing) leadOn();
}

/** The message at the end of the list. Flags before its start or outside its filter may still be open. */
function endMessage() {
  if (states.open) return "listEnds";
  if (data.arbitrates) return "doneArbitrating";
  return data.blind ? "doneBlind" : "done";
}

/** Shows, at the end of the list, what is left to do in the work. */
async function leadOn() {
  $("end-words").textContent = say(endMessage());
  $("from-start").hidden = !states.open && String(data.query.state ?? "") === "open";
  $("from-start").href = listAddress();
  leaveFlags();
  while (outbox.entries.length) await pause(100); // count decisions that are still being sent
  if (!current()) await showRemainingWork();
}

function paint(flag) {
  draw($("stage"), flag, isWhole, flag.why, (isLoaded) => (isLoaded ? $("missed")?.remove() : showMissed(flag)), editsBeside(flag));
  $("glyph").dataset.flag = flag.number;
  drawGlyph($("glyph"), flag);
}

/** Says that the image failed to load, so that its column is not taken for an empty one, and tries again. */
function showMissed(flag) {
  if (!$("missed")) {
    const button = make("button", { type: "button", onclick: () => current() && paint(current()) }, say("tryAgain"));
    $("notices").append(make("p", { id: "missed", class: "notice" }, say("imageFailed"), " ", button));
  }
  setTimeout(() => { if (current() === flag) paint(flag); }, IMAGE_RETRY);
}

function showProgress() {
  const all = Object.values(states).reduce((sum, count) => sum + count, 0);
  const done = all - states.open;
  $("progress").max = Math.max(all, 1);
  $("progress").value = done;
  $("progress-words").textContent = say("of", { done, all });
}

/** Shows a message, with a button that goes to a flag or reloads the page. */
function notice(text, number, reload = false) {
  const line = make("p", { class: "notice" }, text, " ");
  const close = () => line.remove();
  if (number) line.append(make("button", { type: "button", onclick: () => { close(); goTo(number); } }, say("lookAgain")));
  if (reload) line.append(reloadButton());
  line.append(closeButton(close));
  $("notices").append(line);
}

/** Shows a flag, which is fetched if this page does not have it. */
async function goTo(number) {
  const flag = await fetched(number);
  if (!flag) return;
  moveTo(flag);
  show();
}

// comments; those on a character that moved belong to the half on which the first comment was made

const talk = installComments(() => {
  const flag = current();
  if (!flag) return null;
  const last = flag.comments.at(-1);
  return {
    title: [flag.page.page, " · ", placeOf(flag), " · ", ...changeOf(flag)], comments: flag.comments,
    own: flag.comments.filter(({ uid }) => !last || uid === last.uid), problem: last?.state === "problem",
    path: api(`flags/${last?.flag ?? flag.number}/comments`),
  };
}, (comment) => {
  const flag = flags.find(({ number, other }) => [number, other?.number].includes(comment.flag));
  flag?.comments.push(comment);
  if (flag && current() === flag) showComments(flag);
  $("main").focus({ preventScroll: true });
});

// deciding

const STATE = { keep: "kept", take: "corrected", other: "corrected", typed: "corrected", delete: "corrected", copy: "copy", retain: "retained", unsure: "unsure", skip: "skipped" };

function decide(verdict, reading = "", more = {}) {
  const flag = current();
  if (!flag) return;
  const basis = takeBasis(flag);
  showMessage("");
  const text = { take: flag.suggested, other: reading, typed: reading, delete: "" }[verdict] ?? flag.transcribed;
  const isText = (verdict === "other" || verdict === "typed") && text === flag.transcribed;
  const state = isText ? "kept" : STATE[verdict];
  const isOnePlace = ["typed", "other", "delete"].includes(verdict); // else a character that moved is decided at both its places
  addStep({
    flag: flag.number, was: flag.state, wasReading: flag.reading, state, reading: text, transcribed: flag.transcribed, kind: flag.kind,
    moved: isOnePlace ? "" : movedText(flag), made: flag.version + 1,
  });
  send(flag, verdict, state, text, { reading, suggested: flag.suggested, ...basis, ...more });
  noteVersion(flag.number, flag.version);
  goForward();
}

/** Whether a flag is skipped when going forward. Flags that were decided before the list was opened are shown if the
 * filter includes them. */
const isSkipped = (flag) => isDecidedHere(flag) || isBeingSent(flag);

function goForward() {
  moveOn(isSkipped);
  show();
  prepareSoon();
}

const prepareSoon = () => requestAnimationFrame(() => { prepare(); fetchAhead(); });

// undo and redo

/** Undoes or redoes the last step of this tab; `changed(step)` gives the state and reading that the flag gets. Resolves
 * to the flag; null if that is not possible. */
async function stepBack(way, changed) {
  const step = steps[LISTS[way][0]].at(-1);
  if (!step) return null;
  const isListed = Boolean(flagOf(step.flag));
  const flag = await fetched(step.flag);
  if (!flag) return null;
  if (!isListed && flag.version !== step.version) { // somebody else has decided it since the page was reloaded: their decision is not undone
    forgetSteps(step.flag);
    notice(decidedByOther(flag.last), step.flag);
    return null;
  }
  const undoes_version = step.made; // not always the flag's last version: later steps may have been undone
  moveStep(way, step, flag.version + 1);
  send(flag, "undo", ...changed(step), { undoes_version });
  noteVersion(flag.number, flag.version);
  return flag;
}

async function undo() {
  if (!outbox.entries.length || !steps.done.length) return atServer("undo");
  const flag = await stepBack("undo", (step) => [step.was, step.wasReading]);
  if (flag) await goTo(flag.number);
}

async function redo() {
  if (!outbox.entries.length || !steps.undone.length) return atServer("redo");
  const flag = await stepBack("redo", (step) => [step.state, step.reading]);
  if (!flag) return;
  moveTo(flag);
  goForward();
}

/** Undoes or redoes on the server, which knows the person's last act in any view. All decisions must have been sent. */
async function atServer(way, more = {}) {
  let undone;
  try {
    undone = await requestUndo(way, more);
  } catch (problem) {
    showRefused(way, problem, (...given) => turn(() => atServer(...given)));
    return look(); // the server may have done it although no answer came
  }
  for (const decision of undone.decisions) follow(way, decision);
  const [first] = undone.decisions;
  if (first && !first.uid.startsWith("hand-")) { // a correction by hand has no flag from a check
    await goTo(first.flag);
    if (way === "redo" && current()?.number === first.flag) goForward();
  }
  showMessage(undone.message, way === "undo" ? "redo" : "undo");
  await recount();
  showProgress();
}

/** Applies an undo or redo that the server made to the flags and steps of this page. */
function follow(way, decision) {
  moveStep(way, steps[LISTS[way][0]].findLast((step) => step.flag === decision.flag), decision.version);
  apply(decision);
  noteVersion(decision.flag, decision.version);
}

let seen = null; // the id of the last decision in the work when this window was last looked at
/** Takes in what was decided since, in other windows or by others. */
async function catchUp() {
  const isFirst = seen === null;
  const decisions = (await ask(`${api("acts")}?what=decisions&limit=${isFirst ? 1 : 200}`)).items.map(({ decision }) => decision);
  const fresh = decisions.filter(({ id, flag, version }) => !isFirst && id > seen && !outbox.after(flag) && version > knownVersion(flag));
  seen = Math.max(seen ?? 0, ...decisions.map(({ id }) => id));
  for (const decision of fresh.reverse()) {
    const { flag, was_state: was, was: wasReading, state, reading, transcribed, kind, version } = decision;
    forgetSteps(flag);
    apply(decision);
    if (decision.person === person && !["undo", "redo"].includes(decision.verdict))
      addStep({ flag, was, wasReading, state, reading, transcribed, kind, moved: "", made: version, version });
  }
  if (isFirst) return;
  if (fresh.some(({ flag }) => flag === current()?.number)) show();
  else showTrail();
  await recount();
  showProgress();
}
const knownVersion = (number) => Math.max(flagOf(number)?.version ?? 0, ...steps.done.filter(({ flag }) => flag === number).map(({ version }) => version));
const look = () => catchUp().catch(() => {}); // without an answer it is taken in the next time
for (const back of ["focus", "online"]) addEventListener(back, look);

// the acts of keys and buttons

const acts = {
  keep: () => decide("keep"),
  take: () => current()?.can_take && decide("take"),
  delete: () => current()?.transcribed && decide("delete"),
  copy: () => current() && mayCopy(current()) && decide("copy"),
  unsure: () => decide("unsure"),
  skip: () => decide("skip"),
  retain: () => current() && openTyping(current(), true),
  rests: () => current() && openBasis(current()),
  type: () => current() && openTyping(current()),
  undo,
  redo,
  other: (n) => current()?.others[n] && decide("other", current().others[n].text),
  back: () => { if (moveBy(-1)) show(); },
  ahead: () => { if (moveBy(1)) { show(); prepare(); fetchAhead(); } },
  whole: () => {
    isWhole = !isWhole;
    localStorage.setItem("proof-whole", isWhole ? "1" : "0");
    if (current()) paint(current());
  },
  page: () => {
    writeAddress();
    if (current()) location.assign(pageOf(current()));
  },
  beside: () => toggleBeside(current()),
  comment: () => talk(),
  outline: () => current()?.view && nextOutline(current()),
};

const LOOKING = ["back", "ahead", "page", "whole", "beside", "outline", "comment"];
const DECIDING = ["keep", "take", "delete", "copy", "unsure", "skip", "other"];
if (!may("decide"))
  for (const name of Object.keys(acts)) if (!LOOKING.includes(name)) acts[name] = () => {};

/** Runs acts in the order of the keys: a key that is pressed while a flag is being fetched is meant for that flag. */
const turn = inTurn();
let turning = 0;
function perform(name, n) {
  const flag = current();
  const coming = DECIDING.includes(name) || ["type", "retain"].includes(name) ? pendingPicture(flag) : null;
  if (!coming && !turning && name !== "undo" && name !== "redo") return acts[name](n);
  turning += 1;
  const act = coming // wait until the image is shown; a second key must not decide the next flag unseen
    ? () => coming.then(() => (current() === flag ? acts[name](n) : undefined))
    : () => acts[name](n);
  return turn(act).finally(() => { turning -= 1; });
}

const KEYS = {
  k: "keep", t: "take", d: "delete", e: "type", c: "copy", r: "retain", a: "rests", u: "unsure", s: "skip", w: "whole", g: "beside", p: "page", o: "outline", n: "comment",
  ArrowLeft: "back", ArrowRight: "ahead", Backspace: "undo",
};

handleUndoWith((way, more) => perform(way, more)); // the keys of undo and redo are handled there for all views
addEventListener("keydown", (event) => {
  if (!isShortcut(event)) return;
  const isOnButton = event.target instanceof Element && event.target.closest("button, a, summary");
  if (event.key === "Enter" && !isOnButton && !event.repeat) {
    event.preventDefault();
    return perform("take");
  }
  if (/^[1-9]$/.test(event.key)) return event.repeat ? undefined : perform("other", Number(event.key) - 1);
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act || (event.repeat && !["back", "ahead"].includes(act))) return;
  event.preventDefault();
  perform(act);
});

let lastClick = 0; // time stamp
addEventListener("click", (event) => {
  const button = event.target.closest("[data-act]");
  if (!button || button.disabled) return;
  // the second click of a double click was not meant for the next flag
  const isDouble = event.detail > 1 && event.timeStamp - lastClick < DOUBLE_CLICK;
  lastClick = event.timeStamp;
  if (isDouble && DECIDING.includes(button.dataset.act)) return;
  perform(button.dataset.act, Number(button.dataset.n));
});

installTyping(current, decide);
installBasis(current);
$("to-queue").href = `${$("to-queue").getAttribute("href")}?${parameters(data.query)}`;
add(data.flags);
if (!new URLSearchParams(location.search).has("flag")) moveOn(isBeingSent, 0); // an address with a flag shows that flag
$("main").focus({ preventScroll: true });
show();
if (current()) reopenForm(current());
prepareSoon();
look();
