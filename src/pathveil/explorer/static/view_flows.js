// Flows: from where to where, as a map of lines and as a matrix.

import { combobox } from "./combobox.js";
import { el, field, fill, number, place, text } from "./dom.js";
import { hours } from "./hours.js";
import { map } from "./map.js";
import { keep } from "./router.js";
import { downloads, figureColumns, isNoise, ruleWords, scrolling, table, withInterval } from "./table.js";

const LINES = 60;
const ZONES = 40;

export async function flows(body, parameters, facts) {
  const { ask, asker, csv } = facts;
  const asking = [asker(), asker(), asker(), asker()];
  const wanted = {
    kind: parameters.get("kind") === "steps" ? "steps" : "ends",
    n: parameters.get("n") ?? "15",
    draw: parameters.get("draw") ?? (facts.has_intervals ? "stops" : "zones"),
    during: parameters.get("during") ?? "",
    of: parameters.get("of") ?? "",
  };
  const select = (id, options) => {
    const made = el("select", { id, onchange: () => { wanted[id] = made.value; changed(); } }, options.map(([value, words]) => el("option", { value }, words ?? value)));
    made.value = wanted[id];
    return made;
  };
  const kind = select("kind", [["ends", "first location to last"], ["steps", "each location to the next"]]);
  const size = select("n", [["10"], ["15"], ["25"], ["50"]]);
  const drawing = select("draw", [["zones", "zones of the map"], ["stops", "single locations"]]);
  const whose = combobox({ label: "Catchment of", asker, keepText: true, placeholder: "all flows", picked: (row) => {
    const label = row?.label ?? "";
    if (label !== wanted.of) { wanted.of = label; changed(); }
  } });
  whose.input.value = wanted.of;
  const slider = hours(facts, wanted.during, (window) => { wanted.during = window; changed(); });
  const pictures = el("section", { "aria-label": "Flow map" });
  const explained = el("p", { class: "quiet", role: "status" });
  const pairs = el("section", {});
  const cells = el("section", { "aria-live": "polite" });
  let drawn = null;
  fill(body, el("div", { class: "filters" }, field("kind", "Flows from", kind), facts.has_map ? field("draw", "Lines on the map", drawing) : null, field("n", "Busiest locations in the matrix", size), whose.element, slider.element),
    el("div", { class: facts.has_map ? "columns map-first" : "columns" }, facts.has_map ? pictures : null, pairs), cells);

  function changed() {
    keep("flows", wanted);
    answer();
  }

  function pick(label) {
    wanted.of = wanted.of === label ? "" : label;
    whose.input.value = wanted.of;
    changed();
  }

  async function answer() {
    const { kind: from, during } = wanted;
    try {
      const [listed, matrix, of, zones] = await Promise.all([
        asking[0]("/flows", { kind: from, during, staying: "no", limit: LINES }),
        asking[1]("/flows/matrix", { kind: from, during, n: wanted.n }),
        wanted.of ? asking[2]("/flows/of", { location: wanted.of, kind: from, during, limit: LINES / 2 }) : null,
        drawn && !wanted.of && wanted.draw === "zones" ? asking[3]("/flows/zones", { kind: from, during, limit: ZONES }) : null,
      ]);
      show(listed, of, zones);
      fill(pairs, of ? catchment(of, wanted, facts, () => pick(of.label)) : [el("h2", {}, "Largest flows"), pairTable(listed.rows.slice(0, 12), wanted, facts), ruleWords(listed.rows.slice(0, 12), listed.rule, facts)]);
      fill(cells, el("h2", {}, from === "steps" ? "From each location to the next" : "Origin and destination"), heat(matrix), downloads(csv("/flows/matrix", { kind: from, during, n: wanted.n })));
    } catch (error) {
      fill(cells, el("p", { class: "error" }, error.message));
    }
  }

  function show(listed, of, zones) {
    if (!drawn) return;
    drawn.select(of ? [of.label] : []);
    if (of) {
      const both = of.rows.flatMap((row) => [
        { origin: row.label, destination: of.label, count: row.came, mark: row.came_mark, to: "in" },
        { origin: of.label, destination: row.label, count: row.went, mark: row.went_mark, to: "out" },
      ]);
      const left = draw(both.filter((pair) => pair.count));
      explained.textContent = `From where people come to ${of.name || of.label}, and where they go from there${left}. Click it again for all flows.`;
    } else if (zones) {
      const left = draw(zones.rows, zones.zones);
      const within = zones.total ? Math.round((100 * zones.inside) / zones.total) : 0;
      explained.textContent = `The ${zones.rows.length} largest flows between ${zones.zones.length} zones of the map, each drawn where its visits are; ${within}% stay in their zone${left}. Click a location for its own.`;
    } else {
      const left = draw(listed.rows);
      explained.textContent = `The ${listed.rows.length} largest flows between different locations; wide lines are large ones${left}. Click a location for its own.`;
    }
  }

  /** Draw what can be told from noise, and say how much can't. */
  function draw(rows, zones = []) {
    const told = rows.filter((row) => !isNoise(row));
    drawn.flows(told, zones);
    if (told.length === rows.length) return "";
    return told.length ? `; ${number(rows.length - told.length)} that can't be told from noise are not drawn` : "; none of them can be told from noise, so none is drawn";
  }

  if (facts.has_map) {
    facts.map ??= await ask("/map");
    drawn = map(facts.map, { what: "trajectories", hint: "Click a location for its catchment.", onpick: pick });
    fill(pictures, el("h2", {}, "Flow map"), drawn.element, explained);
  }
  await answer();
}

function catchment(of, wanted, facts, leave) {
  const rows = of.rows.map((row) => ({ ...row, mark: bothMarks(row) }));
  const one = (key, title) => ({ key, title, numeric: true, show: (row) => withInterval(row[`${key}_best`] ?? row[key], row[`${key}_low`], row[`${key}_high`], row[`${key}_mark`]) });
  return [
    el("h2", {}, "Catchment of ", place(of.label, of.name)),
    el("p", {}, `${number(of.came)} come here, ${number(of.went)} go from here. `, el("button", { type: "button", onclick: leave }, "All flows")),
    table({
      caption: "Other locations",
      columns: [
        { key: "label", title: "Location", show: (row) => place(row.label, row.name) },
        one("came", "Come from there"),
        one("went", "Go there"),
      ],
      rows, download: facts.csv("/flows/of", { location: of.label, kind: wanted.kind, during: wanted.during, limit: 1000 }),
      empty: "Nobody comes from or goes to another location.",
    }),
    ruleWords(rows, of.rule, facts),
  ];
}

/** The mark of both directions: noise only if neither can be told from it. */
const bothMarks = (row) => (row.came_mark === "noise" ? row.went_mark : row.came_mark);

function pairTable(rows, wanted, facts) {
  return table({
    caption: "Between different locations",
    columns: [
      { key: "origin", title: "From", show: (row) => place(row.origin, row.origin_name) },
      { key: "destination", title: "To", show: (row) => place(row.destination, row.destination_name) },
      ...figureColumns(wanted.kind === "steps" ? "Steps" : "Trajectories", facts),
    ],
    rows, sorted: ["count", "descending"], download: facts.csv("/flows", { kind: wanted.kind, during: wanted.during, limit: 1000 }),
    empty: "No trajectory leads from one location to another.",
  });
}

function heat({ locations, counts, marks, inside, total }) {
  if (!locations.length) return el("p", { class: "quiet" }, "There are no flows.");
  const most = Math.max(1, ...counts.flat());
  const cell = (count, mark, title) => el("td", { class: mark === "noise" ? "noise" : undefined, "--share": mark === "noise" ? 0 : Math.sqrt(count / most), title }, count ? number(count) : "·");
  const dimmed = marks.flat().some((mark, at) => mark === "noise" && counts.flat()[at]);
  const names = locations.map(({ label, name }) => name || label);
  const share = total ? Math.round((100 * inside) / total) : 0;
  const whole = el("table", { class: "matrix" },
    el("caption", {}, "From each row to each column"),
    el("thead", {}, el("tr", {}, el("td"), names.map((name) => el("th", { scope: "col", title: name }, el("span", { class: "upright" }, text(name)))))),
    el("tbody", {}, counts.map((row, i) => el("tr", {},
      el("th", { scope: "row" }, place(locations[i].label, locations[i].name)),
      row.map((count, j) => cell(count, marks[i][j], `${names[i]} → ${names[j]}`))))));
  return el("div", {}, scrolling("Matrix of flows", whole), el("p", { class: "quiet" }, `These ${number(locations.length)} locations hold ${share}% of all flows.${dimmed ? " What can't be told from noise has no colour." : ""}`));
}
