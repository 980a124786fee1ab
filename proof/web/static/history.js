// The history of a work, newest first, with filters; the last decision on a flag can be undone.

import { changeOf } from "./comments.js";
import { $, api, ask, data, deskOf, excerpt, han, make, may, oneAtATime, person, say, uuid, words, workPath } from "./shell.js";
import { reloadWithMessage } from "./undo.js";

let next = data.next;
const when = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "short", timeStyle: "medium" });

/** A decision in words; a deletion is spelled out, since an empty place could be overlooked. */
function outcome(event) {
  const verdict = words.verdicts[event.verdict];
  if (event.state !== "corrected") return [verdict];
  if (event.reading) return [verdict, " ", han(event.reading, "seen")];
  const deletes = say("deletes", { text: event.transcribed });
  return event.verdict === "delete" ? [deletes] : [verdict, " · ", deletes];
}

/** The state before a decision. */
function stood(event) {
  if (event.was_state !== "corrected") return [words.states[event.was_state]];
  return event.was ? [han(event.was, "seen")] : [say("deletes", { text: event.transcribed })];
}

function row(act, context, state, where, extra, note = "") {
  return make("li", {},
    make("time", { datetime: act.at, class: "soft" }, when.format(new Date(act.at))),
    make("b", {}, act.person),
    context, state, where, extra,
    ...(note ? [make("p", { class: "words" }, note)] : []));
}

/** A comment, with a link to the place where it can be answered. */
function comment(act) {
  const { comment: made } = act;
  const way = made.flag ? deskOf(made.flag) : workPath(`pages/${made.page}`);
  return row(act,
    make("a", { class: "context", href: way }, ...(made.uid ? changeOf(made) : [act.name])),
    make("span", { class: "state" }, words.commentStates[made.state], ...(made.assigned ? [" · ", say("assignedTo", { person: made.assigned })] : [])),
    make("span", { class: "soft where" }, ...(made.uid ? [act.name, made.line ? ` ${say("column", { number: made.line })}` : ""] : [])),
    make("span"), made.text);
}

/** A change of a page's state, or of a rule. */
function other(act) {
  const { rule, page } = act;
  const place = rule ? [han(rule.text || "∅"), " → ", han(rule.image || "∅")] : [act.name];
  const now = rule ? say(rule.holds ? "rule" : "lifted") : words.pageStates[page.state];
  const before = rule ? [] : [make("span", { class: "soft" }, words.pageStates[act.was], " → ")];
  return row(act,
    make("span", { class: "context" + (rule ? " han" : ""), lang: rule ? document.body.dataset.script : null }, ...place),
    make("span", { class: "state" }, ...before, now),
    make("span", { class: "soft where" }, act.back ? say("undo") : ""), make("span"), page?.note);
}

const entry = (act) => (act.decision ? line(act.decision, null, act.last) : act.comment ? comment(act) : other(act));

function line(event, extra, last = false) {
  const back = make("button", { type: "button", class: "quiet" }, say("undo"));
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
  const there = make("mark", {}, ...han(event.kind === "layout" ? excerpt(event.transcribed) : event.transcribed).childNodes);
  const { carried } = event.evidence;
  return row(event,
    event.kind === "layout" ? make("span", { class: "context" }, words.reasons[event.evidence.reason] ?? words.kinds.layout, " ", event.transcribed && make("span", { class: "han", lang: document.body.dataset.script }, there))
      : make("span", { class: "context han", lang: document.body.dataset.script }, before ?? "", there, after ?? ""),
    make("span", { class: `state ${event.state}` }, make("span", { class: "soft" }, ...stood(event), " → "), ...outcome(event)),
    make("span", { class: "soft where" }, event.page, event.line ? ` ${say("column", { number: event.line })}` : ""),
    extra ?? (last && may("decide") && (may("overrule") || event.person === person) ? back : make("span")), [carried && say("carriedFrom", carried), event.note].filter(Boolean).join(" · "));
}

/** Lets an administrator take back what the person of the filter decided in a time, at first that of the newest day. */
function installWithdrawal() {
  const { since, until } = $("withdrawal").elements;
  const newest = new Date(data.items[0]?.at ?? Date.now());
  const local = (date) => new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  since.value = `${local(newest).slice(0, 10)}T00:00`;
  until.value = `${local(newest).slice(0, 10)}T23:59`;
  const key = uuid(); // a request that is sent again has it, too
  $("withdrawal").addEventListener("submit", (event) => event.preventDefault());
  $("withdrawal").addEventListener("submit", oneAtATime(async () => {
    const [whose, from, to] = [filters.get("person"), new Date(since.value), new Date(Date.parse(until.value) + 60_000)]; // with all of its last minute
    try {
      const { places, left } = await ask(api("withdrawals"), { person: whose, since: from, until: to, key });
      const message = [say("withdrawn", { num: places }), left ? say("decidedSince", { num: left }) : ""].filter(Boolean).join(" · ");
      reloadWithMessage(message, whose === person ? "redo" : "undo");
    } catch (problem) {
      $("withdrawal-problem").textContent = problem.status ? problem.message : say("silent");
    }
  }));
}

const people = Object.entries(data.people);
const verdicts = Object.keys(words.verdicts).filter((verdict) => people.some(([, counts]) => counts[verdict]));
if (people.length) {
  $("people").append(
    make("thead", {}, make("tr", {}, make("td"), ...verdicts.map((verdict) => make("th", { scope: "col" }, words.verdicts[verdict])))),
    make("tbody", {}, ...people.map(([who, counts]) => make("tr", {}, make("th", { scope: "row" }, who), ...verdicts.map((verdict) => make("td", {}, String(counts[verdict] ?? "")))))));
  $("people").tabIndex = 0; // on a narrow screen it scrolls sideways, also by keyboard
}
$("displaced").hidden = !data.displaced.length;
$("lost").append(...data.displaced.map((decision) => line(decision, make("span", { class: "said" }, say("gone")))));
const filters = new URLSearchParams(data.filters);
const form = $("asked");
const choices = (name, named) => form.elements[name].append(
  ...[["", say("all")], ...named].map(([value, text]) => make("option", { value, selected: filters.get(name) === value }, text)));
choices("what", [["decisions", say("actDecisions")], ["page", say("actPages")], ["rule", say("actRules")], ["comment", say("actComments")]]);
choices("verdict", Object.entries(words.verdicts));
form.addEventListener("change", () => {
  const wanted = [...new FormData(form)].filter(([, value]) => value);
  location.search = new URLSearchParams(wanted).toString();
});
if ($("withdrawal")) installWithdrawal();
$("events").append(...data.items.map(entry));
$("more").hidden = next === null;
$("empty").hidden = data.items.length > 0;
if ([...filters].length) $("empty").textContent = say("nothing");
$("more").addEventListener("click", oneAtATime(async () => {
  const found = await ask(`${api("acts")}?${new URLSearchParams([...filters, ["limit", "100"], ["cursor", next]])}`);
  $("events").append(...found.items.map(entry));
  next = found.next;
  $("more").hidden = next === null;
}));
