// The queue: the list of flags, filters with their counts, the dial, and links to the desk.

import { changed, dialAt, parameters, toggled } from "./filters.js";
import { showRemainingWork } from "./remaining_work.js";
import { $, api, ask, data, excerpt, glyphOf, han, isShortcut, make, nothing, oneAtATime, piece, say, svg, words, workPath } from "./shell.js";

const form = $("filters");
let query = { ...data.query };
let facets = data.facets;
let next = null;
let asked = 0;
const HEAD = 1.6; // height of the picture of a column, in widths of the column
const narrow = matchMedia("(max-width: 46rem)");

const STATES = ["open", "unsure", "skipped", "corrected", "kept", "copy", "retained"];
const KINDS = ["substitution", "insertion", "omission", "transposition", "variant", "layout", "audit"];

const params = (extra = {}) => parameters({ ...query, ...extra });
const deskAddress = (flag) => workPath(`desk?${params(flag ? { flag } : {})}`);

// the list

function row(flag) {
  const layout = flag.kind === "layout";
  const glyph = flag.bbox && flag.page.image
    ? make("img", { class: "paper", loading: "lazy", alt: "", width: 52, height: 52, src: layout ? headOf(flag) : glyphOf(flag) })
    : make("span", { class: "noimage" });
  const long = Math.max(...[flag.transcribed, flag.suggested].map((text) => [...text].length)) > 2;
  const [before, after] = flag.context.split(`[${flag.transcribed}]`);
  const lead = narrow.matches ? [...(before ?? "")].slice(-2).join("") : before ?? ""; // so that the flagged characters are visible
  const around = layout ? make("span", { class: "context words" }, flag.what) : make("span", { class: "context han", lang: document.body.dataset.script }, lead, make("mark", {}, flag.transcribed || nothing()), after ?? "");
  return make("li", {}, make("a", { href: deskAddress(flag.number), class: "row" },
    glyph,
    make("span", { class: layout || long ? "pair long" : "pair" }, ...(flag.other ? [han(excerpt(flag.transcribed || flag.suggested), "seen")]
      : layout && !flag.transcribed !== !flag.suggested ? [han(excerpt(flag.transcribed || flag.suggested), flag.transcribed ? "said" : "seen")]
      : layout && !flag.transcribed ? []
      : [han(excerpt(flag.transcribed), "said"), make("span", { class: "arrow", "aria-label": "→" }, "→"), han(excerpt(flag.suggested), "seen")])),
    around,
    make("span", { class: "where" }, make("span", { class: "id" }, make("bdi", {}, flag.page.page)), " ", columns(flag)),
    make("span", { class: "kind" }, flag.other ? words.moved : words.kinds[flag.kind]),
    make("span", { class: "soft score", title: say("score") }, flag.score.toFixed(1)),
    make("span", { class: `state ${flag.state}` }, flag.state === "open" ? "" : words.states[flag.state], flag.state === "corrected" && !flag.other ? han(flag.reading) : "")));
}

/** The address of the picture of a column: its upper end. */
function headOf({ bbox: [x, y, w, h], page }) {
  return piece(page.image, [x, y, w, Math.min(h, HEAD * w)].map(Math.floor), `${Math.min(104, Math.floor(w))},`);
}

/** The column of a flag; for a character that moved, the column in the text and that on the image. */
function columns(flag) {
  if (!flag.line) return say("wholePage");
  const places = flag.other ? [flag.line, flag.other.line] : [flag.line];
  if (!flag.transcribed) places.reverse();
  return say("column", { number: [...new Set(places)].join(" → ") });
}

function list(found, fresh) {
  const rows = found.items.map(row);
  if (fresh) $("rows").replaceChildren(...rows);
  else $("rows").append(...rows);
  next = found.next;
  $("more").hidden = next === null;
  $("left").hidden = $("rows").childElementCount > 0;
  if (!$("left").hidden) showRemainingWork();
}

// the filters; folded on a small screen, so that the flags are visible

const fold = () => { $("more-filters").open = !narrow.matches; };
narrow.addEventListener("change", fold);
fold();

function choice(name, value, label, count) {
  const chosen = (query[name] ?? []).includes(value);
  return make("label", { class: count ? "" : "nothing" },
    make("input", { type: "checkbox", name, value, checked: chosen }), " ", make("span", {}, label), make("span", { class: "count" }, count.toLocaleString()));
}

function filters() {
  $("states").replaceChildren(...STATES.map((state) => choice("state", state, words.states[state], facets.states[state])));
  $("kinds").replaceChildren(...KINDS.filter((kind) => facets.kinds[kind] || (query.kind ?? []).includes(kind))
    .map((kind) => choice("kind", kind, words.kinds[kind], facets.kinds[kind])));
  form.elements.order.value = query.order;
  for (const name of ["first_page", "last_page"]) {
    form.elements[name].placeholder = data.pages.at(name === "first_page" ? 0 : -1) ?? "";
    form.elements[name].value = query[name] ?? "";
  }
  $("juans").hidden = facets.juans.length < 2;
  $("juan").replaceChildren(make("option", { value: "" }, say("all")), ...facets.juans.map(({ juan, count }) =>
    make("option", { value: juan, selected: juan === query.juan }, `${juan} (${count.toLocaleString()})`)));
  const chosen = query.text !== undefined && query.text !== null;
  $("pairs").replaceChildren(...facets.pairs.filter((pair) => pair.text !== pair.image).slice(0, chosen ? 40 : 24).map((pair) =>
    make("button", { type: "button", class: "chip", "aria-pressed": String(chosen && pair.text === query.text && pair.image === query.image),
      onclick: () => choosePair(pair) },
      han(excerpt(pair.text), "said"), make("span", { class: "arrow" }, "→"), han(excerpt(pair.image), "seen"), make("span", { class: "count" }, pair.count))));
  way();
  dial();
}

function choosePair(pair) {
  query = toggled(query, pair);
  refresh();
}

function way() {
  const states = data.work.states;
  const all = Object.values(states).reduce((sum, count) => sum + count, 0);
  $("bar").replaceChildren(...["corrected", "kept", "copy", "retained", "unsure", "skipped"].filter((state) => states[state]).map((state) => {
    const part = make("span", { class: `part ${state}`, title: `${words.states[state]}: ${states[state]}` });
    part.style.flexGrow = states[state];
    return part;
  }), make("span", { class: "part rest" }));
  $("bar").lastElementChild.style.flexGrow = states.open;
  $("way-words").textContent = say("of", { done: (all - states.open).toLocaleString(), all: all.toLocaleString() });
  $("bar").setAttribute("aria-label", $("way-words").textContent);
  $("start").href = deskAddress(null);
  $("start").hidden = !facets.total;
}

function dial() {
  const points = facets.dial;
  const slider = $("dial");
  document.querySelector(".dial").hidden = points.length < 2;
  if (points.length < 2) return;
  slider.max = points.length - 1;
  const index = dialAt(points, query.least_score);
  slider.value = points.length - 1 - index; // the slider goes from few flags to all, the points from all to few
  const most = Math.max(...facets.scores, 1);
  const step = 240 / facets.scores.length;
  $("histogram").replaceChildren(...facets.scores.map((count, n) => {
    const height = count ? Math.max((38 * count) / most, 1.5) : 0;
    const inside = facets.edges[n + 1] > (query.least_score ?? -Infinity);
    return svg("rect", { x: 240 - (n + 1) * step, y: 40 - height, width: step - 1, height, class: inside ? "inside" : "outside" });
  }));
  dialWords(points[index]);
}

const pointAt = () => facets.dial[facets.dial.length - 1 - Number($("dial").value)];

function dialWords(point) {
  const all = point === facets.dial[0]; // this point includes all flags
  $("dial-words").textContent = say(all ? "leftAll" : "left", { places: point.places.toLocaleString(), errors: point.left.toFixed(point.left < 10 ? 1 : 0) });
  $("dial").setAttribute("aria-valuetext", $("dial-words").textContent);
}

$("dial").addEventListener("input", () => dialWords(pointAt()));
$("dial").addEventListener("change", () => {
  const point = pointAt();
  query = changed(query, "least_score", point === facets.dial[0] ? "" : point.score);
  refresh();
});

form.addEventListener("change", (event) => {
  const { name, value } = event.target;
  if (!name) return;
  const several = name === "state" || name === "kind";
  query = changed(query, name, several ? [...form.querySelectorAll(`input[name=${name}]:checked`)].map((input) => input.value) : value);
  refresh();
});
form.addEventListener("submit", (event) => event.preventDefault());

async function refresh() {
  const mine = (asked += 1);
  history.replaceState(null, "", `?${parameters(query, true)}`);
  $("start").href = deskAddress(null); // the link keeps the chosen filters
  const filter = params();
  filter.delete("order");
  const [found, counted] = await Promise.all([ask(`${api("flags")}?${params()}`), ask(`${api("facets")}?${filter}`)]);
  if (mine !== asked) return;
  $("trouble").hidden = true; // such as a page that is not there
  facets = counted;
  list(found, true);
  filters();
  $("announce").textContent = String(facets.total);
}

$("more").addEventListener("click", oneAtATime(async () => {
  const mine = asked;
  const found = await ask(`${api("flags")}?${params({ cursor: next })}`);
  if (mine === asked) list(found, false); // else the list has changed since
}));

addEventListener("keydown", (event) => {
  if (!isShortcut(event)) return;
  if (event.key === "Enter" && !event.target.closest?.("a, button, input")) return location.assign($("start").href);
  const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (!by || event.target.matches?.("input")) return;
  const rows = [...document.querySelectorAll("a.row")];
  const now = rows.indexOf(document.activeElement);
  event.preventDefault();
  rows[Math.max(0, Math.min(rows.length - 1, now + by))]?.focus();
});

list({ items: data.flags, next: data.next }, true);
filters();
