// The API's description, readable.

import { el, fill } from "./dom.js";
import { scrolling } from "./table.js";

const out = document.getElementById("routes");
const described = await (await fetch("/api/openapi.json")).json();

fill(out, Object.entries(described.paths).map(([path, { get }]) => el("section", { class: "route" },
  el("h2", {}, el("code", {}, `GET ${path}`)), el("p", {}, get.summary), parameters(path, get.parameters ?? []), shape(get))));

function parameters(path, list) {
  if (!list.length) return null;
  return scrolling(`Parameters of ${path}`, el("table", {}, el("thead", {}, el("tr", {}, ["Parameter", "Values", "What it is"].map((title) => el("th", { scope: "col" }, title)))),
    el("tbody", {}, list.map(({ name, schema, description }) => el("tr", {}, el("td", {}, el("code", {}, name)), el("td", {}, values(schema)), el("td", {}, description))))));
}

function values(schema) {
  if (schema.type === "array") return `${values(schema.items)}, repeated`;
  const usual = schema.default === undefined ? "" : `; ${schema.default} if not given`;
  if (schema.enum) return schema.enum.join(" or ") + usual;
  if (schema.type === "integer") return `${schema.minimum} to ${schema.maximum}${usual}`;
  return "text";
}

function shape(get) {
  const reference = get.responses["200"].content["application/json"].schema.$ref;
  if (!reference) return null;
  const schema = described.components.schemas[reference.split("/").pop()];
  return el("p", { class: "quiet" }, "Answers with ", Object.keys(schema.properties).map((name, i) => [i ? ", " : "", el("code", {}, name)]).flat(), ".");
}
