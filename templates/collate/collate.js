// The filter of the table of witnesses; the table is whole without it.
(function () {
  "use strict";
  const bar = document.getElementById("filter");
  const rows = Array.from(document.querySelectorAll("tbody tr"));
  const boxes = Array.from(bar.querySelectorAll("input[type=checkbox]"));
  const search = bar.querySelector("input[type=search]");
  const shown = bar.querySelector("output b");
  bar.hidden = false;

  function filter() {
    const classes = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const wanted = search.value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      const known = row.dataset.classes.split("|").some((name) => classes.has(name));
      row.hidden = !(known && row.dataset.words.toLowerCase().includes(wanted));
      if (!row.hidden) count += 1;
    }
    shown.textContent = count.toLocaleString(document.documentElement.lang);
  }

  bar.addEventListener("input", filter);
  bar.addEventListener("submit", (event) => event.preventDefault());
  filter();
})();
