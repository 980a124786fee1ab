// All occurrences of a character as glyphs, the most unusual first; selected ones are corrected together.

import { $, api, ask, data, glyphAt, han, isShortcut, make, may, oneAtATime, problemMessage, say, uuid, words, workPath } from "./shell.js";
import { confirmationOf, installTypedField } from "./typing.js";
import { showMessage } from "./undo.js";

const LIMIT = 60;
const placeOf = (glyph) => `${glyph.page} ${glyph.line} ${glyph.offset}`;
let now = { text: $("text").value, against: $("against").value, part: 0 };
let items = [];
let next = null;
let asked = 0;
const chosen = new Set();

const query = (more = {}) => new URLSearchParams({ ...now, limit: LIMIT, ...more });

async function show(wanted) {
  const mine = (asked += 1);
  now = wanted;
  chosen.clear();
  items = []; // so that no glyph of the last character can be selected
  $("grid").replaceChildren();
  $("more").hidden = true;
  count();
  $("text").value = now.text;
  $("against").value = now.against;
  offered();
  $("hint").hidden = Boolean(now.text);
  if (!now.text) return;
  history.replaceState(null, "", `?${new URLSearchParams({ text: now.text, ...(now.against && { against: now.against }), ...(now.part && { part: now.part }) })}`);
  $("grid").setAttribute("aria-busy", "true");
  const found = await ask(`${api("glyphs")}?${query()}`).finally(() => $("grid").removeAttribute("aria-busy"));
  if (mine !== asked) return;
  $("stroke").hidden = false;
  $("pair-text").textContent = now.text;
  $("pair-image").textContent = now.against;
  document.querySelector("[data-act=take]").hidden = !now.against;
  $("take-label").textContent = say("corrects", { text: now.text, reading: now.against });
  add(found);
  if (!document.activeElement?.closest("#typing, dialog, .bar")) $("grid").querySelector("button")?.focus({ preventScroll: true }); // so that keys work at once
}

function add(found) {
  items.push(...found.items);
  next = found.next;
  $("grid").append(...found.items.map(cell));
  $("more").hidden = next === null;
  $("next-part").hidden = found.part + 1 >= found.parts;
  $("empty").hidden = items.length > 0;
  $("looked").textContent = say(found.parts > 1 ? "lookedAt" : "occurrences", { num: found.total.toLocaleString(), looked: found.compared.toLocaleString() });
  $("announce").textContent = $("looked").textContent;
  count();
}

function cell(glyph) {
  const button = make("button", { type: "button", class: "glyph", "data-place": placeOf(glyph) });
  fill(button, glyph);
  return make("li", {}, button);
}

function fill(button, glyph) {
  const over = Boolean(glyph.state) && glyph.state !== "open";
  button.className = `glyph ${over ? "over" : ""} ${glyph.state === "open" ? "flagged" : ""}`;
  button.setAttribute("aria-pressed", String(chosen.has(placeOf(glyph))));
  button.disabled = over;
  button.title = `${glyph.name} ${say("column", { number: glyph.line })}`;
  button.replaceChildren(
    make("img", { class: "paper", alt: button.title, loading: "lazy", width: 84, height: 84, src: glyphAt(glyph) }),
    make("span", { class: "soft id" }, glyph.name),
    make("span", { class: `state ${glyph.state ?? ""}` }, glyph.state === "corrected" ? han(glyph.reading) : glyph.state ? words.states[glyph.state] : ""));
}

const picked = () => items.filter((glyph) => chosen.has(placeOf(glyph)));
const buttonOf = (glyph) => $("grid").querySelector(`[data-place="${placeOf(glyph)}"]`);

function count() {
  $("chosen").textContent = say("selected", { num: chosen.size });
  for (const button of document.querySelectorAll("#stroke [data-act]")) button.disabled = !may("decide") || !chosen.size;
}

function toggle(button) {
  const place = button.dataset.place;
  if (!chosen.delete(place)) chosen.add(place);
  button.setAttribute("aria-pressed", String(chosen.has(place)));
  count();
}

/** Corrects all selected occurrences to one reading, as one act. Returns whether it was done. */
const correct = oneAtATime(async (reading, more = {}) => {
  const some = picked();
  if (!some.length || !may("decide")) return false;
  const { text } = now; // another character may be shown when the answer arrives
  const places = some.map(({ page, line, offset }) => ({ page, line, offset, transcribed: text, key: uuid() }));
  const answer = await ask(api("glyphs/corrections"), { places, reading, batch: uuid(), ...more });
  let beaten = 0;
  answer.items.forEach((outcome, n) => {
    const stands = outcome.decision ?? outcome.conflict?.at(-1);
    if (!outcome.decision) beaten += 1;
    if (stands) Object.assign(some[n], { state: stands.state, reading: stands.reading });
    chosen.delete(placeOf(some[n]));
    const button = buttonOf(some[n]);
    if (button) fill(button, some[n]);
  });
  const done = say("decidedMany", { num: answer.items.length - beaten }) + (beaten ? ` · ${say("conflicts", { num: beaten })}` : "");
  $("outcome").textContent = "";
  showMessage(`${more.delete ? say("deletes", { text }) : say("corrects", { text, reading })} · ${done}`, "undo");
  count();
  return true;
});

async function attempt(act, besides = []) {
  try {
    return await act();
  } catch (problem) {
    if (besides.includes(problem.status)) throw problem;
    $("outcome").textContent = problemMessage(problem);
    return false;
  }
}

function openTyping() {
  $("typing").hidden = false;
  $("typed").value = "";
  $("typed-problem").textContent = "";
  $("typed").focus();
}
function closeTyping() {
  $("typing").hidden = true;
  ($("grid").querySelector("[aria-pressed=true]") ?? $("grid").querySelector("button"))?.focus();
}
installTypedField(async (reading) => {
  const done = await attempt(() => correct(reading, confirmationOf(reading)), [422, 428]); // statuses of problems with the typed reading
  if (done && $("typed").value.trim() === reading) closeTyping(); // else something else was typed in the meantime
}, closeTyping);
$("typing-close").addEventListener("click", closeTyping);

const toPage = (glyph) => glyph && location.assign(workPath(`pages/${glyph.page}#${glyph.line}-${glyph.offset}`));

const acts = {
  take: () => now.against && attempt(() => correct(now.against)),
  type: openTyping,
  delete: () => attempt(() => correct("", { delete: true })),
  page: () => toPage(items.findLast((glyph) => chosen.has(placeOf(glyph)))),
  none: () => {
    chosen.clear();
    for (const glyph of items) buttonOf(glyph)?.setAttribute("aria-pressed", "false");
    count();
  },
};

/** The next glyph in the direction of an arrow key. */
function beside(button, key) {
  const all = [...$("grid").querySelectorAll("button")];
  const at = all.indexOf(button);
  const across = getColumns();
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + across, ArrowUp: at - across }[key];
  return at < 0 ? all[0] : all[to];
}
function getColumns() {
  const [first, ...rest] = [...$("grid").children].map((tile) => tile.offsetTop);
  const wrapped = rest.findIndex((top) => top !== first);
  return wrapped < 0 ? rest.length + 1 : wrapped + 1;
}

$("grid").addEventListener("click", (event) => {
  const button = event.target.closest(".glyph");
  if (!button || button.disabled) return;
  if (may("decide")) toggle(button);
  else toPage(items.find((glyph) => placeOf(glyph) === button.dataset.place));
});
addEventListener("click", (event) => {
  const button = event.target.closest("#stroke [data-act]");
  if (button && !button.disabled) acts[button.dataset.act]();
});
addEventListener("keydown", (event) => {
  if (!isShortcut(event)) return;
  if (event.key.startsWith("Arrow") && items.length) {
    event.preventDefault();
    beside(document.activeElement, event.key)?.focus();
    return;
  }
  if (event.repeat) return;
  if (event.key === "/") {
    event.preventDefault();
    $("text").select();
  }
  const glyph = items.find((each) => placeOf(each) === document.activeElement?.dataset?.place);
  if (event.key === "p" && glyph) toPage(glyph);
  const name = { t: "take", e: "type", d: "delete", Escape: "none" }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!name || !chosen.size || !may("decide")) return;
  event.preventDefault();
  acts[name]();
});

function offered() {
  $("offered").replaceChildren(...data.pairs.map((pair) => make("button", {
    type: "button", class: "chip", "aria-pressed": String(pair.text === now.text && pair.image === now.against),
    onclick: () => show({ text: pair.text, against: pair.image, part: 0 }),
  }, han(pair.text, "said"), make("span", { class: "arrow" }, "→"), han(pair.image, "seen"), make("span", { class: "count" }, pair.count))));
}
$("sought").addEventListener("submit", (event) => {
  event.preventDefault();
  show({ text: $("text").value.trim(), against: $("against").value.trim(), part: 0 });
});
$("next-part").addEventListener("click", () => show({ ...now, part: now.part + 1 }));
$("more").addEventListener("click", oneAtATime(async () => {
  const mine = asked;
  const found = await ask(`${api("glyphs")}?${query({ cursor: next })}`);
  if (mine === asked) add(found);
}));

show({ ...now, part: data.part });
