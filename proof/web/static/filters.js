// What flags the queue is to show, as its address and the server's filters have it; `queue.js` draws it.

/** The parameters of a query: what has several values comes once for each, what is not set is left out. `whole`: that
 * no state is wanted is said too, since an address that says nothing of states means the open ones. */
export function parameters(query, whole = false) {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== null && one !== undefined && one !== "") all.append(name, one);
  if (whole && !query.state?.length) all.append("state", "");
  return all;
}

const WORDS = ["order", "juan"];

/** The query with another value for a filter, or without it where the value is empty. */
export function changed(query, name, value) {
  const now = { ...query, [name]: WORDS.includes(name) || Array.isArray(value) ? value : Number(value) };
  if (value === "") delete now[name];
  return now;
}

/** The query for one pair of characters, or for all where it was for that one. */
export function toggled(query, { text, image }) {
  const { text: wasText, image: wasImage, ...others } = query;
  return wasText === text && wasImage === image ? others : { ...others, text, image };
}

/** Which of the dial's points, with rising scores, shows what scores `least` or more; the first, which shows all,
 * where nothing is said. */
export function dialAt(points, least) {
  if (least === undefined || least === null) return 0;
  return points.reduce((best, point, n) => (point.score <= least + 1e-9 ? n : best), 0);
}
