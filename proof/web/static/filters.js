// The filters of the queue as parameters of its address and of the API; `queue.js` draws them.

/** The parameters of a query: a name with several values is repeated, unset values are left out. With `whole` a query
 * for all states has an empty `state`, since an address without `state` means open flags. */
export function parameters(query, whole = false) {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const choice of [value].flat()) if (choice !== null && choice !== undefined && choice !== "") all.append(name, choice);
  if (whole && !query.state?.length) all.append("state", "");
  return all;
}

/** The query with a new value for a filter; an empty value removes the filter. */
export function changed(query, name, value) {
  const now = { ...query, [name]: value };
  if (value === "") delete now[name];
  return now;
}

/** The query for one pair of characters, or for all pairs if it was already for that one. */
export function toggled(query, { text, image }) {
  const { text: wasText, image: wasImage, ...others } = query;
  return wasText === text && wasImage === image ? others : { ...others, text, image };
}

/** The index of the dial's point for flags that score `least` or more; 0, the point for all flags, without `least`.
 * The points are in ascending order of score. */
export function dialAt(points, least) {
  if (least === undefined || least === null) return 0;
  return points.reduce((best, point, n) => (point.score <= least + 1e-9 ? n : best), 0);
}
