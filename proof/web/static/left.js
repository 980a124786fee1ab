// What is left of a work, and the ways there.

import { api, ask, make, say, work } from "./shell.js";

const WAYS = { open: "desk?state=open", unsure: "desk?state=unsure", skipped: "desk?state=skipped",
  to_mark: "pages/?state=not+proofread", to_validate: "validate", problems: "progress#problems" };

export async function sayWhatIsLeft() {
  const left = await ask(api("left"));
  document.getElementById("still").replaceChildren(...Object.entries(WAYS).filter(([name]) => left[name]).map(([name, way]) =>
    make("li", {}, make("a", { href: `/works/${encodeURIComponent(work)}/${way}` }, say(`left_${name}`, { num: left[name] })))));
}
