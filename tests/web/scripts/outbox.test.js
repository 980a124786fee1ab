// Decisions on their way: none is lost, none goes twice or out of turn, and what the server refuses is told once.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { asked, errors, fill, forget, happens, pass, serve, settle } from "./browser.js";

const { Outbox, decidedByOther, countUnsent } = await import("../../../proof/web/static/outbox.js");

const DOWN = () => { throw new TypeError("not reached"); };
const flagOf = (path) => Number(path.match(/flags\/(\d+)/)[1]);
const taken = (path) => ({ status: 201, document: { flag: flagOf(path) } });
const kept = () => Object.keys(localStorage).filter((key) => key.startsWith("proof:"));

let told;
function open(on = {}) {
  const tell = (name) => (...said) => told.push([name, ...said]);
  const own = Object.fromEntries(["done", "conflict", "refused", "waiting"].map((name) => [name, tell(name)]));
  return new Outbox({ ...own, ...on });
}
const of = (name) => told.filter(([what]) => what === name).map(([, ...said]) => said);

beforeEach(() => {
  forget();
  told = [];
});

test("what is decided is kept until the server has it, and goes in the order in which it was decided", async () => {
  const answers = [];
  serve((path) => new Promise((answer) => answers.push(() => answer(taken(path)))));
  const outbox = open();
  for (const flag of [3, 1, 2]) outbox.put(flag, { verdict: "keep" });
  await settle();
  assert.deepEqual(asked.map(({ path }) => flagOf(path)), [3]); // one at a time
  assert.equal(countUnsent(), 3);
  for (const left of [2, 1, 0]) {
    answers.shift()();
    await settle();
    assert.equal(countUnsent(), left);
  }
  assert.deepEqual(asked.map(({ path }) => flagOf(path)), [3, 1, 2]);
  assert.deepEqual(of("done").map(([entry]) => entry.flag), [3, 1, 2]);
  assert.deepEqual(of("waiting"), [[0]]);
});

for (const [name, answer] of [
  ["not reached", DOWN],
  ["stopped", () => ({ status: 503, document: {} })],
  ["busy", () => ({ status: 429, document: {} })],
  ["over for this session", () => ({ status: 401, document: {} })],
  ["asked with an old token", () => ({ status: 400, document: { code: "token" } })],
  ["answering for another flag", () => ({ status: 201, document: { flag: 99 } })],
  ["cut off", () => ({ status: 201 })],
  ["answered for by a network in between", () => ({ status: 200 })],
])
  test(`where the server is ${name}, the same is asked again until it has it`, async () => {
    serve(answer);
    const outbox = open();
    outbox.put(7, { verdict: "take", key: "k" });
    await settle();
    assert.equal(countUnsent(), 1);
    assert.deepEqual(of("waiting"), [[1]]);
    serve(taken);
    assert.equal(await pass(), 250);
    assert.equal(countUnsent(), 0);
    assert.deepEqual(asked.map(({ body }) => body), [{ verdict: "take", key: "k" }, { verdict: "take", key: "k" }]);
    assert.equal(of("done").length, 1);
    assert.deepEqual([...of("conflict"), ...of("refused")], []);
  });

test("it is asked less and less often, and at once again after an answer", async () => {
  serve(DOWN);
  const outbox = open();
  outbox.put(7, {});
  await settle();
  const pauses = [];
  for (let n = 0; n < 7; n += 1) pauses.push(await pass());
  assert.deepEqual(pauses, [250, 500, 1000, 2000, 4000, 4000, 4000]);
  serve(taken);
  await pass();
  serve(DOWN);
  outbox.put(8, {});
  await settle();
  assert.equal(await pass(), 250);
});

test("that the server says nothing is told, once it is late", async () => {
  serve(() => new Promise(() => {}));
  open().put(7, {});
  await settle();
  assert.deepEqual(of("waiting"), []);
  assert.equal(await pass(), 4000);
  assert.deepEqual(of("waiting"), [[1]]);
});

for (const [status, name] of [[409, "conflict"], [422, "refused"], [404, "refused"]])
  test(`an answer ${status} ends what was decided of the flag, and the others go on`, async () => {
    serve((path) => (flagOf(path) === 1 ? { status, document: { detail: "no" } } : taken(path)));
    const outbox = open();
    for (const flag of [1, 2, 1, 3]) outbox.put(flag, {});
    await settle();
    assert.deepEqual(asked.map(({ path }) => flagOf(path)), [1, 2, 3]);
    assert.deepEqual(of(name).map(([entry, problem]) => [entry.flag, problem.status]), [[1, status]]);
    assert.deepEqual(of("done").map(([entry]) => entry.flag), [2, 3]);
    assert.deepEqual(kept(), []);
  });

test("a page that is opened later sends what an earlier one could not, before its own", async () => {
  serve(DOWN);
  const before = open();
  before.put(1, { verdict: "keep" }, { state: "kept" });
  before.put(2, {});
  await settle();
  localStorage.setItem(kept()[0].replace(/[^:]*:[^:]*$/, "0:x"), "{damaged");
  localStorage.setItem("proof:w:another:1:x", JSON.stringify({ flag: 9, body: {} })); // decided by somebody else
  asked.length = 0;
  serve(taken);
  const after = open();
  assert.deepEqual(after.after(1), { state: "kept" });
  after.put(3, {});
  await settle();
  assert.deepEqual(asked.map(({ path }) => flagOf(path)), [1, 2, 3]);
  assert.deepEqual(kept(), ["proof:w:another:1:x"]);
});

test("where nothing can be kept it is sent all the same, and the page is not left before", async () => {
  fill();
  serve(DOWN);
  open().put(7, {});
  await settle();
  let stopped = 0;
  happens("beforeunload", { preventDefault: () => { stopped += 1; } });
  assert.equal(stopped, 1);
  serve(taken);
  await pass();
  happens("beforeunload", { preventDefault: () => { stopped += 1; } });
  assert.equal(stopped, 1);
  assert.equal(of("done").length, 1);
});

test("a page that is left sends the first of each flag after it, twenty at most, and keeps them", async () => {
  serve(() => new Promise(() => {}));
  const outbox = open();
  for (let flag = 1; flag <= 30; flag += 1) for (const verdict of ["keep", "undo"]) outbox.put(flag, { verdict });
  await settle();
  asked.length = 0;
  happens("pagehide");
  assert.deepEqual(asked.map(({ path, body }) => [flagOf(path), body.verdict]), Array.from({ length: 20 }, (_, n) => [n + 1, "keep"]));
  assert.ok(asked.every(({ keepalive }) => keepalive));
  assert.equal(countUnsent(), 60);
});

test("what waits for a pause goes at once when the connection is back", async () => {
  serve(taken);
  const outbox = open();
  outbox.sending = false;
  outbox.entries.push({ flag: 5, body: {}, key: "x", kept: false });
  happens("online");
  await settle();
  assert.equal(of("done").length, 1);
});

test("how a flag will stand is what was decided of it last", () => {
  serve(() => new Promise(() => {}));
  const outbox = open();
  outbox.put(1, {}, { state: "kept" });
  outbox.put(2, {}, { state: "copy" });
  outbox.put(1, {}, { state: "open" });
  assert.deepEqual([outbox.after(1), outbox.after(2), outbox.after(3)], [{ state: "open" }, { state: "copy" }, undefined]);
});

test("a listener that fails keeps nothing from being sent", async () => {
  serve(taken);
  const outbox = open({ done() { throw new Error("ours"); } });
  outbox.put(1, {});
  outbox.put(2, {});
  await settle();
  assert.equal(countUnsent(), 0);
  assert.equal(errors.length, 2);
});

test("who decided before is told with what they decided", () => {
  const by = (decision) => decidedByOther({ person: "王", transcribed: "告", ...decision });
  assert.equal(by({ verdict: "keep", state: "kept" }), "王: keeps");
  assert.equal(by({ verdict: "take", state: "corrected", reading: "吿" }), "王: takes 吿");
  assert.equal(by({ verdict: "take", state: "corrected", reading: "" }), "王: deletes 告");
});

test("what was decided later goes later, though the clock was set back and the page was loaded anew", async (t) => {
  serve(DOWN);
  open().put(1, { verdict: "keep" });
  t.mock.method(Date, "now", () => 1000);
  open().put(1, { verdict: "undo" });
  await settle();
  const later = [];
  serve((path, body) => { later.push(body.verdict); return taken(path); });
  open();
  await settle();
  assert.deepEqual(later.slice(0, 2), ["keep", "undo"]);
});
