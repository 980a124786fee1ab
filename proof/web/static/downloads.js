// Downloads of a work: requests one, shows its progress, and downloads the finished file.

import { allSent, failureMessage } from "./outbox.js";
import { $, api, ask, isTemporary, make, oneAtATime, pause, say } from "./shell.js";

const PAUSE = 500;

const underWay = (job) => job.state === "waiting" || job.state === "running";

/** Requests a download of that kind, shows its progress in `place`, and downloads the file when it is ready. */
async function takeHome(kind, place) {
  const bar = make("progress", { max: 1, value: 0, "aria-label": say("downloadMaking") });
  const share = make("span", { class: "soft" });
  const words = make("span", { role: "status" });
  place.replaceChildren(words, " ", bar, " ", share);
  place.hidden = false;
  words.textContent = say("downloadMaking");
  try {
    await allSent();
    let job = await ask(api("downloads"), { kind });
    while (underWay(job)) {
      const part = job.total ? job.done / job.total : 0;
      bar.value = part;
      share.textContent = `${Math.floor(100 * part)}%`;
      await pause(PAUSE);
      job = await ask(api(`downloads/${job.id}`)).catch((problem) => {
        if (!isTemporary(problem.status)) throw problem;
        return job; // try again
      });
    }
    if (!job.file) {
      place.replaceChildren(make("span", { role: "status" }, say("downloadFailed", { detail: job.reason })));
      return;
    }
    words.textContent = say("downloadReady");
    place.replaceChildren(words, " ", make("a", { href: job.file, download: true }, say("downloadFile")));
    location.assign(job.file);
  } catch (problem) {
    place.replaceChildren(make("span", { role: "status" }, failureMessage(problem)));
  }
}

const begin = oneAtATime(takeHome);
for (const button of document.querySelectorAll("[data-download]"))
  button.addEventListener("click", () => begin(button.dataset.download, $("download")));
