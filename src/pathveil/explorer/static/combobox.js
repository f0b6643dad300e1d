// A text box with suggestions, after the ARIA pattern "combobox with list autocomplete".

import { el, fill, newId, number, place } from "./dom.js";

const SHOWN = 12;

/** Suggests locations of the release that `asker` asks about; `picked({label, name})` is called when one is chosen. */
export function combobox({ label, asker, picked, zones = "no", keepText = false, placeholder = "Type a name or a label" }) {
  const inputId = newId("search");
  const listId = newId("list");
  const ask = asker();
  let rows = [];
  let active = -1;
  let isWaiting = false; // for the suggestions of what was typed last
  let isEntered = false; // Enter was pressed meanwhile: the first of them is meant
  const input = el("input", {
    id: inputId, type: "text", role: "combobox", autocomplete: "off", spellcheck: "false", dir: "auto", placeholder,
    "aria-expanded": "false", "aria-controls": listId, "aria-autocomplete": "list",
    oninput: suggest, onkeydown: press, onclick: suggest, onblur: () => setTimeout(close, 150),
  });
  const list = el("ul", { id: listId, role: "listbox", "aria-label": label, hidden: true });
  const status = el("span", { class: "hidden", role: "status" });
  const whole = el("div", { class: "field wide" }, el("label", { for: inputId }, label), el("div", { class: "combobox" }, input, list, status));

  async function suggest() {
    let found;
    isWaiting = true;
    isEntered = false;
    try {
      found = (await ask("/locations", { q: input.value.trim(), limit: SHOWN, zones })).rows;
    } catch (error) {
      isWaiting = false;
      status.textContent = error.message;
      return;
    }
    isWaiting = false;
    if (document.activeElement !== input) return;
    rows = found;
    active = -1;
    input.removeAttribute("aria-activedescendant");
    fill(list, rows.map((row, i) => option(row, i)));
    status.textContent = rows.length ? `${rows.length} suggestions` : "No such location";
    open(rows.length > 0);
    if (isEntered && rows.length) choose(0);
  }

  function option(row, i) {
    return el("li", {
      id: `${listId}-${i}`, role: "option", "aria-selected": "false",
      onmousedown: (event) => { event.preventDefault(); choose(i); },
    }, place(row.label, row.name), el("span", { class: "quiet" }, number(row.count)));
  }

  function press(event) {
    const last = rows.length - 1;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) { suggest(); return; }
      const step = event.key === "ArrowDown" ? 1 : -1;
      mark(active + step > last ? 0 : active + step < 0 ? last : active + step);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (isWaiting) isEntered = true;
      else if (!list.hidden && rows.length) choose(Math.max(active, 0));
    } else if (event.key === "Escape") {
      if (list.hidden) { input.value = ""; if (keepText) picked(null); }
      close();
    } else if (event.key === "Tab") close();
  }

  function mark(i) {
    active = i;
    [...list.children].forEach((item, j) => item.setAttribute("aria-selected", String(i === j)));
    input.setAttribute("aria-activedescendant", `${listId}-${i}`);
    list.children[i].scrollIntoView({ block: "nearest" });
  }

  function choose(i) {
    input.value = keepText ? rows[i].label : "";
    const row = rows[i];
    close();
    picked(row);
  }

  function open(yes) {
    list.hidden = !yes;
    input.setAttribute("aria-expanded", String(yes));
  }

  function close() {
    ask.forget(); // suggestions that are still on their way would open the list again
    isWaiting = false;
    open(false);
    input.removeAttribute("aria-activedescendant");
    if (keepText && !input.value.trim()) picked(null);
  }

  return { element: whole, input };
}
