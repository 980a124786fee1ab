// Keys that step from flag to flag, and pairs that fill in the search.
/* global bar, filter, filtered, search */

function step(by) {
  const open = filtered.filter((flag) => !flag.hidden);
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

document.addEventListener("click", (event) => {
  const pair = event.target.closest("[data-pair]");
  if (!pair) return;
  search.value = search.value === pair.dataset.pair ? "" : pair.dataset.pair;
  filter();
  document.getElementById("flags").scrollIntoView();
});
document.addEventListener("keydown", (event) => {
  if (!bar || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input[type=search]")) return;
  if (event.key === "j") step(1);
  if (event.key === "k") step(-1);
});
