// Overview: what was published, and under which promise.

import { el, fill, number, place } from "./dom.js";
import { map } from "./map.js";
import { link } from "./router.js";
import { bars, table } from "./table.js";

export async function overview(body, _parameters, facts) {
  const { ask } = facts;
  fill(body, badges(facts), el("div", { class: "columns map-first" }, el("section", {}, el("h2", {}, "What was published"), figures(facts), el("div", { id: "map" })), promise(facts)), el("div", { class: "columns map-first" }, el("section", { id: "visits" }), el("section", { id: "lengths" })));
  const [visits, lengths] = await Promise.all([ask("/visits", { limit: 15 }), ask("/lengths")]);
  fill(body.querySelector("#visits"), visitTable(visits.rows, facts));
  fill(body.querySelector("#lengths"), lengthTable(lengths.rows, facts));
  if (facts.has_map) {
    facts.map ??= await ask("/map");
    const drawn = map(facts.map, { what: "trajectories", hint: "Click a location to ask about it.", onpick: (label) => { location.hash = link("count", { location: label }); } });
    fill(body.querySelector("#map"), drawn.element);
  }
}

function badges(facts) {
  const isPrivate = facts.status === "PRIVATE";
  return el("ul", { class: "badges", "aria-label": "Status" }, [
    el("li", { class: isPrivate ? "good" : "bad" }, facts.status),
    el("li", {}, `ε = ${facts.epsilon}`),
    el("li", {}, facts.delta === "0" ? facts.flavor : `${facts.flavor}, δ = ${facts.delta}`),
    el("li", {}, `method: ${facts.method}`),
    el("li", {}, "files match the certificate"),
    el("li", {}, facts.has_intervals ? `intervals of ${Math.round(100 * facts.level)}%` : "no intervals"),
    facts.slots.length ? el("li", {}, `${number(facts.slots.length)} time slots`) : null,
    facts.zones ? el("li", {}, `${number(facts.zones)} zones`) : null,
    facts.dataset ? el("li", {}, `ledger: ${facts.dataset}`) : null,
  ].filter(Boolean));
}

function figures(facts) {
  const rows = [
    ["Released trajectories", number(facts.trajectories)],
    ["Distinct ones", number(facts.distinct)],
    ["Visits each, on average", number(facts.mean_length)],
    ["Locations", number(facts.universe_size)],
    ["of them visited", number(facts.visited)],
    facts.height === null ? null : ["Height", number(facts.height)],
  ].filter(Boolean);
  return el("dl", { class: "figures" }, rows.map(([title, value]) => el("div", {}, el("dt", {}, title), el("dd", {}, value))));
}

function promise(facts) {
  return el("section", {}, el("h2", {}, "The promise"), facts.promise.map(({ title, paragraphs }, i) => {
    const lines = paragraphs.map((line) => el("p", {}, line));
    return i ? el("details", {}, el("summary", {}, title), lines) : lines;
  }));
}

function visitTable(rows, facts) {
  const most = rows[0]?.count ?? 1;
  return [el("h2", {}, "Most visited"), table({
    caption: "Trajectories that visit each location",
    columns: [
      { key: "rank", title: "Rank", numeric: true },
      { key: "label", title: "Location", show: (row) => place(row.label, row.name) },
      { key: "count", title: "Trajectories", numeric: true },
      facts.has_intervals ? { key: "low", title: "90% interval", numeric: true, show: (row) => [`${number(row.low)} `, `to\u00a0${number(row.high)}`] } : null,
      { key: "bar", title: "", plain: true, show: (row) => bars(row.count / most) },
    ].filter(Boolean),
    rows, sorted: ["rank", "ascending"], download: facts.csv("/visits", { limit: 1000 }),
    empty: "No location is visited in this release.",
  })];
}

function lengthTable(rows, facts) {
  const most = rows.reduce((a, row) => Math.max(a, row.count), 1);
  const shown = rows.slice(0, 15);
  const rest = rows.slice(15).reduce((a, row) => a + row.count, 0);
  return [el("h2", {}, "How long trajectories are"), table({
    caption: "Trajectories by number of visits",
    columns: [
      { key: "length", title: "Visits", numeric: true },
      { key: "count", title: "Trajectories", numeric: true },
      { key: "bar", title: "", plain: true, show: (row) => bars(row.count / most) },
    ],
    rows: shown, sorted: ["length", "ascending"], download: facts.csv("/lengths"),
    empty: "There is no trajectory in this release.",
  }), rest ? el("p", { class: "quiet" }, `${number(rest)} are longer.`) : ""];
}
