// Flags grouped by pair of characters, as glyphs; all flags of a pair are decided together, except those clicked out.

import { $, api, ask, data, glyphOf, han, isShortcut, keep, make, may, oneAtATime, person, say, uuid, words, work } from "./shell.js";
import { handleUndoWith, showMessage, undoAndReload } from "./undo.js";

const key = (pair) => `${pair.text}\u0000${pair.image}`;
let shown = null;
let flags = [];
let excluded = new Set();
let next = null;
let requests = 0;

function list() {
  $("pairlist").replaceChildren(...data.pairs.map((pair) => make("li", {},
    make("button", { type: "button", class: pair.open ? "" : "over", "aria-current": shown && key(pair) === key(shown) ? "true" : false, onclick: () => choose(pair) },
      han(pair.text, "said"), make("span", { class: "arrow" }, "→"), han(pair.image, "seen"),
      make("span", { class: "count" }, pair.open === pair.count ? String(pair.count) : `${pair.open}/${pair.count}`)))));
  $("rules").hidden = !data.rules.length;
  $("rulelist").replaceChildren(...data.rules.map((rule) => make("li", {},
    han(rule.text, "said"), make("span", { class: "arrow" }, "→"), han(rule.image, "seen"),
    make("span", { class: "count" }, say("hides", { num: rule.hides })),
    may("rule") ? make("button", { type: "button", class: "quiet", onclick: () => setRule(rule, false) }, say("lift")) : "")));
  $("empty").hidden = Boolean(shown);
  $("pairlist").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

const query = (more = {}) => new URLSearchParams({ text: shown.text, image: shown.image, order: "score", limit: "120", ...more });

const EXCLUDED = (pair) => `proof-out:${work}:${person}:${key(pair)}`;
/** The flags of a pair that were clicked out, kept for the session. */
const keptExclusions = (pair) => new Set(JSON.parse(sessionStorage.getItem(EXCLUDED(pair)) ?? "[]"));
function keepExcluded() {
  keep(EXCLUDED(shown), [...excluded]);
}

async function choose(pair) {
  const request = (requests += 1);
  shown = pair;
  excluded = keptExclusions(pair);
  [flags, next] = [[], null]; // so that no flag of the last pair is decided before the answer arrives
  list();
  $("stroke").hidden = false;
  $("pair-text").replaceChildren(...han(pair.text).childNodes);
  $("take-label").textContent = pair.text && !pair.image ? say("deletes", { text: pair.text }) : say("takeAll");
  $("pair-image").replaceChildren(...han(pair.image).childNodes);
  grid();
  history.replaceState(null, "", `?${new URLSearchParams({ text: pair.text, image: pair.image })}`);
  const found = await ask(`${api("flags")}?${query()}`);
  if (request !== requests) return;
  flags = found.items;
  next = found.next;
  grid();
}

function grid() {
  $("grid").replaceChildren(...flags.map((flag) => {
    const open = flag.state === "open";
    const cell = make("button", { type: "button", class: `glyph ${open ? "" : "over"}`, "aria-pressed": String(open && !excluded.has(flag.number)), disabled: !open, title: `${flag.page.page} ${say("column", { number: flag.line })}` },
      flag.bbox && flag.page.image ? make("img", { class: "paper", alt: "", loading: "lazy", width: 96, height: 96, src: glyphOf(flag) }) : make("span", { class: "noimage" }),
      make("span", { class: "context han", lang: document.body.dataset.script }, flag.context.replace("[", "").replace("]", "")),
      make("span", { class: `state ${flag.state}` }, open ? "" : words.states[flag.state]));
    cell.addEventListener("click", () => {
      if (!excluded.delete(flag.number)) excluded.add(flag.number);
      keepExcluded();
      cell.setAttribute("aria-pressed", String(!excluded.has(flag.number)));
      showCount();
    });
    return make("li", {}, cell);
  }));
  $("more").hidden = next === null;
  showCount();
}

const included = () => flags.filter((flag) => flag.state === "open" && !excluded.has(flag.number));

function showCount() {
  $("chosen").textContent = say("selected", { num: included().length });
  for (const button of document.querySelectorAll("#stroke [data-act]"))
    button.disabled = !isPossible(button.dataset.act);
}

/** Whether a button is enabled. Missing or surplus characters cannot be variants. */
function isPossible(act) {
  if (act === "rule") return may("rule") && Boolean(shown.text && shown.image);
  if (!may("decide") || !included().length) return false;
  return act !== "copy" || included().every((flag) => flag.can_copy);
}

/** Decides several flags of a pair. Another pair may be shown when the answers arrive. */
async function decideTogether(pair, chosenFlags, verdict) {
  const batch = uuid();
  const outcomes = [];
  for (let from = 0; from < chosenFlags.length; from += 400) {
    const part = chosenFlags.slice(from, from + 400).map((flag) => ({ flag: flag.number, verdict, suggested: flag.suggested, version: flag.version, key: uuid() }));
    outcomes.push(...(await ask(api("decisions"), { batch, decisions: part })).items);
  }
  const byNumber = new Map(chosenFlags.map((flag) => [flag.number, flag]));
  const listed = data.pairs.find((other) => key(other) === key(pair)) ?? pair; // the list may have been fetched again since
  let conflictCount = 0;
  for (const { flag: number, decision, conflict, version } of outcomes) {
    const flag = byNumber.get(number);
    const present = decision ?? conflict?.at(-1);
    if (!decision) conflictCount += 1;
    const was = flag.state;
    if (present) Object.assign(flag, { state: present.state, reading: present.reading, version });
    listed.open += (flag.state === "open") - (was === "open");
  }
  $("outcome").textContent = say("decidedMany", { num: outcomes.length - conflictCount }) + (conflictCount ? ` · ${say("conflicts", { num: conflictCount })}` : "");
  grid();
  list();
}

async function setRule(pair, holds) {
  const following = data.pairs.slice(data.pairs.findIndex((other) => key(other) === key(pair)) + 1).filter((other) => other.open).map(key);
  const answer = await ask(api("rules"), { text: pair.text, image: pair.image, holds });
  data.rules = answer.items;
  showMessage(say(holds ? "ruleSet" : "ruleLifted", { text: pair.text, reading: pair.image }), "undo");
  const found = await ask(`${api("pairs")}?limit=200`);
  data.pairs = found.items;
  const remaining = data.pairs.find((other) => shown && key(other) === key(shown));
  shown = remaining ?? data.pairs.find((other) => following.includes(key(other))) ?? data.pairs.find((other) => other.open) ?? data.pairs[0] ?? null;
  if (shown) return choose(shown);
  $("stroke").hidden = true;
  flags = [];
  $("grid").replaceChildren();
  list();
}

function step(by) {
  const index = data.pairs.findIndex((pair) => shown && key(pair) === key(shown));
  const pair = data.pairs[Math.max(0, Math.min(data.pairs.length - 1, index + by))];
  if (pair) choose(pair);
}

// one at a time, so that a second key does not decide the same flags again
let running = Promise.resolve();
const act = oneAtATime((name, more) => (running = acts[name](more)));
const acts = {
  ...Object.fromEntries(["take", "keep", "copy"].map((verdict) => [verdict, () => decideTogether(shown, included(), verdict)])),
  rule: () => setRule(shown, true),
  undo: (more) => undoAndReload("undo", more),
  redo: (more) => undoAndReload("redo", more),
};
handleUndoWith((way, more) => running.catch(() => {}).then(() => act(way, more))); // an undo waits for the act that is being sent, which is the one to undo

addEventListener("click", (event) => {
  const button = event.target.closest("[data-act]");
  if (button && !button.disabled) act(button.dataset.act);
});
addEventListener("keydown", (event) => {
  if (!isShortcut(event) || event.repeat) return;
  const name = { t: "take", k: "keep", c: "copy", v: "rule" }[event.key.toLowerCase()];
  if (name && shown) {
    const button = document.querySelector(`#stroke [data-act=${name}]`);
    if (!button.disabled) act(name);
  } else if (event.key === "j") step(1);
  else if (event.key === "n") step(-1);
});
$("more").addEventListener("click", oneAtATime(async () => {
  const request = requests;
  const found = await ask(`${api("flags")}?${query({ cursor: next })}`);
  if (request !== requests) return; // another pair was chosen since
  flags.push(...found.items);
  next = found.next;
  grid();
}));

shown = data.pairs.find((pair) => pair.text === data.text && pair.image === data.image) ?? data.pairs.find((pair) => pair.open) ?? null;
list();
if (shown) choose(shown);
