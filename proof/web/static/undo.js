// What was just done is named, and can be taken back.

import { person, work } from "./shell.js";

const TOLD = `proof-told:${work}:${encodeURIComponent(person)}`;
const line = document.getElementById("told");

/** Says what was done. */
function tell(text) {
  if (!line) return;
  line.textContent = text;
  line.hidden = false;
}

/** Shows the page as it is now, and there says what was done. */
export function tellAnew(text) {
  try {
    sessionStorage.setItem(TOLD, text);
  } catch (error) {
    reportError(error); // the page shows what was done all the same
  }
  location.reload();
}

const told = sessionStorage.getItem(TOLD);
if (told) {
  sessionStorage.removeItem(TOLD);
  tell(told);
}
