// The view of a page: its image, with zoom and the boxes of characters, beside the text in the layout of the page.
// Pointing at a character highlights it in both; any character can be corrected, and missing ones inserted.

/* global OpenSeadragon */
import { changeOf, commentByKey, installComments } from "./comments.js";
import { columnEditor } from "./column.js";
import { layoutTools } from "./layout.js";
import { nearest, offer } from "./touch.js";
import { decidedByOther } from "./outbox.js";
import { alternatives, answerPage, askPage, decideCharacter, installReadingKeys } from "./reading.js";
import { $, api, ask, data, deskOf, han, inTurn, isShortcut, keep, make, may, oneAtATime, reloadButton, say, svg, uuid, words } from "./shell.js";
import { home, inGap, linkMovement, placeFlags, writeSheet } from "./sheet.js";
import { installForm, typedProblemMessage } from "./typing.js";
import { reloadWithMessage, showOnNextPage } from "./undo.js";

const pair = new Map(); // by index of a character: { box, cell }
const flagAt = new Map();
for (const flag of data.flags_found) {
  if ((!flag.raised && flag.state === "open") || flag.kind === "layout" || inGap(flag) !== null) continue; // marked by the frame of their column or gap instead
  for (let at = flag.offset; at < flag.offset + Math.max(flag.length, 1); at += 1) flagAt.set(`${flag.line}:${at}`, flag);
}
const flagOf = (character) => flagAt.get(`${character.line}:${character.offset}`);

// the image

let viewer = null;
let overlay = null;
function openImage() {
  if (!data.image) return;
  viewer = OpenSeadragon({
    element: $("viewer"),
    tileSources: `/iiif/${data.image}/info.json`,
    drawer: "canvas",
    showNavigationControl: false,
    animationTime: 0.25,
    maxZoomPixelRatio: 4,
    clickTimeThreshold: Infinity, // a press without movement is a click, however long it lasts
    gestureSettingsMouse: { clickToZoom: false, dblClickToZoom: true },
    keyboardNavEnabled: true,
  });
  overlay = svg("svg", { viewBox: `0 0 ${data.width} ${data.height}`, class: "boxes" });
  data.characters_found.forEach((character, index) => {
    if (character.text.trim() === "") return;
    const flag = flagOf(character);
    const [x, y, width, height] = character.box;
    const box = svg("rect", { x, y, width, height, "data-n": index, class: flag ? `flagged ${flag.state}` : "" });
    overlay.append(box);
    Object.assign(pair.get(index), { box });
  });
  for (const flag of placeFlags) {
    const [x, y, width, height] = flag.bbox;
    const kind = flag.kind === "layout" ? "column" : "gap";
    overlay.prepend(svg("rect", { x, y, width, height, class: `flagged ${kind} ${flag.state}` }));
  }
  linkMovement($("sheet"), viewer);
  viewer.addHandler("open", () => {
    viewer.addOverlay({ element: overlay, location: viewer.world.getItemAt(0).getBounds() });
    document.body.dataset.ready = "1";
  });
  // use the viewer's own tracker: a second one on the overlay would take one of two fingers, and prevent pinching
  viewer.addHandler("canvas-click", (event) => {
    const { clientX, clientY } = event.originalEvent;
    const n = document.elementsFromPoint(clientX, clientY).find((element) => overlay.contains(element) && element.dataset.n)?.dataset.n;
    if (event.quick && n !== undefined) openCorrection(Number(n));
  });
}

function highlight(n, on) {
  const { line, offset } = flagOf(data.characters_found[n])?.other ?? {};
  const otherPlace = line === undefined ? -1 : data.characters_found.findIndex((character) => character.line === line && character.offset === offset);
  for (const each of [n, otherPlace]) {
    pair.get(each)?.box?.classList.toggle("lit", on);
    pair.get(each)?.cell?.classList.toggle("lit", on);
  }
}
for (const [element, selector] of [[$("sheet"), ".cell"], [$("viewer"), "rect"]]) {
  element.addEventListener("pointerover", (event) => event.target.closest?.(selector) && highlight(Number(event.target.closest(selector).dataset.n), true));
  element.addEventListener("pointerout", (event) => event.target.closest?.(selector) && highlight(Number(event.target.closest(selector).dataset.n), false));
}
$("sheet").addEventListener("focusin", (event) => event.target.dataset.n && highlight(Number(event.target.dataset.n), true));
$("sheet").addEventListener("focusout", (event) => event.target.dataset.n && highlight(Number(event.target.dataset.n), false));
$("sheet").addEventListener("click", (event) => {
  const cell = event.target.closest(".cell") ?? nearest($("sheet"), event);
  if (cell) openCorrection(Number(cell.dataset.n));
});

// correcting a character by hand

let corrected = null;
let untouched = true; // nothing was typed since the dialog was opened
function openCorrection(n) {
  const character = corrected = data.characters_found[n];
  const flag = flagOf(corrected);
  $("correct-char").textContent = corrected.text;
  $("correct-where").textContent = say("column", { number: corrected.line });
  $("correct-read").textContent = corrected.read && corrected.read !== corrected.text ? say("readAs", { reading: corrected.read }) : "";
  if (flag?.other) $("correct-read").textContent = movedTo(flag);
  $("correct-reading").value = "";
  untouched = true;
  $("correct-problem").textContent = "";
  $("correct-delete-label").textContent = say("deletes", { text: corrected.text });
  $("correct-flag").hidden = !flag;
  if (flag) $("correct-flag").href = deskOf(flag);
  $("correct-others").replaceChildren();
  alternatives(character, flag).then((others) => {
    if (corrected !== character) return; // the dialog shows another character by now
    $("correct-others").replaceChildren(...others.map((text) => make("button", { type: "button", onclick: () => act("typed", n, text) }, han(text))));
  });
  offer($("correct-near"), $("sheet"), n, openCorrection);
  if (!$("correct").open) $("correct").showModal();
  $("correct-reading").focus();
}
/** A character that moved, in words. It is decided on the desk, at both its places at once. */
function movedTo(flag) {
  const [old, place] = flag.transcribed ? [flag, flag.other] : [flag.other, flag];
  const columns = say("column", { number: [...new Set([old.line, place.line])].join(" → ") });
  return `${words.moved}: ${old.transcribed}, ${columns}`;
}
const isComposing = installForm($("correcting"), [$("correct-reading")], setCorrection, () => $("correct").close());
$("correct-reading").addEventListener("keydown", (event) => {
  if (event.key !== "Delete" || isComposing(event) || event.repeat || !untouched) return;
  event.preventDefault();
  remove(corrected);
});
$("correct-reading").addEventListener("input", () => { untouched = false; });
$("correct-close").addEventListener("click", () => $("correct").close());
function setCorrection() {
  const insert = $("correcting").elements.how.value === "insert";
  const reading = $("correct-reading").value.trim();
  if (!reading) { // an empty field deletes nothing
    $("correct-problem").textContent = say("typeFirst");
    return;
  }
  if (insert) {
    const missed = { ...corrected, offset: corrected.offset + corrected.length, length: 0 };
    correct(missed, undefined, "typed", reading, say("inserts", { reading }));
  } else act("typed", data.characters_found.indexOf(corrected), reading);
}
$("correct-delete").addEventListener("click", () => remove(corrected));
$("correct-doubt").addEventListener("click", () => act("unsure", data.characters_found.indexOf(corrected)));

/** Deletes a character. An empty field never does that. */
function remove(character) {
  act("delete", data.characters_found.indexOf(character));
}

/** Corrects the `n`th character of the page. Resolves to a message if that failed. */
function act(verdict, n, reading = "") {
  const character = data.characters_found[n];
  if (!may("decide")) return null;
  const messages = { typed: say("corrects", { text: character.text, reading }), delete: say("deletes", { text: character.text }), unsure: `${character.text}: ${words.states.unsure}` };
  return correct(character, flagOf(character), verdict, reading, messages[verdict]);
}

const correct = oneAtATime(async (character, flag, verdict, reading, done) => {
  try {
    await decideCharacter(character, flag, verdict, reading);
    reloadWithMessage(`${done} · ${say("column", { number: character.line })}`);
    return null;
  } catch (problem) {
    const last = problem.document.decisions?.at(-1);
    const message = last ? decidedByOther(last) : typedProblemMessage(problem, reading);
    if ($("correct").open) $("correct-problem").textContent = message;
    else if ($("inplace").hidden) $("notices").replaceChildren(make("p", { class: "notice" }, message));
    return message;
  }
});

// the state of the page

const STATES = ["not proofread", "proofread", "validated", "problem"];
$("state").replaceChildren(...STATES.map((state) => make("option", { value: state, selected: state === data.state }, words.pageStates[state])));
// in turn, each with the version that the one before made: else a person would conflict with themselves
const changeInTurn = inTurn();
let lastChange = null;
/** Sets the state of the page; with `toNext` a validated page is followed by the next page to validate. */
function setState(state, toNext = false) {
  $("state").value = state;
  $("state").ariaBusy = "true";
  const change = changeInTurn(async () => {
    try {
      const saved = await ask(api(`pages/${data.number}/states`), { state, version: data.version, key: uuid() });
      Object.assign(data, { state: saved.state, version: saved.version, state_by: saved.person });
      askPage(problems);
      if (saved.state === "validated" && toNext) {
        showOnNextPage(`${data.page}: ${words.pageStates.validated}`);
        return location.assign($("to-validate").href);
      }
      $("changed")?.remove();
      $("notices").replaceChildren(...(saved.state === "problem" ? [make("p", { class: "told" }, say("whatProblem"), " ",
        make("button", { type: "button", onclick: () => { $("notices").replaceChildren(); talk(); } }, make("kbd", {}, "N"), " ", say("comment")))] : []));
    } catch (problem) {
      const detail = problem.status ? problem.message : say("silent");
      $("notices").replaceChildren(make("p", { class: "notice" }, detail, " ", reloadButton()));
      $("state").value = data.state;
    }
  });
  lastChange = change;
  change.finally(() => { if (lastChange === change) $("state").ariaBusy = "false"; });
}
$("state").addEventListener("change", (event) => setState(event.target.value));
/** The number of open problems on the page and its flags, by the state of the last comment on each. */
const threads = new Map(data.comments.map((comment) => [comment.uid, comment.state]));
const problems = [...threads.values()].filter((state) => state === "problem").length;
askPage(problems);
answerPage((state) => setState(state, true));

// comments on the page; those on its flags are shown too, but answered on the desk

const own = data.comments.filter((comment) => !comment.uid);
const where = (comment) => (comment.uid ? [make("a", { href: comment.flag ? deskOf(comment.flag) : null },
  say("column", { number: comment.line }), " ", ...changeOf(comment)), " "] : []);
const talk = installComments(() => ({
  title: [say("commentedOn", { place: data.page })], comments: data.comments, own, where,
  problem: data.state === "problem", path: api(`pages/${data.number}/comments`),
}), () => reloadWithMessage(say("sent"), ""));
commentByKey(talk);
$("comments-open").addEventListener("click", talk);
const badge = $("comments-open").querySelector(".badge");
badge.textContent = data.comments.length;
badge.hidden = !data.comments.length;

$("boxes").checked = localStorage.getItem("proof-boxes") === "1";
const showBoxes = () => {
  keep("proof-boxes", Number($("boxes").checked), localStorage);
  $("viewer").classList.toggle("with-boxes", $("boxes").checked);
};
$("boxes").addEventListener("change", showBoxes);
const zoom = (by) => () => viewer.viewport.zoomBy(by);
const ZOOM = { "+": zoom(1.3), "=": zoom(1.3), "-": zoom(1 / 1.3), 0: () => home(viewer) };
for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => ZOOM[button.dataset.zoom]());
addEventListener("keydown", (event) => {
  if (!isShortcut(event) || event.repeat) return;
  if (event.key === "b") {
    $("boxes").checked = !$("boxes").checked;
    showBoxes();
  } else if (ZOOM[event.key]) viewer && ZOOM[event.key]();
  else if (event.key === "d" && event.target.closest?.(".cell")) remove(data.characters_found[Number(event.target.dataset.n)]);
  else if (event.target.closest?.("#viewer, #sheet")) return; // there, arrow keys move the image or walk along the columns
  else if (event.key === "ArrowLeft") $("next")?.click();
  else if (event.key === "ArrowRight") $("prev")?.click();
});

writeSheet($("sheet"), flagOf, pair);
installReadingKeys($("sheet"), flagOf, act);
columnEditor(() => data.characters_found[Number(document.activeElement?.closest?.(".cell[data-n]")?.dataset.n)]?.line);

/** The text of a column, with a link for each flag. */
function withFlags({ number, source }) {
  const text = [...source];
  const parts = [];
  let at = 0;
  for (const flag of data.flags_found.filter(({ line, raised, state }) => line === number && (raised || state !== "open")).sort((a, b) => a.offset - b.offset)) {
    if (flag.offset < at) continue;
    const end = flag.offset + flag.length;
    const href = deskOf(flag);
    parts.push(text.slice(at, flag.offset).join(""), make("a", { href, class: `flagged ${flag.state}` }, (flag.state === "corrected" ? flag.reading : "") || text.slice(flag.offset, end).join("") || "∅"));
    at = end;
  }
  return [...parts, text.slice(at).join("")];
}

openImage(); // the script of the viewer is deferred, and comes before this one
layoutTools(viewer);
showBoxes();
const columns = () => [...new Map(data.columns.map((column) => [column.number, column])).values()].map((column) => make("p", {}, ...withFlags(column)));
if (!data.image) { // shows the text, and a way to choose an image
  $("viewer").hidden = true;
  $("text-alone").replaceChildren(...columns());
  $("assign")?.addEventListener("click", () => { $("layout-open").click(); $("layout-sought").focus(); });
} else if (!data.characters_found.length) { // no character was found on the image: shows the notices and the text
  $("sheet").append(make("div", { id: "unread" }, ...data.notices.map((notice) => make("p", { class: "told" }, notice)),
    make("div", { id: "text-alone", class: "han" }, ...columns())));
}
