// Proofreading a page by keyboard: arrow keys move along the columns, Enter types in place, M marks a character as
// doubtful, P goes to the flag and back. Flagged characters are decided, others are corrected by hand.

import { $, api, ask, data, deskOf, han, isShortcut, make, may, oneAtATime, person, say, uuid, words, work, workPath } from "./shell.js";
import { confirmationOf, installForm } from "./typing.js";

const LIST = 240; // width in CSS pixels of the list of readings beside the cell
const DESK = `proof-desk-address:${work}`; // kept by desk_address.js

/** Whether the flag is about this character alone; a moved character is decided on the desk, at both its places. */
const own = (flag, character) => flag && !flag.other && flag.offset === character.offset && flag.length === character.length;

/** Decides or corrects a character; `verdict` is typed, delete or unsure. Throws a Problem. */
export function decideCharacter(character, flag, verdict, reading = "") {
  if (own(flag, character)) return ask(api(`flags/${flag.number}/decisions`), { verdict, reading, ...confirmationOf(reading), version: flag.version, key: uuid() });
  const { source } = data.columns.find(({ number }) => number === character.line) ?? {}; // the server refuses if the column has changed since
  const place = { line: character.line, offset: character.offset, length: character.length, reading, ...confirmationOf(reading), source, key: uuid() };
  return ask(api(`pages/${data.number}/corrections`), { ...place, delete: verdict === "delete", doubt: verdict === "unsure" });
}

/** The recogniser's readings of a character that differ from the text. */
export async function alternatives(character, flag) {
  const found = [character.read];
  if (flag) {
    const detail = await ask(api(`flags/${flag.number}`)).catch(() => null);
    found.push(flag.suggested, ...(detail?.spellings ?? []), ...(detail?.alternatives ?? []).map((each) => each.text));
  }
  return [...new Set(found)].filter((text) => text && text !== character.text).slice(0, 9);
}

/** Installs the keys for the cells of `sheet`; `act(verdict, n, reading)` corrects the `n`th character. */
export function installReadingKeys(sheet, flagOf, act) {
  const cells = () => [...sheet.querySelectorAll(".cell[data-n]")];
  const at = () => document.activeElement?.closest?.(".cell[data-n]");
  const character = (cell) => data.characters_found[Number(cell.dataset.n)];
  const middle = (cell) => { const { top, height } = cell.getBoundingClientRect(); return top + height / 2; };

  function beside(cell, by) {
    const columns = [...sheet.querySelectorAll(".column")].filter((column) => column.querySelector(".cell[data-n]"));
    const column = columns[columns.indexOf(cell.closest(".column")) + by];
    return [...(column?.querySelectorAll(".cell[data-n]") ?? [])]
      .sort((first, second) => Math.abs(middle(first) - middle(cell)) - Math.abs(middle(second) - middle(cell)))[0];
  }
  const step = (cell, by) => { const all = cells(); return all[all.indexOf(cell) + by]; };
  const ends = (cell, last) => [...cell.closest(".column").querySelectorAll(".cell[data-n]")].at(last ? -1 : 0);
  const WALK = {
    ArrowDown: (cell) => step(cell, 1), ArrowUp: (cell) => step(cell, -1), ArrowLeft: (cell) => beside(cell, 1),
    ArrowRight: (cell) => beside(cell, -1), Home: (cell) => ends(cell, false), End: (cell) => ends(cell, true),
  };

  function go(cell) {
    cell?.focus({ preventScroll: true });
  }
  /** Moves to the character in the address, else to the first. */
  function begin() {
    const [line, offset] = location.hash.slice(1).split("-").map(Number);
    go(cells().find((cell) => character(cell).line === line && character(cell).offset === offset) ?? cells()[0]);
  }
  sheet.addEventListener("focusin", (event) => {
    const cell = event.target.closest?.(".cell[data-n]");
    if (cell) history.replaceState(null, "", `#${character(cell).line}-${character(cell).offset}`);
  });
  if (location.hash) begin();

  // typing in place, over the cell in the text, so that the glyph stays visible

  let typed = null;
  const box = $("inplace");
  const input = box.querySelector("input");
  function close() {
    box.hidden = true;
    go(typed);
    typed = null;
  }
  async function type(cell) {
    typed = cell;
    const room = cell.getBoundingClientRect();
    const size = Math.max(room.width, 36);
    box.style.left = `${Math.max(Math.min(room.left - 4, innerWidth - 2.2 * size), 0)}px`;
    box.classList.toggle("leftward", room.left > innerWidth - LIST);
    box.style.top = `${Math.max(Math.min(room.top, innerHeight - 4 * size), 0)}px`;
    input.style.fontSize = `${Math.min(size, 48)}px`;
    input.value = "";
    $("inplace-others").replaceChildren();
    $("inplace-problem").textContent = "";
    box.hidden = false;
    input.focus({ preventScroll: true });
    const others = await alternatives(character(cell), flagOf(character(cell)));
    if (typed !== cell) return;
    $("inplace-others").replaceChildren(...others.map((text, n) =>
      make("button", { type: "button", onclick: () => set(text) }, make("kbd", {}, String(n + 1)), " ", han(text))));
  }
  const set = oneAtATime(async (reading) => {
    const problem = await act("typed", Number(typed.dataset.n), reading);
    $("inplace-problem").textContent = problem ?? "";
  });
  const isComposing = installForm(box, [input], () => {
    const reading = input.value.trim();
    if (reading) set(reading);
    else $("inplace-problem").textContent = say("typeFirst"); // an empty field deletes nothing
  }, close);
  box.addEventListener("keydown", (event) => {
    if (isComposing(event) || input.value || !/^[1-9]$/.test(event.key)) return;
    const other = $("inplace-others").children[Number(event.key) - 1];
    if (!other) return;
    event.preventDefault();
    other.click();
  });
  box.addEventListener("focusout", (event) => { if (!box.contains(event.relatedTarget) && !box.hidden) { box.hidden = true; typed = null; } });

  /** Goes to the flag of the current character, or back to the flag from which the page was opened. */
  function toDesk() {
    const cell = at();
    const flag = cell && flagOf(character(cell));
    const last = JSON.parse(sessionStorage.getItem(DESK) ?? "null");
    const from = new URLSearchParams(location.search).get("flag");
    const same = last && from && new URLSearchParams(last.split("?")[1]).get("flag") === from;
    if (flag && !(same && String(flag.number) === from)) return location.assign(deskOf(flag));
    return location.assign(last ?? workPath("desk"));
  }
  $("to-desk").addEventListener("click", (event) => { event.preventDefault(); toDesk(); });

  addEventListener("keydown", (event) => {
    if (!isShortcut(event)) return;
    const cell = at();
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === "p" && !event.repeat) return toDesk();
    if (key === "r" && !event.repeat) return $("ask-page").hidden || $("ask-yes").hidden ? undefined : $("ask-yes").click();
    if (key === "v" && !event.repeat) return $("to-validate").click();
    if (key === "PageDown" || key === "PageUp") return $(key === "PageDown" ? "next" : "prev")?.click();
    const walk = WALK[key];
    if (walk && cell) {
      event.preventDefault();
      return go(walk(cell));
    }
    if ((key === "ArrowDown" || key === "ArrowUp") && !cell && !$("viewer").contains(event.target)) {
      event.preventDefault();
      return begin();
    }
    if (!cell || event.repeat || !may("decide")) return;
    if (key === "Enter") {
      event.preventDefault();
      type(cell);
    } else if (key === "m") act("unsure", Number(cell.dataset.n));
  });
}

/** A decision in words: the corrected text or the state. */
const left = ([state, reading]) => (state === "corrected" && reading ? han(reading) : words.states[state]);

/** A flag on which the user and somebody else differ: both decisions, with a link to the flag. */
function difference({ flag: number, own, person: who, other }) {
  const flag = data.flags_found.find((found) => found.number === number);
  const way = flag ? make("a", { href: deskOf(flag) }, say("column", { number: flag.line }), " ", han(flag.transcribed)) : "";
  return make("li", {}, way, " ", say("differYou"), " ", left(own), " · ", who, ": ", left(other));
}

/** The question about the state of the page, and the state that `R` sets; null if there is nothing to ask. */
function question() {
  if (!may("decide")) return null;
  if (data.state === "proofread") {
    if (data.state_by === person) return { words: say("ownPage") };
    return { words: say("proofreadBy", { person: data.state_by }), state: "validated", label: say("pageValidated") };
  }
  const open = data.flags_found.some((flag) => flag.raised && flag.state === "open");
  if (data.state !== "not proofread" || !data.image || open) return null;
  return { words: say("noneOpen"), state: "proofread", label: say("pageProofread") };
}

let asked = null;
/** Shows the question about the state of the page, with the number of its open `problems`; hides it if there is none. */
export function askPage(problems) {
  asked = question();
  $("ask-page").hidden = !asked;
  if (!asked) return;
  $("ask-words").textContent = [asked.words, problems ? say("left_problems", { num: problems }) : ""].filter(Boolean).join(" ");
  $("ask-yes").hidden = !asked.state;
  $("ask-yes").querySelector("span").textContent = asked.label ?? "";
  $("differing").hidden = data.state !== "proofread" || !data.differing.length;
  $("differing").replaceChildren(...data.differing.map(difference));
}

/** Calls `sayPage` with the state when the question is answered. */
export function answerPage(sayPage) {
  $("ask-close").addEventListener("click", () => { $("ask-page").hidden = true; });
  $("ask-yes").addEventListener("click", () => {
    $("ask-page").hidden = true;
    sayPage(asked.state);
  });
}
