// What the panel of the desk shows of a flag: its place, its tiles, the readings of others, its decision, its comments.

import { showBeside } from "./beside.js";
import { commentItems } from "./comments.js";
import { $, api, ask, excerpt, han, make, may, say, script, words, workPath } from "./shell.js";

const MOST_ALTERNATIVES = 9; // one for each digit
const RECORD_PLACES = 20; // decided places below which the share of a witness says nothing
const ILLEGIBLE = /^[□■〓]+$/u; // a reading that cannot be taken
const SIDES = { text: "asText", image: "asImage" };

let records; // agreement of each witness with the decisions, by siglum; fetched once

/** The address of the page of a flag, which links back to it. */
export const pageOf = (flag) => workPath(`pages/${flag.page.number}?flag=${flag.number}#${flag.line}-${flag.offset}`);

/** The place of a flag in words. */
export function placeOf(flag) {
  if (flag.ordinal && flag.kind !== "layout") return say("place", { column: flag.line, character: flag.ordinal });
  return flag.line ? say("column", { number: flag.line }) : say("wholePage");
}

/** The two flags of a character that moved: its place in the text, then its place on the image. Null if the flag is
 * not about one, or if its place was given a reading of its own. */
function movedWith(flag) {
  if (!flag.other || (flag.state === "corrected" && flag.reading !== flag.suggested)) return null;
  return flag.transcribed ? [flag, flag.other] : [flag.other, flag];
}

/** The character that moved; empty if the flag is not about one. */
export const movedText = (flag) => movedWith(flag)?.[0].transcribed ?? "";

/** Fills the panel, and tells a screen reader what is shown. */
export function fillPanel(flag) {
  const moved = movedWith(flag);
  const kind = moved ? words.moved : words.kinds[flag.kind];
  $("page").replaceChildren(make("bdi", {}, flag.page.page));
  $("page").href = pageOf(flag);
  $("cell").textContent = (moved ?? [flag]).map(placeOf).join(" → ");
  $("kind").textContent = kind;
  $("score").textContent = flag.score.toFixed(1);
  fillTiles(flag, moved);
  $("take-label").textContent = takeLabel(flag, moved);
  document.querySelector("[data-act=take]").disabled = !flag.can_take || !may("decide");
  $("delete").disabled = !flag.transcribed || !may("decide");
  $("why").textContent = flag.why;
  showBeside(flag);
  showReaders(flag);
  showWitnesses(flag);
  showAlternatives(flag);
  showDecision(flag);
  showComments(flag);
  const change = moved ? moved[0].transcribed : `${flag.transcribed || say("nothing")} → ${flag.suggested || say("nothing")}`;
  $("announce").textContent = `${kind}, ${$("cell").textContent}: ${change}. ${flag.why}`;
}

function takeLabel(flag, moved) {
  if (moved) return say("move");
  if (flag.kind === "insertion" && flag.suggested === "") return say("delete");
  return say(flag.page.image ? "take" : "takeSuggested");
}

/** Shows the text's reading and the suggestion on the two tiles; the second is hidden if there is nothing to take. */
function fillTiles(flag, moved) {
  const isLayout = flag.kind === "layout";
  if (moved) {
    fillTile($("transcribed"), moved[0].transcribed, placeOf(moved[0]));
    fillTile($("suggested"), moved[0].transcribed, placeOf(moved[1]));
  } else if (isLayout) {
    fillTile($("transcribed"), flag.transcribed, placeOf(flag));
    fillTile($("suggested"), flag.suggested, flag.image_text ? words.onImage : "", deletedBy(flag));
  } else {
    const showsCodes = flag.kind === "variant" && [...flag.transcribed, ...flag.suggested].length === 2;
    fillTile($("transcribed"), flag.transcribed, showsCodes ? codeOf(flag.transcribed) : "");
    fillTile($("suggested"), flag.suggested, showsCodes ? codeOf(flag.suggested) : "", deletedBy(flag));
  }
  const isAlone = !moved && !flag.can_take;
  document.querySelector(".tile.seen").hidden = isAlone;
  document.querySelector(".tiles").classList.toggle("alone", isAlone);
  document.querySelector(".tiles figure").classList.toggle("unused", isLayout); // a column has no glyph tile
}

/** The text that taking the suggestion deletes. */
const deletedBy = (flag) => (flag.can_take && !flag.suggested ? flag.transcribed : "");
const codeOf = (text) => `U+${text.codePointAt(0).toString(16).toUpperCase()}`;

/** Fills a tile: the text, else the text to be deleted (`struck`), else "nothing"; `note` is shown below it. */
function fillTile(element, text, note = "", struck = "") {
  const shown = excerpt(text || struck);
  element.replaceChildren(...(struck && !text ? [make("s", {}, shown)] : [shown || make("span", { class: "words" }, note || say("nothing"))]),
    ...(note && text ? [make("span", { class: "words" }, note)] : []));
  element.lang = script;
  element.classList.toggle("none", !shown);
  element.classList.toggle("long", [...shown].length > 1);
  element.classList.toggle("longer", [...shown].length > 4);
  element.closest("button").dataset.text = text || say("nothing");
}

const percent = (p) => (p >= 0.1 ? `${Math.round(p * 100)}%` : `${(p * 100).toFixed(1)}%`);

/** The characters of a text in which it differs from the suggestion. */
const changesOf = (text, suggested) => [...text].filter((character, n) => character !== [...suggested][n]).join("");

/** Shows other readings: other forms of the suggestion, the recogniser's alternatives, then readings that only witnesses have. */
function showAlternatives(flag) {
  const forms = flag.spellings.map((text) => ({ text, shown: changesOf(text, flag.suggested), note: say("otherForm") }));
  const read = flag.alternatives.filter(({ text }) => text !== flag.transcribed && text !== flag.suggested);
  const witnessed = flag.witnesses.filter((witness) => !witness.side && witness.reading && !ILLEGIBLE.test(witness.reading) && flag.can_take)
    .map(({ reading, siglum }) => ({ text: reading, note: siglum.replace("~", "") }));
  flag.others = [...forms, ...read, ...witnessed].filter((alternative, n, all) => all.findIndex(({ text }) => text === alternative.text) === n).slice(0, MOST_ALTERNATIVES);
  $("alternatives").replaceChildren(...flag.others.map(({ text, shown = text, note, p }, n) =>
    make("li", {}, make("button", { type: "button", "data-act": "other", "data-n": n },
      make("kbd", {}, String(n + 1)), " ", han(shown), " ", make("span", { class: "soft" }, note ?? percent(p))))));
}

/** Shows the readings of other witnesses, one line each; the note of an apparatus opens below its witness. */
function showWitnesses(flag) {
  $("witnesses").hidden = !flag.witnesses.length;
  $("witnesses").replaceChildren(...flag.witnesses.map(({ siglum, side, reading, note }) => {
    const sideName = say(SIDES[side] ?? "otherwise");
    const isReader = siglum.startsWith("~"); // a second recogniser, which is no witness of the text
    const line = [make("span", { class: "siglum" }, isReader ? say("secondReader", { name: siglum.slice(1) }) : siglum), " ",
      reading ? han(reading) : "∅", " ", make("span", { class: "soft" }, sideName)];
    const attributes = { class: `${side || "otherwise"}${isReader ? " reader" : ""}`, "data-siglum": siglum, title: [siglum, sideName, note].filter(Boolean).join("\n") };
    if (!note) return make("li", attributes, ...line);
    return make("li", attributes, make("details", {}, make("summary", {}, ...line), make("span", { class: "note", lang: script }, note)));
  }));
  if (flag.witnesses.length) showRecords(flag);
}

/** Shows for each witness how often it agreed with the decisions. */
async function showRecords(flag) {
  records ??= ask(api("witnesses")).then(({ items }) => new Map(items.map((record) => [record.siglum, record])), () => new Map());
  const bySiglum = await records;
  if (document.body.dataset.flag !== String(flag.number)) return;
  for (const line of $("witnesses").children) {
    const record = bySiglum.get(line.dataset.siglum);
    if (record?.places >= RECORD_PLACES) line.append(" ", make("span", { class: "soft" }, `· ${say("agreeing", record)}`));
  }
}

/** What a decision rests on, in words; empty where nothing was stated. */
const restsOn = (authority) => authority && (authority === "影像" ? say("restsOnImage") : say("restsOn", { authority }));

/** Shows the decisions of the blind readers to the person who decides between them. */
function showReaders(flag) {
  $("readers").hidden = !flag.readings.length;
  $("readers").replaceChildren(...flag.readings.map(({ person, state, reading, copy_reads, authority, note }) => {
    const isCorrected = state === "corrected";
    const text = state === "retained" && copy_reads ? copy_reads : flag.transcribed;
    const notes = [words.states[state], restsOn(authority), note];
    return make("li", { class: isCorrected ? "image" : "text" }, make("span", { class: "siglum" }, person), " ",
      isCorrected ? correction(flag.transcribed, reading) : text ? han(text) : "∅", " ",
      make("span", { class: "soft" }, notes.filter(Boolean).join(" · ")));
  }));
}

/** A correction in a few words; a deletion is spelled out, since an empty place could be overlooked. */
function correction(transcribed, reading, moved = "") {
  if (moved) return say("moves", { text: moved });
  return reading ? han(reading) : say("deletes", { text: transcribed || say("nothing") });
}

/** Shows the decision on the flag, if there is one. */
function showDecision(flag) {
  const { state, last } = flag;
  const line = $("stands");
  line.hidden = state === "open";
  line.className = `state ${state}`;
  line.replaceChildren();
  if (state === "open") return;
  line.append(make("b", {}, words.states[state]));
  if (state === "corrected") line.append(" ", correction(flag.transcribed, flag.reading, movedText(flag)));
  if (!last) return;
  if (state === "retained") line.append(" ", han(last.copy_reads));
  const carried = last.evidence?.carried;
  const notes = [restsOn(last.authority), carried && say("carriedFrom", carried), last.note, last.person];
  for (const note of notes.filter(Boolean)) line.append(" · ", note);
}

export function showComments(flag) {
  $("said").hidden = !flag.comments.length;
  $("said").replaceChildren(...commentItems(flag.comments));
  $("said").scrollTop = $("said").scrollHeight; // shows the last comment
}
