// The comments on a flag or a page: reading and answering them, marking a problem, assigning and resolving it.

import { $, ask, data, han, isShortcut, make, may, oneAtATime, problemMessage, say, script, uuid, words } from "./shell.js";

const when = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "short", timeStyle: "short" });
const drafts = new Map(); // unsent text and the key of its request, by the address that it is sent to

/** The comments as list items, each with the change of state or of assignee that it made. */
export function commentItems(comments, where = null) {
  const stood = new Map();
  return comments.map((one) => {
    const before = stood.get(one.uid) ?? { state: "note", assigned: "" };
    stood.set(one.uid, one);
    const news = [
      ...(one.state !== before.state ? [make("span", { class: `turn ${one.state}` }, words.commentStates[one.state])] : []),
      ...(one.assigned && one.assigned !== before.assigned ? [make("span", { class: "turn" }, say("assignedTo", { person: one.assigned }))] : []),
    ];
    return make("li", {}, make("b", {}, one.person), " ",
      make("time", { datetime: one.at, class: "soft" }, when.format(new Date(one.at))), " ",
      ...(where ? where(one) : []), ...news.flatMap((each) => [each, " "]),
      make("span", { class: "words" }, one.text));
  });
}

/** The characters that a comment is about: transcribed → suggested. */
export const changeOf = (one) => [han(one.transcribed || "∅", "said"), " → ", han(one.suggested || "∅", "seen")];

/**
 * Sets up the dialog of comments and returns the function that opens it. `about()` returns what it shows, `{ title,
 * comments, own, problem, path, where }`: `own` are the comments on the place itself, `problem` tells whether that is an
 * open problem, comments are sent to `path`. `said(comment)` is called with each saved comment.
 */
export function installComments(about, said) {
  const form = $("talking");
  const field = form.elements;
  let now = null;
  let sending = false;

  for (const name of data.assignees ?? []) field.assigned.append(make("option", { value: name }, name));
  const solving = () => {
    const open = now.problem ? !field.resolved.checked : field.problem.checked;
    $("talk-assigned").hidden = !open || !(data.assignees ?? []).length;
  };
  form.addEventListener("change", solving);

  function open() {
    if (sending) return $("talk").showModal(); // keeps showing the comment that is being sent
    now = about();
    if (!now) return;
    const last = now.own.at(-1);
    const draft = drafts.get(now.path) ?? { text: "", key: uuid() };
    drafts.set(now.path, draft);
    $("talk-title").replaceChildren(...now.title);
    $("talk-thread").replaceChildren(...commentItems(now.comments, now.where));
    $("talk-none").hidden = now.comments.length > 0;
    $("talk-trouble").textContent = "";
    $("talk-problem").hidden = now.problem;
    $("talk-resolved").hidden = !now.problem;
    field.problem.checked = field.resolved.checked = false;
    const assigned = now.problem ? last?.assigned ?? "" : "";
    if (assigned && ![...field.assigned.options].some((one) => one.value === assigned)) field.assigned.append(make("option", { value: assigned }, assigned));
    field.assigned.value = assigned;
    $("talk-text").value = draft.text;
    $("talk-text").lang = script;
    solving();
    $("talk").showModal();
    $("talk-thread").lastElementChild?.scrollIntoView({ block: "nearest" });
    $("talk-text").focus();
  }

  const send = oneAtATime(async () => {
    const draft = drafts.get(now.path);
    const state = now.problem ? (field.resolved.checked ? "resolved" : null) : field.problem.checked ? "problem" : null;
    const open = state === "problem" || (now.problem && state === null);
    const body = { text: $("talk-text").value.trim(), key: draft.key, seen: now.own.at(-1)?.id ?? 0 };
    if (state) body.state = state;
    if (open && (state || field.assigned.value !== (now.own.at(-1)?.assigned ?? ""))) body.assigned = field.assigned.value;
    sending = $("talk-text").readOnly = true;
    try {
      const comment = await ask(now.path, body);
      drafts.delete(now.path);
      $("talk").close();
      said(comment);
    } catch (problem) {
      $("talk-trouble").textContent = problemMessage(problem);
      if (problem.status >= 400 && problem.status < 500) draft.key = uuid(); // refused: the next attempt is a new request
      if (!$("talk").open) throw problem; // the page shows it, since the dialog was closed
    } finally {
      sending = $("talk-text").readOnly = false;
    }
  });
  $("talk-text").addEventListener("input", () => { drafts.get(now.path).text = $("talk-text").value; });
  $("talk").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing || event.repeat) return;
    event.preventDefault();
    if (may("decide")) send();
  });
  $("talk-close").addEventListener("click", () => $("talk").close());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  return open;
}

/** Opens the comments with the key N, as in all views. */
export function commentByKey(open) {
  addEventListener("keydown", (event) => {
    if (!isShortcut(event) || event.repeat || event.key.toLowerCase() !== "n") return;
    event.preventDefault();
    open();
  });
}
