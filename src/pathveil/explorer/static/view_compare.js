// Compare: two releases side by side.

import { answerBox } from "./answer.js";
import { el, fill, number, place } from "./dom.js";
import { map } from "./map.js";
import { fromAddress, picker, toAddress, toQuestion } from "./picker.js";
import { keep } from "./router.js";
import { bars, downloads, table } from "./table.js";

export async function compare(body, parameters, facts) {
  if (facts.other === null) {
    fill(body, el("p", {}, "There is one release here. To compare two, name both: ", el("code", {}, "pathveil explore ONE OTHER")));
    return;
  }
  const { ask, asker, csv } = facts;
  const asking = asker();
  const answers = el("div", { role: "status", "aria-live": "polite" });
  const form = picker(fromAddress(parameters), facts, (question) => {
    keep("compare", toAddress(question));
    answer(question);
  });
  const [pictures, visits, lengths] = [el("section", { "aria-label": "Map of differences" }), el("section"), el("section")];
  fill(body, el("h2", {}, "The same question to both"), el("div", { class: "columns" }, form.element, answers), pictures, visits, lengths);

  async function answer(question) {
    if (!question.locations.length) {
      asking.forget();
      fill(answers, el("p", { class: "quiet" }, "Choose one or more locations by name."));
      return;
    }
    try {
      const found = await asking("/compare/count", toQuestion(question));
      const short = (one) => ({ ...one, says: [] });
      const most = 1.15 * Math.max(...[found.first, found.second].map((one) => one.high ?? one.count));
      fill(answers,
        el("div", { class: "columns" }, answerBox(short(found.first), `1: ${found.names[0]}`, most), answerBox(short(found.second), `2: ${found.names[1]}`, most)),
        found.says.map((line) => el("p", {}, line)), downloads(csv("/compare/count", toQuestion(question))));
    } catch (error) {
      fill(answers, el("p", { class: "error" }, error.message));
    }
  }

  const [seen, long] = await Promise.all([ask("/compare/visits", { limit: 1000 }), ask("/compare/lengths")]);
  if (seen.counted_otherwise) body.prepend(el("p", {}, el("strong", {}, seen.counted_otherwise)));
  fill(visits, el("h2", {}, "Visits that differ most"), visitTable({ ...seen, rows: seen.rows.slice(0, 20) }, csv));
  if (facts.has_map) {
    facts.map ??= await ask("/map");
    const drawn = map(facts.map, { what: "trajectories" });
    drawn.differences(seen.rows.filter((row) => row.difference !== null).map((row) => ({ ...row, isNoise: row.low === null || (row.low <= 0 && row.high >= 0) })));
    const sure = seen.rows.filter((row) => row.low !== null && (row.low > 0 || row.high < 0)).length;
    fill(pictures, el("h2", {}, "Differences on the map"), drawn.element,
      el("p", { class: "quiet" }, `The area of a spot is in proportion to the difference: orange has more in ${seen.names[1]}, green in ${seen.names[0]}. What noise may explain is faint: ${number(sure)} of ${number(seen.rows.length)} differences are more than that.`));
  }
  fill(lengths, el("h2", {}, "Lengths"), lengthTable(long, csv));
  await answer(fromAddress(parameters));
}

function visitTable({ rows, names }, csv) {
  const signed = (value) => (value > 0 ? `+${number(value)}` : number(value));
  return table({
    caption: `Trajectories that visit each location: 1 is ${names[0]}, 2 is ${names[1]}`,
    columns: [
      { key: "label", title: "Location", show: (row) => place(row.label, row.name) },
      { key: "first", title: "1", numeric: true },
      { key: "second", title: "2", numeric: true },
      { key: "difference", title: "Difference", numeric: true, show: (row) => (row.difference === null ? "–" : signed(row.difference)) },
      { key: "low", title: "between (90%)", numeric: true, show: (row) => (row.low === null ? "–" : `${signed(row.low)} and ${signed(row.high)}`) },
    ],
    rows, download: csv("/compare/visits", { limit: 1000 }), empty: "Every location has as many visits in both.",
  });
}

function lengthTable({ rows, names }, csv) {
  const most = rows.reduce((a, row) => Math.max(a, row.first_share, row.second_share), 1e-9);
  const percent = (value) => `${(100 * value).toFixed(1)}%`;
  return table({
    caption: `Share of trajectories with each number of visits: 1 is ${names[0]}, 2 is ${names[1]}`,
    columns: [
      { key: "length", title: "Visits", numeric: true },
      { key: "first_share", title: "1", numeric: true, show: (row) => percent(row.first_share) },
      { key: "second_share", title: "2", numeric: true, show: (row) => percent(row.second_share) },
      { key: "bar", title: "", plain: true, show: (row) => bars(row.first_share / most, row.second_share / most) },
    ],
    rows: rows.slice(0, 20), sorted: ["length", "ascending"], download: csv("/compare/lengths"),
    empty: "There is no trajectory in either.",
  });
}
