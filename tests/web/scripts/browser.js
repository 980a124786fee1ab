// What of a browser the scripts use, small enough to be seen through: storage, elements, the clock, and a server that
// answers as a test says. Imported before the script under test, which finds it all in its global scope.

/** A store of strings whose keys are its own properties, as a browser's are. */
class Kept {
  getItem(key) { return Object.hasOwn(this, key) ? this[key] : null; }
  setItem(key, value) {
    if (Kept.full) throw new DOMException("full", "QuotaExceededError");
    this[key] = String(value);
  }
  removeItem(key) { delete this[key]; }
}

const strings = () => new Proxy({}, { set: (all, name, value) => Reflect.set(all, name, String(value)) });

class Piece {
  constructor(tag, id = "") { Object.assign(this, { tag, id, dataset: strings(), children: [], listeners: {}, attributes: {}, hidden: true }); }
  set textContent(text) { this.children = [text]; }
  get textContent() { return this.children.map((child) => child?.textContent ?? String(child)).join(""); }
  append(...children) { this.children.push(...children); for (const child of children) if (child instanceof Piece) child.parent = this; }
  appendChild(child) { this.append(child); return child; }
  replaceChildren(...children) { this.children = []; this.append(...children); }
  remove() { this.parent.children = this.parent.children.filter((child) => child !== this); }
  setAttribute(name, value) { this.attributes[name] = value; if (name === "id") this.id = value; }
  addEventListener(name, listener) { this.listeners[name] = listener; }
  find(id) { return this.id === id ? this : this.children.reduce((found, child) => found ?? child?.find?.(id) ?? null, null); }
}

const listeners = {};
const body = new Piece("body");
Object.assign(body.dataset, { work: "w", person: "甲", may: "decide rule", script: "zh-Hant" });
/** An element of the page, there before the script is. */
export const place = (id, tag = "p") => body.appendChild(new Piece(tag, id));
/** What the scripts of a page are given with it. */
export const give = (id, values) => { place(id, "script").textContent = JSON.stringify(values); };

export const reloads = [];
export const errors = [];
/** What the server was asked, in order: path, body and how. */
export const asked = [];
let answering = () => ({ status: 200, document: {} });
/** Has the server answer so: `answer(path, body)` gives `{ status, document }`, a promise of it, or throws for a server
 * that is not reached. */
export const serve = (answer) => { answering = answer; };

/** Waits asked for and not over yet: `[call, milliseconds]`. No test sits one through. */
let waits = [];
const later = globalThis.setTimeout;
/** Lets everything that can go on without the clock go on. */
export const settle = () => new Promise((done) => later(done, 2));
/** Lets the clock run until the next waits are over; gives how long they were. */
export async function pass() {
  const next = Math.min(...waits.map(([, milliseconds]) => milliseconds));
  const over = waits.filter(([, milliseconds]) => milliseconds === next);
  waits = waits.filter((wait) => !over.includes(wait));
  for (const [call] of over) call();
  await settle();
  return next;
}
/** Something happens in the window. */
export const happens = (name, event = {}) => {
  for (const listener of listeners[name] ?? []) listener(event);
};

/** The browser forgets; the next test begins with nothing kept, nothing asked. */
export function forget() {
  for (const store of [localStorage, sessionStorage]) for (const key of Object.keys(store)) store.removeItem(key);
  for (const list of [asked, reloads, errors]) list.length = 0;
  Kept.full = false;
  waits = [];
  for (const name of ["online", "pagehide", "beforeunload"]) delete listeners[name]; // those of each outbox
}
/** Nothing more can be kept: the storage is full, or shut. */
export const fill = () => { Kept.full = true; };

Object.assign(globalThis, {
  dispatchEvent: (event) => happens(event.type, event),
  document: {
    body,
    documentElement: new Piece("html"),
    getElementById: (id) => body.find(id),
    querySelector: (selector) => (selector === "meta[name=csrf]" ? { content: "token" } : null),
    querySelectorAll: () => [],
    createElement: (tag) => new Piece(tag),
  },
  localStorage: new Kept(),
  sessionStorage: new Kept(),
  location: { reload: () => reloads.push(1) },
  Element: Piece,
  addEventListener: (name, listener) => (listeners[name] ??= []).push(listener),
  reportError: (error) => errors.push(error),
  setTimeout: (call, milliseconds = 0) => { const wait = [call, milliseconds]; waits.push(wait); return wait; },
  clearTimeout: (wait) => { waits = waits.filter((one) => one !== wait); },
  async fetch(path, options = {}) {
    const sent = options.body === undefined ? undefined : JSON.parse(options.body);
    asked.push({ path, body: sent, keepalive: options.keepalive ?? false });
    const { status = 200, document } = await answering(path, sent);
    return { status, ok: status < 400, json: async () => { if (document === undefined) throw new SyntaxError("cut off"); return document; } };
  },
});
give("words", {
  verdicts: { keep: "keeps", take: "takes" }, unsent: "%(num)s not saved yet", ahead: "%(person)s: %(verdict)s",
  deletes: "deletes %(text)s", silent: "no answer", refused: "refused: %(detail)s", undo: "take back", redo: "do again", leaveIt: "leave it",
});
