// What is left of a work, and the ways there.

import { api, ask, make, say, work } from "./shell.js";

const WAYS = { open: "desk?state=open", unsure: "desk?state=unsure", skipped: "desk?state=skipped",
  to_mark: "pages/?state=not+proofread", to_validate: "validate", problems: "progress#problems" };

/** What an export would write and what not, as things stand, with the way to the list of it. */
async function sayWhatIsWritten() {
  const line = document.getElementById("planned");
  if (!line) return;
  const { written, not_written: out } = await ask(`${api("export-preview")}?limit=1`);
  line.querySelector("a").textContent = [say("willBeWritten", { num: written }), out ? say("notWritten", { num: out }) : ""].filter(Boolean).join(" · ");
  line.hidden = false;
}

export async function sayWhatIsLeft() {
  sayWhatIsWritten().catch(reportError);
  const left = await ask(api("left"));
  document.getElementById("still").replaceChildren(...Object.entries(WAYS).filter(([name]) => left[name]).map(([name, way]) =>
    make("li", {}, make("a", { href: `/works/${encodeURIComponent(work)}/${way}` }, say(`left_${name}`, { num: left[name] })))));
}
