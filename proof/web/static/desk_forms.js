// The forms in the panel of the desk: typing a reading, and naming the basis of the next decision, which is its authority
// and a remark.

import { draftOf, keepDraft } from "./drafts.js";
import { $, api, ask, data, make, may, say, script } from "./shell.js";
import { confirmationOf, installForm, installTypedField } from "./typing.js";

const [LONGEST_READING, LONGEST_COLUMN] = [64, 400]; // limits of the server, in characters, for a place and for a column
const HAN_ALONE = /^\p{Script=Han}*$/u;

let scrolled = null; // scroll positions of panel and page before a form opened; restored when it closes

/** Opens a form for a flag in the panel, which hides the panel's views of context. */
function openForm(form, flag) {
  scrolled ??= [$("panel").scrollTop, scrollY];
  $(form).hidden = false;
  $(form).oninput = () => keepDraft("form", { form, flag: flag.number, retains, texts: fieldsOf(form).map(({ value }) => value) });
}

const fieldsOf = (form) => [...$(form).querySelectorAll("input")];

/** Opens the form in which something was typed for the flag when the page was left. */
export function reopenForm(flag) {
  const draft = draftOf("form");
  if (draft?.flag !== flag.number) return;
  if (draft.form === "typing") openTyping(flag, draft.retains);
  else openBasis(flag);
  fieldsOf(draft.form).forEach((field, n) => { field.value = draft.texts[n]; });
}

function closeForm(form) {
  $(form).hidden = true;
  keepDraft("form", undefined);
  if (scrolled) {
    $("panel").scrollTop = scrolled[0];
    scrollTo(scrollX, scrolled[1]);
    scrolled = null;
  }
  $("main").focus({ preventScroll: true });
}

// typing a reading

let retains = false; // the typed reading is that of the copy, and the text is kept

/** Opens the field for a reading of the flag, or with `retaining` for what the copy reads instead of the kept text. */
export function openTyping(flag, retaining = false) {
  retains = retaining;
  closeBasis();
  openForm("typing", flag);
  $("typed-label").textContent = say(retains ? "copyReads" : "standsHere");
  $("typed").value = retains && flag.suggested !== flag.transcribed ? flag.suggested : "";
  $("typed-problem").textContent = "";
  $("typed").lang = script;
  $("typed").maxLength = flag.kind === "layout" ? LONGEST_COLUMN : LONGEST_READING;
  $("typed").focus();
}

export function closeTyping() {
  if ($("typing").hidden) return;
  $("typed").blur();
  closeForm("typing");
}

/** Installs the field for a reading: `decide(verdict, reading, more)` decides on the shown flag, `current()`. */
export function installTyping(current, decide) {
  installTypedField(async (reading) => {
    const flag = current();
    const more = confirmationOf(reading);
    if (!HAN_ALONE.test(reading) && !more.confirmed) { // ask the server whether it would break the text or looks like a typing error
      const answer = await ask(`${api(`flags/${flag.number}/reading`)}?${new URLSearchParams({ reading })}`).catch((problem) => problem);
      if ([422, 428].includes(answer.status)) throw answer;
      if (current() !== flag) return;
    }
    decide(retains ? "retain" : "typed", reading, more);
  }, closeTyping, () => retains);
}

// the basis of the next decision

/** The entered basis of the decision on a flag. */
const basisOf = (flag) => (draftOf("basis")?.flag === flag.number ? draftOf("basis") : { authority: "", note: "" });

/** Whether the verdict `copy` is possible: an image shows what the copy reads, or an authority was named. */
export const mayCopy = (flag) => flag.can_copy || Boolean(basisOf(flag).authority);

export function openBasis(flag) {
  closeTyping();
  const { authority, note } = basisOf(flag);
  const known = new Set([...data.authorities, ...flag.witnesses.map(({ siglum }) => siglum)]);
  $("authorities").replaceChildren(...[...known].map((value) => make("option", { value })));
  $("authority").value = authority;
  $("remark").value = note;
  $("authority").lang = $("remark").lang = script;
  openForm("resting", flag);
  $("authority").focus();
}

export function closeBasis() {
  if (!$("resting").hidden) closeForm("resting");
}

function enterBasis(flag) {
  keepDraft("basis", { flag: flag.number, authority: $("authority").value.trim(), note: $("remark").value.trim() });
  closeBasis();
  showBasis(flag);
}

/** The entered basis of a decision on the flag, as fields of the request. The form is closed and the basis forgotten. */
export function takeBasis(flag) {
  if (!$("resting").hidden) enterBasis(flag);
  const { authority, note } = basisOf(flag);
  keepDraft("basis", undefined);
  return { ...(authority && { authority }), ...(note && { note }) };
}

export function showBasis(flag) {
  const { authority, note } = basisOf(flag);
  $("rests").hidden = !authority && !note;
  $("rests").textContent = [authority && say("restsOn", { authority }), note].filter(Boolean).join(" · ");
  $("copy").disabled = !mayCopy(flag) || !may("decide");
  $("copy").title = mayCopy(flag) ? "" : say("nameAuthority");
}

/** Installs the form for the basis of the decision on the shown flag, `current()`. */
export function installBasis(current) {
  installForm($("resting"), [$("authority"), $("remark")], () => enterBasis(current()), closeBasis);
}
