// Every view and what it shows has an address after the #, so it can be kept and sent on.

export function here() {
  const [, view, query] = /^#\/([a-z]*)\??(.*)$/.exec(location.hash) ?? [null, "", ""];
  return { view: view || "overview", parameters: new URLSearchParams(query) };
}

export function link(view, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of [value].flat()) if (one !== undefined && one !== null && one !== "") query.append(name, one);
  }
  const kept = here().parameters.get("release");
  if (kept && !query.has("release")) query.append("release", kept);
  const text = query.toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

/** Write the state of a view into the address, without drawing the view anew. */
export function keep(view, parameters) {
  const to = link(view, parameters);
  if (to !== location.hash) history.pushState(null, "", to);
}
