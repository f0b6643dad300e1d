// Tree: how do trajectories go on that begin like this?

import { el, fill, number, place, text } from "./dom.js";
import { link } from "./router.js";
import { downloads } from "./table.js";

const FEW = 30;
const ALL = 1000;

export async function tree(body, parameters, { ask, csv }) {
  const locations = parameters.getAll("location");
  const slots = parameters.getAll("slot");
  const limit = parameters.get("all") ? ALL : FEW;
  const node = await ask("/tree", { location: locations, slot: slots, limit });
  const prefix = (n) => ({ location: locations.slice(0, n), slot: slots.slice(0, n) });
  const most = Math.max(node.ended, node.rows[0]?.count ?? 0, 1);
  const up = locations.length ? link("tree", prefix(locations.length - 1)) : null;
  const list = el("ul", { class: "children", "aria-label": "What comes next", onkeydown: (event) => walk(event, up) }, [
    ...node.rows.map((row) => el("li", {}, child(row, most, link("tree", { location: [...locations, row.label], slot: row.slot ? [...slots, row.slot] : slots })))),
    node.ended ? el("li", {}, el("span", { class: "ended", "--share": node.ended / most }, el("span", {}, "end here"), el("span", {}, number(node.ended)))) : null,
  ].filter(Boolean));
  fill(body,
    el("p", { class: "quiet" }, "Walk through the beginnings of trajectories. Arrow keys work, too: up and down, right to go on, left to go back."),
    crumbs(locations, slots, prefix),
    summary(node), list,
    node.children > node.rows.length ? el("p", {}, limit === FEW ? el("a", { href: link("tree", { ...prefix(locations.length), all: "1" }) }, `Show more of the ${number(node.children)}`) : `The first ${number(ALL)} of ${number(node.children)} are shown.`) : "",
    downloads(csv("/tree", { ...prefix(locations.length), limit: ALL })));
}

function crumbs(locations, slots, prefix) {
  const steps = locations.map((label, i) => [label, slots[i], prefix(i + 1)]);
  const last = steps.length - 1;
  return el("nav", { "aria-label": "Prefix" }, el("ol", { class: "crumbs" },
    el("li", {}, steps.length ? el("a", { href: link("tree") }, "all trajectories") : el("span", { "aria-current": "page" }, "all trajectories")),
    steps.map(([label, slot, to], i) => el("li", {}, i === last ? el("span", { "aria-current": "page" }, text(label), at(slot)) : el("a", { href: link("tree", to) }, text(label), at(slot))))));
}

const at = (slot) => (slot ? el("small", {}, ` ${slot}`) : null);

function summary(node) {
  const begins = node.locations.length ? "trajectories begin like this" : "trajectories were released";
  const noisy = node.noisy_count === null ? "" : ` The noisy count that was published is ${number(node.noisy_count)}.`;
  const next = node.children ? ` They go on in ${number(node.children)} ${node.children === 1 ? "way" : "ways"}:` : "";
  return el("p", {}, el("strong", {}, number(node.count)), ` ${begins}.${noisy}${next}`);
}

function child(row, most, href) {
  return el("a", { href, "--share": row.count / most }, el("span", {}, place(row.label, row.name), at(row.slot)),
    el("span", {}, number(row.count), row.noisy_count === null ? null : el("small", {}, ` (noisy ${number(row.noisy_count)})`)));
}

function walk(event, up) {
  const links = [...event.currentTarget.querySelectorAll("a")];
  const i = links.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step !== undefined && i >= 0) links[Math.min(links.length - 1, Math.max(0, i + step))].focus();
  else if (event.key === "ArrowRight" && i >= 0) links[i].click();
  else if (event.key === "ArrowLeft" && up) location.hash = up;
  else return;
  event.preventDefault();
}
