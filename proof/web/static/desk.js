// The desk: one flag at a time, one key per decision. The next flags are fetched in advance, and decisions are sent in
// the background while the next flag is shown.

import { api, ask, data, excerpt, han, inTurn, isShortcut, make, may, person, say, script, uuid, why, words, work } from "./shell.js";
import { nextOutline, prepareBeside, showBeside, toggleBeside } from "./beside.js";
import { change as changeOf, commentable, thread } from "./comments.js";
import { parameters } from "./filters.js";
import { sayWhatIsLeft } from "./left.js";
import { Outbox, ahead, waitingAt } from "./outbox.js";
import { draw, drawGlyph, picture, pictureOn } from "./stage.js";
import { composing, meant, takeTyped } from "./typing.js";
import { askBack, goThrough, tell, tellRefused } from "./undo.js";

const AHEAD = 6;
const TRAIL = 6;
const DOUBLED = 250; // milliseconds: a second click within them is half of a double click
const OPENED = uuid(); // id of the list of flags in this page load
const [LONGEST_READING, LONGEST_COLUMN] = [64, 400]; // limits of the server, in characters, for a place and for a column
const AGAIN = 3000; // milliseconds after which an image that failed to load is requested again
const $ = (id) => document.getElementById(id);

const flags = []; // all flags that this page has fetched, in order
const byNumber = new Map();
let at = 0;
let next = data.next;
let fetching = null;
let whole = localStorage.getItem("proof-whole") === "1";
const states = { ...data.work.states };
const steps = JSON.parse(sessionStorage.getItem(`proof-steps:${work}:${person}`) ?? '{"done":[],"undone":[]}');

const outbox = new Outbox({
  done(entry, decision) {
    const flag = byNumber.get(entry.flag);
    if (!flag || flag.version > decision.version) return;
    const news = flag.version < decision.version; // decided in another tab
    set(flag, decision);
    flag.last = decision;
    const half = byNumber.get(flag.other?.number);
    if (half) adopt(half); // may have been decided together with this flag
    if (news && flags[at] === flag) show();
  },
  conflict(entry, problem) {
    const last = problem.document.decisions?.at(-1);
    stepBack(entry, { ...(last ?? entry.was), version: problem.document.version }, last);
    if (!last) lookAnew(entry.flag); // a new check changed the flag
    notice(last ? ahead(last) : say("refused", { detail: problem.message }), entry.flag);
  },
  refused(entry, problem) {
    stepBack(entry, entry.was);
    if (problem.status === 403) notice(say("refused", { detail: problem.message }), null, true);
    else notice(say("refused", { detail: problem.message }), entry.flag);
  },
  waiting(count) {
    waitingAt($("notices"), count);
  },
});

// fetching ahead

function add(found, where = flags.length) {
  const fresh = found.filter((flag) => !byNumber.has(flag.number));
  for (const flag of fresh) {
    byNumber.set(flag.number, flag);
    const sent = outbox.after(flag.number); // a decision that the server does not have yet
    if (sent?.version > flag.version) set(flag, sent);
  }
  flags.splice(where, 0, ...fresh);
}

function address() {
  return parameters(data.query);
}

async function fetchAhead() {
  if (fetching || next === null || flags.length - at > AHEAD) return;
  const query = address();
  query.set("cursor", next);
  query.set("limit", "10");
  query.set("detail", "true");
  fetching = ask(`${api("flags")}?${query}`).then(
    (found) => {
      add(found.items);
      next = found.next;
      $("unfetched")?.remove();
    },
    (problem) => {
      if (at >= flags.length && !$("unfetched"))
        $("notices").append(make("p", { id: "unfetched", class: "notice" }, why(problem)));
      return new Promise((resolve) => setTimeout(resolve, 1000));
    },
  );
  await fetching;
  fetching = null;
  prepare();
  if ($("flag").hidden) show();
  fetchAhead();
}

const prepare = () => flags.slice(at, at + AHEAD).forEach((flag) => { picture(flag); prepareBeside(flag); });

/** Sets the state, reading and version of a flag. */
function set(flag, { state, reading, version }) {
  count(flag.state, state);
  Object.assign(flag, { state, reading, version, last: null });
}

/** Reverts a decision that the server did not accept: the flag gets the state `stands` until it is fetched again. */
function stepBack(entry, stands, last = null) {
  const flag = byNumber.get(entry.flag);
  forget(entry.flag);
  if (!flag) return;
  set(flag, stands);
  flag.last = last;
  if (flags[at] === flag) show();
  adopt(flag);
}

/** Fetches a flag again and replaces its data. */
async function lookAnew(number) {
  const flag = byNumber.get(number);
  const now = await ask(api(`flags/${number}`)).catch(() => null); // without the new version the next decision is refused again
  if (flag && now) Object.assign(flag, now);
  if (flag && flags[at] === flag) show();
}

function forget(number) {
  steps.done = steps.done.filter((step) => step.flag !== number);
  steps.undone = steps.undone.filter((step) => step.flag !== number);
  keep();
  trail();
}

/** Fetches a flag until the server answers, and updates it unless it was decided here in the meantime. */
async function adopt(flag) {
  for (;;) {
    const { version } = flag;
    try {
      const fresh = await ask(api(`flags/${flag.number}`));
      if (flag.version !== version || outbox.after(flag.number)) return;
      set(flag, fresh);
      Object.assign(flag, fresh);
      if (flags[at] === flag) show();
      return;
    } catch (problem) {
      if (problem.status !== 0 && problem.status < 500) return; // the refusal is already shown
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

// showing

function show() {
  const flag = flags[at];
  const coming = !flag && next !== null; // more flags are being fetched
  $("flag").hidden = !flag;
  $("coming").hidden = !coming;
  $("end").hidden = Boolean(flag) || coming;
  closeTyping();
  closeResting();
  if (!flag) {
    if (coming) delete document.body.dataset.flag;
    else document.body.dataset.flag = "";
    $("announce").textContent = say(coming ? "flagsLoading" : ends());
    if (!coming) leadOn();
    progress();
    trail();
    return;
  }
  picture(flag);
  paint(flag);
  const moved = movedWith(flag);
  const kind = moved ? words.moved : words.kinds[flag.kind];
  $("page").replaceChildren(make("bdi", {}, flag.page.page));
  $("page").href = pageOf(flag);
  $("cell").textContent = (moved ?? [flag]).map(place).join(" → ");
  $("kind").textContent = kind;
  $("score").textContent = flag.score.toFixed(1);
  tiles(flag, moved);
  const deletes = flag.kind === "insertion" && flag.suggested === "";
  $("take-label").textContent = moved ? say("move") : deletes ? say("delete") : say(flag.page.image ? "take" : "takeSuggested");
  document.querySelector("[data-act=take]").disabled = !flag.can_take || !may("decide");
  $("delete").disabled = !flag.transcribed || !may("decide");
  $("why").textContent = flag.why;
  showBeside(flag);
  readers(flag);
  witnesses(flag);
  alternatives(flag);
  stands(flag);
  showRests();
  said(flag);
  progress();
  trail();
  if (document.body.dataset.flag !== String(flag.number)) scrollTo(scrollX, 0); // on a small screen the image is above the buttons
  document.body.dataset.flag = flag.number;
  if (flag.witnesses.length) tellRecords(flag);
  keepAddress(flag);
  const change = moved ? moved[0].transcribed : `${flag.transcribed || say("nothing")} → ${flag.suggested || say("nothing")}`;
  $("announce").textContent = `${kind}, ${$("cell").textContent}: ${change}. ${flag.why}`;
}

/** The message at the end of the list. Flags before its start or outside its filter may still be open. */
const ends = () => (states.open ? "listEnds" : data.blind ? "doneBlind" : "done");

/** Shows, at the end of the list, what is left to do in the work. */
async function leadOn() {
  $("end-words").textContent = say(ends());
  $("from-start").hidden = !states.open && String(data.query.state ?? "") === "open";
  $("from-start").href = `?${parameters(data.query, true)}`;
  unwritten = `?${parameters(data.query, true)}`;
  writeAddress();
  while (outbox.entries.length) await new Promise((resolve) => setTimeout(resolve, 100)); // count decisions that are still being sent
  if (flags[at]) return;
  await sayWhatIsLeft();
}

const pageOf = (flag) => `/works/${encodeURIComponent(work)}/pages/${flag.page.number}?flag=${flag.number}#${flag.line}-${flag.offset}`;

const RESTING = 2000; // milliseconds
let unwritten = null;
let writing = 0;

/**
 * Puts the flag into the address, so that a change of language keeps it and its page can link back to it. The address is
 * written only after a pause, or before anything other than the next decision: writing is slow in browsers, and some
 * limit how often it is allowed.
 */
function keepAddress(flag) {
  const query = parameters(data.query, true);
  query.set("flag", flag.number);
  unwritten = `?${query}`;
  sessionStorage.setItem(`proof-desk:${work}`, location.pathname + unwritten);
  clearTimeout(writing);
  writing = setTimeout(writeAddress, RESTING);
}

function writeAddress() {
  clearTimeout(writing);
  if (unwritten !== null) history.replaceState(null, "", unwritten);
  unwritten = null;
}
for (const turned of ["blur", "pagehide", "pointerdown", "focusin", "change"]) addEventListener(turned, writeAddress, true);
addEventListener("keydown", ({ ctrlKey, metaKey, key }) => {
  if (ctrlKey || metaKey || /^F\d/.test(key)) writeAddress();
});

const place = (flag) => (flag.ordinal && flag.kind !== "layout" ? say("place", { column: flag.line, character: flag.ordinal })
  : flag.line ? say("column", { number: flag.line }) : say("wholePage"));

/** The two flags of a character that moved: its place in the text, then its place on the image. Null if the flag is
    not about one, or if its place was given a reading of its own. */
function movedWith(flag) {
  if (!flag.other || (flag.state === "corrected" && flag.reading !== flag.suggested)) return null;
  return flag.transcribed ? [flag, flag.other] : [flag.other, flag];
}

function paint(flag) {
  draw($("stage"), flag, whole, flag.why, (ok) => (ok ? $("missed")?.remove() : missed(flag)), editsBeside(flag));
  const glyph = $("glyph");
  glyph.dataset.flag = flag.number;
  drawGlyph(glyph, flag);
}

/** The corrections of the other places in a flag's column: those from the server, and those made here since. */
function editsBeside(flag) {
  const own = [flag.number, flag.other?.number];
  const here = flags.filter((one) => one.page.number === flag.page.number && one.line === flag.line);
  const known = (edit) => here.some((one) => one.offset === edit.offset && one.length === edit.length);
  return [...flag.edits.filter((edit) => !known(edit)), ...here.filter((one) => one.state === "corrected" && !own.includes(one.number))];
}

/** Says that the image failed to load, so that its column is not taken for an empty one, and tries again. */
function missed(flag) {
  const again = () => { if (flags[at] === flag) paint(flag); };
  if (!$("missed")) {
    const button = make("button", { type: "button", onclick: () => flags[at] && paint(flags[at]) }, say("tryAgain"));
    $("notices").append(make("p", { id: "missed", class: "notice" }, say("imageFailed"), " ", button));
  }
  setTimeout(again, AGAIN);
}

/** Shows the text's reading and the suggestion on the two tiles; the second is hidden if there is nothing to take. */
function tiles(flag, moved) {
  if (moved) {
    big($("transcribed"), moved[0].transcribed, place(moved[0]));
    big($("suggested"), moved[0].transcribed, place(moved[1]));
  } else {
    const codes = flag.kind === "variant" && [...flag.transcribed, ...flag.suggested].length === 2;
    const layout = flag.kind === "layout";
    big($("transcribed"), flag.transcribed, codes ? codeOf(flag.transcribed) : layout ? place(flag) : "");
    big($("suggested"), flag.suggested, codes ? codeOf(flag.suggested) : layout && flag.image_text ? words.onImage : "", flag.can_take && !flag.suggested ? flag.transcribed : "");
  }
  const alone = !moved && !flag.can_take;
  document.querySelector(".tile.seen").hidden = alone;
  document.querySelector(".tiles").classList.toggle("alone", alone);
  document.querySelector(".tiles figure").classList.toggle("unused", flag.kind === "layout"); // a column has no glyph tile
}
const codeOf = (text) => `U+${text.codePointAt(0).toString(16).toUpperCase()}`;

/** Fills a tile: the text, else the text to be deleted (`struck`), else "nothing"; `note` is shown below it. */
function big(element, text, note = "", struck = "") {
  const shown = excerpt(text || struck);
  element.replaceChildren(...(struck && !text ? [make("s", {}, shown)] : [shown || make("span", { class: "words" }, note || say("nothing"))]),
    ...(note && text ? [make("span", { class: "words" }, note)] : []));
  element.lang = script;
  element.classList.toggle("none", !shown);
  element.classList.toggle("long", [...shown].length > 1);
  element.classList.toggle("longer", [...shown].length > 4);
  element.closest("button").dataset.text = text || say("nothing");
}

/** Shows other readings: the recogniser's alternatives, then readings that only witnesses have. */
function alternatives(flag) {
  const seen = flag.alternatives.filter((one) => one.text !== flag.transcribed && one.text !== flag.suggested);
  const read = flag.witnesses.filter((one) => !one.side && one.reading && flag.can_take).map(({ reading, siglum }) => ({ text: reading, siglum }));
  flag.others = [...seen, ...read].filter((one, n, all) => all.findIndex(({ text }) => text === one.text) === n).slice(0, 9);
  $("alternatives").replaceChildren(...flag.others.map((one, n) =>
    make("li", {}, make("button", { type: "button", "data-act": "other", "data-n": n },
      make("kbd", {}, String(n + 1)), " ", han(one.text), " ", make("span", { class: "soft" }, one.siglum?.replace("~", "") ?? percent(one.p))))));
}

const SIDES = { text: "asText", image: "asImage" };

let records; // agreement of each witness with the decisions, by siglum; fetched once
const RECORD_PLACES = 20; // with fewer places a share says nothing

/** Shows for each witness how often it agreed with the decisions. */
async function tellRecords(flag) {
  records ??= ask(api("witnesses")).then(({ items }) => new Map(items.map((one) => [one.siglum, one])), () => new Map());
  const known = await records;
  if (document.body.dataset.flag !== String(flag.number)) return;
  for (const line of $("witnesses").children) {
    const record = known.get(line.dataset.siglum);
    if (record?.places >= RECORD_PLACES) line.append(" ", make("span", { class: "soft" }, `· ${say("upheld", record)}`));
  }
}

/** Shows the readings of other witnesses, one line each; the note of an apparatus opens below its witness. */
function witnesses(flag) {
  $("witnesses").hidden = !flag.witnesses.length;
  $("witnesses").replaceChildren(...flag.witnesses.map((one) => {
    const side = say(SIDES[one.side] ?? "otherwise");
    const reader = one.siglum.startsWith("~"); // a second recogniser, which is no witness of the text
    const reads = [make("span", { class: "siglum" }, reader ? say("secondReader", { name: one.siglum.slice(1) }) : one.siglum), " ", one.reading ? han(one.reading) : "∅", " ",
      make("span", { class: "soft" }, side)];
    const about = { class: `${one.side || "otherwise"}${reader ? " reader" : ""}`, "data-siglum": one.siglum, title: [one.siglum, side, one.note].filter(Boolean).join("\n") };
    if (!one.note) return make("li", about, ...reads);
    return make("li", about, make("details", {}, make("summary", {}, ...reads), make("span", { class: "note", lang: script }, one.note)));
  }));
}

/** Shows the decisions of the blind readers to the person who decides between them. */
function readers(flag) {
  $("readers").hidden = !flag.readings.length;
  $("readers").replaceChildren(...flag.readings.map((one) => {
    const reads = one.state === "corrected" ? corrected(flag.transcribed, one.reading) : one.state === "retained" && one.copy_reads ? han(one.copy_reads) : flag.transcribed ? han(flag.transcribed) : "∅";
    return make("li", { class: one.state === "corrected" ? "image" : "text" }, make("span", { class: "siglum" }, one.person), " ", reads, " ",
      make("span", { class: "soft" }, [words.states[one.state], one.authority && say("restsOn", { authority: one.authority }), one.note].filter(Boolean).join(" · ")));
  }));
}

const percent = (p) => (p >= 0.1 ? `${Math.round(p * 100)}%` : `${(p * 100).toFixed(1)}%`);

/** A correction in a few words; a deletion is spelled out, since an empty place could be overlooked. */
const corrected = (transcribed, reading, moved = "") => (moved ? say("moves", { text: moved }) : reading ? han(reading) : say("deletes", { text: transcribed || say("nothing") }));

function stands(flag) {
  const decided = flag.state !== "open";
  const line = $("stands");
  line.hidden = !decided;
  line.className = `state ${flag.state}`;
  if (!decided) return line.replaceChildren();
  line.replaceChildren(make("b", {}, words.states[flag.state]));
  if (flag.state === "corrected") line.append(" ", corrected(flag.transcribed, flag.reading, movedWith(flag)?.[0].transcribed));
  if (flag.state === "retained" && flag.last) line.append(" ", han(flag.last.copy_reads));
  const carried = flag.last?.evidence?.carried;
  for (const told of [flag.last?.authority && say("restsOn", { authority: flag.last.authority }), carried && say("carriedFrom", carried), flag.last?.note, flag.last?.person]) if (told) line.append(" · ", told);
}

// comments; those on a character that moved belong to the half on which the first comment was made

function said(flag) {
  $("said").hidden = !flag.comments.length;
  $("said").replaceChildren(...thread(flag.comments));
  $("said").scrollTop = $("said").scrollHeight; // shows the last comment
}

const talk = commentable(() => {
  const flag = flags[at];
  if (!flag) return null;
  const last = flag.comments.at(-1);
  const number = last?.flag ?? flag.number;
  return {
    title: [flag.page.page, " · ", place(flag), " · ", ...changeOf(flag)], comments: flag.comments,
    own: flag.comments.filter((one) => !last || one.uid === last.uid), problem: last?.state === "problem", path: api(`flags/${number}/comments`),
  };
}, (comment) => {
  const flag = flags.find((one) => [one.number, one.other?.number].includes(comment.flag));
  flag?.comments.push(comment);
  if (flag && flags[at] === flag) said(flag);
  $("main").focus({ preventScroll: true });
});

function progress() {
  const all = Object.values(states).reduce((sum, one) => sum + one, 0);
  const done = all - states.open;
  $("progress").max = Math.max(all, 1);
  $("progress").value = done;
  $("progress-words").textContent = say("of", { done, all });
}

function trail() {
  $("trail").replaceChildren(...steps.done.slice(-TRAIL).reverse().map((step) =>
    make("li", { class: `state ${step.state}` },
      ...(step.moved ? [step.state === "corrected" ? "" : han(step.moved), make("span", { class: step.state === "corrected" ? "" : "soft" },
        step.state === "corrected" ? say("moves", { text: step.moved }) : words.states[step.state])]
        : step.state === "corrected" && !step.reading ? [make("span", {}, say("deletes", { text: step.transcribed }))]
        : [step.transcribed || step.reading ? han(step.transcribed) : words.kinds[step.kind ?? "layout"], step.state === "corrected" ? make("span", {}, "→", han(step.reading)) : "",
          make("span", { class: "soft" }, words.states[step.state])]))));
}

function notice(text, number, reload = false) {
  const line = make("p", { class: "notice" }, text, " ");
  const close = () => line.remove();
  if (number) line.append(make("button", { type: "button", onclick: () => { close(); goTo(number); } }, say("lookAgain")));
  if (reload) line.append(make("button", { type: "button", onclick: () => location.reload() }, say("reload")));
  line.append(make("button", { type: "button", class: "quiet", "aria-label": say("close"), onclick: close }, "×"));
  $("notices").append(line);
}

/** Shows a flag, which is fetched if this page does not have it. */
async function goTo(number) {
  const flag = byNumber.get(number) ?? await fetched(number);
  if (!flag) return;
  at = flags.indexOf(flag);
  show();
}

async function fetched(number) {
  try {
    add([await ask(api(`flags/${number}`))], at);
    return byNumber.get(number);
  } catch (problem) {
    notice(why(problem), problem.status === 404 ? null : number);
    return null;
  }
}

// deciding

const STATE = { keep: "kept", take: "corrected", other: "corrected", typed: "corrected", delete: "corrected", copy: "copy", retain: "retained", unsure: "unsure", skip: "skipped" };

function keep() {
  try {
    sessionStorage.setItem(`proof-steps:${work}:${person}`, JSON.stringify(steps));
  } catch (error) {
    reportError(error); // without storage the steps can be undone until the page is reloaded
  }
}

function count(was, now) {
  states[was] -= 1;
  states[now] += 1;
}

/** Queues a decision and shows the flag as decided. */
function send(flag, verdict, state, reading, more = {}) {
  const was = { state: flag.state, reading: flag.reading, version: flag.version };
  const after = { state, reading, version: flag.version + 1 };
  outbox.put(flag.number, { verdict, version: flag.version, key: uuid(), ...more }, after, was);
  set(flag, after);
}

function decide(verdict, reading = "", more = {}) {
  const flag = flags[at];
  if (!flag) return;
  if (!$("resting").hidden) takeResting();
  tell("");
  const stand = { take: flag.suggested, other: reading, typed: reading, delete: "" }[verdict] ?? flag.transcribed;
  const state = (verdict === "other" || verdict === "typed") && stand === flag.transcribed ? "kept" : STATE[verdict];
  steps.done.push({ opened: OPENED, flag: flag.number, was: flag.state, wasReading: flag.reading, state, reading: stand, transcribed: flag.transcribed, kind: flag.kind, moved: movedBy(flag, verdict), made: flag.version + 1 });
  steps.undone = [];
  const { authority, note } = restsOf(flag);
  rests = null;
  send(flag, verdict, state, stand, { reading, suggested: flag.suggested, ...(authority && { authority }), ...(note && { note }), ...more });
  stepped(flag);
  forward();
}

/** The moved character, if the verdict decides both its places; typed or other readings decide one place only. */
const movedBy = (flag, verdict) => (["typed", "other", "delete"].includes(verdict) ? "" : movedWith(flag)?.[0].transcribed ?? "");

/** Notes the flag's version in its steps: after a reload it shows whether somebody else has decided the flag since. */
function stepped(flag) {
  for (const step of [...steps.done, ...steps.undone]) if (step.flag === flag.number) step.version = flag.version;
  keep();
}

function forward() {
  at += 1;
  while (at < flags.length && passed(flags[at])) at += 1;
  at = Math.min(at, flags.length);
  show();
  requestAnimationFrame(() => { prepare(); fetchAhead(); });
}

/** Whether a flag was decided since this list was opened, so that it is skipped when going forward. Flags that were
    decided before are shown if the filter includes them. */
const passed = (flag) => steps.done.some((step) => step.opened === OPENED && (step.flag === flag.number || (step.moved && step.flag === flag.other?.number))) || underWay(flag);
/** Whether a decision on the flag is still being sent. */
const underWay = (flag) => (outbox.after(flag.number)?.state ?? "open") !== "open";

async function back(from, to, changed) {
  const step = steps[from].at(-1);
  if (!step) return null;
  let flag = byNumber.get(step.flag);
  if (!flag) { // decided before the page was reloaded
    flag = await fetched(step.flag);
    if (!flag) return null;
    if (flag.version !== step.version) { // somebody else has decided it since: their decision is not undone
      forget(step.flag);
      notice(ahead(flag.last), step.flag);
      return null;
    }
  }
  steps[from] = steps[from].filter((other) => other !== step);
  steps[to].push(step);
  const undoes_version = step.made; // not always the flag's last version: later steps may have been undone
  step.made = flag.version + 1;
  send(flag, "undo", ...changed(step), { undoes_version });
  stepped(flag);
  return flag;
}

async function undo() {
  if (!outbox.entries.length || !steps.done.length) return atServer("undo");
  const flag = await back("done", "undone", (step) => [step.was, step.wasReading]);
  if (flag) await goTo(flag.number);
}

async function redo() {
  if (!outbox.entries.length || !steps.undone.length) return atServer("redo");
  const flag = await back("undone", "done", (step) => [step.state, step.reading]);
  if (!flag) return;
  at = flags.indexOf(flag);
  forward();
}

/** Undoes or redoes on the server, which knows the person's last act in any view. All decisions must have been sent. */
async function atServer(way, more = {}) {
  let undone;
  try {
    undone = await askBack(way, more);
  } catch (problem) {
    return tellRefused(way, problem, (...given) => turn(() => atServer(...given)));
  }
  for (const event of undone.decisions) follow(way, event);
  const [first] = undone.decisions;
  if (first && !first.uid.startsWith("hand-")) { // a correction by hand has no flag from a check
    await goTo(first.flag);
    if (way === "redo" && flags[at]?.number === first.flag) forward();
  }
  tell(undone.message, way === "undo" ? "redo" : "undo");
}

/** Applies an undo or redo that the server made to the flags and steps of this page. */
function follow(way, event) {
  const [from, to] = way === "undo" ? ["done", "undone"] : ["undone", "done"];
  const step = steps[from].findLast((one) => one.flag === event.flag);
  steps[from] = steps[from].filter((one) => one !== step);
  if (step) steps[to].push(Object.assign(step, { made: event.version }));
  const flag = byNumber.get(event.flag);
  if (flag && flag.version < event.version) {
    set(flag, event);
    flag.last = event;
  }
  for (const one of [...steps.done, ...steps.undone]) if (one.flag === event.flag) one.version = event.version;
  keep();
}

// typing; Enter and Escape belong to the input method while it composes

let stood = null; // scroll positions of panel and page before a form opened; restored when it closes

/** Opens a form in the panel, which hides the panel's views of context; `closeForm` restores the scroll positions. */
function openForm(form) {
  stood ??= [$("panel").scrollTop, scrollY];
  $(form).hidden = false;
}

function closeForm(form) {
  $(form).hidden = true;
  if (stood) {
    $("panel").scrollTop = stood[0];
    scrollTo(scrollX, stood[1]);
    stood = null;
  }
  $("main").focus({ preventScroll: true });
}

let retaining = false; // the typed reading is that of the copy, and the text is kept
function openTyping(retains = false) {
  retaining = retains;
  closeResting();
  openForm("typing");
  $("typed-label").textContent = say(retaining ? "copyReads" : "standsHere");
  $("typed").value = retaining && flags[at].suggested !== flags[at].transcribed ? flags[at].suggested : "";
  $("typed-problem").textContent = "";
  $("typed").lang = script;
  $("typed").maxLength = flags[at].kind === "layout" ? LONGEST_COLUMN : LONGEST_READING;
  $("typed").focus();
}

function closeTyping() {
  if ($("typing").hidden) return;
  $("typed").blur();
  closeForm("typing");
}

const PLAIN = /^\p{Script=Han}*$/u;
takeTyped(async (reading) => {
  const flag = flags[at];
  const more = meant(reading);
  if (!PLAIN.test(reading) && !more.confirmed) { // ask the server whether it would break the text or looks like a typing error
    const told = await ask(`${api(`flags/${flag.number}/reading`)}?${new URLSearchParams({ reading })}`).catch((problem) => problem);
    if ([422, 428].includes(told.status)) throw told;
    if (flags[at] !== flag) return;
  }
  decide(retaining ? "retain" : "typed", reading, more);
}, closeTyping, () => retaining);

// the authority of a decision and a remark, entered before deciding the shown flag

let rests = null;
const restsOf = (flag) => (rests?.flag === flag ? rests : { authority: "", note: "" });
const copies = (flag) => flag.can_copy || Boolean(restsOf(flag).authority);

function openResting() {
  const flag = flags[at];
  if (!flag) return;
  closeTyping();
  const { authority, note } = restsOf(flag);
  $("authorities").replaceChildren(...[...new Set([...data.authorities, ...flag.witnesses.map((one) => one.siglum)])].map((value) => make("option", { value })));
  $("authority").value = authority;
  $("remark").value = note;
  $("authority").lang = $("remark").lang = script;
  openForm("resting");
  $("authority").focus();
}

function takeResting() {
  rests = { flag: flags[at], authority: $("authority").value.trim(), note: $("remark").value.trim() };
  closeResting();
  showRests();
}

function closeResting() {
  if ($("resting").hidden) return;
  closeForm("resting");
}

function showRests() {
  const { authority, note } = flags[at] ? restsOf(flags[at]) : {};
  $("rests").hidden = !authority && !note;
  $("rests").textContent = [authority && say("restsOn", { authority }), note].filter(Boolean).join(" · ");
  const copied = !flags[at] || copies(flags[at]);
  $("copy").disabled = !copied || !may("decide");
  $("copy").title = copied ? "" : say("nameAuthority");
}

const composesRests = [composing($("authority")), composing($("remark"))];
$("resting").addEventListener("keydown", (event) => {
  event.stopPropagation();
  const composes = composesRests.map((asks) => asks(event)).some(Boolean);
  if (composes) { if (event.key === "Enter") event.preventDefault(); } else if (event.key === "Escape") closeResting();
});
$("resting").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!composesRests.some((asks) => asks(event))) takeResting();
});

// the acts of keys and buttons

const acts = {
  keep: () => decide("keep"),
  take: () => flags[at]?.can_take && decide("take"),
  delete: () => flags[at]?.transcribed && decide("delete"),
  copy: () => flags[at] && copies(flags[at]) && decide("copy"),
  unsure: () => decide("unsure"),
  skip: () => decide("skip"),
  retain: () => flags[at] && openTyping(true),
  rests: openResting,
  type: () => openTyping(),
  undo,
  redo,
  other: (n) => flags[at]?.others[n] && decide("other", flags[at].others[n].text),
  back: () => { if (at > 0) { at -= 1; show(); } },
  ahead: () => { if (at < flags.length) { at += 1; show(); prepare(); fetchAhead(); } },
  whole: () => {
    whole = !whole;
    localStorage.setItem("proof-whole", whole ? "1" : "0");
    if (flags[at]) paint(flags[at]);
  },
  page: () => {
    writeAddress();
    if (flags[at]) location.assign(pageOf(flags[at]));
  },
  beside: () => toggleBeside(flags[at]),
  comment: () => talk(),
  outline: () => flags[at]?.view && nextOutline(flags[at]),
};

const LOOKING = ["back", "ahead", "page", "whole", "beside", "outline", "comment"];
const DECIDING = ["keep", "take", "delete", "copy", "unsure", "skip", "other"];
let clicked = 0;
if (!may("decide"))
  for (const name of Object.keys(acts)) if (!LOOKING.includes(name)) acts[name] = () => {};

/** Runs acts in the order of the keys: a key that is pressed while a flag is being fetched is meant for that flag. */
const turn = inTurn();
let turning = 0;
function perform(name, n) {
  const flag = flags[at];
  const coming = DECIDING.includes(name) || ["type", "retain"].includes(name) ? pictureOn(flag) : null;
  if (coming) { // wait until the image is shown; a second key must not decide the next flag unseen
    turning += 1;
    return turn(() => coming.then(() => (flags[at] === flag ? acts[name](n) : undefined))).finally(() => { turning -= 1; });
  }
  if (!turning && name !== "undo" && name !== "redo") return acts[name](n);
  turning += 1;
  return turn(() => acts[name](n)).finally(() => { turning -= 1; });
}

const KEYS = {
  k: "keep", t: "take", d: "delete", e: "type", c: "copy", r: "retain", a: "rests", u: "unsure", s: "skip", w: "whole", g: "beside", p: "page", o: "outline", n: "comment",
  ArrowLeft: "back", ArrowRight: "ahead", Backspace: "undo",
};

goThrough((way, more) => perform(way, more)); // the keys of undo and redo are handled there for all views
addEventListener("keydown", (event) => {
  if (!isShortcut(event)) return;
  const onButton = event.target instanceof Element && event.target.closest("button, a, summary");
  if (event.key === "Enter" && !onButton && !event.repeat) {
    event.preventDefault();
    return perform("take");
  }
  if (/^[1-9]$/.test(event.key)) return event.repeat ? undefined : perform("other", Number(event.key) - 1);
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const act = KEYS[key];
  if (!act || (event.repeat && !["back", "ahead"].includes(act))) return;
  event.preventDefault();
  perform(act);
});

addEventListener("click", (event) => {
  const button = event.target.closest("[data-act]");
  if (!button || button.disabled) return;
  // the second click of a double click was not meant for the next flag
  const doubled = event.detail > 1 && event.timeStamp - clicked < DOUBLED;
  clicked = event.timeStamp;
  if (doubled && DECIDING.includes(button.dataset.act)) return;
  perform(button.dataset.act, Number(button.dataset.n));
});

const toQueue = $("to-queue");
toQueue.href = `${toQueue.getAttribute("href")}?${address()}`;
add(data.flags);
// an address with a flag shows that flag
if (!new URLSearchParams(location.search).has("flag")) while (at < flags.length && underWay(flags[at])) at += 1;
$("main").focus({ preventScroll: true });
show();
requestAnimationFrame(() => { prepare(); fetchAhead(); });
