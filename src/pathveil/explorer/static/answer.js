// An estimate and its interval, as number, picture and words.

import { el, number } from "./dom.js";

/** `most` is the end of the scale, for answers side by side. */
export function answerBox(answer, title, most = 1.15 * answer.high) {
  return el("div", { class: "answer" }, title && el("h3", {}, title),
    el("div", { class: "estimate" }, number(answer.count)),
    answer.low === null ? null : range(answer, Math.max(most, 1)), answer.says.map((line) => el("p", {}, line)));
}

function range({ count, low, high }, most) {
  return el("div", { "aria-hidden": "true" },
    el("div", { class: "range" }, el("i", { "--from": low / most, "--to": high / most }), el("b", { "--at": count / most })),
    el("div", { class: "ends" }, el("span", {}, "0"), el("span", {}, `${number(low)} to ${number(high)}`), el("span", {}, number(Math.round(most)))));
}
