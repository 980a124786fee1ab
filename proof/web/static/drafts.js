// What is typed and not sent yet, kept for this tab and person: another language loads the page anew.

import { keep, person, work } from "./shell.js";

const NAME = `proof-drafts:${work}:${encodeURIComponent(person)}`;
const drafts = JSON.parse(sessionStorage.getItem(NAME) ?? "{}");

/** The draft with this name, if any. */
export const draftOf = (name) => drafts[name];

/** Keeps a draft; undefined drops it. */
export function keepDraft(name, draft) {
  drafts[name] = draft;
  keep(NAME, drafts);
}
