// The page: which view is shown, of which release.

import { about } from "./api.js";
import { el, fill } from "./dom.js";
import { here, link } from "./router.js";
import { overview } from "./view_overview.js";
import { count } from "./view_count.js";
import { patterns } from "./view_patterns.js";
import { tree } from "./view_tree.js";
import { flows } from "./view_flows.js";
import { when } from "./view_when.js";
import { compare } from "./view_compare.js";

const VIEWS = {
  overview: ["Overview", overview],
  count: ["Count", count],
  patterns: ["Patterns", patterns],
  tree: ["Tree", tree],
  flows: ["Flows", flows],
  when: ["When", when],
  compare: ["Compare", compare],
};
const main = document.getElementById("content");
const known = new Map(); // what is known about each release, and how to ask about it
let shown = 0;

async function release(number) {
  if (!known.has(number)) {
    const asking = about(number);
    known.set(number, { ...(await asking.ask("/overview")), ...asking, map: null });
  }
  return known.get(number);
}

async function show() {
  shown += 1;
  const mine = shown;
  const { view, parameters } = here();
  const [title, draw] = VIEWS[view] ?? VIEWS.overview;
  try {
    const first = await release("1");
    const number = first.other !== null && parameters.get("release") === "2" ? "2" : "1";
    const facts = await release(number);
    const compared = view === "compare" && first.other !== null ? await release("2") : facts;
    if (mine !== shown) return; // somebody was faster
    frame(view in VIEWS ? view : "overview", first, facts, number, [first, compared, facts].slice(view === "compare" ? 0 : 2));
    document.title = `${title}: ${facts.title ?? facts.name}`;
    const heading = el("h1", { tabindex: "-1" }, title);
    const body = el("div");
    fill(main, heading, body);
    if (mine > 1) heading.focus({ preventScroll: true });
    await draw(body, parameters, facts);
  } catch (error) {
    if (mine === shown) main.append(el("p", { class: "error", role: "alert" }, error.message));
  }
}

function frame(view, first, facts, number, shownReleases) {
  document.getElementById("release-name").textContent = facts.title ?? facts.name;
  document.getElementById("release-name").title = facts.name;
  document.getElementById("release-name").dir = "auto";
  const warning = document.getElementById("warning");
  warning.hidden = shownReleases.every(({ status }) => status === "PRIVATE");
  warning.textContent = "NOT PRIVATE: the noise of a release shown here was injected and can be repeated. It must never be published.";
  const offered = Object.entries(VIEWS).map(([name, [title]]) => el("a", { href: link(name), "aria-current": name === view ? "page" : undefined }, title));
  fill(document.getElementById("views"), offered);
  fill(document.getElementById("which"), first.other === null || view === "compare" ? null : chooser(first, number, view));
}

function chooser(first, number, view) {
  const select = el("select", {
    id: "release",
    onchange: () => { location.hash = link(view, { release: select.value }); },
  }, el("option", { value: "1" }, `1: ${first.name}`), el("option", { value: "2" }, `2: ${first.other}`));
  select.value = number;
  return [el("label", { for: "release" }, "Release "), select];
}

window.addEventListener("hashchange", show);
show();
