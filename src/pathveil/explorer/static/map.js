// The map: locations on a canvas, from coordinates and public lines alone. No tiles, no network.

import { el, number } from "./dom.js";

const MARGIN = 22;
const NEAR = 26; // pixels within which a click means a location
const MOST_ZOOM = 64;
const PIN = 12; // radius of the spot of a chosen location
const NAMED = 12; // locations whose names are written on it, at most
const LETTERS = 28; // of such a name, at most

/**
 * A map of `data`, the answer of /api/map.
 * onpick(label, name): a location was clicked; without it the map is only looked at. hint says so.
 * Gives {element, select(labels), counts(values, what), differences(rows), flows(pairs, zones)}; pairs are
 * {origin, destination, count, to}, zones are where pairs end that are no locations; rows are
 * {label, difference, isNoise}.
 */
export function map(data, { onpick, what, hint = "" }) {
  const canvas = el("canvas", { role: "img" });
  const note = el("p", { class: "map-note quiet", "aria-hidden": "true" }, `${hint} Zoom with the wheel, two fingers or the buttons, then drag.`.trim());
  const tip = el("div", { class: "map-tip", "aria-hidden": "true", hidden: true });
  const place = projected(data);
  const index = new Map(data.labels.map((label, i) => [label, i]));
  let counts = data.counts;
  let most = counts.reduce((a, b) => Math.max(a, b), 1);
  let differing = null;
  let zoned = new Map();
  let largestFirst = null; // the locations with spots, found when they are first needed
  let view = { zoom: 1, x: 0, y: 0 };
  let size = { width: 0, height: 0 };
  let chosen = [];
  let lines = [];
  let waiting = false;

  canvas.setAttribute("aria-label", `Map of ${number(data.labels.length)} locations. The area of a spot is in proportion to its ${what}. ${onpick ? "Locations can be added by name, too." : ""}`);
  const frame = el("div", { class: "map" }, canvas, tip);
  const under = el("div", { class: "under-map" }, note,
    tool("+", "Zoom in", () => zoomBy(1.8)), tool("−", "Zoom out", () => zoomBy(1 / 1.8)), tool("⌂", "Show everything", () => { view = { zoom: 1, x: 0, y: 0 }; draw(); }));

  function tool(sign, label, act) {
    return el("button", { type: "button", "aria-label": label, title: label, onclick: act }, sign);
  }

  const at = (i) => spot(place.x[i], place.y[i]);
  const where = (label) => (zoned.has(label) ? spot(...place.at(...zoned.get(label))) : at(index.get(label)));

  function spot(px, py) {
    const scale = Math.min((size.width - 2 * MARGIN) / place.width, (size.height - 2 * MARGIN) / place.height);
    const x = size.width / 2 + (px - place.width / 2) * scale;
    const y = size.height / 2 + (py - place.height / 2) * scale;
    return [(x - size.width / 2) * view.zoom + size.width / 2 + view.x, (y - size.height / 2) * view.zoom + size.height / 2 + view.y];
  }

  function zoomBy(factor, aboutX = size.width / 2, aboutY = size.height / 2) {
    const zoom = Math.min(MOST_ZOOM, Math.max(1, view.zoom * factor));
    const by = zoom / view.zoom;
    const [cx, cy] = [aboutX - size.width / 2, aboutY - size.height / 2];
    view = zoom === 1 ? { zoom: 1, x: 0, y: 0 } : { zoom, x: cx - (cx - view.x) * by, y: cy - (cy - view.y) * by };
    draw();
  }

  function draw() {
    canvas.dataset.zoom = view.zoom;
    canvas.style.touchAction = view.zoom > 1 ? "none" : "pan-y";
    if (!waiting) { waiting = true; requestAnimationFrame(paint); }
  }

  function paint() {
    waiting = false;
    const ratio = window.devicePixelRatio || 1;
    if (!size.width) return;
    canvas.width = size.width * ratio;
    canvas.height = size.height * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const dim = lines.length ? 0.35 : 1;
    const room = Math.sqrt((size.width * size.height) / Math.max(data.labels.length, 1)) * view.zoom;
    const largest = Math.min(Math.max(room * 0.42, 5), 15);
    publicLines(pen, colour("--quiet"));
    for (let i = 0; i < data.labels.length; i += 1) {
      const [x, y] = at(i);
      if (x < -20 || y < -20 || x > size.width + 20 || y > size.height + 20) continue;
      const [share, alpha, fillStyle] = look(i);
      pen.fillStyle = colour(fillStyle);
      pen.globalAlpha = alpha * dim;
      pen.beginPath();
      pen.arc(x, y, Math.max(1.2, largest * Math.sqrt(share)), 0, 2 * Math.PI);
      pen.fill();
    }
    pen.globalAlpha = 1;
    for (const line of [...lines].reverse()) arrow(pen, line, { warm: colour("--warm"), spot: colour("--spot") });
    names(pen, largest, colour("--ink"), colour("--raised"));
    chosen.forEach((label, i) => {
      if (index.has(label)) pin(pen, at(index.get(label)), String(i + 1), colour("--chosen"), colour("--paper"));
    });
  }

  /** The share of the largest area that a spot has, how dark it is, and its colour. */
  function look(i) {
    if (!differing) return [counts[i] / most, counts[i] ? 0.75 : 0.3, "--spot"];
    const row = differing.get(data.labels[i]);
    if (!row) return [0, 0.3, "--quiet"];
    return [Math.abs(row.difference) / most, row.isNoise ? 0.18 : 0.85, row.difference > 0 ? "--warm" : "--spot"];
  }

  function publicLines(pen, colour) {
    pen.strokeStyle = colour;
    pen.globalAlpha = 0.4;
    pen.lineWidth = 1.2;
    pen.beginPath();
    for (const line of data.background ?? []) line.forEach((point, i) => pen[i ? "lineTo" : "moveTo"](...spot(...place.at(...point))));
    pen.stroke();
    pen.globalAlpha = 1;
  }

  /** Names of the locations with the largest spots in sight, where no other name is. */
  function names(pen, largest, ink, halo) {
    const taken = [];
    let written = 0;
    const isApart = (one, other) => one[0] >= other[2] || other[0] >= one[2] || one[1] >= other[3] || other[1] >= one[3];
    const isFree = (box) => box[0] >= 0 && box[2] <= size.width && taken.every((other) => isApart(box, other));
    pen.font = "12px system-ui, sans-serif";
    pen.textAlign = "start";
    pen.textBaseline = "middle";
    pen.lineWidth = 3;
    pen.lineJoin = "round";
    largestFirst ??= data.labels.map((_, i) => i).filter((i) => look(i)[0] > 0).sort((a, b) => look(b)[0] - look(a)[0]);
    for (const i of largestFirst.slice(0, 200)) {
      const [x, y] = at(i);
      const name = shortened(data.names[i] || data.labels[i]);
      const wide = pen.measureText(name).width;
      const beside = Math.max(largest * Math.sqrt(look(i)[0]), chosen.includes(data.labels[i]) ? PIN : 0) + 3;
      if (x < 0 || x > size.width || y < 8 || y > size.height - 8) continue;
      // To the right of its spot; where that is outside the map or taken, to the left.
      const box = [x + beside, x - beside - wide].map((left) => [left, y - 8, left + wide, y + 8]).find(isFree);
      if (!box) continue;
      taken.push(box);
      pen.strokeStyle = halo;
      pen.strokeText(name, box[0], y);
      pen.fillStyle = ink;
      pen.fillText(name, box[0], y);
      written += 1;
      if (written === NAMED) break;
    }
    canvas.dataset.named = written;
  }

  function arrow(pen, { origin, destination, share, to }, colours) {
    const colour = to === "in" ? colours.spot : colours.warm;
    const [[ax, ay], [bx, by]] = [where(origin), where(destination)];
    const [dx, dy] = [bx - ax, by - ay];
    const long = Math.hypot(dx, dy) || 1;
    // Curves to its left, so the two directions of a pair lie side by side.
    const [mx, my] = [(ax + bx) / 2 + dy * 0.16, (ay + by) / 2 - dx * 0.16];
    const width = 0.8 + 5 * share;
    pen.globalAlpha = 0.35 + 0.6 * share;
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(ax, ay);
    pen.quadraticCurveTo(mx, my, bx, by);
    pen.stroke();
    const tip = Math.min(4 + 2 * width, long / 2);
    const angle = Math.atan2(by - my, bx - mx);
    pen.beginPath();
    pen.moveTo(bx, by);
    for (const turn of [-0.42, 0.42]) pen.lineTo(bx - tip * Math.cos(angle + turn), by - tip * Math.sin(angle + turn));
    pen.fill();
    pen.globalAlpha = 1;
  }

  function pin(pen, [x, y], sign, colour, ink) {
    pen.fillStyle = colour;
    pen.beginPath();
    pen.arc(x, y, PIN, 0, 2 * Math.PI);
    pen.fill();
    pen.strokeStyle = pen.fillStyle = ink;
    pen.lineWidth = 2;
    pen.stroke();
    pen.font = "600 13px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(sign, x, y + 0.5);
  }

  function nearest(event) {
    const box = canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    let [best, distance] = [-1, NEAR ** 2];
    for (let i = 0; i < data.labels.length; i += 1) {
      const [x, y] = at(i);
      const away = (x - px) ** 2 + (y - py) ** 2;
      if (away <= distance) [best, distance] = [i, away];
    }
    return best;
  }

  let drag = null;
  const fingers = new Map();
  const spread = () => { const [a, b] = [...fingers.values()]; return [Math.hypot(a.x - b.x, a.y - b.y), (a.x + b.x) / 2, (a.y + b.y) / 2]; };
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    drag = { x: event.clientX, y: event.clientY, moved: fingers.size > 1 };
  });
  for (const kind of ["pointerup", "pointercancel", "pointerleave"]) {
    canvas.addEventListener(kind, (event) => { fingers.delete(event.pointerId); tip.hidden = true; });
  }
  canvas.addEventListener("pointermove", (event) => {
    if (fingers.size === 2 && fingers.has(event.pointerId)) {
      const [before] = spread();
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      const [after, x, y] = spread();
      const box = canvas.getBoundingClientRect();
      if (before > 0) zoomBy(after / before, x - box.left, y - box.top);
      drag = { x: event.clientX, y: event.clientY, moved: true };
      return;
    }
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (drag && event.buttons && view.zoom > 1) {
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      if (drag.moved || Math.hypot(dx, dy) > 5) {
        view = { ...view, x: view.x + dx, y: view.y + dy };
        drag = { x: event.clientX, y: event.clientY, moved: true };
        draw();
      }
      return;
    }
    const i = nearest(event);
    canvas.style.cursor = i >= 0 && onpick ? "pointer" : view.zoom > 1 ? "grab" : "default";
    tip.hidden = i < 0;
    if (i < 0) return;
    note.textContent = told(i);
    tip.textContent = told(i);
    const box = canvas.getBoundingClientRect();
    const left = Math.min(event.clientX - box.left + 14, size.width - tip.offsetWidth - 4);
    const top = event.clientY - box.top - tip.offsetHeight - 10;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${top < 4 ? event.clientY - box.top + 18 : top}px`;
  });

  function told(i) {
    const [label, name] = [data.labels[i], data.names[i]];
    const called = name && name !== label ? `${name} (${label})` : label;
    if (!differing) return `${called}: ${number(counts[i])} ${what}`;
    const row = differing.get(label);
    if (!row) return `${called}: no difference`;
    return `${called}: ${row.difference > 0 ? "+" : ""}${number(row.difference)}${row.isNoise ? ", which noise may explain" : ""}`;
  }

  canvas.addEventListener("click", (event) => {
    const moved = drag?.moved;
    drag = null;
    const i = moved ? -1 : nearest(event);
    if (i >= 0 && onpick) onpick(data.labels[i], data.names[i]);
  });
  canvas.addEventListener("wheel", (event) => {
    if (event.deltaY > 0 && view.zoom === 1) return; // nothing more to see: the page scrolls on
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoomBy(event.deltaY < 0 ? 1.25 : 0.8, event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new ResizeObserver(() => {
    const width = frame.clientWidth;
    const shape = Math.min(1.1, Math.max(0.5, place.height / place.width));
    const height = Math.round(Math.min(width * shape, Math.max(300, window.innerHeight * 0.7)));
    if (width === size.width && height === size.height) return;
    size = { width, height };
    canvas.style.height = `${height}px`;
    draw();
  }).observe(frame);

  const missing = data.left_out ? el("p", { class: "quiet" }, `${number(data.left_out)} rarely visited locations are not drawn.`) : null;
  return {
    element: el("div", {}, frame, under, missing),
    select(labels) { chosen = labels; draw(); },
    counts(values, words) {
      [counts, what] = [values, words];
      most = counts.reduce((a, b) => Math.max(a, b), 1);
      largestFirst = null;
      draw();
    },
    differences(rows) {
      differing = new Map(rows.map((row) => [row.label, row]));
      most = rows.reduce((a, row) => Math.max(a, Math.abs(row.difference)), 1);
      largestFirst = null;
      draw();
    },
    flows(pairs, zones = []) {
      zoned = new Map(zones.map((zone) => [zone.label, [zone.longitude, zone.latitude]]));
      const largest = pairs.reduce((a, pair) => Math.max(a, pair.count), 1);
      const known = (label) => zoned.has(label) || index.has(label);
      lines = pairs.filter((pair) => known(pair.origin) && known(pair.destination)).map((pair) => ({ ...pair, share: pair.count / largest }));
      canvas.dataset.lines = lines.length;
      draw();
    },
  };
}

function shortened(name) {
  const letters = [...name];
  return letters.length > LETTERS ? `${letters.slice(0, LETTERS - 1).join("").trimEnd()}…` : name;
}

/** Places in the plane: true to shape in the middle of the map, north up. */
function projected({ latitude, longitude }) {
  const [south, north] = extent(latitude);
  const [west, east] = extent(longitude);
  const shrink = Math.max(Math.cos((((south + north) / 2) * Math.PI) / 180), 0.01);
  return {
    x: longitude.map((value) => (value - west) * shrink),
    y: latitude.map((value) => north - value),
    at: (east, up) => [(east - west) * shrink, north - up],
    width: Math.max((east - west) * shrink, 1e-6),
    height: Math.max(north - south, 1e-6),
  };
}

function extent(values) {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}
