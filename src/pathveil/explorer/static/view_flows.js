// Flows: from where to where, as a map of lines and as a matrix.

import { el, field, fill, number, place, text } from "./dom.js";
import { map } from "./map.js";
import { keep } from "./router.js";
import { downloads, scrolling, table } from "./table.js";

const LINES = 60;

export async function flows(body, parameters, facts) {
  const { ask, asker, csv } = facts;
  const asking = [asker(), asker()];
  const wanted = { kind: parameters.get("kind") === "steps" ? "steps" : "ends", n: parameters.get("n") ?? "15" };
  const kind = el("select", { id: "kind", onchange: () => { wanted.kind = kind.value; changed(); } }, el("option", { value: "ends" }, "first location to last"), el("option", { value: "steps" }, "each location to the next"));
  kind.value = wanted.kind;
  const size = el("select", { id: "n", onchange: () => { wanted.n = size.value; changed(); } }, ["10", "15", "25", "50"].map((value) => el("option", {}, value)));
  size.value = wanted.n;
  const pictures = el("section", { "aria-label": "Flow map" });
  const pairs = el("section", {});
  const cells = el("section", { "aria-live": "polite" });
  let drawn = null;
  fill(body, el("div", { class: "filters" }, field("kind", "Flows from", kind), field("n", "Busiest locations in the matrix", size)),
    el("div", { class: facts.has_map ? "columns map-first" : "columns" }, facts.has_map ? pictures : null, pairs), cells);

  function changed() {
    keep("flows", wanted);
    answer();
  }

  async function answer() {
    try {
      const [listed, matrix] = await Promise.all([asking[0]("/flows", { kind: wanted.kind, staying: "no", limit: LINES }), asking[1]("/flows/matrix", wanted)]);
      drawn?.flows(listed.rows);
      fill(pairs, el("h2", {}, "Largest flows"), pairTable(listed.rows.slice(0, 12), wanted, csv));
      fill(cells, el("h2", {}, "Origin and destination"), heat(matrix), downloads(csv("/flows/matrix", wanted)));
    } catch (error) {
      fill(cells, el("p", { class: "error" }, error.message));
    }
  }

  if (facts.has_map) {
    facts.map ??= await ask("/map");
    drawn = map(facts.map, { what: "trajectories" });
    fill(pictures, el("h2", {}, "Flow map"), drawn.element, el("p", { class: "quiet" }, `The ${LINES} largest flows between different locations; wide lines are large ones.`));
  }
  await answer();
}

function pairTable(rows, wanted, csv) {
  return table({
    caption: "Between different locations",
    columns: [
      { key: "origin", title: "From", show: (row) => place(row.origin, row.origin_name) },
      { key: "destination", title: "To", show: (row) => place(row.destination, row.destination_name) },
      { key: "count", title: wanted.kind === "steps" ? "Steps" : "Trajectories", numeric: true },
    ],
    rows, sorted: ["count", "descending"], download: csv("/flows", { kind: wanted.kind, limit: 1000 }),
    empty: "No trajectory leads from one location to another.",
  });
}

function heat({ locations, counts, inside, total }) {
  if (!locations.length) return el("p", { class: "quiet" }, "There are no flows.");
  const most = Math.max(1, ...counts.flat());
  const names = locations.map(({ label, name }) => name || label);
  const share = total ? Math.round((100 * inside) / total) : 0;
  const whole = el("table", { class: "matrix" },
    el("caption", {}, "From each row to each column"),
    el("thead", {}, el("tr", {}, el("td"), names.map((name, i) => el("th", { scope: "col", title: name }, String(i + 1), el("span", { class: "hidden" }, text(name)))))),
    el("tbody", {}, counts.map((row, i) => el("tr", {},
      el("th", { scope: "row" }, `${i + 1} `, place(locations[i].label, locations[i].name)),
      row.map((count, j) => el("td", { "--share": Math.sqrt(count / most), title: `${names[i]} → ${names[j]}` }, count ? number(count) : "·"))))));
  return el("div", {}, scrolling("Matrix of flows", whole), el("p", { class: "quiet" }, `These ${number(locations.length)} locations hold ${share}% of all flows.`));
}
