// The list of flags that the desk goes through, of which it shows one.

import assert from "node:assert/strict";
import { test } from "node:test";

import { give, place, serve } from "./browser.js";

place("notices");
const flag = (number) => ({ number, state: "open", reading: "", version: 0 });
give("data", { work: { states: { open: 9 } }, query: {}, flags: [], next: null });
const list = await import("../../../proof/web/static/flag_list.js");
list.listen({ changed() {}, fetched() {}, reverted() {}, notice() {} });
list.add([1, 2, 3].map(flag));

test("the shown flag stays shown when another one is fetched", async () => {
  list.moveBy(1);
  serve(() => ({ status: 200, document: flag(9) }));
  assert.equal((await list.fetched(9)).number, 9);
  assert.equal(list.current().number, 2);
  await list.fetched(9);
  assert.equal(list.current().number, 2);
});

test("nor is another one shown where further flags are added while that is fetched", async () => {
  serve(() => {
    list.add([flag(4)]);
    return { status: 200, document: flag(8) };
  });
  await list.fetched(8);
  assert.equal(list.current().number, 2);
});
