// Input on the graph: point, choose, drag, pan, pinch, and the keys that do the same.
import { open } from "../state.js";
import { short } from "../words.js";
import { SMALL } from "./painter.js";

export class PointerInput {
  constructor(graph, onHover) {
    this.graph = graph;
    this.onHover = onHover;
    this.pointers = new Map();
    this.held = null; // { index, from, moved }: the note that is dragged, or -1 for the ground
    const { canvas } = graph;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const [x, y] = this.point(event);
      this.graph.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.012 : 0.0016)), x, y);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.up(event, true));
    canvas.addEventListener("pointerleave", () => this.hover(-1, null));
    canvas.addEventListener("dblclick", (event) => this.graph.zoom(1.8, ...this.point(event)));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  point(event) {
    const box = this.graph.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  world([px, py]) {
    return [(px - this.graph.camera.x) / this.graph.camera.k, (py - this.graph.camera.y) / this.graph.camera.k];
  }

  under(point, slack = 6) {
    const [x, y] = this.world(point);
    return this.graph.scene.nodeAt(x, y, slack / this.graph.camera.k, this.graph.look.isShown);
  }

  down(event) {
    if (event.button) return;
    const point = this.point(event);
    this.graph.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, point);
    this.held = { index: this.pointers.size === 1 ? this.under(point, event.pointerType === "touch" ? 14 : 6) : -1, from: point, moved: false };
  }

  move(event) {
    const point = this.point(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      const i = this.under(point);
      const [x, y] = this.world(point);
      const link = i < 0 && this.graph.look ? this.graph.scene.linkAt(x, y, 5 / this.graph.camera.k, this.graph.look.isShown) : null;
      this.hover(i, link, point);
      return;
    }
    this.pointers.set(event.pointerId, point);
    if (this.pointers.size === 2) return this.pinch(event.pointerId, before, point);
    if (!this.held.moved && Math.hypot(point[0] - this.held.from[0], point[1] - this.held.from[1]) < 4) return;
    this.held.moved = true;
    this.hover(-1, null);
    if (this.held.index < 0) return this.graph.pan(point[0] - before[0], point[1] - before[1]);
    const [x, y] = this.world(point);
    const { index } = this.held;
    this.graph.scene.positions[2 * index] = x;
    this.graph.scene.positions[2 * index + 1] = y;
    this.graph.worker.postMessage({ kind: "hold", index, x, y });
    this.graph.painter.stale();
    this.graph.follows = 0;
    this.graph.fitted = false;
    this.graph.requestFrame();
  }

  pinch(id, before, point) {
    const other = [...this.pointers].find(([key]) => key !== id)[1];
    const spread = (p) => Math.max(1, Math.hypot(p[0] - other[0], p[1] - other[1]));
    this.graph.zoom(spread(point) / spread(before), (point[0] + other[0]) / 2, (point[1] + other[1]) / 2);
    this.graph.pan((point[0] - before[0]) / 2, (point[1] - before[1]) / 2);
    this.held.moved = true;
  }

  up(event, cancelled = false) {
    this.pointers.delete(event.pointerId);
    const { held } = this;
    if (!held || this.pointers.size) return;
    this.held = null;
    if (held.moved) {
      if (held.index >= 0) this.graph.worker.postMessage({ kind: "release", index: held.index });
      this.graph.requestFrame();
    } else if (!cancelled) {
      open(held.index >= 0 ? this.graph.scene.ids[held.index] : null);
    }
  }

  // The scene is another: what is under the hand has another number now, if it is there at all.
  follow(before) {
    const { held, graph } = this;
    if (graph.hovered >= 0 || graph.hoveredLink) this.hover(-1, null);
    if (!held || held.index < 0) return;
    held.index = graph.scene.index.get(before[held.index]) ?? -1;
    if (held.index < 0) held.moved = true; // so that letting go opens nothing
  }

  hover(index, link, point) {
    if (index === this.graph.hovered && link === this.graph.hoveredLink) return;
    this.graph.hovered = index;
    this.graph.hoveredLink = link;
    this.graph.canvas.style.cursor = index >= 0 ? "pointer" : "grab";
    const node = this.graph.scene.nodes[index];
    if (node) this.onHover({ point, title: node.title, detail: `${node.nugget} · ${node.type}${node.hits ? ` · recalled ${node.hits}×` : ""}${node.hidden ? " · archived" : ""}` });
    else if (link) this.onHover({ point, title: link.reason, detail: `${short(this.graph.scene.nodes[link.a].title, 40)} ↔ ${short(this.graph.scene.nodes[link.b].title, 40)}` });
    else this.onHover(null);
    if (this.graph.scene.nodes.length < SMALL) this.graph.requestFrame();
  }

  key(event) {
    const step = 60;
    const actions = {
      ArrowLeft: () => this.graph.pan(step, 0),
      ArrowRight: () => this.graph.pan(-step, 0),
      ArrowUp: () => this.graph.pan(0, step),
      ArrowDown: () => this.graph.pan(0, -step),
      "+": () => this.graph.zoom(1.25),
      "=": () => this.graph.zoom(1.25),
      "-": () => this.graph.zoom(0.8),
      0: () => this.graph.fit(),
    };
    if (event.ctrlKey || event.metaKey || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }
}
