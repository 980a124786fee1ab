// What is left to do in a work, with links.

import { $, api, ask, data, make, nothing, say, workPath } from "./shell.js";

const ADDRESSES = { open: "desk?state=open", unsure: "desk?state=unsure", skipped: "desk?state=skipped",
  to_mark: "pages/?state=not+proofread", to_validate: "validate", problems: "progress#problems" };

const SHOWN = 20; // changes listed at the end of a work

/** A change that an export would make, with the text around it. */
const change = ({ page, line, before, old, new: now, after, written, reason, authority, note, person }) => make("li", {},
  make("a", { class: "id", href: workPath(`pages/${encodeURIComponent(page)}`) }, [page, line ? say("column", { number: line }) : ""].filter(Boolean).join(" · ")),
  make("span", { class: "han", lang: document.body.dataset.script }, before, ...(old === now ? [make("mark", {}, old || nothing())] : [old && make("del", {}, old), now && make("ins", {}, now)]), after),
  make("span", { class: "soft" }, [written ? "" : say("notWrittenFor", { reason }), authority && say("restsOn", { authority }), note, person].filter(Boolean).join(" · ")));

/** Lists the first changes that an export would make or leave out, with a link to all. */
async function showPlannedExport() {
  const line = $("planned");
  if (!line) return;
  const { written, not_written: leftOut, items } = await ask(`${api("export-preview")}?limit=${SHOWN}`);
  const shown = items.filter(({ page }) => page);
  const more = written + leftOut - shown.length;
  $("planned-changes").replaceChildren(...shown.map(change), ...(more > 0 ? [make("li", {}, make("a", { href: line.querySelector("a").href }, say("moreChanges", { num: more })))] : []));
  line.querySelector("a").textContent = [say("willBeWritten", { num: written }), leftOut ? say("notWritten", { num: leftOut }) : ""].filter(Boolean).join(" · ");
  line.hidden = false;
}

export async function showRemainingWork() {
  if (!data.blind) showPlannedExport().catch(reportError); // a blind reader's decisions alone are not exported
  const remaining = await ask(api("remaining"));
  $("still").replaceChildren(...Object.entries(ADDRESSES).filter(([name]) => remaining[name]).map(([name, address]) =>
    make("li", {}, make("a", { href: workPath(address) }, say(`left_${name}`, { num: remaining[name] })))));
}
