// What there is to draw: notes and links as arrays, and what lies under a point. No canvas here.

export class Scene {
  constructor() {
    this.ids = [];
    this.index = new Map();
    this.nodes = [];
    this.radii = new Float32Array(0);
    this.positions = new Float32Array(0);
    this.links = []; // { a, b, reason }: indexes, each pair of ends and reason once
    this.neighbours = [];
    this.joined = []; // that have more linked notes than before
  }

  // Takes the nodes over and keeps the places of those that were here; true if notes or links changed.
  setNodes(nodes) {
    const before = this.index;
    const links = this.neighbours;
    const places = this.positions;
    const shape = this.links.length;
    const ids = nodes.map((node) => node.id);
    const same = ids.length === this.ids.length && ids.every((id, i) => id === this.ids[i]);
    this.ids = ids;
    this.nodes = nodes;
    this.index = new Map(ids.map((id, i) => [id, i]));
    this.positions = new Float32Array(2 * ids.length).fill(NaN);
    ids.forEach((id, i) => {
      const old = before.get(id);
      if (old === undefined || 2 * old >= places.length) return;
      this.positions[2 * i] = places[2 * old];
      this.positions[2 * i + 1] = places[2 * old + 1];
    });
    this.connect();
    this.joined = ids.map((id, i) => i).filter((i) => before.has(ids[i]) && this.neighbours[i].size > links[before.get(ids[i])].size);
    this.radii = Float32Array.from(nodes, (node, i) => 4.5 + 2 * Math.sqrt(node.hits) + 0.7 * Math.sqrt(this.neighbours[i].size));
    return !same || shape !== this.links.length;
  }

  connect() {
    const seen = new Set();
    this.links = [];
    this.neighbours = this.nodes.map(() => new Set());
    this.nodes.forEach((node, a) => {
      for (const [to, reason] of node.links) {
        const b = this.index.get(to);
        if (b === undefined || a === b) continue;
        this.neighbours[a].add(b);
        this.neighbours[b].add(a);
        const key = a < b ? `${a} ${b} ${reason}` : `${b} ${a} ${reason}`;
        if (seen.has(key)) continue;
        seen.add(key);
        this.links.push({ a, b, reason });
      }
    });
  }

  // The neighbourhood of a note, two steps wide.
  around(index) {
    const near = new Set([index]);
    for (const one of this.neighbours[index]) {
      near.add(one);
      for (const two of this.neighbours[one]) near.add(two);
    }
    return near;
  }

  nodeAt(x, y, slack, isShown) {
    let best = -1;
    let least = Infinity;
    for (let i = 0; i < this.nodes.length; i++) {
      if (!isShown(i)) continue;
      const away = Math.hypot(this.positions[2 * i] - x, this.positions[2 * i + 1] - y) - this.radii[i];
      if (away < slack && away < least) {
        least = away;
        best = i;
      }
    }
    return best;
  }

  linkAt(x, y, slack, isShown) {
    const p = this.positions;
    let best = null;
    let least = slack;
    for (const link of this.links) {
      if (!isShown(link.a) || !isShown(link.b)) continue;
      const ax = p[2 * link.a], ay = p[2 * link.a + 1];
      const dx = p[2 * link.b] - ax, dy = p[2 * link.b + 1] - ay;
      const along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
      const away = Math.hypot(ax + along * dx - x, ay + along * dy - y);
      if (away < least) {
        least = away;
        best = link;
      }
    }
    return best;
  }

  bounds(wanted) {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < this.nodes.length; i++) {
      const x = this.positions[2 * i], y = this.positions[2 * i + 1];
      if (Number.isNaN(x) || (wanted && !wanted(i))) continue;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
    return left <= right ? { left, top, right, bottom } : null;
  }
}
