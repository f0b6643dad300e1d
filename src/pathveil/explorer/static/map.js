// The map: locations on a canvas, drawn from coordinates alone. No tiles, no network.

import { el, number } from "./dom.js";

const MARGIN = 22;
const NEAR = 26; // pixels within which a click means a location
const MOST_ZOOM = 64;

/**
 * A map of `data`, the answer of /api/map.
 * onpick(label, name): a location was clicked; without it the map is only looked at. hint says so.
 * Gives {element, select(labels), flows(pairs)}; pairs are {origin, destination, count}.
 */
export function map(data, { onpick, what, hint = "" }) {
  const canvas = el("canvas", { role: "img" });
  const note = el("p", { class: "map-note quiet", "aria-hidden": "true" }, `${hint} Zoom with the buttons, then drag.`.trim());
  const place = projected(data);
  const index = new Map(data.labels.map((label, i) => [label, i]));
  const most = data.counts.reduce((a, b) => Math.max(a, b), 1);
  let view = { zoom: 1, x: 0, y: 0 };
  let size = { width: 0, height: 0 };
  let chosen = [];
  let lines = [];
  let waiting = false;

  canvas.setAttribute("aria-label", `Map of ${number(data.labels.length)} locations. Larger and darker spots have more ${what}. ${onpick ? "Locations can be added by name, too." : ""}`);
  const frame = el("div", { class: "map" }, canvas);
  const under = el("div", { class: "under-map" }, note,
    tool("+", "Zoom in", () => zoomBy(1.8)), tool("−", "Zoom out", () => zoomBy(1 / 1.8)), tool("⌂", "Show everything", () => { view = { zoom: 1, x: 0, y: 0 }; draw(); }));

  function tool(sign, label, act) {
    return el("button", { type: "button", "aria-label": label, title: label, onclick: act }, sign);
  }

  function at(i) {
    const scale = Math.min((size.width - 2 * MARGIN) / place.width, (size.height - 2 * MARGIN) / place.height);
    const x = size.width / 2 + (place.x[i] - place.width / 2) * scale;
    const y = size.height / 2 + (place.y[i] - place.height / 2) * scale;
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
    pen.fillStyle = colour("--spot");
    for (let i = 0; i < data.labels.length; i += 1) {
      const [x, y] = at(i);
      if (x < -20 || y < -20 || x > size.width + 20 || y > size.height + 20) continue;
      const share = Math.log1p(data.counts[i]) / Math.log1p(most);
      pen.globalAlpha = (0.25 + 0.65 * share) * dim;
      pen.beginPath();
      pen.arc(x, y, Math.max(1.2, largest * share ** 2), 0, 2 * Math.PI);
      pen.fill();
    }
    pen.globalAlpha = 1;
    for (const line of [...lines].reverse()) arrow(pen, line, colour("--warm"));
    chosen.forEach((label, i) => {
      if (index.has(label)) pin(pen, at(index.get(label)), String(i + 1), colour("--chosen"), colour("--paper"));
    });
  }

  function arrow(pen, { origin, destination, share }, colour) {
    const [[ax, ay], [bx, by]] = [at(index.get(origin)), at(index.get(destination))];
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
    pen.arc(x, y, 12, 0, 2 * Math.PI);
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
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, moved: false }; });
  canvas.addEventListener("pointermove", (event) => {
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
    if (i >= 0) note.textContent = `${data.names[i] || data.labels[i]} (${data.labels[i]}): ${number(data.counts[i])} ${what}`;
  });
  canvas.addEventListener("click", (event) => {
    const moved = drag?.moved;
    drag = null;
    const i = moved ? -1 : nearest(event);
    if (i >= 0 && onpick) onpick(data.labels[i], data.names[i]);
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls the page
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
    flows(pairs) {
      const largest = pairs.reduce((a, pair) => Math.max(a, pair.count), 1);
      lines = pairs.filter((pair) => index.has(pair.origin) && index.has(pair.destination)).map((pair) => ({ ...pair, share: pair.count / largest }));
      draw();
    },
  };
}

/** Places in the plane: true to shape in the middle of the map, north up. */
function projected({ latitude, longitude }) {
  const [south, north] = extent(latitude);
  const [west, east] = extent(longitude);
  const shrink = Math.max(Math.cos((((south + north) / 2) * Math.PI) / 180), 0.01);
  return {
    x: longitude.map((value) => (value - west) * shrink),
    y: latitude.map((value) => north - value),
    width: Math.max((east - west) * shrink, 1e-6),
    height: Math.max(north - south, 1e-6),
  };
}

function extent(values) {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}
