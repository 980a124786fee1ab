// Touching characters that are smaller than a finger: the nearest one is taken, and those around it are offered as large
// buttons.

import { han, make } from "./shell.js";

const FINGER = 44; // CSS pixels (WCAG 2.5.5)
const MOST = 9;

const isTouch = () => matchMedia("(pointer: coarse)").matches;
const middle = ({ left, top, width, height }) => [left + width / 2, top + height / 2];

/** The cell nearest to a touch that hit none; null if it is too far away or not a touch. */
export function nearest(sheet, { clientX, clientY, pointerType }) {
  if (pointerType !== "touch") return null;
  let [found, least] = [null, FINGER];
  for (const cell of sheet.querySelectorAll(".cell")) {
    const { left, right, top, bottom } = cell.getBoundingClientRect();
    const off = Math.hypot(Math.max(left - clientX, 0, clientX - right), Math.max(top - clientY, 0, clientY - bottom));
    if (off < least) [found, least] = [cell, off];
  }
  return found;
}

/** Offers in `list` the characters around the `n`th, one of which the finger may have meant. */
export function offer(list, sheet, n, open) {
  list.hidden = true;
  if (!isTouch()) return;
  const cells = [...sheet.querySelectorAll(".cell")];
  const at = cells.findIndex((cell) => Number(cell.dataset.n) === n);
  if (at < 0) return;
  const [x, y] = middle(cells[at].getBoundingClientRect());
  const off = (cell, index) => {
    const [cx, cy] = middle(cell.getBoundingClientRect());
    return Math.hypot(cx - x, cy - y) + Math.abs(index - at) / 1000; // by index if the sheet is hidden
  };
  const around = cells.map((cell, index) => [off(cell, index), cell]).filter(([far]) => far < 1.3 * FINGER)
    .sort(([first], [second]) => first - second).slice(0, MOST).map(([, cell]) => cell)
    .sort((first, second) => first.dataset.n - second.dataset.n);
  if (around.length < 2) return;
  list.hidden = false;
  list.querySelector("span").replaceChildren(...around.map((cell) => {
    const own = cell === cells[at];
    return make("button", { type: "button", "aria-pressed": String(own), onclick: () => open(Number(cell.dataset.n)) }, han(cell.textContent));
  }));
}
