// The comments on a flag or a page: reading and answering them, marking a problem, assigning and resolving it.

import { draftOf, keepDraft } from "./drafts.js";
import { $, ask, data, han, isShortcut, make, may, maySucceedLater, oneAtATime, problemMessage, say, script, uuid, words } from "./shell.js";
import { installForm } from "./typing.js";

const when = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "short", timeStyle: "short" });

/** The comments as list items, each with the change of state or of assignee that it made. */
export function commentItems(comments, where = null) {
  const last = new Map(); // the last comment before, by place
  return comments.map((comment) => {
    const before = last.get(comment.uid) ?? { state: "note", assigned: "" };
    last.set(comment.uid, comment);
    const changes = [
      ...(comment.state !== before.state ? [make("span", { class: `turn ${comment.state}` }, words.commentStates[comment.state])] : []),
      ...(comment.assigned && comment.assigned !== before.assigned ? [make("span", { class: "turn" }, say("assignedTo", { person: comment.assigned }))] : []),
    ];
    return make("li", {}, make("b", {}, comment.person), " ",
      make("time", { datetime: comment.at, class: "soft" }, when.format(new Date(comment.at))), " ",
      ...(where ? where(comment) : []), ...changes.flatMap((change) => [change, " "]),
      make("span", { class: "words" }, comment.text));
  });
}

/** The characters that a comment is about: transcribed → suggested. */
export const changeOf = ({ transcribed, suggested }) => [han(transcribed || "∅", "said"), " → ", han(suggested || "∅", "seen")];

/**
 * Sets up the dialog of comments and returns the function that opens it. `about()` returns what it shows, `{ title,
 * comments, own, problem, path, where }`: `own` are the comments on the place itself, `problem` tells whether that is an
 * open problem, comments are sent to `path`. `saved(comment)` is called with each saved comment.
 */
export function installComments(about, saved) {
  const form = $("talking");
  const field = form.elements;
  let shown = null;
  let sending = false;

  for (const name of data.assignees ?? []) field.assigned.append(make("option", { value: name }, name));
  const showAssignee = () => {
    const open = shown.problem ? !field.resolved.checked : field.problem.checked;
    $("talk-assigned").hidden = !open || !(data.assignees ?? []).length;
  };
  form.addEventListener("change", showAssignee);

  function open() {
    if (sending) return $("talk").showModal(); // keeps showing the comment that is being sent
    shown = about();
    if (!shown) return;
    const last = shown.own.at(-1);
    keepDraft(shown.path, draftOf(shown.path) ?? { text: "", key: uuid() }); // with the key of the request
    $("talk-title").replaceChildren(...shown.title);
    $("talk-thread").replaceChildren(...commentItems(shown.comments, shown.where));
    $("talk-none").hidden = shown.comments.length > 0;
    $("talk-trouble").textContent = "";
    $("talk-problem").hidden = shown.problem;
    $("talk-resolved").hidden = !shown.problem;
    field.problem.checked = field.resolved.checked = false;
    const assigned = shown.problem ? last?.assigned ?? "" : "";
    if (assigned && ![...field.assigned.options].some(({ value }) => value === assigned)) field.assigned.append(make("option", { value: assigned }, assigned));
    field.assigned.value = assigned;
    $("talk-text").value = draftOf(shown.path).text;
    $("talk-text").lang = script;
    showAssignee();
    $("talk").showModal();
    $("talk-thread").lastElementChild?.scrollIntoView({ block: "nearest" });
    $("talk-text").focus();
  }

  const send = oneAtATime(async () => {
    const state = shown.problem ? (field.resolved.checked ? "resolved" : null) : field.problem.checked ? "problem" : null;
    const open = state === "problem" || (shown.problem && state === null);
    const body = { text: $("talk-text").value.trim(), key: draftOf(shown.path).key, seen: shown.own.at(-1)?.id ?? 0 };
    if (state) body.state = state;
    if (open && (state || field.assigned.value !== (shown.own.at(-1)?.assigned ?? ""))) body.assigned = field.assigned.value;
    sending = $("talk-text").readOnly = true;
    try {
      const comment = await ask(shown.path, body);
      keepDraft(shown.path, undefined);
      $("talk").close();
      saved(comment);
    } catch (problem) {
      $("talk-trouble").textContent = problemMessage(problem);
      if (!maySucceedLater(problem)) keepDraft(shown.path, { ...draftOf(shown.path), key: uuid() }); // refused: the next attempt is a new request
      if (!$("talk").open) throw problem; // the page shows it, since the dialog was closed
    } finally {
      sending = $("talk-text").readOnly = false;
    }
  });
  $("talk-text").addEventListener("input", () => keepDraft(shown.path, { ...draftOf(shown.path), text: $("talk-text").value }));
  const isComposing = installForm(form, [$("talk-text")], send, () => $("talk").close());
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || isComposing(event) || event.repeat) return;
    event.preventDefault();
    if (may("decide")) send();
  });
  $("talk-close").addEventListener("click", () => $("talk").close());
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
