// When: visits by time slot, and where they are at each hour.

import { combobox } from "./combobox.js";
import { el, fill } from "./dom.js";
import { hours } from "./hours.js";
import { map } from "./map.js";
import { keep } from "./router.js";
import { bars, figureColumns, isNoise, ruleWords, table } from "./table.js";

export async function when(body, parameters, facts) {
  if (!facts.slots.length) {
    fill(body, el("p", {}, "The trajectories of this release have no times."));
    return;
  }
  const { ask, asker } = facts;
  const asking = [asker(), asker()];
  const wanted = { location: parameters.get("location") ?? "", during: parameters.get("during") ?? "" };
  const where = combobox({ label: "Only visits to", asker, keepText: true, placeholder: "all locations", picked: (row) => {
    const label = row?.label ?? "";
    if (label !== wanted.location) { wanted.location = label; changed(); }
  } });
  where.input.value = wanted.location;
  const slider = hours(facts, wanted.during, (window) => { wanted.during = window; changed(); });
  const [pictures, rows] = [el("section", { "aria-label": "Map by hour" }), el("section", { "aria-live": "polite" })];
  let drawn = null;
  fill(body, el("p", { class: "quiet" }, `By the wall clock of ${facts.time_zone}.`), el("div", { class: "filters" }, where.element, facts.has_map ? slider.element : null),
    el("div", { class: facts.has_map ? "columns map-first" : "columns" }, facts.has_map ? pictures : null, rows));

  function changed() {
    keep("when", wanted);
    answer();
  }

  async function answer() {
    try {
      const [slots, then] = await Promise.all([asking[0]("/slots", { location: wanted.location }), drawn ? asking[1]("/map", { during: wanted.during }) : null]);
      drawn?.counts(then.counts, wanted.during ? `trajectories, ${wanted.during}` : "trajectories");
      fill(rows, slotTable(slots, wanted, facts));
    } catch (error) {
      fill(rows, el("p", { class: "error" }, error.message));
    }
  }

  if (facts.has_map) {
    facts.map ??= await ask("/map");
    drawn = map(facts.map, { what: "trajectories", hint: "Click a location for its hours.", onpick: (label) => { where.input.value = label; wanted.location = label; changed(); } });
    fill(pictures, el("h2", {}, "Where, at which hour"), drawn.element);
  }
  await answer();
}

function slotTable({ rows, rule }, wanted, facts) {
  const most = rows.reduce((a, row) => Math.max(a, row.count), 1);
  return [el("h2", {}, wanted.location ? `Visits to ${wanted.location}, by hour` : "Visits by hour"), table({
    caption: "Visits in each time slot",
    columns: [
      { key: "start", title: "From", show: (row) => `${row.start} to ${row.end}` },
      ...figureColumns("Visits", facts),
      { key: "bar", title: "", plain: true, show: (row) => bars(isNoise(row) ? 0 : row.count / most) },
    ],
    rows, sorted: ["start", "ascending"], download: facts.csv("/slots", { location: wanted.location }), empty: "There are no slots.",
  }), ruleWords(rows, rule, facts)];
}
