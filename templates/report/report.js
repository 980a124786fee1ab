// Filter and keys for the flags; the report is whole without them.
(function () {
  "use strict";
  const bar = document.getElementById("filter");
  if (!bar) return;
  const flags = Array.from(document.querySelectorAll(".flag"));
  const boxes = Array.from(bar.querySelectorAll("input[type=checkbox]"));
  const search = bar.querySelector("input[type=search]");
  const shown = bar.querySelector("output b");
  bar.hidden = false;

  function filter() {
    const kinds = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const wanted = search.value.trim().replace(/\s*(->|→)\s*/, "→").toLowerCase();
    let count = 0;
    for (const flag of flags) {
      flag.hidden = !(kinds.has(flag.dataset.kind) && flag.dataset.words.toLowerCase().includes(wanted));
      if (!flag.hidden) count += 1;
    }
    shown.textContent = count.toLocaleString(document.documentElement.lang);
  }

  function step(by) {
    const open = flags.filter((flag) => !flag.hidden);
    if (!open.length) return;
    let at = open.indexOf(document.activeElement);
    if (at < 0) {
      const below = open.findIndex((flag) => flag.getBoundingClientRect().top >= bar.offsetHeight - 1);
      at = below < 0 ? open.length - 1 : by > 0 ? below - 1 : below;
    }
    const next = open[Math.min(Math.max(at + by, 0), open.length - 1)];
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "center" });
  }

  bar.addEventListener("input", filter);
  document.addEventListener("click", (event) => {
    const pair = event.target.closest("[data-pair]");
    if (!pair) return;
    search.value = search.value === pair.dataset.pair ? "" : pair.dataset.pair;
    filter();
    document.getElementById("flags").scrollIntoView();
  });
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input[type=search]")) return;
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
  });
  filter();
})();
