// The picture that lives as long as its canvas: scene, layout and camera. Views come and go.
import { effect } from "@preact/signals";
import { colourBy, focused, searchResults, nodes, nuggets, onlyNuggets, onlyProject, pulses, selected, showHidden, theme } from "../state.js";
import { PointerInput } from "./pointer_input.js";
import { lookAt, rings } from "./look.js";
import { Painter, SMALL } from "./painter.js";
import { centroids, placeAll, placeNew, regions } from "./places.js";
import { restorePositions, storePositions } from "./positions.js";
import { Scene } from "./scene.js";

const NEAREST = 4;
const FARTHEST = 0.04;
const READABLE = 0.95; // as near as names need, with the surroundings still in view
const REST_MS = 140; // after the last movement the picture is drawn sharp
const LEAF = 2; // linked notes up to which a new link draws a note nearer
const FITTED_TICKS = 400; // pictures of the first layout that the camera follows, unless a hand moves it
const GLIDE = 0.18; // of the way that is left, per frame
const WIDE = { side: 70, top: 44, foot: 104 }; // what stays free around all that is shown: names, legend
const NARROW = { side: 40, top: 30, foot: 138 };

export class Graph {
  constructor(canvas, onHover) {
    this.canvas = canvas;
    this.painter = new Painter(canvas);
    this.scene = new Scene();
    this.camera = { k: 1, x: 0, y: 0 };
    this.hovered = -1;
    this.hoveredLink = null;
    this.movedAt = 0;
    this.follows = 0;
    this.fitted = true; // all is in view until a hand moves it
    this.goal = null;
    this.pulsing = new Map();
    this.frameRequest = 0;
    this.worker = new Worker(new URL("layout.js", location.href), { type: "module" });
    this.worker.onmessage = ({ data }) => this.applyLayout(data);
    this.stops = [
      effect(() => this.setNodes([...nodes.value.values()])),
      effect(() => this.restyle(selected.value, searchResults.value, focused.value, colourBy.value, showHidden.value, onlyNuggets.value, onlyProject.value, theme.value)),
      effect(() => this.pulse(pulses.value)),
    ];
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.onScheme = () => this.restyle();
    this.scheme.addEventListener("change", this.onScheme);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas.parentElement);
    this.input = new PointerInput(this, onHover);
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
    const { width: wide, height: high } = this.painter;
    this.painter.resize(width, height, devicePixelRatio);
    if (wide === 1) this.camera = { k: 1, x: width / 2, y: height / 2 };
    else this.camera = { ...this.camera, x: this.camera.x + (width - wide) / 2, y: this.camera.y + (height - high) / 2 };
    this.goal = null;
    if (this.fitted) this.compose();
    cancelAnimationFrame(this.frameRequest);
    this.frame(); // now: a canvas of a new size is empty
  }

  // --- what is shown ------------------------------------------------------------------------

  setNodes(list) {
    const fresh = !this.scene.nodes.length;
    const { ids } = this.scene;
    const changed = this.scene.setNodes(list);
    this.input?.follow(ids);
    this.restyle();
    if (!changed || !list.length) return;
    if (fresh) restorePositions(this.scene);
    this.drawn = !fresh;
    this.layOut(fresh);
  }

  // Everyone keeps their place but those that have none yet, or have new links; all anew if most have none.
  layOut(isFirst) {
    delete document.documentElement.dataset.graph;
    const { ids, nodes: list, positions, radii, neighbours, links } = this.scene;
    const numbers = new Map(nuggets.peek().map((name, i) => [name, i]));
    const groups = list.map((node) => numbers.get(node.nugget) ?? 0);
    const added = ids.map((_, i) => i).filter((i) => Number.isNaN(positions[2 * i]));
    const anew = 2 * added.length > ids.length;
    const centres = anew ? regions(groups, radii, innerHeight > innerWidth) : centroids(positions, groups);
    if (anew) placeAll(positions, groups, centres);
    else placeNew(positions, groups, radii, neighbours, centres);
    const joined = isFirst ? [] : this.scene.joined.filter((i) => neighbours[i].size <= LEAF);
    if (anew) this.follows = FITTED_TICKS;
    if (isFirst || anew) this.compose();
    this.worker.postMessage({
      kind: "graph",
      moving: anew ? null : [...added, ...joined],
      positions,
      radii,
      centres,
      groups,
      ends: links.flatMap((link) => [link.a, link.b]),
      distances: links.map((link) => 34 + radii[link.a] + radii[link.b] + 3 * Math.sqrt(Math.min(neighbours[link.a].size, neighbours[link.b].size))),
    });
  }

  arrangeAnew() {
    this.scene.positions.fill(NaN);
    this.layOut(false);
  }

  applyLayout({ positions, settled }) {
    if (positions.length !== this.scene.positions.length) return; // of a graph that has changed since
    const held = this.input.held?.index ?? -1;
    if (held >= 0) positions.set(this.scene.positions.subarray(2 * held, 2 * held + 2), 2 * held);
    const glides = this.drawn && !this.follows && !this.isCalm();
    this.target = glides ? positions : null;
    if (!glides) this.scene.positions = positions;
    if (this.follows > 0) {
      this.follows = settled ? 0 : this.follows - 1;
      this.compose();
    }
    this.painter.stale();
    this.requestFrame();
    if (!settled) return;
    storePositions(this.scene.ids, positions);
    document.documentElement.dataset.graph = "settled";
  }

  isCalm() {
    return this.scene.nodes.length >= SMALL || matchMedia("(prefers-reduced-motion: reduce)").matches;
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
    this.look = lookAt(this.scene, this);
    this.canvas.dataset.notes = this.scene.nodes.filter((_, i) => this.look.isShown(i)).length;
    this.canvas.dataset.lit = this.look.hits?.size ?? 0;
    this.painter.stale();
    this.requestFrame();
  }

  pulse(ids) {
    if (ids.length > 50) return;
    for (const id of ids) this.pulsing.set(id, performance.now());
    this.requestFrame();
  }

  // --- the camera ---------------------------------------------------------------------------

  // What deserves the window while no hand has moved it: all, or the surroundings of the open note.
  compose() {
    const { chosen } = this.look;
    if (chosen < 0 || focused.peek() || this.scene.nodes.length >= SMALL) return this.fit();
    const near = new Set([chosen, ...this.scene.neighbours[chosen]]);
    return this.fit((i) => near.has(i), READABLE);
  }

  fit(wanted, nearest = 1.5) {
    const box = this.scene.bounds(wanted ?? this.look?.isShown);
    const { width, height } = this.painter;
    if (!box || width < 2) return;
    const { side, top, foot } = width < 500 ? NARROW : WIDE;
    const k = Math.min((width - 2 * side) / Math.max(1, box.right - box.left), (height - top - foot) / Math.max(1, box.bottom - box.top));
    this.aim((box.left + box.right) / 2, (box.top + box.bottom) / 2, Math.max(FARTHEST, Math.min(nearest, k)), (top - foot) / 2);
    this.fitted = true;
  }

  // Brings a place to the middle, or a little above it; at once while the picture is still made.
  aim(x, y, k, lower = 0) {
    const { width, height } = this.painter;
    const goal = { k, x: width / 2 - x * k, y: height / 2 + lower - y * k };
    this.fitted = false;
    this.goal = goal;
    if (this.isCalm() || this.follows > 0 || !this.drawn) this.arrive();
    this.requestFrame();
  }

  arrive() {
    this.camera = this.goal;
    this.goal = null;
    this.painter.stale();
  }

  // A little nearer to where the camera was told to look.
  travel() {
    if (!this.goal) return false;
    const share = Math.log(this.goal.k / this.camera.k);
    const far = Math.abs(share) * 300 + Math.hypot(this.goal.x - this.camera.x, this.goal.y - this.camera.y);
    if (far < 0.5) this.arrive();
    else for (const part of ["k", "x", "y"]) this.camera[part] += GLIDE * (this.goal[part] - this.camera[part]);
    return Boolean(this.goal);
  }

  show(id) {
    const i = this.scene.index.get(id);
    if (this.fitted && this.scene.nodes.length < SMALL) return this.compose();
    if (i === undefined || Number.isNaN(this.scene.positions[2 * i])) return undefined;
    const { x, y, k } = this.camera;
    const px = this.scene.positions[2 * i] * k + x, py = this.scene.positions[2 * i + 1] * k + y;
    const { width, height } = this.painter;
    if (px < 60 || py < 60 || px > width - 60 || py > height - 60)
      this.aim(this.scene.positions[2 * i], this.scene.positions[2 * i + 1], Math.max(k, 0.7));
    return undefined;
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
    this.fitted = false;
    this.goal = null;
    this.movedAt = performance.now();
    this.requestFrame();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.requestFrame(), REST_MS + 20);
  }

  requestFrame() {
    if (!this.frameRequest) this.frameRequest = requestAnimationFrame(() => this.frame());
  }

  frame() {
    this.frameRequest = 0;
    if (!this.look) return;
    const glides = this.glide();
    if (this.travel() || glides) this.requestFrame();
    this.look.rings = rings(this.scene, this.look, this);
    const moving = performance.now() - this.movedAt < REST_MS;
    this.painter.paint(this.scene, this.camera, this.look, moving);
    if (this.pulsing.size) this.requestFrame();
    if (!this.drawn && this.scene.nodes.length && !Number.isNaN(this.scene.positions[0])) {
      this.drawn = true;
      performance.mark("first-picture");
      document.documentElement.dataset.graph ??= "moving";
    }
  }
}
