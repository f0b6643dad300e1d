// A question about locations: which ones, in which order, in which hours.

import { combobox } from "./combobox.js";
import { el, field, fill, newId, place } from "./dom.js";

/** The question that an address holds. */
export function fromAddress(parameters) {
  return {
    locations: parameters.getAll("location").map((label) => ({ label, name: null })),
    order: parameters.get("order") === "given" ? "given" : "any",
    during: parameters.get("during") ?? "",
  };
}

export const toAddress = ({ locations, order, during }) => ({
  location: locations.map(({ label }) => label), order: order === "given" ? order : "", during,
});

export const toQuestion = ({ locations, order, during }) => ({ location: locations.map(({ label }) => label), order, during });

/** The form; `changed(question)` is called whenever the question changes. */
export function picker(question, facts, changed) {
  let { locations, order, during } = question;
  const list = el("ol", { class: "chosen", "aria-label": "Chosen locations" });
  const search = combobox({ label: facts.zones ? "Add a location or a zone" : "Add a location", asker: facts.asker, zones: "yes", picked: (row) => row && add(row.label, row.name) });
  const clear = el("button", { type: "button", onclick: () => { locations = []; tell(); search.input.focus(); } }, "Clear");

  function add(label, name) {
    if (locations.length < 50) locations = [...locations, { label, name }];
    tell();
  }

  function remove(i) {
    locations = locations.filter((_, j) => i !== j);
    tell();
    (list.querySelectorAll(".remove")[Math.min(i, locations.length - 1)] ?? search.input).focus();
  }

  function earlier(i) {
    locations = locations.map((one, j) => (j === i - 1 ? locations[i] : j === i ? locations[i - 1] : one));
    tell();
    list.querySelectorAll("li")[i - 1]?.querySelector("button:not(:disabled)")?.focus();
  }

  function draw() {
    fill(list, locations.map(({ label, name }, i) => el("li", {},
      place(label, name),
      el("button", { type: "button", disabled: i === 0, "aria-label": `Move ${label} before the one above`, onclick: () => earlier(i) }, "↑"),
      el("button", { type: "button", class: "remove", "aria-label": `Remove ${label}`, onclick: () => remove(i) }, "×"))));
    clear.hidden = !locations.length;
  }

  function tell() {
    draw();
    changed({ locations, order, during });
  }

  const group = newId("order");
  const radio = (value, label) => el("label", {}, el("input", { type: "radio", name: group, checked: order === value, onchange: () => { order = value; tell(); } }), ` ${label}`);
  draw();
  findNames(locations, facts).then(draw);
  return {
    add,
    element: el("div", {},
      search.element, list, clear,
      el("fieldset", { class: "choices" }, el("legend", {}, "Visited"), radio("any", "in any order"), radio("given", "in this order")),
      facts.slots.length ? hours(facts, during, (value) => { during = value; tell(); }) : null),
  };
}

/** An address holds labels only. */
async function findNames(locations, { ask }) {
  await Promise.all(locations.map(async (one) => {
    const { rows } = await ask("/locations", { q: one.label, limit: 1, zones: "yes" });
    if (rows[0]?.label === one.label) one.name = rows[0].name;
  }));
}

/** Two lists, from and until: windows begin and end where slots do. */
function hours(facts, during, changed) {
  const cut = facts.slots.flatMap((start) => facts.slot_ends.map((end) => [start, end])).find(([start, end]) => `${start}-${end}` === during);
  const [fromId, toId] = [newId("from"), newId("to")];
  const from = el("select", { id: fromId, onchange: tell }, el("option", { value: "" }, "any time"), facts.slots.map((slot) => el("option", {}, slot)));
  const to = el("select", { id: toId, onchange: tell }, facts.slot_ends.map((slot) => el("option", {}, slot)));
  from.value = cut?.[0] ?? "";
  to.value = cut?.[1] ?? facts.slot_ends.at(-1);
  to.disabled = !from.value;

  function tell() {
    to.disabled = !from.value;
    changed(from.value ? `${from.value}-${to.value}` : "");
  }

  return el("fieldset", {}, el("legend", {}, `Hours (${facts.time_zone})`),
    el("div", { class: "filters" }, field(fromId, "From", from), field(toId, "Until", to)));
}
