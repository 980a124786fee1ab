// What was done last is taken back once, after all that waits is at the server; who is refused is told why.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { asked, errors, fill, forget, happens, pass, place, reloads, serve, settle } from "./browser.js";

const line = place("act-told");
sessionStorage.setItem("proof-told:w:%E7%94%B2", JSON.stringify(["2 kept", "undo"]));
const undo = await import("../../../proof/web/static/undo.js");
const { ask, pendingPosts } = await import("../../../proof/web/static/shell.js");
const toldAtStart = line.textContent;

const DOWN = () => { throw new TypeError("not reached"); };
const UNDONE = { status: 200, document: { message: "1 taken back" } };
const keys = () => asked.map(({ body }) => body.key);
const failed = (asking) => asking.then(() => assert.fail("it was not refused"), (problem) => problem);

beforeEach(() => {
  forget();
  undo.showMessage("");
});

test("what was done on the page before is told on the one that is loaded, once", () => {
  assert.equal(toldAtStart, "2 kept Z take back×");
  assert.equal(sessionStorage.getItem("proof-told:w:%E7%94%B2"), null);
});

test("what the server may have done without our hearing of it is asked for under the same key", async () => {
  for (const answer of [DOWN, () => ({ status: 500 }), () => ({ status: 429 }), () => ({ status: 401, document: {} }), () => ({ status: 200 })]) {
    serve(answer);
    await failed(undo.requestUndo("undo"));
  }
  serve(() => UNDONE);
  await undo.requestUndo("undo");
  assert.equal(asked.length, 6);
  assert.equal(new Set(keys()).size, 1);
});

test("after anything else the last act is another, and is asked for under another key", async () => {
  serve(DOWN);
  await failed(undo.requestUndo("undo"));
  await failed(ask("/api/v1/works/w/flags/1/decisions", {}));
  await failed(undo.requestUndo("undo"));
  assert.notEqual(keys()[0], keys()[2]);
});

for (const [name, answer] of [["done", UNDONE], ["refused", { status: 409, document: {} }]])
  test(`what was ${name} is over: the next time is another`, async () => {
    for (let n = 0; n < 2; n += 1) {
      serve(() => answer);
      await undo.requestUndo("undo").catch(() => {});
    }
    assert.equal(new Set(keys()).size, 2);
  });

test("to take back and to do again are asked for under keys of their own", async () => {
  serve(DOWN);
  for (const way of ["undo", "redo", "undo"]) await failed(undo.requestUndo(way));
  assert.equal(keys()[0], keys()[2]);
  assert.notEqual(keys()[0], keys()[1]);
});

test("an act is taken back although the storage is full, and that is reported", async () => {
  fill();
  serve(() => UNDONE);
  assert.equal((await undo.requestUndo("undo")).message, "1 taken back");
  assert.ok(errors.length > 0);
});

test("nothing is taken back before what was decided is at the server", async () => {
  serve(() => UNDONE);
  localStorage.setItem("proof:w:%E7%94%B2:1:x", "{}");
  const back = undo.requestUndo("undo");
  await settle();
  for (let n = 0; n < 4; n += 1) await pass();
  assert.deepEqual(asked, []);
  localStorage.removeItem("proof:w:%E7%94%B2:1:x");
  for (let n = 0; n < 2; n += 1) await pass();
  assert.equal((await back).message, "1 taken back");
});

test("nothing is taken back before what is being written is written", async () => {
  serve(() => UNDONE);
  let written;
  const writing = new Promise((done) => { written = done; });
  pendingPosts.add(writing);
  const back = undo.requestUndo("undo");
  await settle();
  assert.deepEqual(asked, []);
  pendingPosts.delete(writing);
  written();
  await settle();
  for (let n = 0; n < 2; n += 1) await pass();
  assert.equal((await back).message, "1 taken back");
});

test("what cannot be sent keeps nobody waiting for ever, and is told", async (t) => {
  localStorage.setItem("proof:w:%E7%94%B2:1:x", "{}");
  const back = undo.undoAndReload("undo");
  t.mock.method(Date, "now", () => Number.MAX_SAFE_INTEGER);
  for (let n = 0; n < 2; n += 1) await pass();
  await back;
  assert.deepEqual(asked, []);
  assert.equal(line.textContent, "1 not saved yet ×");
});

test("what was taken back is shown by the page loaded anew, with the way to do it again", async () => {
  serve(() => UNDONE);
  await undo.undoAndReload("undo");
  assert.equal(reloads.length, 1);
  assert.deepEqual(JSON.parse(sessionStorage.getItem("proof-told:w:%E7%94%B2")), ["1 taken back", "redo"]);
});

test("what others changed since can be left to them", async () => {
  serve(() => ({ status: 409, document: { message: "王 changed it" } }));
  await undo.undoAndReload("undo");
  assert.equal(reloads.length, 0);
  const leave = line.children.find((child) => child.tag === "button");
  assert.equal(line.textContent, "王 changed it leave it×");
  serve(() => UNDONE);
  leave.listeners.click();
  await settle();
  assert.equal(asked.at(-1).body.leave, true);
  assert.equal(reloads.length, 1);
});

test("keys take back and do again, one at a time; not held down, nor while something is written in a field", async () => {
  const ways = () => asked.map(({ path }) => path.split("/").at(-1));
  const press = (key, more = {}) => happens("keydown", { key, target: null, preventDefault() {}, ...more });
  serve(() => UNDONE);
  press("z");
  press("z"); // meant for what is shown now, which is about to change
  press("z", { repeat: true });
  press("z", { ctrlKey: true });
  press("a");
  await settle();
  assert.deepEqual(ways(), ["undo"]);
  for (const [key, shiftKey] of [["y", false], ["Z", true], ["z", false]]) {
    press(key, { shiftKey });
    await settle();
  }
  assert.deepEqual(ways(), ["undo", "redo", "redo", "undo"]);
});
