// The filter of a page that is one file: its kinds and a search. The page is whole without it.
const bar = document.getElementById("filter");
const search = bar?.querySelector("input[type=search]");
const filtered = Array.from(document.querySelectorAll("[data-kinds]"));

function filter() {
  const kinds = new Set(Array.from(bar.querySelectorAll("input:checked"), (box) => box.value));
  const wanted = search.value.trim().replace(/\s*(->|→)\s*/, "→").toLowerCase();
  let count = 0;
  for (const item of filtered) {
    const isOfKind = item.dataset.kinds.split("|").some((kind) => kinds.has(kind));
    item.hidden = !(isOfKind && item.dataset.words.toLowerCase().includes(wanted));
    if (!item.hidden) count += 1;
  }
  bar.querySelector("output b").textContent = count.toLocaleString(document.documentElement.lang);
}

if (bar) {
  bar.hidden = false;
  bar.addEventListener("input", filter);
  bar.addEventListener("submit", (event) => event.preventDefault());
  filter();
}
