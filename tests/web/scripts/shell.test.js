// What every page has: the order of what is asked for, and what is said of it.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { asked, forget, happens, place, reloads, serve, settle } from "./browser.js";

const trouble = place("trouble");
const { Problem, ask, inTurn, isShortcut, isTemporary, oneAtATime, say, pendingPosts, problemMessage } = await import("../../../proof/web/static/shell.js");

const held = () => {
  let go;
  const promise = new Promise((done) => { go = done; });
  return [promise, go];
};

beforeEach(forget);

test("what is asked for while something is under way begins when that has ended, whatever became of it", async () => {
  const turn = inTurn();
  const [first, go] = held();
  const done = [];
  const one = turn(() => first.then(() => { throw new Error("no"); }));
  const two = turn(() => done.push(2));
  await settle();
  assert.deepEqual(done, []);
  go();
  await assert.rejects(one, /no/);
  await two;
  assert.deepEqual(done, [2]);
});

test("what is asked for a second time while the first is under way is let go, and can be asked for after it", async () => {
  const [first, go] = held();
  let times = 0;
  const act = oneAtATime((wait) => { times += 1; return wait; });
  const one = act(first);
  await act();
  assert.equal(times, 1);
  go();
  await one;
  await act();
  assert.equal(times, 2);
  await act(Promise.reject(new Error("no"))).catch(() => {});
  await act();
  assert.equal(times, 4);
});

test("what is being written is known as long as it is, and what is only asked is not", async () => {
  const [answer, go] = held();
  serve(() => answer);
  const writing = ask("/w", { a: 1 });
  const asking = ask("/r");
  assert.deepEqual([...pendingPosts], [writing]);
  go({ status: 200, document: { b: 2 } });
  assert.deepEqual([await writing, await asking], [{ b: 2 }, { b: 2 }]);
  assert.equal(pendingPosts.size, 0);
});

test("a refusal has its document, and a server that was not reached has none", async () => {
  serve(() => ({ status: 409, document: { message: "王 was there", detail: "x" } }));
  const refused = await ask("/w", {}).catch((problem) => problem);
  assert.ok(refused instanceof Problem);
  assert.deepEqual([refused.status, refused.message, problemMessage(refused)], [409, "王 was there", "refused: 王 was there"]);
  serve(() => { throw new TypeError(); });
  const silent = await ask("/w", {}).catch((problem) => problem);
  assert.deepEqual([silent.status, problemMessage(silent)], [0, "no answer"]);
});

test("a request may succeed later if the server was not reached, was busy or failed, not if it refused", () => {
  assert.deepEqual([0, 429, 500, 503].map(isTemporary), [true, true, true, true]);
  assert.deepEqual([400, 401, 403, 404, 409, 428].map(isTemporary), [false, false, false, false, false, false]);
});

test("a session that is over loads the page anew, and not again and again", async () => {
  serve(() => ({ status: 401, document: {} }));
  for (let n = 0; n < 3; n += 1) await ask("/r").catch(() => {});
  assert.equal(asked.length, 3);
  assert.equal(reloads.length, 1);
});

test("what failed and nobody took up is told until the server answers again", async () => {
  happens("unhandledrejection", { reason: new Problem(0, null), preventDefault() {} });
  assert.deepEqual([trouble.hidden, trouble.textContent], [false, "no answer"]);
  serve(() => ({ status: 200, document: {} }));
  await ask("/r");
  assert.equal(trouble.hidden, true);
});

test("a sentence has its values, and text is never taken for a pattern", () => {
  assert.equal(say("ahead", { person: "$&", verdict: "%(person)s" }), "$&: %(person)s");
  assert.equal(say("unsent", {}), " not saved yet");
});

test("a key is no shortcut while a character is composed or with another key held", () => {
  assert.equal(isShortcut({ key: "k", target: null }), true);
  for (const more of [{ isComposing: true }, { keyCode: 229 }, { key: "Process" }, { ctrlKey: true }, { metaKey: true }, { altKey: true }, { defaultPrevented: true }])
    assert.equal(isShortcut({ key: "k", target: null, ...more }), false, JSON.stringify(more));
});

test("a page that the browser kept and shows again is loaded anew, and one that it loads is not", () => {
  happens("pageshow", { persisted: false });
  assert.deepEqual(reloads.length, 0);
  happens("pageshow", { persisted: true });
  assert.deepEqual(reloads.length, 1);
});
