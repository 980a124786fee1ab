// What the queue shows is what its address says.

import assert from "node:assert/strict";
import { test } from "node:test";

import "./browser.js";

const { changed, dialAt, parameters, toggled } = await import("../../../proof/web/static/filters.js");

test("a query is said by an address: lists by repeated names, nothing of what is not set", () => {
  const query = { state: ["open", "unsure"], kind: [], order: "score", first_page: 0, last_page: null, text: "己", image: undefined };
  assert.equal(parameters(query).toString(), "state=open&state=unsure&order=score&first_page=0&text=%E5%B7%B1");
});

test("an address that wants all states says so, since one that says nothing wants the open ones", () => {
  assert.equal(parameters({ state: [] }, true).toString(), "state=");
  assert.equal(parameters({}, true).toString(), "state=");
  assert.equal(parameters({ state: ["kept"] }, true).toString(), "state=kept");
});

test("a filter that is emptied is gone; a page is named as it was typed", () => {
  const query = { order: "page", least_score: 3.5 };
  assert.deepEqual(changed(query, "least_score", ""), { order: "page" });
  assert.deepEqual(changed(query, "first_page", "0193a"), { ...query, first_page: "0193a" });
  assert.deepEqual(changed(query, "order", "score"), { ...query, order: "score" });
  assert.deepEqual(changed(query, "state", []), { ...query, state: [] });
  assert.deepEqual(query, { order: "page", least_score: 3.5 });
});

test("a pair is chosen, exchanged for another, and let go when it is chosen again", () => {
  const all = { order: "page" };
  const [one, other] = [{ text: "己", image: "已" }, { text: "己", image: "巳" }];
  const chosen = toggled(all, one);
  assert.deepEqual(chosen, { order: "page", text: "己", image: "已" });
  assert.deepEqual(toggled(chosen, other), { order: "page", text: "己", image: "巳" });
  assert.deepEqual(toggled(chosen, one), all);
});

test("the dial stands at the last point that shows all of the score asked for", () => {
  const points = [2, 4, 5, 5.7].map((score) => ({ score })); // the first shows all flags, the last none
  const at = (least) => dialAt(points, least);
  assert.deepEqual([undefined, null, 1, 2, 3, 4, 4.9, 5, 9].map(at), [0, 0, 0, 0, 0, 1, 1, 2, 3]);
  assert.equal(at(4 - 1e-12), 1); // a score that was rounded on its way
});
