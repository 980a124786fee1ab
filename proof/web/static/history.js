// What was decided, newest first; anything can be taken back that nobody decided anew.

import { api, ask, data, han, make, may, oneAtATime, person, say, uuid, words } from "./shell.js";

const $ = (id) => document.getElementById(id);
let next = data.next;
const when = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "short", timeStyle: "medium" });
const newest = new Set();

/** What was decided: a deletion is named, never drawn as an empty place. */
function said(event) {
  const verdict = words.verdicts[event.verdict];
  if (event.state !== "corrected") return [verdict];
  if (event.reading) return [verdict, " ", han(event.reading, "seen")];
  const deletes = say("deletes", { text: event.transcribed });
  return event.verdict === "delete" ? [deletes] : [verdict, " · ", deletes];
}

function line(event, extra = null) {
  const first = !newest.has(event.flag);
  newest.add(event.flag);
  const back = make("button", { type: "button", class: "quiet" }, say("takeBack"));
  back.addEventListener("click", async () => {
    back.disabled = true;
    try {
      await ask(api(`flags/${event.flag}/decisions`), { verdict: "undo", version: event.version, key: uuid(), undoes: event.id });
      location.reload();
    } catch (problem) {
      back.replaceWith(make("span", { class: "said" }, problem.status ? problem.message : say("silent")));
    }
  });
  const [before, after] = event.context.split(`[${event.transcribed}]`);
  return make("li", {},
    make("time", { datetime: event.at, class: "soft" }, when.format(new Date(event.at))),
    make("b", {}, event.person),
    make("span", { class: "context han", lang: document.body.dataset.script }, before ?? "", make("mark", {}, ...han(event.transcribed).childNodes), after ?? ""),
    make("span", { class: `state ${event.state}` }, ...said(event)),
    make("span", { class: "soft where" }, event.page, event.line ? ` ${say("column", { number: event.line })}` : "", event.note ? ` · ${event.note}` : ""),
    extra ?? (first && may("decide") && (may("overrule") || event.person === person) ? back : make("span")));
}

const verdicts = Object.keys(words.verdicts);
const people = Object.entries(data.people);
if (people.length)
  $("people").append(
    make("thead", {}, make("tr", {}, make("td"), ...verdicts.map((one) => make("th", { scope: "col" }, words.verdicts[one])))),
    make("tbody", {}, ...people.map(([who, counts]) => make("tr", {}, make("th", { scope: "row" }, who), ...verdicts.map((one) => make("td", {}, String(counts[one] ?? "")))))));
$("displaced").hidden = !data.displaced.length;
$("lost").append(...data.displaced.map((one) => line(one.decision, make("span", { class: one.applied ? "seen" : "said" }, say(one.applied ? "applied" : "gone")))));
newest.clear();
$("events").append(...data.items.map((event) => line(event)));
$("more").hidden = next === null;
$("empty").hidden = data.items.length > 0;
$("more").addEventListener("click", oneAtATime(async () => {
  const found = await ask(`${api("history")}?limit=100&cursor=${next}`);
  $("events").append(...found.items.map((event) => line(event)));
  next = found.next;
  $("more").hidden = next === null;
}));
