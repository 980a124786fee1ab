// Shared by all pages: their data and messages, language and theme, the help, and requests to the server.

export const $ = (id) => document.getElementById(id);

const read = (id) => {
  const element = $(id);
  return element ? JSON.parse(element.textContent) : null;
};

export const words = read("words") ?? {};
export const data = read("data");
export const work = document.body.dataset.work ?? "";
export const person = document.body.dataset.person ?? "";
const rights = (document.body.dataset.may ?? "").split(" ");
/** Whether the user has a right: "decide", "rule", "overrule". The server checks it again. */
export const may = (right) => rights.includes(right);
export const script = document.body.dataset.script ?? "zh-Hant";

export const say = (name, values = {}) =>
  (words[name] ?? name).replace(/%\((\w+)\)s/g, (_, key) => String(values[key] ?? ""));

/** An address of the work in the API, and one of its views. */
export const api = (path) => `/api/v1${workPath(path)}`;
export const workPath = (path) => `/works/${encodeURIComponent(work)}/${path}`;

/** An error with its problem document; status 0 if the server did not answer. */
export class Problem extends Error {
  constructor(status, document) {
    super(document?.message ?? document?.detail ?? ""); // `message` is in the language of the page
    this.status = status;
    this.document = document ?? {};
  }
}

/** Whether a request that failed with this status may succeed later: the server was not reached, was busy or failed. */
export const isTemporary = (status) => status === 0 || status === 429 || status >= 500;

/** Whether the session is over, or another one was begun in this browser. `ask` then reloads the page. */
const isSessionOver = (status, document) => status === 401 || document?.code === "token";

/** Whether the same request may succeed later, after a problem: in the same session, or in a new one. */
export const maySucceedLater = ({ status, document }) => isTemporary(status) || isSessionOver(status, document);

/** Reloads the page when the session is over; at most once in 10 seconds. */
function reloadForSession() {
  if (Date.now() - Number(sessionStorage.getItem("proof-anew")) < 10000) return;
  if (keep("proof-anew", Date.now())) location.reload();
}

// a page from the browser's back/forward cache is out of date
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

/** Length in characters below which a request continues after its page was left; browsers allow 64 KiB in all. */
const OUTLIVES = 8000;
let fragile = 0; // pending requests that would be aborted with the page
addEventListener("beforeunload", (event) => { if (fragile) event.preventDefault(); });

/** Sends a GET request, or with a `body` a POST request. */
export function request(path, body) {
  const options = { headers: { Accept: "application/json" }, credentials: "same-origin" };
  if (body === undefined) return fetch(path, options);
  options.method = "POST";
  options.headers["Content-Type"] = "application/json";
  options.headers["X-CSRFToken"] = document.querySelector("meta[name=csrf]").content;
  options.body = JSON.stringify(body);
  options.keepalive = options.body.length < OUTLIVES;
  const sending = fetch(path, options);
  if (options.keepalive) return sending;
  fragile += 1;
  const over = () => { fragile -= 1; };
  sending.then(over, over);
  return sending;
}

/** The event of this window before a POST request; its `detail` is the address. */
export const BEFORE_POST = "proof-post";

/** The pending POST requests. */
export const pendingPosts = new Set();

/** Sends a request and resolves to the JSON of its answer. Throws a Problem. */
export function ask(path, body) {
  if (body !== undefined) dispatchEvent(new CustomEvent(BEFORE_POST, { detail: path }));
  const answer = answerTo(path, body);
  if (body === undefined) return answer;
  pendingPosts.add(answer);
  const over = () => pendingPosts.delete(answer);
  answer.then(over, over);
  return answer;
}

async function answerTo(path, body) {
  let answer;
  try {
    answer = await request(path, body);
  } catch {
    throw new Problem(0, null);
  }
  const content = await answer.json().catch(() => null);
  if (isSessionOver(answer.status, content)) reloadForSession();
  if (!answer.ok) throw new Problem(answer.status, content);
  if (content === null) throw new Problem(0, null); // cut off, or from a proxy: the outcome is unknown
  if (trouble && (body !== undefined || trouble.dataset.status === "0")) trouble.hidden = true;
  return content;
}

/** Resolves after some milliseconds. */
export const pause = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });

/** Keeps a value for this tab, also when the page is reloaded, or in another `storage`. Returns whether that succeeded;
 * a failure is reported. */
export function keep(name, value, storage = sessionStorage) {
  try {
    storage.setItem(name, JSON.stringify(value));
    return true;
  } catch (error) {
    reportError(error);
    return false;
  }
}

/** A function that runs acts one after the other: each begins when the one before has ended. */
export function inTurn() {
  let last = Promise.resolve();
  return (act) => {
    const mine = last.then(act);
    last = mine.catch(() => {}); // the caller gets the error
    return mine;
  };
}

/** An act that ignores calls while it is running: they were meant for what is shown now. */
export function oneAtATime(act) {
  let busy = false;
  return async (...given) => {
    if (busy) return;
    busy = true;
    try {
      return await act(...given);
    } finally {
      busy = false;
    }
  };
}

// shows unhandled problems on every page, until the server answers again or a POST request succeeds
const trouble = $("trouble");
addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof Problem) || !trouble) return;
  event.preventDefault();
  trouble.textContent = problemMessage(event.reason);
  trouble.dataset.status = event.reason.status;
  trouble.hidden = false;
});

/** The message of a problem for people. */
export const problemMessage = (problem) => (problem.status ? say("refused", { detail: problem.message }) : say("silent"));

/** An element with its attributes and children; text is never parsed as HTML. */
export const make = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);
/** The same for an element of a drawing. */
export const svg = (tag, attributes, ...children) => filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

function filled(element, attributes = {}, children = []) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "onclick") element.addEventListener("click", value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

export const closeButton = (onclick) => make("button", { type: "button", class: "quiet", "aria-label": say("close"), onclick }, "×");
export const reloadButton = () => make("button", { type: "button", onclick: () => location.reload() }, say("reload"));

const EXCERPT = 6; // characters up to which a text is shown whole
/** The element for a character, or the sign for "nothing" if `text` is empty. */
export const han = (text, extra = "") => make("span", { class: `han ${extra}`.trim(), lang: script }, text || nothing());
/** The beginning and end of a long text, for places with room for a few characters. */
export function excerpt(text) {
  if ([...text].length <= EXCERPT) return text;
  const bare = [...text.replace(/[()/\s]/gu, "")];
  return bare.length > EXCERPT ? `${bare.slice(0, 3).join("")}…${bare.slice(-2).join("")}` : bare.join("");
}
export const nothing = () => make("span", { class: "void", role: "img", "aria-label": say("nothing") });

/** The address of a piece of a page image. */
export const piece = (image, [x, y, w, h], size = "max") => `/iiif/${image}/${x},${y},${w},${h}/${size}/0/default.webp`;

/** The address of a flag on the desk, whatever its state. */
export const deskOf = (flag) => workPath(`desk?state=&raised=all&flag=${flag.number ?? flag}`);

/** The addresses of the glyph tiles of a flag, and of any character of a page. */
export const glyphOf = (flag) => workPath(`flags/${flag.number}/glyph.webp?${flag.page.image.slice(0, 12)}`);
export const glyphAt = ({ page, line, offset, image }) => workPath(`pages/${page}/glyphs/${line}-${offset}.webp?${image.slice(0, 12)}`);

export const uuid = () => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
};

/** Whether a key press is a shortcut: not while an input method composes, not in a field, not with Ctrl, Alt or Meta. */
export function isShortcut(event) {
  if (event.isComposing || event.keyCode === 229 || event.key === "Process") return false;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
  if (document.querySelector("dialog[open]")) return false;
  const target = event.target;
  return !(target instanceof Element && target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]"));
}

// a browser cuts what is pasted to what fits, and says nothing
addEventListener("paste", (event) => {
  const field = event.target;
  if (!(field.maxLength > 0)) return;
  const pasted = event.clipboardData.getData("text");
  const length = field.value.length - (field.selectionEnd - field.selectionStart) + pasted.length;
  if (length <= field.maxLength) return;
  event.preventDefault();
  field.setCustomValidity(say("pastedTooLong", { num: [...pasted].length, most: field.maxLength }));
  field.reportValidity();
  for (const next of ["keydown", "input", "blur"]) field.addEventListener(next, () => field.setCustomValidity(""), { once: true });
}, true);

const remember = (name, value) => {
  document.cookie = `${name}=${value}; path=/; max-age=31536000; samesite=lax`;
};

$("language")?.addEventListener("change", (event) => {
  remember("lang", event.target.value);
  location.reload();
});

$("theme")?.addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  remember("theme", root.dataset.theme);
});

// an image that failed to load is shown as an empty place, not as a broken image
addEventListener("error", (event) => { if (event.target.matches?.("img")) event.target.classList.add("lost"); }, true);
addEventListener("load", (event) => { if (event.target.matches?.("img")) event.target.classList.remove("lost"); }, true);

document.querySelector(".bar nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// disable controls that the user has no right for: the one in `data-needs`, else "decide"
for (const control of document.querySelectorAll("#state, #correcting input, #correcting button[value], [data-needs]"))
  if (!may(control.dataset.needs ?? "decide")) control.disabled = true;

const find = $("find");
const openFind = () => { find?.showModal(); find?.querySelector("[type=search]").select(); };
$("find-open")?.addEventListener("click", openFind);

const more = $("more-open");
more?.addEventListener("click", () => more.setAttribute("aria-expanded", String(more.ariaExpanded !== "true")));

const help = $("help");
const openHelp = () => {
  help.showModal();
  help.scrollTop = 0; // the focused button is at its end
};
$("help-open")?.addEventListener("click", openHelp);
addEventListener("keydown", (event) => {
  if (!["?", "/"].includes(event.key) || !isShortcut(event)) return;
  event.preventDefault();
  if (event.key === "?") openHelp();
  else openFind();
});
