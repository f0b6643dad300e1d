// Elements without innerHTML: labels are data and never become markup.

/** An element; `on…` functions become listeners, `--x` CSS variables, the rest attributes. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const number = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en").replace("-", "−"));

/** A text from the data, whatever its direction, isolated from what stands around it. */
export const text = (value) => el("bdi", { dir: "auto" }, value);

/** A location: its name and label, or the label alone. */
export function place(label, name) {
  if (!name || name === label) return el("span", { class: "place" }, text(label));
  return el("span", { class: "place" }, text(name), el("small", {}, text(label)));
}

export function sequence(labels, names) {
  return el("span", { class: "sequence" }, labels.map((label, i) => place(label, names[i])));
}

export const field = (id, label, control, extra = "") => el("div", { class: `field ${extra}` }, el("label", { for: id }, label), control);

let numbers = 0;
export const newId = (stem) => `${stem}-${(numbers += 1)}`;
