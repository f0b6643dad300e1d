// Hours: a slider over the time slots of a release, all of them to begin with.

import { el, newId } from "./dom.js";

/** A window such as 07:00-08:00, or "" for all; changed(window) is called when it is another. */
export function hours(facts, first, changed) {
  if (!facts.slots.length) return { element: null, window: "" };
  const windows = facts.slots.map((start, i) => `${start}-${facts.slot_ends[i]}`);
  const id = newId("hours");
  const said = el("output", { for: id });
  const slider = el("input", { id, type: "range", min: 0, max: windows.length, step: 1, value: windows.indexOf(first) + 1, class: "hours" });
  const window = () => (Number(slider.value) ? windows[slider.value - 1] : "");
  const tell = () => {
    said.textContent = window() || "all hours";
    slider.setAttribute("aria-valuetext", said.textContent);
  };
  slider.addEventListener("input", tell);
  slider.addEventListener("change", () => changed(window()));
  tell();
  return { element: el("div", { class: "field wide" }, el("label", { for: id }, "Hours"), el("div", { class: "slide" }, slider, said)), window: window() };
}
