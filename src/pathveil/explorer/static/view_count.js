// Count: how many visited all of these locations?

import { answerBox } from "./answer.js";
import { el, fill } from "./dom.js";
import { map } from "./map.js";
import { fromAddress, picker, toAddress, toQuestion } from "./picker.js";
import { keep } from "./router.js";
import { downloads } from "./table.js";

export async function count(body, parameters, facts) {
  const answers = el("div", { role: "status", "aria-live": "polite" });
  const { ask, asker, csv } = facts;
  const asking = asker();
  let drawn = null;
  const form = picker(fromAddress(parameters), facts, changed);
  const side = el("section", { "aria-label": "Question" }, form.element, answers);
  const pictures = el("section", { "aria-label": "Map" });
  fill(body, el("p", { class: "quiet" }, "How many trajectories visited all of the locations that you choose?"), el("div", { class: facts.has_map ? "columns map-first" : "columns" }, facts.has_map ? [pictures, side] : [side]));

  async function changed(question) {
    keep("count", toAddress(question));
    await answer(question);
  }

  async function answer(question) {
    drawn?.select(question.locations.map(({ label }) => label));
    if (!question.locations.length) {
      asking.forget();
      fill(answers, el("p", { class: "quiet" }, facts.has_map ? "Choose one or more locations, on the map or by name." : "Choose one or more locations by name."));
      return;
    }
    try {
      const found = await asking("/count", toQuestion(question));
      fill(answers, answerBox(found), downloads(csv("/count", toQuestion(question))));
    } catch (error) {
      fill(answers, el("p", { class: "error" }, error.message));
    }
  }

  const first = answer(fromAddress(parameters));
  if (facts.has_map) {
    facts.map ??= await ask("/map");
    drawn = map(facts.map, { what: "trajectories", hint: "Click a location to add it.", onpick: form.add });
    drawn.select(fromAddress(parameters).locations.map(({ label }) => label));
    fill(pictures, drawn.element);
  }
  await first;
}
