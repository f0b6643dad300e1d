// Patterns: sequences of locations that many trajectories follow.

import { combobox } from "./combobox.js";
import { el, field, fill, number, sequence } from "./dom.js";
import { hours } from "./hours.js";
import { keep } from "./router.js";
import { bars, figureColumns, ruleWords, table } from "./table.js";

export async function patterns(body, parameters, facts) {
  const { asker, csv } = facts;
  const asking = asker();
  const out = el("div", { "aria-live": "polite" });
  const wanted = {
    k: parameters.get("k") ?? "50",
    min_length: parameters.get("min_length") ?? "2",
    max_length: parameters.get("max_length") ?? String(facts.longest_pattern),
    contains: parameters.get("contains") ?? "",
    gaps: parameters.get("gaps") === "no" ? "no" : "yes",
    during: parameters.get("during") ?? "",
    repeats: parameters.get("repeats") === "yes" ? "yes" : "no",
  };
  const length = (name) => el("input", {
    id: name, type: "number", min: 1, max: facts.longest_pattern, value: wanted[name],
    onchange: (event) => { if (event.target.checkValidity() && event.target.value) { wanted[name] = event.target.value; changed(); } },
  });
  const many = el("select", { id: "k", onchange: () => { wanted.k = many.value; changed(); } }, ["20", "50", "100", "500"].map((value) => el("option", {}, value)));
  many.value = wanted.k;
  const contains = combobox({ label: "Visits this location", asker, keepText: true, placeholder: "any", picked: (row) => {
    const label = row?.label ?? "";
    if (label !== wanted.contains) { wanted.contains = label; changed(); }
  } });
  contains.input.value = wanted.contains;
  const direct = el("input", { type: "checkbox", id: "direct", checked: wanted.gaps === "no", onchange: () => { wanted.gaps = direct.checked ? "no" : "yes"; changed(); } });
  const slider = hours(facts, wanted.during, (window) => { wanted.during = window; changed(); });
  const again = el("input", { type: "checkbox", id: "repeats", checked: wanted.repeats === "yes", onchange: () => { wanted.repeats = again.checked ? "yes" : "no"; changed(); } });
  fill(body,
    el("p", { class: "quiet" }, "Locations that many trajectories visit in this order."),
    el("div", { class: "filters" }, field("k", "How many", many), field("min_length", "Fewest locations", length("min_length")), field("max_length", "Most locations", length("max_length")), contains.element,
      el("div", { class: "field" }, el("label", {}, direct, " one right after another"), el("label", {}, again, " also those that return")), slider.element),
    out);

  function changed() {
    keep("patterns", wanted);
    answer();
  }

  async function answer() {
    let found;
    try {
      found = await asking("/patterns", wanted);
    } catch (error) {
      fill(out, el("p", { class: "error" }, error.message));
      return;
    }
    if (found.waiting) {
      fill(out, el("p", {}, `${found.waiting} This takes up to a minute on a large release.`), el("progress", { max: 1, value: found.progress, "aria-label": "Mining" }));
      setTimeout(() => { if (out.isConnected) answer(); }, 700);
      return;
    }
    const most = found.rows[0]?.count ?? 1;
    fill(out, table({
      caption: "Most frequent patterns",
      columns: [
        { key: "rank", title: "Rank", numeric: true },
        { key: "locations", title: "Locations", show: (row) => sequence(row.locations, row.names) },
        { key: "length", title: "Length", numeric: true },
        ...figureColumns("Trajectories", facts),
        { key: "bar", title: "", plain: true, show: (row) => bars(row.count / most) },
      ],
      rows: found.rows, sorted: ["rank", "ascending"], download: csv("/patterns", wanted),
      empty: "No pattern passes these filters.",
    }), ruleWords(found.rows, found.rule, facts), found.complete_from ? el("p", { class: "quiet" }, `Patterns that fewer than ${number(found.complete_from)} trajectories follow may be missing here.`) : "");
  }

  await answer();
}
