// Tables that can be sorted and downloaded.

import { el, fill, number } from "./dom.js";

/**
 * A table.
 * columns: {key, title, numeric, show(row), plain} (plain: can't be sorted by).
 * The rows come sorted by `sorted` = [key, "ascending" | "descending"].
 */
export function table({ caption, columns, rows, download, sorted, empty = "Nothing to show." }) {
  if (!rows.length) return el("p", { class: "quiet" }, empty);
  let [key, direction] = sorted ?? [null, null];
  const body = el("tbody");
  const heads = columns.map((column) => head(column, () => sortBy(column)));
  const whole = el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, heads)), body);

  function sortBy(column) {
    direction = key === column.key ? (direction === "ascending" ? "descending" : "ascending") : column.numeric ? "descending" : "ascending";
    key = column.key;
    draw();
  }

  function draw() {
    const sign = direction === "descending" ? -1 : 1;
    const ordered = key === null ? rows : [...rows].sort((a, b) => sign * compare(a[key], b[key]));
    heads.forEach((cell, i) => {
      if (columns[i].key === key && !columns[i].plain) cell.setAttribute("aria-sort", direction);
      else cell.removeAttribute("aria-sort");
    });
    fill(body, ordered.map((row) => el("tr", { class: isNoise(row) ? "noise" : undefined }, columns.map((column) => cellOf(column, row)))));
  }

  draw();
  return el("div", {}, scrolling(caption, whole), download && downloads(download));
}

/** Whether a figure can't be told from noise. */
export const isNoise = (row) => row.mark === "noise";

/** The column of a figure; if the release tells how far it is off, at the pointer its interval. */
export function figureColumns(title, facts) {
  if (!facts.has_intervals) return [{ key: "count", title, numeric: true }];
  return [{ key: "count", title, numeric: true, show: (row) => withInterval(row.best ?? row.count, row.low, row.high, row.mark) }];
}

/** A figure, at the pointer its interval, if it has one. */
export const withInterval = (count, low, high, mark) => el("span", { class: mark === "noise" ? "noise" : undefined, title: low === null ? undefined : `90%: ${number(low)} to ${number(high)}, ${mark}` }, number(count));

/** What stands below such a table: how many rows are dimmed, and by which rule. */
export function ruleWords(rows, rule, facts) {
  if (!facts.has_intervals || !rows.some((row) => row.mark)) return "";
  const dimmed = rows.filter(isNoise).length;
  const left = dimmed ? `${number(dimmed)} of ${number(rows.length)} can't be told from noise and are dimmed. ` : "";
  return el("p", { class: "quiet" }, `${left}Marks: ${rule}.`);
}

/** What may be wider than the screen; it can be reached and scrolled by keyboard. */
export const scrolling = (label, inner) => el("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" }, inner);

export const downloads = (url) => el("p", { class: "tools" }, el("a", { href: url, download: true }, "Download as CSV"));

/** A cell with a bar of a share in [0, 1]; a second share is drawn below the first. */
export function bars(...shares) {
  return el("td", { class: shares.length > 1 ? "bar-cell two" : "bar-cell", "aria-hidden": "true" }, shares.map((share) => el("i", { "--share": share })));
}

function head(column, act) {
  const style = column.numeric ? "number" : undefined;
  if (column.plain) return column.title ? el("th", { scope: "col", class: style }, column.title) : el("td", { class: "bar-cell" });
  return el("th", { scope: "col", class: style }, el("button", { type: "button", onclick: act }, column.title));
}

function cellOf(column, row) {
  const shown = column.show ? column.show(row) : column.numeric ? number(row[column.key]) : row[column.key];
  if (shown instanceof HTMLTableCellElement) return shown;
  return el("td", { class: column.numeric ? "number" : undefined }, shown);
}

function compare(a, b) {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (typeof a === "number") return a - b;
  return String(a).localeCompare(String(b));
}
