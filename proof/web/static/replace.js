// Replacing a string, place by place, each beside its image: T replaces it, K keeps it.

import { decidedByOther } from "./outbox.js";
import { $, api, ask, data, inTurn, isShortcut, make, may, piece, say, script, uuid, workPath } from "./shell.js";
import { confirmationOf, typedProblemMessage } from "./typing.js";

const list = $("places");
const rows = () => [...list.children];
const columnTexts = new Map(); // the present text of each column, after the replacements made here

function row(place, n) {
  const { page, name, line, offset, before, after, image, box } = place;
  columnTexts.set(`${page} ${line}`, before + data.old + after);
  const picture = image ? make("img", { class: "paper", alt: "", loading: "lazy", src: piece(image, box, ",180") }) : make("span", { class: "noimage" });
  const text = make("span", { class: "han", lang: script }, before, ...(data.new ? [make("del", {}, data.old), make("ins", {}, data.new)] : [make("mark", { class: "found" }, data.old)]), after);
  const button = (act, key, label, needs) => make("button", { type: "button", "data-act": act, disabled: needs && (!may("decide") || !data.new) }, make("kbd", {}, key), " ", label);
  return make("li", { tabindex: n ? -1 : 0, "data-n": n }, picture, text,
    make("a", { class: "soft", href: workPath(`pages/${page}#${line}-${offset}`) }, name, " ", say("column", { number: line })),
    make("span", { class: "ways" }, button("take", "T", say("replace"), true), button("keep", "K", say("leaveSo"))));
}

function go(to) {
  if (!to) return;
  for (const item of rows()) item.tabIndex = item === to ? 0 : -1;
  to.focus();
  to.scrollIntoView({ block: "nearest" });
}
const beside = (item, by) => rows()[rows().indexOf(item) + by];
const following = (item) => rows().slice(rows().indexOf(item) + 1).find((each) => !each.dataset.done);

const replaced = new Set(); // indices of the replaced places

/** Replaces the string at one place. Its offset is shifted by earlier replacements in the same column. */
async function send(item, n) {
  const place = data.places[n];
  const key = `${place.page} ${place.line}`;
  const seen = columnTexts.get(key);
  const earlier = [...replaced].map((each) => data.places[each])
    .filter(({ page, line, before }) => page === place.page && line === place.line && before.length < place.before.length);
  const at = place.before.length + earlier.length * (data.new.length - data.old.length);
  const text = seen.slice(0, at) + data.new + seen.slice(at + data.old.length);
  try {
    const { conflicts } = await ask(api(`pages/${place.page}/columns/${place.line}`), { seen, text, ...confirmationOf(data.new), key: uuid() });
    if (conflicts.length) throw new Error(decidedByOther(conflicts[0]));
    columnTexts.set(key, text);
    replaced.add(n);
  } catch (problem) {
    delete item.dataset.done;
    const message = problem.document ? typedProblemMessage(problem, data.new) : problem.message;
    $("notices").replaceChildren(make("p", { class: "notice" }, message));
    go(item);
  }
}

const sending = inTurn(); // in turn: a column may have the string twice
const acts = {
  take: (item) => {
    if (item.dataset.done || !may("decide") || !data.new) return;
    item.dataset.done = "taken";
    go(following(item));
    sending(() => send(item, Number(item.dataset.n)));
  },
  keep: (item) => {
    item.dataset.done ??= "left";
    go(following(item));
  },
};

list.replaceChildren(...data.places.map(row));
list.addEventListener("click", (event) => {
  const act = event.target.closest("[data-act]")?.dataset.act;
  if (act) acts[act](event.target.closest("li"));
});
addEventListener("keydown", (event) => {
  if (!isShortcut(event) || event.repeat) return;
  const item = document.activeElement?.closest("#places > li") ?? rows().find((each) => !each.dataset.done);
  const act = { t: "take", k: "keep" }[event.key.toLowerCase()];
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!item || (!act && !by)) return;
  event.preventDefault();
  if (act) acts[act](item);
  else go(beside(item, by));
});
