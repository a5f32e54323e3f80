// The picture of the memory, and the hands on it: pan, zoom, drag, point, choose.
import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  colourBy, focused, found, loaded, nodes, nuggets, onlyNuggets, open, pulses, remember, selected, showHidden, theme, types,
} from "../state.js";
import { Icon } from "../icons.jsx";
import { count, plainLabel, short } from "../words.js";
import { EmptyState } from "./empty.jsx";
import { palette } from "./colours.js";
import { Painter } from "./painter.js";
import { start } from "./places.js";
import { Scene } from "./scene.js";

const NEAREST = 4;
const FARTHEST = 0.04;
const REST_MS = 140; // after the last movement the picture is drawn sharp
const PULSE_MS = 1800;
const FITTED_TICKS = 400; // pictures of the first layout that the camera follows, unless a hand moves it
const SMALL = 1200; // notes up to which movements are smoothed
const GLIDE = 0.18; // of the way that is left, per frame

// Everything that lives as long as the canvas does. Views come and go; the layout stays.
class Graph {
  constructor(canvas, onHover) {
    this.canvas = canvas;
    this.painter = new Painter(canvas);
    this.scene = new Scene();
    this.camera = { k: 1, x: 0, y: 0 };
    this.onHover = onHover;
    this.hovered = -1;
    this.hoveredLink = null;
    this.held = null;
    this.pointers = new Map();
    this.movedAt = 0;
    this.follows = 0;
    this.pulsing = new Map();
    this.asked = 0;
    this.worker = new Worker(new URL("layout.js", location.href), { type: "module" });
    this.worker.onmessage = ({ data }) => this.settle(data);
    this.stops = [
      effect(() => this.take([...nodes.value.values()])),
      effect(() => this.restyle(selected.value, found.value, focused.value, colourBy.value, showHidden.value, onlyNuggets.value, theme.value)),
      effect(() => this.pulse(pulses.value)),
    ];
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.onScheme = () => this.restyle();
    this.scheme.addEventListener("change", this.onScheme);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas.parentElement);
    this.listen();
  }

  end() {
    this.stops.forEach((stop) => stop());
    this.worker.terminate();
    this.observer.disconnect();
    this.scheme.removeEventListener("change", this.onScheme);
  }

  resize() {
    const { width, height } = this.canvas.parentElement.getBoundingClientRect();
    if (!width || !height) return;
    const first = this.painter.width === 1;
    this.painter.resize(width, height, devicePixelRatio);
    if (first) this.camera = { k: 1, x: width / 2, y: height / 2 };
    if (this.follows > 0) this.fit();
    this.ask();
  }

  // --- what is shown ------------------------------------------------------------------------

  take(list) {
    const fresh = !this.scene.nodes.length;
    const moved = this.scene.take(list);
    this.restyle();
    if (!moved || !list.length) return;
    delete document.documentElement.dataset.graph;
    this.drawn = !fresh;
    if (fresh) this.follows = FITTED_TICKS;
    const numbers = new Map(nuggets.peek().map((name, i) => [name, i]));
    const groups = list.map((node) => numbers.get(node.nugget) ?? 0);
    const { links, radii } = this.scene;
    start(this.scene.positions, groups, radii);
    if (fresh) this.fit();
    this.worker.postMessage({
      kind: "graph",
      fresh,
      positions: this.scene.positions,
      radii,
      groups,
      ends: links.flatMap((link) => [link.a, link.b]),
      distances: links.map((link) => 34 + radii[link.a] + radii[link.b] + 3 * Math.sqrt(Math.min(this.scene.neighbours[link.a].size, this.scene.neighbours[link.b].size))),
    });
  }

  settle({ positions, settled }) {
    if (positions.length !== this.scene.positions.length) return; // of a graph that has changed since
    if (this.held?.index >= 0) positions.set(this.scene.positions.subarray(2 * this.held.index, 2 * this.held.index + 2), 2 * this.held.index);
    const glides = this.drawn && !this.follows && this.scene.nodes.length < SMALL && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.target = glides ? positions : null;
    if (!glides) this.scene.positions = positions;
    if (this.follows > 0) {
      this.follows = settled ? 0 : this.follows - 1;
      this.fit();
    }
    this.painter.stale();
    this.ask();
    if (settled) document.documentElement.dataset.graph = "settled";
  }

  // A little nearer to where everyone belongs; true while there is some way to go.
  glide() {
    const { positions } = this.scene;
    const { target } = this;
    if (!target || target.length !== positions.length) return false;
    let farthest = 0;
    for (let i = 0; i < positions.length; i++) {
      const away = target[i] - positions[i];
      if (Number.isNaN(positions[i])) positions[i] = target[i];
      else positions[i] += GLIDE * away;
      farthest = Math.max(farthest, Math.abs(away));
    }
    if (farthest < 0.2) this.target = null;
    return Boolean(this.target);
  }

  restyle() {
    const { scene } = this;
    const dark = isDark();
    const css = getComputedStyle(document.documentElement);
    const colour = (name) => css.getPropertyValue(name).trim();
    const kinds = palette(colourBy.peek() === "type" ? types.peek() : nuggets.peek(), dark);
    const chosen = scene.index.get(selected.peek()) ?? -1;
    const hits = found.peek() ? new Map(found.peek().map((r) => [scene.index.get(r.note.id), r])) : null;
    const near = chosen >= 0 ? new Set([chosen, ...scene.neighbours[chosen]]) : null;
    const around = focused.peek() && chosen >= 0 ? scene.around(chosen) : null;
    const field = colourBy.peek();
    const only = onlyNuggets.peek();
    const hidden = showHidden.peek();
    const isLit = (i) => (hits ? hits.has(i) || i === chosen : near ? near.has(i) : true);
    this.look = {
      colours: { link: colour("--graph-link"), strong: colour("--accent"), ground: colour("--ground"), ink: colour("--ink"), soft: colour("--soft") },
      font: css.fontFamily || "sans-serif",
      dims: Boolean(hits || near),
      isLit,
      isShown: (i) =>
        (hidden || !scene.nodes[i].hidden || i === chosen) && (!only.size || only.has(scene.nodes[i].nugget)) && (!around || around.has(i)),
      isStrong: (link) => link === this.hoveredLink || link.a === chosen || link.b === chosen,
      isNamed: (i) => i === chosen || i === this.hovered || (hits?.size <= 25 && hits.has(i)) || (near?.size <= 25 && near.has(i)),
      colourOf: (i) => kinds.get(scene.nodes[i][field]),
      leastNamed: scene.nodes.length > 300 ? 4.5 : 2.2,
      order: scene.nodes.map((_, i) => i).sort((a, b) => (hits?.has(b) ?? 0) - (hits?.has(a) ?? 0) || scene.radii[b] - scene.radii[a]),
      rings: [],
    };
    this.hits = hits;
    this.chosen = chosen;
    this.canvas.dataset.notes = scene.nodes.filter((_, i) => this.look.isShown(i)).length;
    this.canvas.dataset.lit = hits ? hits.size : 0;
    this.painter.stale();
    this.ask();
  }

  rings() {
    const { colours } = this.look;
    const rings = [];
    if (this.hits) for (const [i, result] of this.hits) if (i !== undefined) rings.push([i, colours.strong, 3.5, 1 + 2 * result.relevance]);
    if (this.chosen >= 0) rings.push([this.chosen, colours.strong, 4, 2.5]);
    if (this.hovered >= 0 && this.hovered !== this.chosen) rings.push([this.hovered, colours.soft, 3.5, 1.5]);
    const now = performance.now();
    for (const [id, since] of this.pulsing) {
      const share = (now - since) / PULSE_MS;
      const i = this.scene.index.get(id);
      if (share >= 1 || i === undefined) this.pulsing.delete(id);
      else rings.push([i, colours.strong, 4 + 22 * share, 3 * (1 - share)]);
    }
    return rings;
  }

  pulse(ids) {
    if (ids.length > 50) return;
    for (const id of ids) this.pulsing.set(id, performance.now());
    this.ask();
  }

  // --- the camera ---------------------------------------------------------------------------

  fit(wanted) {
    const box = this.scene.bounds(wanted ?? this.look?.isShown);
    const { width, height } = this.painter;
    if (!box || width < 2) return;
    const pad = width < 500 ? 36 : 70;
    const k = Math.min((width - 2 * pad) / Math.max(1, box.right - box.left), (height - 2 * pad) / Math.max(1, box.bottom - box.top));
    this.lookAt((box.left + box.right) / 2, (box.top + box.bottom) / 2, Math.max(FARTHEST, Math.min(1.5, k)));
  }

  lookAt(x, y, k) {
    const { width, height } = this.painter;
    this.camera = { k, x: width / 2 - x * k, y: height / 2 - y * k };
    this.painter.stale();
    this.ask();
  }

  show(id) {
    const i = this.scene.index.get(id);
    if (i === undefined || Number.isNaN(this.scene.positions[2 * i])) return;
    const { x, y, k } = this.camera;
    const px = this.scene.positions[2 * i] * k + x, py = this.scene.positions[2 * i + 1] * k + y;
    const { width, height } = this.painter;
    if (px < 60 || py < 60 || px > width - 60 || py > height - 60)
      this.lookAt(this.scene.positions[2 * i], this.scene.positions[2 * i + 1], Math.max(k, 0.7));
  }

  zoom(factor, px = this.painter.width / 2, py = this.painter.height / 2) {
    const { k, x, y } = this.camera;
    const next = Math.max(FARTHEST, Math.min(NEAREST, k * factor));
    this.camera = { k: next, x: px - ((px - x) * next) / k, y: py - ((py - y) * next) / k };
    this.moved();
  }

  pan(dx, dy) {
    this.camera = { ...this.camera, x: this.camera.x + dx, y: this.camera.y + dy };
    this.moved();
  }

  moved() {
    this.follows = 0;
    this.movedAt = performance.now();
    this.ask();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.ask(), REST_MS + 20);
  }

  ask() {
    if (!this.asked) this.asked = requestAnimationFrame(() => this.frame());
  }

  frame() {
    this.asked = 0;
    if (!this.look) return;
    if (this.glide()) this.ask();
    this.look.rings = this.rings();
    const moving = performance.now() - this.movedAt < REST_MS;
    this.painter.paint(this.scene, this.camera, this.look, moving);
    if (this.pulsing.size) this.ask();
    if (!this.drawn && this.scene.nodes.length && !Number.isNaN(this.scene.positions[0])) {
      this.drawn = true;
      performance.mark("first-picture");
      document.documentElement.dataset.graph ??= "moving";
    }
  }

  // --- hands --------------------------------------------------------------------------------

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const [x, y] = this.point(event);
      this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.012 : 0.0016)), x, y);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.up(event, true));
    canvas.addEventListener("pointerleave", () => this.hover(-1, null));
    canvas.addEventListener("dblclick", (event) => this.zoom(1.8, ...this.point(event)));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  world([px, py]) {
    return [(px - this.camera.x) / this.camera.k, (py - this.camera.y) / this.camera.k];
  }

  under(point, slack = 6) {
    const [x, y] = this.world(point);
    return this.scene.nodeAt(x, y, slack / this.camera.k, this.look.isShown);
  }

  down(event) {
    if (event.button) return;
    const point = this.point(event);
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, point);
    this.held = { index: this.pointers.size === 1 ? this.under(point, event.pointerType === "touch" ? 14 : 6) : -1, from: point, moved: false };
  }

  move(event) {
    const point = this.point(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      const i = this.under(point);
      const [x, y] = this.world(point);
      const link = i < 0 && this.look ? this.scene.linkAt(x, y, 5 / this.camera.k, this.look.isShown) : null;
      this.hover(i, link, point);
      return;
    }
    this.pointers.set(event.pointerId, point);
    if (this.pointers.size === 2) return this.pinch(event.pointerId, before, point);
    if (!this.held.moved && Math.hypot(point[0] - this.held.from[0], point[1] - this.held.from[1]) < 4) return;
    this.held.moved = true;
    this.hover(-1, null);
    if (this.held.index < 0) return this.pan(point[0] - before[0], point[1] - before[1]);
    const [x, y] = this.world(point);
    const { index } = this.held;
    this.scene.positions[2 * index] = x;
    this.scene.positions[2 * index + 1] = y;
    this.worker.postMessage({ kind: "hold", index, x, y });
    this.painter.stale();
    this.follows = 0;
    this.ask();
  }

  pinch(id, before, point) {
    const other = [...this.pointers].find(([key]) => key !== id)[1];
    const spread = (p) => Math.max(1, Math.hypot(p[0] - other[0], p[1] - other[1]));
    this.zoom(spread(point) / spread(before), (point[0] + other[0]) / 2, (point[1] + other[1]) / 2);
    this.pan((point[0] - before[0]) / 2, (point[1] - before[1]) / 2);
    this.held.moved = true;
  }

  up(event, cancelled = false) {
    this.pointers.delete(event.pointerId);
    const { held } = this;
    if (!held || this.pointers.size) return;
    this.held = null;
    if (held.moved) {
      if (held.index >= 0) this.worker.postMessage({ kind: "release", index: held.index });
      this.ask();
    } else if (!cancelled) {
      open(held.index >= 0 ? this.scene.ids[held.index] : null);
    }
  }

  hover(index, link, point) {
    if (index === this.hovered && link === this.hoveredLink) return;
    this.hovered = index;
    this.hoveredLink = link;
    this.canvas.style.cursor = index >= 0 ? "pointer" : "grab";
    const node = this.scene.nodes[index];
    if (node) this.onHover({ point, title: node.title, detail: `${node.nugget} · ${node.type}${node.hits ? ` · recalled ${node.hits}×` : ""}${node.hidden ? " · archived" : ""}` });
    else if (link) this.onHover({ point, title: link.reason, detail: `${short(this.scene.nodes[link.a].title, 40)} ↔ ${short(this.scene.nodes[link.b].title, 40)}` });
    else this.onHover(null);
    if (this.scene.nodes.length < 1200) this.ask();
  }

  key(event) {
    const step = 60;
    const actions = {
      ArrowLeft: () => this.pan(step, 0),
      ArrowRight: () => this.pan(-step, 0),
      ArrowUp: () => this.pan(0, step),
      ArrowDown: () => this.pan(0, -step),
      "+": () => this.zoom(1.25),
      "=": () => this.zoom(1.25),
      "-": () => this.zoom(0.8),
      0: () => this.fit(),
    };
    if (event.ctrlKey || event.metaKey || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }
}

export function isDark() {
  return theme.value === "dark" || (theme.value === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
}

export function GraphView() {
  const canvas = useRef(null);
  const graph = useRef(null);
  const [hover, setHover] = useState(null);
  useEffect(() => {
    graph.current = new Graph(canvas.current, setHover);
    const stop = effect(() => {
      const id = selected.value;
      if (id) requestAnimationFrame(() => graph.current?.show(id));
    });
    const stopFocus = effect(() => {
      focused.value;
      if (graph.current.scene.nodes.length) requestAnimationFrame(() => graph.current?.fit());
    });
    return () => {
      stop();
      stopFocus();
      graph.current.end();
      graph.current = null;
    };
  }, []);
  const size = nodes.value.size;
  return (
    <section class="graph" aria-label="Graph of notes">
      <canvas ref={canvas} tabIndex={0} role="img" aria-label={`${count(size, "note")} and their links. Arrow keys move, plus and minus zoom, 0 shows all.`} />
      {loaded.value && size === 0 && <EmptyState />}
      {size > 0 && <Legend />}
      {size > 0 && <Controls graph={graph} />}
      {hover && <Tip {...hover} />}
    </section>
  );
}

function Tip({ point, title, detail }) {
  return (
    <div class="tip" style={{ transform: `translate(${Math.round(point[0] + 14)}px, ${Math.round(point[1] + 14)}px)` }} aria-hidden="true">
      <strong><bdi>{short(plainLabel(title), 120)}</bdi></strong>
      <span><bdi>{detail}</bdi></span>
    </div>
  );
}

function Controls({ graph }) {
  return (
    <div class="controls" role="toolbar" aria-label="Graph">
      <button type="button" title="Zoom in (+)" aria-label="Zoom in" onClick={() => graph.current.zoom(1.35)}><Icon name="plus" /></button>
      <button type="button" title="Zoom out (-)" aria-label="Zoom out" onClick={() => graph.current.zoom(0.74)}><Icon name="minus" /></button>
      <button type="button" title="Show all (0)" aria-label="Show all" onClick={() => graph.current.fit()}><Icon name="frame" /></button>
      <button type="button" title="Only the neighbourhood of the open note (F)" aria-label="Focus on the open note" aria-pressed={focused.value} disabled={!selected.value || selected.value === "new"} onClick={() => (focused.value = !focused.value)}><Icon name="focus" /></button>
    </div>
  );
}

function Legend() {
  const byType = colourBy.value === "type";
  const names = byType ? types.value : nuggets.value;
  const colours = palette(names, isDark());
  const toggle = (name) => {
    const next = new Set(onlyNuggets.value);
    if (!next.delete(name)) next.add(name);
    onlyNuggets.value = next;
  };
  return (
    <div class="legend">
      <div class="legend-head">
        <button type="button" class="quiet" onClick={() => { colourBy.value = byType ? "nugget" : "type"; remember("colourBy", colourBy.value); }}>
          Coloured by <b>{colourBy.value}</b>
        </button>
        <label class="check"><input type="checkbox" checked={showHidden.value} onChange={(e) => { showHidden.value = e.target.checked; remember("showHidden", e.target.checked ? "yes" : "no"); }} /> archived</label>
      </div>
      <div class="chips">
        {names.slice(0, 14).map((name) =>
          byType ? (
            <span class="chip" key={name}><i style={{ background: colours.get(name) }} /><bdi>{name}</bdi></span>
          ) : (
            <button type="button" class="chip" key={name} aria-pressed={onlyNuggets.value.has(name)} onClick={() => toggle(name)} title={`Show only ${name}`}>
              <i style={{ background: colours.get(name) }} /><bdi>{name}</bdi>
            </button>
          ),
        )}
        {names.length > 14 && <span class="chip more">and {names.length - 14} more</span>}
      </div>
    </div>
  );
}
