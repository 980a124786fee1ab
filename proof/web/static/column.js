// The column editor: a column's text beside its image and the recogniser's reading. Differences in the typed text become
// corrections of single places, saved as one act; notes, indents and marks of the text are kept. Columns can be added,
// deleted, split and joined.

import { decidedByOther } from "./outbox.js";
import { $, api, ask, data, isShortcut, make, may, oneAtATime, piece, say, uuid } from "./shell.js";
import { confirmationOf, installForm, typedProblemMessage } from "./typing.js";
import { reloadWithMessage } from "./undo.js";

const MARKUP = /[()/¶\s]/u;
const lines = [...new Set(data.columns.map((entry) => entry.number))].sort((a, b) => a - b);
const column = (number) => data.columns.find((entry) => entry.number === number);
let number = 0;
let changed = false;
let adding = ""; // "add before" or "add after" while a new column is typed

/** The recogniser's reading of a column: one entry for each character of the text and for each missing character. */
function read(line) {
  const seen = data.characters_found.filter((character) => character.line === line && character.text.trim()).map((character) => [character.offset, character.read]);
  const gaps = data.flags_found.filter((flag) => flag.line === line && flag.kind === "omission" && flag.raised && flag.bbox);
  const missing = gaps.flatMap(({ offset, transcribed, suggested }) => {
    const beside = transcribed.trim();
    return [...(suggested.endsWith(beside) ? suggested.slice(0, suggested.length - beside.length) : suggested.slice(beside.length))].map((character) => [offset - 0.5, character]);
  });
  return [...seen, ...missing].sort(([first], [second]) => first - second).map(([, text]) => text);
}

/** The indices in `seen` of a longest common subsequence of `seen` and `typed`. */
function standing(seen, typed) {
  const length = Array.from({ length: seen.length + 1 }, () => new Array(typed.length + 1).fill(0));
  for (let i = seen.length - 1; i >= 0; i -= 1)
    for (let j = typed.length - 1; j >= 0; j -= 1)
      length[i][j] = seen[i] === typed[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  const common = new Set();
  for (let i = 0, j = 0; i < seen.length && j < typed.length;) {
    if (seen[i] === typed[j]) { common.add(i); i += 1; j += 1; }
    else if (length[i + 1][j] >= length[i][j + 1]) i += 1;
    else j += 1;
  }
  return common;
}

/** Shows the recogniser's reading; characters that the typed text lacks are marked. */
function compare() {
  const seen = read(number);
  const same = standing(seen, [...$("column-text").value].filter((character) => !MARKUP.test(character)));
  $("column-read").replaceChildren(...seen.map((text, n) => (adding || same.has(n) ? text : make("mark", {}, text || "∅"))));
}

/** Shows which change is being typed. A new column has no text yet that could be split, joined or deleted. */
function showChange() {
  for (const button of document.querySelectorAll("#column-lines button")) {
    button.ariaPressed = String(button.dataset.change === adding);
    button.disabled = adding !== "" && button.dataset.change in CHANGES;
  }
}

function open(line) {
  number = line;
  adding = "";
  const { box, now } = column(number);
  $("column-title").textContent = `${data.page} · ${say("column", { number })}`;
  $("column-image").hidden = !data.image || box[2] < 1;
  if (!$("column-image").hidden) {
    const [x, y] = [Math.max(Math.floor(box[0]), 0), Math.max(Math.floor(box[1]), 0)];
    const size = [Math.min(Math.ceil(box[2]), data.width - x), Math.min(Math.ceil(box[3]), data.height - y)];
    $("column-image").src = piece(data.image, [x, y, ...size]);
  }
  $("column-text").value = now;
  $("column-text").readOnly = !may("decide");
  showChange();
  $("column-problem").textContent = "";
  $("column-next").disabled = lines.at(-1) === number;
  compare();
  if (!$("column").open) $("column").showModal();
  $("column-text").focus();
  $("column-text").setSelectionRange(0, 0);
}

function next() {
  const following = lines[lines.indexOf(number) + 1];
  if (following) open(following);
  else $("column").close();
}

const typed = () => $("column-text").value.replace(/\n/g, "");

/** Sends a change of the column. Returns false, and shows the reason, if it was refused. */
async function send(body, text) {
  const own = column(number);
  try {
    const { conflicts } = await ask(api(`pages/${data.number}/columns/${number}`), { seen: own.now, ...body, ...confirmationOf(text), key: uuid() });
    changed = true;
    if (conflicts.length) $("column-problem").textContent = decidedByOther(conflicts[0]);
    return !conflicts.length;
  } catch (problem) {
    $("column-problem").textContent = typedProblemMessage(problem, text);
    return false;
  }
}

async function written(text = typed()) {
  if (text !== column(number).now && !await send({ text }, text)) return false;
  column(number).now = text;
  return true;
}

/** Splits, joins, deletes or adds a column; an edit of its text is saved first. */
async function changeColumn(change, body = {}) {
  if (!adding && !await written()) return;
  if (!await send({ change, ...body }, body.text ?? "")) return;
  data.columns = (await ask(api(`pages/${data.number}`))).columns;
  open(number);
  $("column-title").textContent += ` · ${say("columnEdited")}`;
}

const set = oneAtATime(async () => {
  if (adding) await changeColumn(adding, { text: typed() });
  else if (await written()) next();
});

const CHANGES = {
  split: () => changeColumn("split", { at: [...$("column-text").value.slice(0, $("column-text").selectionStart)].length }),
  join: () => changeColumn("join"),
  delete: () => changeColumn("delete"),
};

/** Handles a button for columns. Buttons that add a column first let the user type its text. */
const press = oneAtATime(async (name) => {
  if (CHANGES[name]) return CHANGES[name]();
  const back = adding === name;
  if (!adding && !await written()) return undefined;
  open(number);
  if (back) return undefined;
  adding = name;
  showChange();
  $("column-title").textContent = say(name === "add before" ? "columnBefore" : "columnAfter", { number });
  $("column-text").value = "";
  compare();
  return undefined;
});

/** Installs the editor: `E` or the button opens the column whose number `reached` returns, else the first column. */
export function columnEditor(reached) {
  $("column-open").hidden = !lines.length;
  const begin = () => lines.length && open(lines.includes(reached()) ? reached() : lines[0]);
  $("column-open").addEventListener("click", begin);
  addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "e" || event.repeat || !isShortcut(event)) return;
    event.preventDefault();
    begin();
  });
  const isComposing = installForm($("column-form"), [$("column-text")], set, () => $("column").close());
  $("column-text").addEventListener("input", compare);
  $("column-text").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || isComposing(event)) return;
    event.preventDefault();
    if (event.shiftKey && !adding) press("split");
    else set();
  });
  $("column-lines").addEventListener("click", (event) => {
    const name = event.target.closest("[data-change]")?.dataset.change;
    if (name) press(name);
  });
  $("column-next").addEventListener("click", next);
  $("column-close").addEventListener("click", () => $("column").close());
  $("column").addEventListener("close", () => changed && reloadWithMessage(say("columnEdited")));
}
